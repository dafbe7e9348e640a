// Writes the cells of a spreadsheet and texts of XML elements in plain TypeScript: the scalar reference implementation
// of kernel/assembly/emit-sheet.ts.
import { dateText, dayNumber, Timestamp, timestampText } from '../../values/timestamp.ts';
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TIME } from '../layout/cells.ts';
import { DAY_DIGITS, NUMBER_DIGITS_MAX, SERIAL_MAX, SERIAL_MIN, SERIAL_OF_EPOCH } from '../layout/output-program.ts';

// Escapes texts as content of XML elements in plain TypeScript. Scalar reference implementation of the kernel
// assembly/emit-sheet.ts.

/**
 * Characters to escape: markup, characters that XML 1.0 does not allow, CR (which XML parsers replace by LF), and
 * underscores that begin a text which looks like such an escape.
 */
const ESCAPED = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g;

const MARKUP: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

/** XML readers drop white space at the ends of a text unless the element preserves it. */
const EDGE_SPACE = /^[ \t\n]|[ \t\n]$/;

/** Writes control characters as spreadsheets do: `_x0000_`. */
function xmlText(text: string): string {
  return text.replace(ESCAPED, (character) => MARKUP.get(character) ?? escapeOf(character));
}

function hasEdgeSpace(text: string): boolean {
  return EDGE_SPACE.test(text);
}

function escapeOf(character: string): string {
  return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
}

// Writes the cells of a spreadsheet in plain TypeScript. This is the scalar reference implementation of the kernel
// assembly/emit-sheet.ts. It is used for headers, for rows that are too large for the kernel's buffer, and for numbers
// with many digits.

/** Type of a cell. */
export type SheetForm = 'text' | 'number' | 'boolean' | 'date' | 'datetime' | 'time';

/** A cell's type and its text in the sheet. */
export interface SheetContent {
  readonly form: SheetForm;
  readonly text: string;
}

/** Text before a row's number, and text between the number and the content. */
export interface SheetColumnText {
  readonly open: string;
  readonly forms: Readonly<Record<SheetForm, string>>;
}

const MICROSECONDS_PER_DAY = 86_400_000_000n;
const MICROSECONDS_PER_SECOND = 1_000_000n;
const WHOLE_NUMBER = /^-?[0-9]+$/;
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.(?=[0-9]{1,9}$)([0-9]{1,6})0*)?$/;

/** A cell as XML. A null cell is omitted. */
export function sheetCell({ open, forms }: SheetColumnText, row: number, content: SheetContent | null): string {
  if (content === null) return '';
  const { form, text } = content;
  const begun = `${open}${row}${forms[form]}`;
  if (form !== 'text') return `${begun}${text}</v></c>`;
  return `${begun}${hasEdgeSpace(text) ? ' xml:space="preserve"' : ''}>${xmlText(text)}</t></is></c>`;
}

/** Content of a text with a native kind. A text that does not have the form of its kind is written as text. */
export function nativeContent(kind: number, text: string): SheetContent {
  return ofKind(kind, text) ?? { form: 'text', text };
}

/** Content of a formatted double. NaN and the infinities are written as text. */
export function doubleContent(text: string): SheetContent {
  return { form: NUMBER.test(text) ? 'number' : 'text', text };
}

export function integerContent(value: bigint): SheetContent {
  const text = String(value);
  return { form: text.replace('-', '').length > NUMBER_DIGITS_MAX ? 'text' : 'number', text };
}

/** @param text the decimal with all its digits, as `typedText` writes it */
export function decimalContent(text: string): SheetContent {
  // Trailing zeros count only before the decimal point, as in an integer.
  const kept = text.includes('.') ? text.replace(/0+$/, '') : text;
  const digits = kept.replace(/^-?0*\.?0*/, '').replace('.', '');
  return { form: digits.length > NUMBER_DIGITS_MAX ? 'text' : 'number', text };
}

