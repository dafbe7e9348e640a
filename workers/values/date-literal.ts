// What stands in a date pattern for itself, in a text that is read.

/**
 * The position behind the literal at `at` of a text, or -1. A space in it is any one space of the text: browsers and
 * spreadsheets put no-break ones before AM and PM.
 */
export function parseLiteral(literal: string, text: string, at: number): number {
  const end = at + literal.length;
  if (text.startsWith(literal, at)) return end;
  if (!literal.includes(' ') || end > text.length) return -1;
  for (let i = 0; i < literal.length; i++) {
    const [wanted, found] = [literal[i]!, text[at + i]!];
    if (found !== wanted && !(wanted === ' ' && SPACE.test(found))) return -1;
  }
  return end;
}

/** Unicode's spaces of some width; no tab, no line break. */
const SPACE = /\p{Zs}/u;
