// Detects how the cells of a column write numbers and dates.
import { compileDatePattern, type DatePattern } from '../../workers/values/date-pattern.ts';

// Detects how the cells of a column write numbers: which cells each decimal mark and grouping reads, and which cells
// exclude the other mark.

export type DecimalMark = '.' | ',';

export const DECIMAL_MARKS: readonly DecimalMark[] = ['.', ','];

/** Parts of one cell, without sign, currency and percent sign. */
interface Body {
  readonly digits: string;
  readonly isTrailingMinus: boolean;
  readonly isBracketed: boolean;
  /** Followed by `CR` or `DR`. */
  readonly isMarked: boolean;
  readonly currency: string | null;
  readonly isPercent: boolean;
}

interface MarkReading {
  reads: number;
  /** Cells that can be read with this mark but not with the other one. */
  proofs: number;
  /** Number of cells per grouping separator; cells without grouping are counted under ''. */
  readonly groupings: Map<string, number>;
  /** Cells with digits after the decimal mark. */
  fractions: number;
}

/** Numbers with more digits are not amounts: no common program keeps whole numbers of this length exact. */
const DIGITS_MAX = 30;
const CURRENCY = '[$€£¥]|[A-Z]{3}|kr|zł|Kč|Ft|лв|CHF|R\\$';
const PREFIX = new RegExp(`^(?:${CURRENCY})\\s*`);
const SUFFIX = new RegExp(`\\s*(?:${CURRENCY})$`);
const SPACE_GROUPS = /[\u00a0\u202f\u2009 ]/;

export class NumberCells {
  readonly marks: Readonly<Record<DecimalMark, MarkReading>> = { '.': emptyReading(), ',': emptyReading() };
  /** Cells that are whole numbers without any separator. */
  integers = 0;
  leadingZeros = 0;
  trailingMinus = 0;
  bracketed = 0;
  /** Cells with `CR` or `DR`. */
  marked = 0;
  percents = 0;
  readonly currencies = new Map<string, number>();
  /** Distinct numbers of digits before the decimal mark. */
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

  /** Adds a number of the file to the sum only, because its text does not show how the file writes numbers. */
  addNative(text: string): void {
    const body = bodyOf(text);
    const reading = body === null ? null : readDigits(body.digits, '.');
    if (body !== null && reading !== null) this.#sums['.'].add(reading, isNegative(text, body));
  }

  /**
   * True if a text, read under a decimal mark, is exactly the sum of all cells so far.
   *
   * @param since leaves out the cells before this point
   */
  isSum(text: string, mark: DecimalMark, since: SumPoint | null = null): boolean {
    const body = bodyOf(text);
    const reading = body === null ? null : readDigits(body.digits, mark);
    if (body === null || reading === null) return false;
    const one = since === null ? new ExactSum() : since[mark].copy();
    one.add(reading, isNegative(text, body));
    return this.#sums[mark].equals(one);
  }

  /** The sums of all cells so far. */
  get point(): SumPoint {
    return { '.': this.#sums['.'].copy(), ',': this.#sums[','].copy() };
  }
}

/** Sums of the cells of a column up to one of its rows. */
export type SumPoint = Readonly<Record<DecimalMark, ExactSum>>;

/** True if a text, read under a decimal mark, is the given number. */
export function isSameNumber(text: string, mark: DecimalMark, plain: string): boolean {
  const numbers = new NumberCells();
  numbers.addNative(plain);
  // The given number has a decimal point, whatever the mark of the text is.
  const body = bodyOf(text);
  const reading = body === null ? null : readDigits(body.digits, mark);
  if (body === null || reading === null) return false;
  const sign = isNegative(text, body) ? '-' : '';
  return numbers.isSum(`${sign}${reading.whole}.${reading.fraction || '0'}`, '.');
}

interface Digits {
  readonly whole: string;
  readonly fraction: string;
  readonly grouping: string;
}

/** Exact sum of decimal numbers of any scale. */
class ExactSum {
  #digits = 0n;
  #scale = 0;

