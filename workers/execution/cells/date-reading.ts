// Reads one text, or one cell that its file knows for a kind, as a date or an instant: by patterns, then as a number.
import { KIND_DATE, KIND_NUMBER } from '../../kernel/layout/native-kinds.ts';
import { CalendarDate, DAY_MAX, DAY_MIN } from '../../values/calendar.ts';
import type { DateFields } from '../../values/date-fields.ts';
import type { DatePattern } from '../../values/date-pattern.ts';
import { decimalText } from '../../values/decimal.ts';
import { type EpochUnit, epochFields } from '../../values/epoch.ts';
import { excelFields } from '../../values/excel-day.ts';
import { nativeDate, nativeNumber } from '../../values/native-cell.ts';
import { instantOfLocal, type TimeZone } from '../../values/time-zone.ts';
import { timestampOf } from '../../values/timestamp.ts';
import { CellFault, type NativeReader } from './value-cells.ts';

const DAY_SECONDS = 86_400;

/** How the texts of a column are read. */
export interface DateReading {
  readonly patterns: readonly DatePattern[];
  readonly type: 'date' | 'datetime';
  /** Of times without an offset; null: UTC. */
  readonly zone: TimeZone | null;
  /** In which the day of a date is counted; null: as it stands in the text. */
  readonly toZone: TimeZone | null;
  /** What numbers are that no pattern reads: null in both, nothing. */
  readonly epoch: EpochUnit | null;
  readonly excelSerial: '1900' | '1904' | null;
  /** Whether a text that two patterns read as different days is an error. */
  readonly onlySure: boolean;
  /** Whether a local time that a change of the clock left out is moved on. */
  readonly shiftsGaps: boolean;
}

/**
 * A date that the file knows as such is taken as it is, the time of a day too where a time is wanted. A whole number is
 * read as the text of its digits (20260131), any other by `epoch` or `excelSerial` alone: a pattern with a point must not
 * read it.
 */
export function nativeDateReader(reading: DateReading): NativeReader {
  const read = dateReader(reading);
  return (text, kind) => {
    if (kind === KIND_NUMBER && /^[0-9]+$/.test(text)) return read(text);
    const fields = kind === KIND_NUMBER ? nativeCount(text, reading) : nativeDate(text, kind);
    if (fields === null) return new CellFault('NOT_A_DATE');
    // A day has no zone in which it could be another.
    return kind === KIND_DATE && reading.type === 'date' ? new CalendarDate(fields.days) : result(fields, reading);
  };
}

/** The value of a text, or a CellFault. */
export function dateReader(reading: DateReading): (value: unknown) => unknown {
  const { patterns, onlySure } = reading;
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
    return found === null ? new CellFault('NOT_A_DATE') : result(found, reading);
  };
}

function count(text: string, { epoch, excelSerial }: DateReading): DateFields | null {
  if (epoch !== null) return epochFields(text, epoch);
  return excelSerial === null ? null : excelFields(text, excelSerial);
}

/** JSON may write a count with an exponent. */
function nativeCount(text: string, reading: DateReading): DateFields | null {
  const number = reading.epoch === null ? null : nativeNumber(text);
  return count(number === null ? text : decimalText(number), reading);
}

function result(fields: DateFields, { type, zone, toZone, shiftsGaps }: DateReading): unknown {
  if (type === 'date' && toZone === null) return new CalendarDate(fields.days);
  const local = fields.days * DAY_SECONDS + fields.second;
  let seconds = local - (fields.offsetSeconds ?? 0);
  if (fields.offsetSeconds === null && zone !== null) {
    const instant = instantOfLocal(zone, local);
    if (instant.kind === 'gap' && !shiftsGaps) return new CellFault('DATE_IN_DST_GAP');
    seconds = instant.seconds;
  }
  if (type === 'datetime') return timestampOf(seconds, fields.nanos) ?? new CellFault('OUT_OF_RANGE');
  const day = dayInZone(seconds, toZone!);
  return day === null ? new CellFault('OUT_OF_RANGE') : new CalendarDate(day);
}

/** The day of an instant by the clock of a zone; null where the instant or its day is outside the years 1 to 9999. */
export function dayInZone(seconds: number, zone: TimeZone): number | null {
  if (timestampOf(seconds, 0) === null) return null;
  const day = Math.floor((seconds + zone.offsetAt(seconds)) / DAY_SECONDS);
  return day < DAY_MIN || day > DAY_MAX ? null : day;
}
