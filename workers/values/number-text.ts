// Parses numbers as people write them (`1.234,56`, `(12)`, `7,5 %`, `120- `) into exact decimals. Error codes and the
// column's final type are the responsibility of callers.
import { Decimal, multiplyDecimals, parseDecimal, trimZeros } from './decimal.ts';

/** Words of bookkeeping for credit and debit, in pairs: if one of them marks negative numbers, the other marks the rest. */
const COUNTERPARTS = { CR: 'DR', DR: 'CR', C: 'D', D: 'C', S: 'H', H: 'S' } as const;

type BookkeepingWord = keyof typeof COUNTERPARTS;

/** Notations for negative numbers. `x` is the number: the word in `x CR` is after it, the word in `CR x` before it. */
export type NegativeStyle = '-x' | 'x-' | '(x)' | '▲x' | `x ${BookkeepingWord}` | `${BookkeepingWord} x`;

const WORDS = Object.keys(COUNTERPARTS) as readonly BookkeepingWord[];

export const NEGATIVE_STYLES: readonly NegativeStyle[] = [
  '-x',
  'x-',
  '(x)',
  '▲x',
  ...WORDS.map((word) => `x ${word}` as const),
  ...WORDS.map((word) => `${word} x` as const),
];

interface SignWord {
  /** Matches the word at the end or at the beginning of a text. */
  readonly pattern: RegExp;
  readonly isNegative: boolean;
}

/** The words of each style that has one. A dot may follow the word: `12.00 Cr.`. */
const SIGN_WORDS: ReadonlyMap<NegativeStyle, readonly SignWord[]> = new Map(
  WORDS.flatMap((word): [NegativeStyle, readonly SignWord[]][] => {
    const words = [word, COUNTERPARTS[word]];
    const after = words.map((one) => ({ pattern: new RegExp(`${one}\\.?$`, 'i'), isNegative: one === word }));
    const before = words.map((one) => ({ pattern: new RegExp(`^${one}\\.?`, 'i'), isNegative: one === word }));
    return [
      [`x ${word}`, after],
      [`${word} x`, before],
    ];
  }),
);

/**
 * Notation of numbers. `decimal` and `grouping` are single characters; an empty `grouping` means no grouping. `strip`
 * contains texts that are removed at both ends (currency signs).
 */
export interface NumberFormat {
  decimal?: string;
  grouping?: string;
  negative?: readonly NegativeStyle[];
  strip?: readonly string[];
  /** Read `7,5 %` as 0.075. Without this, a text with a percent sign is not a number. */
  percent?: boolean;
  /** Allow `1.5E3`. */
  exponent?: boolean;
  /** Sizes of groups: three digits or, as in India, three preceded by twos (`12,34,567`). */
  groups?: GroupSizes;
  /** Suffixes that multiply the number (`1.5k`), the longest first. */
  units?: readonly NumberUnit[];
  /**
   * Cache: the texts around the digits of earlier numbers, and their meaning. Columns repeat their signs and units.
   */
  seen?: Map<string, Surroundings | null>;
}

/** Meaning of the text around a number's digits. */
type Surroundings = Pick<PeeledNumber, 'isNegative' | 'isPercent' | 'unit'>;

/** Maximum number of cached texts. Real columns have a few. */
const SEEN_MAX = 64;

/** Maximum length of a cached text, in characters. Longer texts are not signs or units. */
const SEEN_LENGTH_MAX = 16;

export type GroupSizes = 'thousands' | 'indian';

export interface NumberUnit {
  readonly text: string;
  readonly factor: Decimal;
}

/**
 * The exact decimal of a whole text with its scale as written, or null. Grouping is accepted only at valid positions.
 * With a unit, the scale is the smallest that holds the product.
 */
export function parseNumberText(text: string, format: NumberFormat = {}): Decimal | null {
  const decimal = format.decimal ?? '.';
  const grouping = format.grouping ?? '';
  const groups = format.groups ?? 'thousands';
  const grouped = groups === 'thousands' ? grouping : '';
  const simple = readSimple(text, decimal, grouped) ?? readSurrounded(text, decimal, grouped, format);
  if (simple !== undefined) return simple;
  const signed = peel(text, format);
  if (signed === null) return null;
  let exponent = '';
  if (format.exponent === true) {
    const at = signed.body.search(/[eE]/);
    if (at >= 0) {
      exponent = signed.body.slice(at);
      signed.body = signed.body.slice(0, at);
    }
  }
  const plain = plainDigits(signed.body, decimal, { grouping, groups });
  if (plain === null) return null;
  const value = parseDecimal(`${signed.isNegative ? '-' : ''}${plain}${exponent}`, exponent !== '');
  return value === null ? null : scaled(value, signed);
}

