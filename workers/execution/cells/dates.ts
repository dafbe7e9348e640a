// Parses and formats columns of dates by patterns: layouts for kernels, parsing of single texts, and time zones.

import { nativeDate, nativeNumber } from '../../batch/native-cell.ts';
import { KIND_DATE, KIND_NUMBER, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  DAY,
  DIGITS_AT,
  FRACTION,
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
} from '../../kernel/layout/numbers.ts';
import type { Heap } from '../../memory/heap.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { DatePart, DatePattern } from '../../values/date-pattern.ts';
import { decimalText } from '../../values/decimal.ts';
import { hasAmbiguousZone, instantsOfLocal, type TimeZone } from '../../values/time-zone.ts';
import {
  CalendarDate,
  DAY_MAX,
  DAY_MIN,
  type DateFields,
  type EpochUnit,
  epochFields,
  excelFields,
  Timestamp,
  timestampOf,
} from '../../values/timestamp.ts';
import type { CellEdit, CellTarget, CellWork } from './cell-operator.ts';
import { type ReadCells, readEdit } from './read-cells.ts';
import { settleText } from './text-chain.ts';
import { CellFault, COUNTED, convertEdit, type NativeReader } from './value-cells.ts';

// Converts a local time to an instant if a clock change skips or repeats the time.

/**
 * Rules for skipped and repeated times. `error`: refused. `earlier`, `later`: the offsets before and after the clock
 * change give two instants, and the earlier or later one is used. `shift`: the later instant for a skipped time, the
 * earlier one for a repeated time. `undeclared`: a skipped time is an error, a repeated time is the earlier instant.
 */
type LocalTimeRule = 'error' | 'earlier' | 'later' | 'shift' | 'undeclared';

/**
 * A local time that is not a unique instant. `seconds` is the instant that the rule chooses, or null if the rule
 * refuses it.
 */
export interface DoubtfulTime {
  readonly code: 'DATE_IN_DST_GAP' | 'DATE_IN_DST_OVERLAP';
  readonly seconds: number | null;
}

/** Returns the instant of a local time, in seconds since 1970. Returns a DoubtfulTime if it is an error or a guess. */
function readLocalTime(zone: TimeZone, localSeconds: number, rule: LocalTimeRule): number | DoubtfulTime {
  const { kind, earlier, later } = instantsOfLocal(zone, localSeconds);
  if (kind === 'unique') return earlier;
  const isGap = kind === 'gap';
  const code = isGap ? 'DATE_IN_DST_GAP' : 'DATE_IN_DST_OVERLAP';
  if (rule === 'error' || (isGap && rule === 'undeclared')) return { code, seconds: null };
  const isLater = rule === 'later' || (isGap && rule === 'shift');
  return { code, seconds: isLater ? later : earlier };
}

// Date patterns whose texts all have the same width: tables with which a kernel parses or formats all positions at once
// (kernel/assembly/dates.ts). Patterns are given as the words of their parts (partWords).

/** Words of a part: kind, minimum and maximum number of digits, and a literal's byte or a pivot. */
const PART_WORDS = PART_BYTES / 4;

/** Marks a place to which no digit is copied. */
const NOWHERE = 0xff;

/** Position and number of digits of each kind of part in CCYYMMDDhhmmss. */
const PLACES: Readonly<Record<number, { readonly at: number; readonly digits: number }>> = {
  [YEAR]: { at: 0, digits: 4 },
  [SHORT_YEAR]: { at: 2, digits: 2 },
  [MONTH]: { at: 4, digits: 2 },
  [DAY]: { at: 6, digits: 2 },
  [HOUR]: { at: 8, digits: 2 },
  [MINUTE]: { at: 10, digits: 2 },
  [SECOND]: { at: 12, digits: 2 },
};

/** Position of a zero, for the digits of fractions. */
const ZERO_AT = 14;

export interface DateLayout {
  readonly width: number;
  readonly pivot: number;
  readonly digits: Uint8Array;
  readonly literals: Uint8Array;
  readonly text: Uint8Array;
  readonly places: Uint8Array;
}

/** Returns null if the texts of the pattern vary in width or are too long. */
type LayoutOf = (words: readonly number[]) => DateLayout | null;