  add({ whole, fraction }: Digits, negative: boolean): void {
    if (fraction.length > this.#scale) this.#rescale(fraction.length);
    const digits = BigInt(whole + fraction) * 10n ** BigInt(this.#scale - fraction.length);
    this.#digits += negative ? -digits : digits;
  }

  copy(): ExactSum {
    const copied = new ExactSum();
    copied.#digits = this.#digits;
    copied.#scale = this.#scale;
    return copied;
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

/** Null: not a number in any notation. */
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

/** The digits of a text under a decimal mark; null: not a number under this mark. */
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

// Detects how the cells of a column write dates: counts how many cells each pattern reads, and how many of them its
// rival pattern (the one with day and month swapped) cannot read.

export interface DateForm {
  readonly pattern: string;
  /** The same pattern with day and month swapped; null: no program writes dates that way. */
  readonly rival: string | null;
  /** Language of the month names. */
  readonly locale: string | null;
  /**
   * Assumption of this pattern that the cells do not prove: the century, the time zone, or that the digits are a date
   * at all. `offset` is not an assumption: the output would lose the offset.
   */
  readonly guess: 'century' | 'zone' | 'offset' | 'digits' | null;
}

export interface DateReading {
  readonly form: DateForm;
  readonly reads: number;
  /** Cells that the rival pattern cannot read. */
  readonly proofs: number;
}

/** After this many cells, patterns that have read less than half of them are dropped. */
const TRIED_CELLS = 40;
const LENGTH_MAX = 40;

interface Candidate {
  readonly form: DateForm;
  readonly pattern: DatePattern;
  readonly rival: DatePattern | null;
  reads: number;
  proofs: number;
}

export class DateCells {
  #seen = 0;
  #candidates: readonly Candidate[];

  constructor(forms: readonly CompiledForm[]) {
    this.#candidates = forms.map((form) => ({ ...form, reads: 0, proofs: 0 }));
  }

  add(text: string): void {
    this.#seen++;
    if (this.#seen === TRIED_CELLS) this.#candidates = this.#candidates.filter(({ reads }) => reads * 2 > TRIED_CELLS);
    if (this.#candidates.length === 0 || text.length > LENGTH_MAX || !mayBeDate(text)) return;
    for (const candidate of this.#candidates) {
      if (candidate.pattern.parse(text) === null) continue;
      candidate.reads++;
      if (candidate.rival === null || candidate.rival.parse(text) === null) candidate.proofs++;
    }
  }

  /**
   * Patterns that read at least one cell, sorted by cells read and then by proofs; ties keep the order of the table.
   */
  get readings(): readonly DateReading[] {
    return this.#candidates.filter(({ reads }) => reads > 0).sort((a, b) => b.reads - a.reads || b.proofs - a.proofs);
  }
}

/**
 * Quick check before any pattern is tried. A date has three groups of digits, two groups beside a month name, or
 * exactly eight digits.
 */
function mayBeDate(text: string): boolean {
  const groups = text.match(/\d+/g)?.length ?? 0;
  return groups >= 3 || (groups === 2 && /\p{L}{3}/u.test(text)) || /^\d{8}$/.test(text);
}

export interface CompiledForm {
  readonly form: DateForm;
  readonly pattern: DatePattern;
  readonly rival: DatePattern | null;
}

export function compiledForms(): readonly CompiledForm[] {
  return dateForms().map((form) => ({
    form,
    pattern: compiled(form.pattern, form.locale),
    rival: form.rival === null ? null : compiled(form.rival, form.locale),
  }));
}

function compiled(source: string, locale: string | null): DatePattern {
  const pattern = compileDatePattern(source, locale === null ? {} : { locale });
  if ('problem' in pattern) throw new Error(`${source}: ${pattern.problem}`);
  return pattern;
}

/** Times that may follow a date; the empty string means a date without a time. */
const TIMES = ['', ' HH:mm', ' HH:mm:ss', ', HH:mm:ss', ', HH:mm', ' h:mm a', ' h:mm:ss a', ', h:mm:ss a', ', h:mm a'];
const ISO_TIMES = [
  "'T'HH:mm:ss",
  "'T'HH:mm",
  ' HH:mm:ss XX',
  ' HH:mm:ssX',
  ' HH:mm:ss.SSS',
  "'T'HH:mm:ss.SSS",
  "'T'HH:mm:ssXXX",
  "'T'HH:mm:ss.SSSXXX",
];

/** Times after dates with English names of months. */
const ENGLISH_TIMES = [
  '',
  ' HH:mm',
  ' HH:mm:ss',
  ' HH:mm:ss XX',
  ' h:mm a',
  ' h:mm:ss a',
  ', HH:mm',
  ', HH:mm:ss',
  ', h:mm a',
  ', h:mm:ss a',
];

/** Dates with names that programs write in English only, such as those of mails and of issue trackers. */
const ENGLISH_DAYS = ['dd/MMM/yy', 'dd/MMM/yyyy', 'EEE, dd MMM yyyy', 'EEE, d MMM yyyy'];

/** Strict patterns come before lax ones: `dd` reads exactly two digits, `d` one or two. */
function dateForms(): DateForm[] {
  const forms: DateForm[] = [];
  for (const time of [...TIMES, ...ISO_TIMES]) {
    for (const separator of ['-', '/', '.']) forms.push(form(`yyyy${separator}MM${separator}dd${time}`, null, time));
  }
  for (const time of TIMES) {
    for (const [day, month] of [
      ['dd', 'MM'],
      ['d', 'M'],
    ] as const) {
      for (const separator of ['.', '/', '-']) {
        for (const year of ['yyyy', 'yy']) {
          const [dayFirst, monthFirst] = [[day, month, year].join(separator), [month, day, year].join(separator)];
          forms.push(form(dayFirst + time, monthFirst + time, time), form(monthFirst + time, dayFirst + time, time));
        }
      }
    }
  }
  for (const locale of ['en', 'de', 'fr', 'es', 'it', 'nl']) {
    for (const day of [
      'dd MMM yyyy',
      'd MMM yyyy',
      'dd-MMM-yyyy',
      'd-MMM-yyyy',
      'MMM d, yyyy',
      'd MMMM yyyy',
      'MMMM d, yyyy',
      'd. MMM yyyy',
      'd. MMMM yyyy',
      'dd-MMM-yy',
      ...(locale === 'en' ? ENGLISH_DAYS : []),
    ]) {
      for (const time of locale === 'en' ? ENGLISH_TIMES : ['']) {
        forms.push({ ...form(day + time, null, time), locale: locale === 'en' ? null : locale });
      }
    }
  }
  forms.push({ pattern: 'yyyyMMdd', rival: 'ddMMyyyy', locale: null, guess: 'digits' });
  return forms;
}

function form(pattern: string, rival: string | null, time: string): DateForm {
  const isShort = /(?<!y)yy(?!y)/.test(pattern);
  const guess = time.includes('X') ? 'offset' : time !== '' ? 'zone' : isShort ? 'century' : null;
  return { pattern, rival, locale: null, guess };
}