function scaled(value: Decimal, { isPercent, unit }: Pick<Surroundings, 'isPercent' | 'unit'>): Decimal | null {
  const whole = isPercent ? new Decimal(value.digits, value.scale + 2) : value;
  if (unit === null) return whole;
  const product = multiplyDecimals(whole, unit.factor);
  return product === null ? null : trimZeros(product, 0);
}

/**
 * Fast path: digits between signs and units that an earlier text had, too. Returns undefined if the text must be read
 * in full.
 */
function readSurrounded(
  text: string,
  decimal: string,
  grouping: string,
  format: NumberFormat,
): Decimal | null | undefined {
  if (format.seen === undefined) return undefined;
  let from = 0;
  let to = text.length;
  while (from < to && !isDigit(text.charCodeAt(from))) from++;
  while (from < to && !isDigit(text.charCodeAt(to - 1))) to--;
  if (from === to || text.length - (to - from) > SEEN_LENGTH_MAX) return undefined;
  const digits = readSimple(text.slice(from, to), decimal, grouping);
  if (digits === undefined) return undefined;
  const around = surroundings(text.slice(0, from), text.slice(to), format);
  if (around === null) return undefined;
  const isBelow = around.isNegative && digits.digits !== 0;
  return scaled(isBelow ? new Decimal(-digits.digits, digits.scale) : digits, around);
}

/** Returns null if anything except the digits remains after removing the known texts. */
function surroundings(before: string, behind: string, format: NumberFormat): Surroundings | null {
  const key = `${before}1${behind}`;
  const known = format.seen!.get(key);
  if (known !== undefined) return known;
  // A text to be stripped that contains digits could remove digits of the number.
  const isSure = !format.strip?.some((one) => /[0-9]/.test(one));
  const peeled = isSure ? peel(key, format) : null;
  const found = peeled?.body === '1' ? peeled : null;
  if (format.seen!.size < SEEN_MAX) format.seen!.set(key, found);
  return found;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Maximum number of digits that the loop below reads, so that they stay a safe integer. */
const SIMPLE_DIGITS_MAX = 15;

/** Reads a number without sign and spaces in one pass; undefined for all other texts. */
function readSimple(text: string, decimal: string, grouping: string): Decimal | undefined {
  const point = decimal.charCodeAt(0);
  const group = grouping === '' || grouping.trim() === '' ? -1 : grouping.charCodeAt(0);
  if (text.length > SIMPLE_DIGITS_MAX + 6 || decimal.length !== 1 || grouping.length > 1) return undefined;
  let digits = 0;
  let count = 0;
  let scale = -1;
  let sinceGroup = -1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 48 && code <= 57) {
      digits = digits * 10 + (code - 48);
      count++;
      if (scale >= 0) scale++;
      else if (sinceGroup >= 0) sinceGroup++;
    } else if (code === point && scale < 0) {
      if (sinceGroup >= 0 && sinceGroup !== 3) return undefined;
      scale = 0;
    } else if (code === group && scale < 0) {
      if (count === 0 || (sinceGroup < 0 ? count > 3 : sinceGroup !== 3)) return undefined;
      sinceGroup = 0;
    } else return undefined;
  }
  if (count === 0 || count > SIMPLE_DIGITS_MAX || (scale < 0 && sinceGroup >= 0 && sinceGroup !== 3)) return undefined;
  return new Decimal(digits, Math.max(scale, 0));
}

interface PeeledNumber {
  body: string;
  readonly isNegative: boolean;
  readonly isPercent: boolean;
  readonly unit: NumberUnit | null;
}

/**
 * Removes everything that may surround the digits, in any order: any number of `strip` texts, one sign, one percent
 * sign and one unit. Null if the text has a sign that the format does not allow.
 */
function peel(text: string, format: NumberFormat): PeeledNumber | null {
  const styles = format.negative ?? ['-x'];
  const { strip = [], units = [] } = format;
  let body = trimSpaces(text);
  let isNegative: boolean | null = null;
  let isPercent = false;
  let unit: NumberUnit | null = null;
  for (;;) {
    const stripped = withoutAffixes(body, strip);
    if (format.percent === true && !isPercent && stripped.endsWith('%')) {
      isPercent = true;
      body = trimSpaces(stripped.slice(0, -1));
      continue;
    }
    const behind: NumberUnit | undefined = unit === null ? units.find((one) => stripped.endsWith(one.text)) : undefined;
    if (behind !== undefined) {
      unit = behind;
      body = trimSpaces(stripped.slice(0, -behind.text.length));
      continue;
    }
    const signed: Signed | null =
      isNegative === null ? takeSign(stripped, styles) : { body: stripped, negative: isNegative };
    if (signed === null) return null;
    if (signed.body === stripped) return { body: stripped, isNegative: isNegative === true, isPercent, unit };
    isNegative = signed.negative;
    body = signed.body;
  }
}

