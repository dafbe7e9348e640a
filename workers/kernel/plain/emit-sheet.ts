// Cells of a spreadsheet in plain TypeScript: twin of the kernel (assembly/emit-sheet.ts), used for headers, for rows that are
// too large for the kernel's buffer, and for numbers of many digits.
import { dateText, dayNumber } from '../../values/calendar.ts';
import { Timestamp, timestampText } from '../../values/timestamp.ts';
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TIME } from '../layout/native-kinds.ts';
import { DAY_DIGITS, NUMBER_DIGITS_MAX, SERIAL_MAX, SERIAL_MIN, SERIAL_OF_EPOCH } from '../layout/sheet-program.ts';
import { hasEdgeSpace, xmlText } from './xml-text.ts';

/** What a cell is. */
export type SheetForm = 'text' | 'number' | 'boolean' | 'date' | 'datetime' | 'time';

/** A cell as it is written. */
export interface SheetContent {
  readonly form: SheetForm;
  readonly text: string;
}

/** What stands before a row's number, and between it and the content. */
export interface SheetColumnText {
  readonly open: string;
  readonly forms: Readonly<Record<SheetForm, string>>;
}

const MICROSECONDS_PER_DAY = 86_400_000_000n;
const MICROSECONDS_PER_SECOND = 1_000_000n;
const WHOLE_NUMBER = /^-?[0-9]+$/;
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?$/;

/** A cell as XML; null is no cell. */
export function sheetCell({ open, forms }: SheetColumnText, row: number, content: SheetContent | null): string {
  if (content === null) return '';
  const { form, text } = content;
  const begun = `${open}${row}${forms[form]}`;
  if (form !== 'text') return `${begun}${text}</v></c>`;
  return `${begun}${hasEdgeSpace(text) ? ' xml:space="preserve"' : ''}>${xmlText(text)}</t></is></c>`;
}

/** A text whose file says what it is. What does not read as that is a text. */
export function nativeContent(kind: number, text: string): SheetContent {
  return ofKind(kind, text) ?? { form: 'text', text };
}

/** The text of a double; NaN and the infinities are texts. */
export function doubleContent(text: string): SheetContent {
  return { form: NUMBER.test(text) ? 'number' : 'text', text };
}

export function integerContent(value: bigint): SheetContent {
  const text = String(value);
  return { form: text.replace('-', '').length > NUMBER_DIGITS_MAX ? 'text' : 'number', text };
}

/** @param text all its places, as `typedText` writes it */
export function decimalContent(text: string): SheetContent {
  // Zeros at the end count before the point, as in an integer, and not behind it.
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

/** One that a spreadsheet keeps as it is: of few digits, or the shortest text of a double. */
function isNumber(text: string): boolean {
  if (!NUMBER.test(text)) return false;
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const digits = digitsOf(text);
  if (digits.length <= NUMBER_DIGITS_MAX) return value !== 0 || digits === '';
  return !WHOLE_NUMBER.test(text) && digitsOf(String(value)) === digits;
}

/** Without zeros at both ends, the point and the exponent. */
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

/** Of a time of day. */
function microsecondsOf(text: string): bigint | null {
  const [, hour, minute, second, fraction = ''] = TIME.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return BigInt(seconds) * MICROSECONDS_PER_SECOND + BigInt(fraction.padEnd(6, '0').slice(0, 6));
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

/** A point and digits, rounded, without zeros at the end; nothing for midnight. */
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