export function dateContent(days: number): SheetContent {
  const serial = serialDay(days);
  return serial === null ? { form: 'text', text: dateText(days) } : { form: 'date', text: serial };
}

export function datetimeContent(microseconds: bigint): SheetContent {
  const serial = serialTime(microseconds);
  return serial === null ? { form: 'text', text: datetimeText(microseconds) } : { form: 'datetime', text: serial };
}

export function booleanContent(value: boolean): SheetContent {
  return { form: 'boolean', text: value ? '1' : '0' };
}

function ofKind(kind: number, text: string): SheetContent | null {
  if (kind === KIND_NUMBER) return isNumber(text) ? { form: 'number', text } : null;
  if (kind === KIND_BOOLEAN) return text === 'true' || text === 'false' ? booleanContent(text === 'true') : null;
  if (kind === KIND_DATE) {
    const days = dayOf(text);
    const serial = days === null ? null : serialDay(days);
    return serial === null ? null : { form: 'date', text: serial };
  }
  if (kind === KIND_DATETIME) {
    const days = text[10] === 'T' ? dayOf(text.slice(0, 10)) : null;
    const micros = microsecondsOf(text.slice(11).replace(/Z$/, ''));
    if (days === null || micros === null) return null;
    const serial = serialTime(BigInt(days) * MICROSECONDS_PER_DAY + micros);
    return serial === null ? null : { form: 'datetime', text: serial };
  }
  const micros = kind === KIND_TIME ? microsecondsOf(text) : null;
  return micros === null ? null : { form: 'time', text: `0${partOfDay(micros)}` };
}

/** True for a number that a spreadsheet keeps unchanged: it has few digits, or is the shortest text of a double. */
function isNumber(text: string): boolean {
  if (!NUMBER.test(text)) return false;
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const digits = digitsOf(text);
  if (digits.length <= NUMBER_DIGITS_MAX) return value !== 0 || digits === '';
  return !WHOLE_NUMBER.test(text) && digitsOf(String(value)) === digits;
}

/** The significant digits: without leading and trailing zeros, the decimal point and the exponent. */
function digitsOf(text: string): string {
  return text
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
}

function dayOf(text: string): number | null {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return null;
  const days = dayNumber(Number(year), Number(month), Number(day));
  return dateText(days) === text ? days : null;
}

/** Microseconds since midnight. Null for other texts and for times finer than a microsecond. */
function microsecondsOf(text: string): bigint | null {
  const [, hour, minute, second, fraction = ''] = TIME.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return BigInt(seconds) * MICROSECONDS_PER_SECOND + BigInt(fraction.padEnd(6, '0'));
}

function serialDay(days: number): string | null {
  const serial = days + SERIAL_OF_EPOCH;
  return serial < SERIAL_MIN || serial > SERIAL_MAX ? null : String(serial);
}

function serialTime(microseconds: bigint): string | null {
  const rest = ((microseconds % MICROSECONDS_PER_DAY) + MICROSECONDS_PER_DAY) % MICROSECONDS_PER_DAY;
  const serial = serialDay(Number((microseconds - rest) / MICROSECONDS_PER_DAY));
  return serial === null ? null : serial + partOfDay(rest);
}

/** The fraction of the day as a decimal point and rounded digits, without trailing zeros. Empty for midnight. */
function partOfDay(microseconds: bigint): string {
  if (microseconds === 0n) return '';
  const scaled = microseconds * 10n ** BigInt(DAY_DIGITS);
  const digits = (scaled + MICROSECONDS_PER_DAY / 2n) / MICROSECONDS_PER_DAY;
  return `.${String(digits).padStart(DAY_DIGITS, '0').replace(/0+$/, '')}`;
}

function datetimeText(microseconds: bigint): string {
  const rest = ((microseconds % MICROSECONDS_PER_SECOND) + MICROSECONDS_PER_SECOND) % MICROSECONDS_PER_SECOND;
  return timestampText(new Timestamp(Number((microseconds - rest) / MICROSECONDS_PER_SECOND), Number(rest) * 1000));
}
