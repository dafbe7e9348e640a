// Owns instants as seconds or milliseconds since 1970-01-01T00:00:00Z, as logs and APIs write them.
import type { DateFields } from './date-fields.ts';
import { type Timestamp, timestampOf } from './timestamp.ts';

/** What is counted: seconds or milliseconds. */
export type EpochUnit = 's' | 'ms';

const SECONDS_PER_DAY = 86_400;
const NANOS_PER_MILLISECOND = 1_000_000;
const NANOS_DIGITS = 9;
/** More digits than any instant has before its point: 253402300799999 ms is the end of 9999. */
const EPOCH_TEXT = /^(-?)([0-9]{1,15})(?:\.([0-9]{1,9}))?$/;

/** The day and time (UTC) of a number such as `1767225600` or `-0.5`; null for anything else and out of range. */
export function epochFields(text: string, unit: EpochUnit): DateFields | null {
  const match = EPOCH_TEXT.exec(text);
  if (match === null) return null;
  const instant = instantOf(match[2]!, match[3] ?? '', match[1] === '-' ? -1 : 1, unit);
  if (instant === null) return null;
  const days = Math.floor(instant.seconds / SECONDS_PER_DAY);
  return { days, second: instant.seconds - days * SECONDS_PER_DAY, nanos: instant.nanos, offsetSeconds: 0 };
}

/** The whole units before an instant: a fraction is cut off towards the past. */
export function epochOf({ seconds, nanos }: Timestamp, unit: EpochUnit): number {
  return unit === 's' ? seconds : seconds * 1000 + Math.floor(nanos / NANOS_PER_MILLISECOND);
}

function instantOf(whole: string, fraction: string, sign: 1 | -1, unit: EpochUnit): Timestamp | null {
  const count = Number(whole);
  const part = Number(fraction.padEnd(NANOS_DIGITS, '0'));
  if (unit === 's') return timestampOf(sign * count, sign * part);
  const seconds = Math.floor(count / 1000);
  const nanos = (count - seconds * 1000) * NANOS_PER_MILLISECOND + Math.floor(part / 1000);
  return timestampOf(sign * seconds, sign * nanos);
}
