// Owns the day and the time of a day that a date pattern reads or writes.
import { type Timestamp, timestampOf } from './timestamp.ts';

/** What a text says: a day and the time of that day; `offsetSeconds` is null when the text names no offset. */
export interface DateFields {
  days: number;
  second: number;
  nanos: number;
  offsetSeconds: number | null;
}

/** The fields of an instant in its own offset. */
export function fieldsOfTimestamp(value: Timestamp): DateFields {
  const local = value.seconds + value.offsetSeconds;
  const days = Math.floor(local / 86400);
  return { days, second: local - days * 86400, nanos: value.nanos, offsetSeconds: value.offsetSeconds };
}

/** The instant of fields, with their own offset or the given one; null out of range. */
export function timestampOfFields(fields: DateFields, offsetSeconds: number): Timestamp | null {
  const offset = fields.offsetSeconds ?? offsetSeconds;
  return timestampOf(fields.days * 86400 + fields.second - offset, fields.nanos, offset);
}
