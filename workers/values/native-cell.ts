// Owns the values of canonical texts: what a cell is of a file that knows its kind (kernel/layout/native-kinds.ts). They are
// read by their kind alone, whatever a Template says of the texts of its other files.
import { KIND_DATE, KIND_DATETIME } from '../kernel/layout/native-kinds.ts';
import { parseDateText } from './calendar.ts';
import type { DateFields } from './date-fields.ts';
import { type Decimal, parseDecimal } from './decimal.ts';
import { parseOffset } from './timestamp.ts';

const SECONDS_PER_HOUR = 3600;
const DATE_LENGTH = 10;
const NANOS_DIGITS = 9;

/** Of a number as JSON writes it, with the scale as written; null when it has more digits than a decimal. */
export function nativeNumber(text: string): Decimal | null {
  return parseDecimal(text, true);
}

/** Of a date or a date with time, as it stands there; null for any other kind. A date is its midnight, in no zone. */
export function nativeDate(text: string, kind: number): DateFields | null {
  if (kind !== KIND_DATE && kind !== KIND_DATETIME) return null;
  const days = parseDateText(text.slice(0, DATE_LENGTH));
  if (days === null) return null;
  if (kind === KIND_DATE) return { days, second: 0, nanos: 0, offsetSeconds: null };
  const match = /^T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,18}))?(Z|[+-][0-9]{2}:[0-9]{2})?$/.exec(
    text.slice(DATE_LENGTH),
  );
  if (match === null) return null;
  const [hours, minutes, seconds] = match.slice(1, 4).map(Number) as [number, number, number];
  return {
    days,
    second: hours * SECONDS_PER_HOUR + minutes * 60 + seconds,
    nanos: Number((match[4] ?? '').slice(0, NANOS_DIGITS).padEnd(NANOS_DIGITS, '0')),
    offsetSeconds: match[5] === undefined ? null : match[5] === 'Z' ? 0 : parseOffset(match[5]),
  };
}