/** Creates the tables for parsing. Day, month and year must each occur once. */
const readingLayout: LayoutOf = (words) => {
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

/** Creates the tables for formatting days and times. Fractions are always zero. */
const writingLayout: LayoutOf = (words) => {
  const layout = emptyLayout();
  let { width } = layout;
  for (const [kind, least, , extra] of partsOf(words)) {
    if (width + Math.max(1, least) > PLACES_MAX) return null;
    if (kind === LITERAL) {
      layout.text[width++] = extra;
      continue;
    }
    const place = PLACES[kind];
    // A month, a day or an hour without a leading zero varies in width.
    if (place !== undefined && least !== place.digits) return null;
    for (let digit = 0; digit < least; digit++)
      layout.places[width++] = place === undefined ? ZERO_AT : place.at + digit;
  }
  return { ...layout, width };
};

/** Writes the head of a pattern for the kernel. */
function patternHead(parts: number, layout: DateLayout | null): Uint32Array {
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

// Parses one text, or one cell with a native kind, as a date or an instant: by patterns first, then as a number.

const DAY_SECONDS = 86_400;

/** Rules for parsing the texts of a column. */
export interface DateReading {
  readonly patterns: readonly DatePattern[];
  readonly type: 'date' | 'datetime';
  /** Time zone of times without an offset; null for UTC. */
  readonly zone: TimeZone | null;
  /** Time zone in which the day of a date is determined; null for the day as written. */
  readonly toZone: TimeZone | null;
  /** Interpretation of numbers that match no pattern. If both are null, such numbers are not dates. */
  readonly epoch: EpochUnit | null;
  readonly excelSerial: '1900' | '1904' | null;
  /** True if a text that two patterns parse as different days is an error. */
  readonly onlySure: boolean;
  /** Rule for local times that do not exist or exist twice. */
  readonly dst: LocalTimeRule;
}

/**
 * A cell with a native date kind is used unchanged, including the time of day if the result is a datetime. A whole number is
 * parsed as the text of its digits (20260131). Any other number is parsed by `epoch` or `excelSerial` only, because a
 * pattern with a point must not match it.
 */
export function nativeDateReader(reading: DateReading): NativeReader {
  const read = dateReader(reading);
  return (text, kind) => {
    if (kind === KIND_NUMBER && /^[0-9]+$/.test(text)) return read(text);
    const fields = kind === KIND_NUMBER ? nativeCount(text, reading) : nativeDate(text, kind);
    if (fields === null) return new CellFault('NOT_A_DATE');
    // A day without a time cannot be another day in another zone.
    return kind === KIND_DATE && reading.type === 'date' ? new CalendarDate(fields.days) : result(fields, reading);
  };
}

/** Returns a function that returns the value of a text, or a CellFault. */
export function dateReader(reading: DateReading): (value: unknown) => unknown {
  const { patterns, onlySure } = reading;
  const readsZones = patterns.some(({ parts }) => parts.some(({ letter }) => letter === 'z'));
  return (value) => {
    const text = (value as string).trim();
    let found: DateFields | null = null;
    for (const pattern of patterns) {
      const fields = pattern.parse(text);
      if (fields === null) continue;
      if (found === null) found = fields;
      else if (fields.days !== found.days || fields.second !== found.second) return new CellFault('AMBIGUOUS_DATE');
      if (!onlySure) break;
    }
    found ??= count(text, reading);
    if (found !== null) return result(found, reading);
    return new CellFault(readsZones && hasAmbiguousZone(text) ? 'AMBIGUOUS_ZONE' : 'NOT_A_DATE');
  };
}

function count(text: string, { epoch, excelSerial }: DateReading): DateFields | null {
  if (epoch !== null) return epochFields(text, epoch);
  return excelSerial === null ? null : excelFields(text, excelSerial);
}

/** A count in JSON may have an exponent. */
function nativeCount(text: string, reading: DateReading): DateFields | null {
  const number = reading.epoch === null ? null : nativeNumber(text);
  return count(number === null ? text : decimalText(number), reading);
}

function result(fields: DateFields, reading: DateReading): unknown {
  const { type, toZone, dst } = reading;
  const zone = fields.zone ?? reading.zone;
  if (type === 'date' && toZone === null) return new CalendarDate(fields.days);
  const local = fields.days * DAY_SECONDS + fields.second;
  if (fields.offsetSeconds !== null || zone === null)
    return atInstant(local - (fields.offsetSeconds ?? 0), fields, reading);
  const instant = readLocalTime(zone, local, dst);
  if (typeof instant === 'number') return atInstant(instant, fields, reading);
  if (instant.seconds === null) return new CellFault(instant.code);
  const value = atInstant(instant.seconds, fields, reading);
  return value instanceof CellFault ? value : new CellFault(instant.code, { value, rule: COUNTED });
}

function atInstant(seconds: number, { nanos }: DateFields, { type, toZone }: DateReading): unknown {
  if (type === 'datetime') return timestampOf(seconds, nanos) ?? new CellFault('OUT_OF_RANGE');
  const day = dayInZone(seconds, toZone!);
  return day === null ? new CellFault('OUT_OF_RANGE') : new CalendarDate(day);
}

/** Returns the day of an instant in a time zone, or null if the instant or its day is outside the years 1 to 9999. */
function dayInZone(seconds: number, zone: TimeZone): number | null {
  if (timestampOf(seconds, 0) === null) return null;
  const day = Math.floor((seconds + zone.offsetAt(seconds)) / DAY_SECONDS);
  return day < DAY_MIN || day > DAY_MAX ? null : day;
}

// Parses and formats dates by patterns of digits with kernels. Other patterns, and cells that do not match, are handled
// one by one.

const KINDS: Readonly<Record<string, number>> = {
  y: YEAR,
  M: MONTH,
  d: DAY,
  H: HOUR,
  m: MINUTE,
  s: SECOND,
  S: FRACTION,
};
const YEAR_DIGITS = 4;

/**
 * Returns a function that makes the edit for a column: it parses texts with the first matching pattern, into days or
 * (`withTime`) microseconds. All columns share the description of the patterns. `read` returns the value of a text as the
 * kernel would, or a CellFault.
 */
export function readDatesEdits(
  context: OperatorContext,
  patterns: readonly DatePattern[],
  withTime: boolean,
  read: (text: unknown) => unknown,
  native: NativeReader,
): (target: CellTarget) => CellEdit {
  const first: number[][] = [];
  for (const pattern of patterns) {
    const program = readingProgram(pattern);
    if (program !== null) first.push(program);
    // Patterns are tried in order, so the kernel gets only the patterns before the first one that it does not fully
    // support.
    if (program === null || hasOffset(pattern)) break;
  }
  if (first.length === 0) return (target) => convertEdit(context, target, read, native);
  const program = place(context.arena.heap, first, readingLayout);
  const { kernel } = context;
  const run: ReadCells = (views, rows, count, at, meta, todo) =>
    kernel.exports.readDates(views, rows, count, program, withTime ? 1 : 0, at, meta, todo);
  const ofKinds = { read: native, runNumbers: null };
  return (target) => readEdit(context, target, run, read, ofKinds);
}

/** Parses texts with one pattern, like readDatesEdits. Returns null if no kernel supports the pattern. */
export function dateKernel(
  { arena, kernel }: OperatorContext,
  pattern: DatePattern,
  withTime: boolean,
): ReadCells | null {
  const words = readingProgram(pattern);
  if (words === null) return null;
  const program = place(arena.heap, [words], readingLayout);
  return (views, rows, count, at, meta, todo) =>
    kernel.exports.readDates(views, rows, count, program, withTime ? 1 : 0, at, meta, todo);
}

/**
 * Returns a function that makes the edit for a column of dates, or of times in a zone, which become texts. All columns
 * share the program of the pattern. `write` returns the text of a value.
 */
export function writeDatesEdits(
  context: OperatorContext,
  form: { readonly pattern: DatePattern; readonly zone: TimeZone },
  write: (value: unknown) => unknown,
): (target: CellTarget) => CellEdit {
  // The kernel knows neither zones nor fractions of a second.
  const isTimeCellwise = form.zone.name !== 'UTC' || form.pattern.parts.some(({ letter }) => letter === 'S');
  const program = dateWriter(form.pattern)?.(context.arena.heap) ?? null;
  return (target) => {
    const byCell = convertEdit(context, target, write);
    const withTime = target.source?.type === 'datetime';
    if (program === null || (withTime && isTimeCellwise)) return byCell;
    return writtenDates(context, program, withTime, byCell);
  };
}

function writtenDates(context: OperatorContext, program: number, withTime: boolean, byCell: CellEdit): CellEdit {
  const { arena, kernel } = context;
  return (work) => {
    const { batch, rows, count, column } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed') return byCell(work);
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    if (views === 0) return null;
    arena.heap.u8.fill(0, views, views + batch.rows * VIEW_BYTES);
    const { writeDates } = kernel.exports;
    const { at, meta } = source;
    const end = writeDates(at, meta, rows, count, withTime ? 1 : 0, program, views, arena.next, arena.limit) >>> 0;
    if (end === 0) return null;
    arena.next = end;
    settleText(context, work, 0, views, false);
    return { kind: 'views', at: views };
  };
}

/**
 * Returns null if kernels do not support the pattern, else a function that writes the kernels' program to a heap and
 * returns its address.
 */
export function dateWriter(pattern: DatePattern): ((heap: Heap) => number) | null {
  const words = partWords(pattern.parts, writtenPart);
  return words === null ? null : (heap) => place(heap, [words], writingLayout);
}

/** True if a kernel can parse texts with the pattern. */
function hasKernel(pattern: DatePattern | undefined): boolean {
  return pattern !== undefined && readingProgram(pattern) !== null;
}

function hasOffset({ parts }: DatePattern): boolean {
  return parts.some(({ letter }) => letter === 'X');
}

/**
 * The kernel parses only the UTC offset Z, which nearly all instants have. The caller's function parses the
 * others.
 */
function readingProgram({ parts, twoDigitYearPivot, lacksYear }: DatePattern): number[] | null {
  if (lacksYear) return null;
  const inUtc = parts.map((part) => (part.letter === 'X' ? { letter: '', count: 1, literal: 'Z' } : part));
  return partWords(inUtc, (kind, { letter, count }) => {
    if (letter === 'y')
      return count === 2 ? [SHORT_YEAR, 2, 2, twoDigitYearPivot] : [kind, YEAR_DIGITS, YEAR_DIGITS, 0];
    return [kind, count, letter === 'S' ? count : 2, 0];
  });
}

function writtenPart(kind: number, { letter, count }: DatePart): number[] {
  if (letter === 'y') return count === 2 ? [SHORT_YEAR, 2, 2, 0] : [kind, YEAR_DIGITS, YEAR_DIGITS, 0];
  return [kind, count, 0, 0];
}

/** Returns null if a part is a name, an offset, AM/PM or not ASCII. */
function partWords(parts: readonly DatePart[], words: (kind: number, part: DatePart) => number[]): number[] | null {
  const made: number[] = [];
  for (const part of parts) {
    const { letter, count, literal } = part;
    if (letter === '') {
      for (const byte of Buffer.from(literal)) {
        if (byte >= 0x80) return null;
        made.push(LITERAL, 0, 0, byte);
      }
      continue;
    }
    const kind = KINDS[letter];
    if (kind === undefined || (letter === 'M' && count > 2)) return null;
    made.push(...words(kind, part));
  }
  return made;
}

function place(heap: Heap, programs: readonly (readonly number[])[], layout: LayoutOf): number {
  const words = [
    programs.length,
    ...programs.flatMap((program) => [...patternHead(program.length / PART_WORDS, layout(program)), ...program]),
  ];
  const at = heap.allocate(words.length * 4);
  heap.u32.set(words, at >>> 2);
  return at;
}

// Instants and days in a time zone: a kernel parses the texts as if they were UTC, and each moment is then shifted.
// Cells that the kernel leaves are parsed with the same patterns and shifted with the others.

const TWO_32 = 2 ** 32;
const MICROS_PER_SECOND = 1_000_000;
const MICROS = BigInt(MICROS_PER_SECOND);

/** High words of microseconds that a double represents exactly: 53 bits and the sign. */
const EXACT_HIGH_MAX = 2 ** 21;

/**
 * Returns a function that makes the edit for a column. Returns null if no kernel supports the first pattern, or if a
 * text may contain an offset while others use the zone.
 */
export function zonedDatesEdits(
  context: OperatorContext,
  reading: DateReading,
): ((target: CellTarget) => CellEdit) | null {
  const { patterns, zone, onlySure, epoch, excelSerial } = reading;
  const saysOffset = patterns.some(({ parts }) => parts.some(({ letter }) => /[XZz]/.test(letter)));
  const counts = epoch !== null || excelSerial !== null;
  if (onlySure || counts || (zone !== null && saysOffset) || !hasKernel(patterns[0])) return null;
  const local: DateReading = { ...reading, type: 'datetime', zone: null, toZone: null };
  const readText = dateReader(local);
  const read = reading.type === 'date' ? (text: unknown) => wholeSeconds(readText(text)) : readText;
  const localEdits = readDatesEdits(context, patterns, true, read, nativeDateReader(local));
  const single = { read: dateReader(reading), native: nativeDateReader(reading) };
  const move = mover(reading);
  return (target) => {
    const bySingle = convertEdit(context, target, single.read, single.native);
    // Cells with kinds may be numbers.
    if (target.source?.hasKinds === true) return bySingle;
    const readLocal = localEdits({ ...target, target: { ...target.target, type: 'datetime' } });
    return (work) => {
      if (work.batch.columns[work.column]!.kind === 'typed') return bySingle(work);
      let filled = 0;
      const changed = (count: number): void => {
        filled += count;
      };
      const made = readLocal({ ...work, changed });
      if (made === null) return null;
      if (!('kind' in made) || made.kind !== 'typed') {
        throw new Error('moments are read at once into a typed column');
      }
      filled -= moveAll(work, { ...made, type: reading.type }, move);
      work.changed(filled);
      return reading.type === 'date' ? { ...made, type: 'date' } : made;
    };
  };
}

/** Fractions of a second do not influence the day. */
function wholeSeconds(value: unknown): unknown {
  return value instanceof Timestamp ? new Timestamp(value.seconds, 0) : value;
}

/**
 * Converts local seconds to a day or to the seconds of an instant, or returns the reason why neither exists. Reports a
 * guess to `guessed`.
 */
type Move = (seconds: number, guessed: (code: RowErrorCode) => void) => number | RowErrorCode;

function mover({ type, zone, toZone, dst }: DateReading): Move {
  const move = (seconds: number): number | RowErrorCode => {
    if (type === 'date') return dayInZone(seconds, toZone!) ?? 'OUT_OF_RANGE';
    return timestampOf(seconds, 0) === null ? 'OUT_OF_RANGE' : seconds;
  };
  if (zone === null) return move;
  return (localSeconds, guessed) => {
    const instant = readLocalTime(zone, localSeconds, dst);
    if (typeof instant === 'number') return move(instant);
    if (instant.seconds === null) return instant.code;
    const moved = move(instant.seconds);
    if (typeof moved === 'number') guessed(instant.code);
    return moved;
  };
}

/** Shifts the cells of a row list in place. Returns the number of cells that have no value afterwards. */
function moveAll(
  { batch, rows, count, fail }: CellWork,
  { at, meta, type }: { readonly at: number; readonly meta: number; readonly type: 'date' | 'datetime' },
  move: Move,
): number {
  const { u8, u32, i64 } = batch.heap;
  let failed = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    if (u8[meta + row] === META_NULL) continue;
    const word = (at >>> 2) + row * 2;
    const high = u32[word + 1]! | 0;
    const isExact = high > -EXACT_HIGH_MAX && high < EXACT_HIGH_MAX;
    const micros = isExact ? high * TWO_32 + u32[word]! : i64[(at >>> 3) + row]!;
    const seconds = secondsOf(micros);
    const made = move(seconds, (code) => fail(row, code, COUNTED));
    if (typeof made === 'string') {
      fail(row, made);
      u8[meta + row] = META_NULL;
      failed++;
      continue;
    }
    const value = type === 'date' ? made : made * MICROS_PER_SECOND;
    const rest = type === 'date' || !isExact ? 0 : Number(micros) - seconds * MICROS_PER_SECOND;
    if (isExact && Number.isSafeInteger(value)) {
      u32[word + 1] = Math.floor((value + rest) / TWO_32);
      u32[word] = value + rest - Math.floor((value + rest) / TWO_32) * TWO_32;
    } else i64[(at >>> 3) + row] = type === 'date' ? BigInt(made) : BigInt(micros) + BigInt(made - seconds) * MICROS;
  }
  return failed;
}

function secondsOf(micros: number | bigint): number {
  if (typeof micros === 'number') return Math.floor(micros / MICROS_PER_SECOND);
  const whole = micros / MICROS;
  return Number(micros < 0n && micros % MICROS !== 0n ? whole - 1n : whole);
}
