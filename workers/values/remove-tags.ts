// Takes the tags of HTML out of a text, in one pass: what looks like a tag ends before the next `<`, and an end that is
// not found is looked for once, so that no text costs the square of its length.

const TAG_START = /^<(?:\/?[A-Za-z]|[!?])/;
const TAG_START_UNITS = 3;

/** Without comments and tags; a `>` inside a quoted value of a tag does not end it. A `<` that begins no tag stays. */
export function removeTags(text: string): string {
  const bare = withoutComments(text);
  let made = '';
  let from = 0;
  for (let at = bare.indexOf('<'); at >= 0; ) {
    const next = bare.indexOf('<', at + 1);
    const end = endOfTag(bare, at, next < 0 ? bare.length : next);
    if (end !== null) {
      made += bare.slice(from, at);
      from = end;
    }
    at = next;
  }
  return made + bare.slice(from);
}

function withoutComments(text: string): string {
  let made = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf('<!--', from);
    const end = at < 0 ? -1 : text.indexOf('-->', at);
    if (end < 0) return made + text.slice(from);
    made += text.slice(from, at);
    from = end + '-->'.length;
  }
}

/** Behind the `>` that ends the tag at `at`; null where none begins, or where it does not end before `next`. */
function endOfTag(text: string, at: number, next: number): number | null {
  if (!TAG_START.test(text.slice(at, at + TAG_START_UNITS))) return null;
  let isValueNext = false;
  for (let i = at + 1; i < next; i++) {
    const sign = text[i]!;
    if (sign === '>') return i + 1;
    if (isValueNext && (sign === '"' || sign === "'")) {
      const close = text.indexOf(sign, i + 1);
      // A quote without its like is a sign like others.
      if (close >= 0 && close < next) i = close;
    }
    isValueNext = sign === '=' || (isValueNext && sign <= ' ');
  }
  return null;
}
