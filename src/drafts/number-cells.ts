// How the cells of a column write numbers: under which decimal mark and grouping each of them reads, and which of them exclude
// the other mark.

export type DecimalMark = '.' | ',';

export const DECIMAL_MARKS: readonly DecimalMark[] = ['.', ','];

/** One cell, without sign, currency and percent sign. */
interface Body {
  readonly digits: string;
  readonly isTrailingMinus: boolean;
  readonly isBracketed: boolean;
  /** `CR` or `DR` behind it. */
  readonly isMarked: boolean;
  readonly currency: string | null;
  readonly isPercent: boolean;
}

interface MarkReading {
  reads: number;
  /** Cells that read so and not under the other mark. */
  proofs: number;
  /** Cells by what groups their digits; without any under ''. */
  readonly groupings: Map<string, number>;
  /** Cells with digits behind the mark. */
  fractions: number;
}

/** Digits behind which a whole number would not be exact any more in any program: more of them are no amount. */
const DIGITS_MAX = 30;
const CURRENCY = '[$€£¥]|[A-Z]{3}|kr|zł|Kč|Ft|лв|CHF|R\\$';
const PREFIX = new RegExp(`^(?:${CURRENCY})\\s*`);
const SUFFIX = new RegExp(`\\s*(?:${CURRENCY})$`);
const SPACE_GROUPS = /[\u00a0\u202f\u2009 ]/;

export class NumberCells {
  readonly marks: Readonly<Record<DecimalMark, MarkReading>> = { '.': emptyReading(), ',': emptyReading() };
  /** Cells that are whole numbers without any mark. */
  integers = 0;
  leadingZeros = 0;
  trailingMinus = 0;
  bracketed = 0;
  /** With `CR` or `DR`. */
  marked = 0;
  percents = 0;
  readonly currencies = new Map<string, number>();
  /** Different numbers of digits in front of the decimal mark. */
  readonly lengths = new Set<number>();
  readonly #sums: Readonly<Record<DecimalMark, ExactSum>> = { '.': new ExactSum(), ',': new ExactSum() };

  add(text: string): void {
    const body = bodyOf(text);
    if (body === null) return;
    if (/^\d+$/.test(body.digits)) this.integers++;
    if (/^0\d/.test(body.digits)) this.leadingZeros++;
    if (body.isTrailingMinus) this.trailingMinus++;
    if (body.isBracketed) this.bracketed++;
    if (body.isMarked) this.marked++;
    if (body.isPercent) this.percents++;
    if (body.currency !== null) this.currencies.set(body.currency, (this.currencies.get(body.currency) ?? 0) + 1);
    const found = DECIMAL_MARKS.map((mark) => readDigits(body.digits, mark));
    if (found.some((reading) => reading !== null))
      this.lengths.add(body.digits.replace(/[.,]\d*$/, '').replace(/\D/g, '').length);
    for (const [index, reading] of found.entries()) {
      if (reading === null) continue;
      const mark = DECIMAL_MARKS[index]!;
      const counts = this.marks[mark];
      counts.reads++;
      if (found[1 - index] === null) counts.proofs++;
      counts.groupings.set(reading.grouping, (counts.groupings.get(reading.grouping) ?? 0) + 1);
      if (reading.fraction !== '') counts.fractions++;
      this.#sums[mark].add(reading, isNegative(text, body));
    }
  }

  /** Whether a text is exactly the sum of all cells so far, under a mark. */
  isSum(text: string, mark: DecimalMark): boolean {
    const body = bodyOf(text);
    const reading = body === null ? null : readDigits(body.digits, mark);
    if (body === null || reading === null) return false;
    const one = new ExactSum();
    one.add(reading, isNegative(text, body));
    return this.#sums[mark].equals(one);
  }
}

interface Digits {
  readonly whole: string;
  readonly fraction: string;
  readonly grouping: string;
}

/** Decimals of any scale, exactly. */
class ExactSum {
  #digits = 0n;
  #scale = 0;

  add({ whole, fraction }: Digits, negative: boolean): void {
    if (fraction.length > this.#scale) this.#rescale(fraction.length);
    const digits = BigInt(whole + fraction) * 10n ** BigInt(this.#scale - fraction.length);
    this.#digits += negative ? -digits : digits;
  }

  equals(other: ExactSum): boolean {
    const scale = Math.max(this.#scale, other.#scale);
    this.#rescale(scale);
    other.#rescale(scale);
    return this.#digits === other.#digits;
  }

  #rescale(scale: number): void {
    this.#digits *= 10n ** BigInt(scale - this.#scale);
    this.#scale = scale;
  }
}

function emptyReading(): MarkReading {
  return { reads: 0, proofs: 0, groupings: new Map(), fractions: 0 };
}

function isNegative(text: string, { isTrailingMinus, isBracketed }: Body): boolean {
  return isTrailingMinus || isBracketed || /[-−]\s*\S*\d/.test(text);
}

/** Null: it is no number, however it is written. */
function bodyOf(text: string): Body | null {
  if (text.length > DIGITS_MAX * 2 || !/\d/.test(text)) return null;
  let rest = text.trim();
  const isBracketed = /^\(.*\)$/.test(rest);
  if (isBracketed) rest = rest.slice(1, -1).trim();
  const isMarked = /\d\s*(?:CR|DR|Cr|Dr)$/.test(rest);
  if (isMarked) rest = rest.slice(0, -2).trim();
  const currency =
    PREFIX.exec(rest.replace(/^[-+−]\s*/, ''))?.[0] ?? SUFFIX.exec(rest.replace(/[-+]$/, ''))?.[0] ?? null;
  const isTrailingMinus = /\d\s?-$/.test(rest);
  if (isTrailingMinus) rest = rest.slice(0, -1).trim();
  rest = rest.replace(/^[-+−]\s*/, '');
  if (currency !== null)
    rest = rest
      .replace(PREFIX, '')
      .replace(SUFFIX, '')
      .trim()
      .replace(/^[-+−]\s*/, '');
  const isPercent = /\d\s*%$/.test(rest);
  if (isPercent) rest = rest.replace(/\s*%$/, '');
  if (!/^\d[\d.,'’\u00a0\u202f\u2009 ]*$/.test(rest) && !/^[.,]\d+$/.test(rest)) return null;
  return { digits: rest, isTrailingMinus, isBracketed, isMarked, currency: currency?.trim() ?? null, isPercent };
}

/** The digits of a text under a decimal mark; null: it does not read so. */
function readDigits(text: string, mark: DecimalMark): Digits | null {
  const at = text.lastIndexOf(mark);
  const whole = at < 0 ? text : text.slice(0, at);
  const fraction = at < 0 ? '' : text.slice(at + 1);
  if (!/^\d*$/.test(fraction) || (at >= 0 && fraction === '')) return null;
  if (/^\d*$/.test(whole))
    return whole === '' && fraction === '' ? null : { whole: whole || '0', fraction, grouping: '' };
  const separator = /\D/.exec(whole)?.[0] ?? '';
  if (separator === mark) return null;
  const groups = whole.split(separator);
  if (!groups.every((group, index) => /^\d+$/.test(group) && (index === 0 ? group.length <= 3 : group.length === 3)))
    return null;
  return {
    whole: groups.join(''),
    fraction,
    grouping: SPACE_GROUPS.test(separator) ? ' ' : separator === '’' ? "'" : separator,
  };
}
