// Patterns of dates whose texts are all of one width: tables by which a kernel reads or writes all places at once
// (kernel/assembly/dates.ts). Patterns come as the words of their parts (date-cells.ts).
import {
  DAY,
  DIGITS_AT,
  HOUR,
  LITERAL,
  LITERALS_AT,
  LONG_YEAR,
  MINUTE,
  MONTH,
  PART_BYTES,
  PARTS,
  PATTERN_BYTES,
  PIVOT,
  PLACES_AT,
  PLACES_MAX,
  SECOND,
  SHORT_YEAR,
  TEXT_AT,
  WIDTH,
  YEAR,
} from '../../kernel/layout/dates.ts';

/** Words of a part: kind, least and most digits, a literal's byte or a pivot. */
export const PART_WORDS = PART_BYTES / 4;

/** A place that nothing goes to. */
const NOWHERE = 0xff;

/** Where the digits of each kind of part lie in CCYYMMDDhhmmss. */
const PLACES: Readonly<Record<number, { readonly at: number; readonly digits: number }>> = {
  [YEAR]: { at: 0, digits: 4 },
  [SHORT_YEAR]: { at: 2, digits: 2 },
  [MONTH]: { at: 4, digits: 2 },
  [DAY]: { at: 6, digits: 2 },
  [HOUR]: { at: 8, digits: 2 },
  [MINUTE]: { at: 10, digits: 2 },
  [SECOND]: { at: 12, digits: 2 },
};

/** Behind the day all digits of what is written are zeros. */
const ZERO_AT = 8;

export interface DateLayout {
  readonly width: number;
  readonly pivot: number;
  readonly digits: Uint8Array;
  readonly literals: Uint8Array;
  readonly text: Uint8Array;
  readonly places: Uint8Array;
}

/** Null: the texts of the pattern differ in width, or are too long. */
export type LayoutOf = (words: readonly number[]) => DateLayout | null;

/** The tables for reading; each of day, month and year must stand there once. */
export const readingLayout: LayoutOf = (words) => {
  const layout = emptyLayout();
  const kinds: number[] = [];
  let { width, pivot } = layout;
  for (const [kind, least, most, extra] of partsOf(words)) {
    if (kind === LITERAL) {
      if (width === PLACES_MAX) return null;
      layout.literals[width] = 0xff;
      layout.text[width++] = extra;
      continue;
    }
    const place = PLACES[kind];
    if (place === undefined || least !== most || least !== place.digits || kinds.includes(kind)) return null;
    if (width + least > PLACES_MAX) return null;
    kinds.push(kind);
    if (kind === SHORT_YEAR) pivot = extra;
    for (let digit = 0; digit < least; digit++) {
      layout.digits[width] = 0xff;
      layout.places[place.at + digit] = width++;
    }
  }
  const has = (kind: number): boolean => kinds.includes(kind);
  return has(YEAR) !== has(SHORT_YEAR) && has(MONTH) && has(DAY) ? { ...layout, width, pivot } : null;
};

/** The tables for writing days. */
export const writingLayout: LayoutOf = (words) => {
  const layout = emptyLayout();
  let { width } = layout;
  for (const [kind, least, , extra] of partsOf(words)) {
    if (width + Math.max(1, least) > PLACES_MAX) return null;
    if (kind === LITERAL) {
      layout.text[width++] = extra;
      continue;
    }
    const place = kind <= DAY ? PLACES[kind]! : null;
    // A month or a day of one digit may have two.
    if (place !== null && least !== place.digits) return null;
    for (let digit = 0; digit < least; digit++) layout.places[width++] = place === null ? ZERO_AT : place.at + digit;
  }
  return { ...layout, width };
};

/** The head of a pattern as the kernel takes it. */
export function patternHead(parts: number, layout: DateLayout | null): Uint32Array {
  const { width, pivot, digits, literals, text, places } = layout ?? emptyLayout();
  const words = new Uint32Array(PATTERN_BYTES / 4);
  words[PARTS / 4] = parts;
  words[WIDTH / 4] = width;
  words[PIVOT / 4] = pivot;
  const bytes = new Uint8Array(words.buffer);
  bytes.set(digits, DIGITS_AT);
  bytes.set(literals, LITERALS_AT);
  bytes.set(text, TEXT_AT);
  bytes.set(places, PLACES_AT);
  return words;
}

function emptyLayout(): DateLayout {
  const table = (): Uint8Array => new Uint8Array(PLACES_MAX);
  const places = table().fill(NOWHERE);
  return { width: 0, pivot: LONG_YEAR, digits: table(), literals: table(), text: table(), places };
}

function* partsOf(words: readonly number[]): Iterable<[kind: number, least: number, most: number, extra: number]> {
  for (let at = 0; at < words.length; at += PART_WORDS) {
    yield [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!];
  }
}
