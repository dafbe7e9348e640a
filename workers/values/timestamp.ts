// Owns instants and durations with nanoseconds: their ranges, arithmetic and RFC 3339 texts. Zones by name are
// time-zone.ts, patterns are date-pattern.ts.
import { civilDate, dayNumber, isDate } from './calendar.ts';

/** Seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: the range of instants (protobuf Timestamp). */
const SECOND_MIN = -62135596800;
/** Seconds of 9999-12-31T23:59:59Z. */
const SECOND_MAX = 253402300799;

/** Largest duration in seconds: 10,000 years, as protobuf Duration has it. */
const DURATION_SECOND_MAX = 315576000000;

const NANOS_PER_SECOND = 1_000_000_000;

/**
 * An instant: `seconds` since 1970-01-01T00:00:00Z (an integer, below zero before it) and `nanos` 0 to 999,999,999.
 * `offsetSeconds` is the zone it is shown in; two instants are equal whatever their offsets.
 */
export class Timestamp {
  readonly seconds: number;
  readonly nanos: number;
  readonly offsetSeconds: number;

  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }

  toString(): string {
    return timestampText(this);
  }
}

/** A span: `seconds` and `nanos` 0 to 999,999,999 to be added (so -0.5 s is -1 and 500,000,000). */
export class Duration {
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds;
    this.nanos = nanos;
  }

  toString(): string {
    return durationText(this);
  }
}

/** An instant within the range, with nanos carried over; null outside. */
export function timestampOf(seconds: number, nanos: number, offsetSeconds = 0): Timestamp | null {
  const carried = seconds + Math.floor(nanos / NANOS_PER_SECOND);
  const rest = nanos - Math.floor(nanos / NANOS_PER_SECOND) * NANOS_PER_SECOND;
  return carried < SECOND_MIN || carried > SECOND_MAX ? null : new Timestamp(carried, rest, offsetSeconds);
}

/** A span within the range, with nanos carried over; null outside. */
export function durationOf(seconds: number, nanos: number): Duration | null {
  const carried = seconds + Math.floor(nanos / NANOS_PER_SECOND);
  const rest = nanos - Math.floor(nanos / NANOS_PER_SECOND) * NANOS_PER_SECOND;
  if (carried > DURATION_SECOND_MAX || (carried === DURATION_SECOND_MAX && rest > 0)) return null;
  return carried < -DURATION_SECOND_MAX ? null : new Duration(carried, rest);
}

/** Earlier, equal or later: -1, 0, 1. Works on spans too. */
export function compareInstants(left: Timestamp | Duration, right: Timestamp | Duration): number {
  if (left.seconds !== right.seconds) return left.seconds < right.seconds ? -1 : 1;
  return left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;
}

/** Reads RFC 3339: `2024-02-29T12:00:00.5+01:00`. Null for anything else and for instants out of range. */
export function parseTimestamp(text: string): Timestamp | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (!isDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return null;
  const nanos = match[7] === undefined ? 0 : Number(match[7].slice(0, 9).padEnd(9, '0'));
  const offset = match[8] === 'Z' || match[8] === 'z' ? 0 : parseOffset(match[8]!);
  if (offset === null) return null;
  return timestampOf(dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset, nanos);
}

/** `+02:00`, `-09:30` or `02:00` as seconds; null when it is none. */
export function parseOffset(text: string): number | null {
  const match = /^([+-]?)([0-9]{2}):([0-9]{2})$/.exec(text);
  if (match === null) return null;
  const hours = Number(match[2]);
  const minutes = Number(match[3]);
  if (hours > 23 || minutes > 59) return null;
  const seconds = hours * 3600 + minutes * 60;
  return match[1] === '-' ? -seconds : seconds;
}

/** RFC 3339 in the instant's own offset, with as many digits of the second as it has (3, 6 or 9, then trimmed). */
export function timestampText(value: Timestamp): string {
  const local = value.seconds + value.offsetSeconds;
  const days = Math.floor(local / 86400);
  const { year, month, day } = civilDate(days);
  const second = local - days * 86400;
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  return `${date}T${time}${fractionText(value.nanos)}${offsetText(value.offsetSeconds)}`;
}

/** `Z`, or `+01:00`. */
export function offsetText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Seconds with a fraction where there is one: `-1.5s`. */
export function durationText(value: Duration): string {
  if (value.seconds >= 0) return `${value.seconds}${fractionText(value.nanos)}s`;
  const whole = value.nanos === 0 ? -value.seconds : -value.seconds - 1;
  return `-${whole}${fractionText(value.nanos === 0 ? 0 : NANOS_PER_SECOND - value.nanos)}s`;
}

/** Reads Go's spans, which CEL uses: `1h45m47s`, `-1.5s`, `300ms`, `0`. Null for anything else and out of range. */
export function parseDuration(text: string): Duration | null {
  const sign = /^[+-]/.test(text) ? text[0] : '';
  const body = text.slice(sign!.length);
  if (body === '0') return new Duration(0, 0);
  if (body.length > 100 || !/^(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return null;
  let nanos = 0n;
  for (const [, whole, fraction, unit] of body.matchAll(/([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const size = UNIT_NANOS[unit!]!;
    const digits = (fraction ?? '').slice(0, 18);
    nanos += BigInt(whole || '0') * size + (BigInt(digits || '0') * size) / 10n ** BigInt(digits.length);
  }
  if (sign === '-') nanos = -nanos;
  const billion = BigInt(NANOS_PER_SECOND);
  const rest = ((nanos % billion) + billion) % billion;
  const seconds = (nanos - rest) / billion;
  return seconds > DURATION_SECOND_MAX || seconds < -DURATION_SECOND_MAX
    ? null
    : durationOf(Number(seconds), Number(rest));
}

/** All of a span in nanoseconds. */
export function durationNanos(value: Duration): bigint {
  return BigInt(value.seconds) * BigInt(NANOS_PER_SECOND) + BigInt(value.nanos);
}

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,18}))?([Zz]|[+-][0-9]{2}:[0-9]{2})$/;

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function fractionText(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}