/** Removes texts at both ends only: removed between digits, they would join two numbers to one. */
function withoutAffixes(text: string, affixes: readonly string[]): string {
  let from = 0;
  let to = text.length;
  for (let before = -1; before !== from + text.length - to; ) {
    before = from + text.length - to;
    for (const affix of affixes) {
      while (affix !== '' && to - from >= affix.length && text.startsWith(affix, from)) from += affix.length;
      while (affix !== '' && to - from >= affix.length && text.endsWith(affix, to)) to -= affix.length;
    }
    while (from < to && isSpace(text, from)) from++;
    while (from < to && isSpace(text, to - 1)) to--;
  }
  return text.slice(from, to);
}

function isSpace(text: string, at: number): boolean {
  return text.charAt(at).trim() === '';
}

interface Signed {
  readonly body: string;
  readonly negative: boolean;
}

/** Returns null if the text has a sign that no style allows. */
function takeSign(text: string, styles: readonly NegativeStyle[]): Signed | null {
  if (styles.includes('(x)') && text.startsWith('(') && text.endsWith(')')) {
    return { body: trimSpaces(text.slice(1, -1)), negative: true };
  }
  if (styles.includes('▲x') && /^[▲△]/.test(text)) return { body: trimSpaces(text.slice(1)), negative: true };
  const marked = markedBody(text, styles);
  if (marked !== null) return marked;
  if (styles.includes('x-') && /[-−]$/.test(text)) return { body: trimSpaces(text.slice(0, -1)), negative: true };
  if (styles.includes('x-') && text.endsWith('+')) return { body: trimSpaces(text.slice(0, -1)), negative: false };
  const first = text.charAt(0);
  if (first === '-' || first === '−') {
    return styles.includes('-x') ? { body: trimSpaces(text.slice(1)), negative: true } : null;
  }
  return { body: first === '+' ? trimSpaces(text.slice(1)) : text, negative: false };
}

/** Null if no style has a word that the text has. */
function markedBody(text: string, styles: readonly NegativeStyle[]): Signed | null {
  for (const style of styles) {
    const found = SIGN_WORDS.get(style)?.find(({ pattern }) => pattern.test(text));
    if (found !== undefined) {
      return { body: trimSpaces(text.replace(found.pattern, '')), negative: found.isNegative };
    }
  }
  return null;
}

/** Two styles that give a word opposite signs; null if there are none. */
export function contradictingStyles(styles: readonly NegativeStyle[]): readonly [NegativeStyle, NegativeStyle] | null {
  for (const style of styles) {
    const word = WORDS.find((one) => style === `x ${one}` || style === `${one} x`);
    if (word === undefined) continue;
    const other = style.replace(word, COUNTERPARTS[word]) as NegativeStyle;
    if (styles.includes(other)) return [style, other];
  }
  return null;
}

interface Grouped {
  readonly grouping: string;
  readonly groups: GroupSizes;
}

/** The number with a point and without grouping, if every character is at a valid position. */
function plainDigits(body: string, decimal: string, grouped: Grouped): string | null {
  const point = body.indexOf(decimal);
  const whole = point < 0 ? body : body.slice(0, point);
  const fraction = point < 0 ? '' : body.slice(point + decimal.length);
  if (!/^[0-9]*$/.test(fraction)) return null;
  const digits = ungroup(whole, grouped);
  if (digits === null || digits.length + fraction.length === 0) return null;
  return fraction === '' ? digits : `${digits}.${fraction}`;
}

/** Grouping characters that are treated as equal: files mix plain and narrow spaces, and ' and ’. */
const GROUPING_SIGNS = [/[\u0020\u00a0\u2007\u2009\u202f]/, /['\u2019]/];

function ungroup(whole: string, { grouping, groups }: Grouped): string | null {
  if (/^[0-9]*$/.test(whole)) return whole;
  if (grouping === '') return null;
  const parts = whole.split(GROUPING_SIGNS.find((like) => like.test(grouping)) ?? grouping);
  const digits = groups === 'indian' ? 2 : 3;
  const isRight = parts.every((part, index) => {
    if (!/^[0-9]{1,3}$/.test(part)) return false;
    if (index === parts.length - 1) return part.length === 3;
    return index === 0 ? part.length <= digits : part.length === digits;
  });
  return isRight ? parts.join('') : null;
}

function trimSpaces(text: string): string {
  return text.trim();
}
