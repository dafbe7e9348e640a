// Owns offsets of IANA time zones, taken from the runtime's own tzdata through Intl and kept per zone. It does not read
// or write dates.
import { parseOffset } from './timestamp.ts';

/** A zone by its name or a fixed offset. */
export interface TimeZone {
  readonly name: string;
  /** Seconds that local time is ahead of UTC at an instant (seconds since 1970). */
  offsetAt(seconds: number): number;
}

/** What a local time is that a change of the clock left out or has twice. */
export type LocalTimeKind = 'unique' | 'gap' | 'twice';

/** The zone of `Europe/Berlin`, `UTC`, `Z` or `+02:00`; null when the runtime does not know it. */
export function timeZone(name: string): TimeZone | null {
  if (name === 'UTC' || name === 'Z' || name === 'z') return UTC;
  const fixed = parseOffset(name);
  if (fixed !== null) return { name, offsetAt: () => fixed };
  // Intl takes further spellings of offsets ("+2"), which are no names; only names of the database may reach it.
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return null;
  try {
    return new NamedZone(name);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The instant of a local time (seconds of the local clock counted as if it were UTC). In a gap it is read with the
 * offset before the change, so the clock goes forward; of a time that comes twice it is the first.
 */
export function instantOfLocal(zone: TimeZone, localSeconds: number): { seconds: number; kind: LocalTimeKind } {
  const before = zone.offsetAt(localSeconds - DAY_SECONDS);
  const after = zone.offsetAt(localSeconds + DAY_SECONDS);
  if (before === after && zone.offsetAt(localSeconds - before) === before) {
    return { seconds: localSeconds - before, kind: 'unique' };
  }
  const first = localSeconds - before;
  const second = localSeconds - after;
  const firstHolds = zone.offsetAt(first) === before;
  const secondHolds = zone.offsetAt(second) === after;
  if (firstHolds && secondHolds) {
    return { seconds: Math.min(first, second), kind: first === second ? 'unique' : 'twice' };
  }
  if (firstHolds) return { seconds: first, kind: 'unique' };
  if (secondHolds) return { seconds: second, kind: 'unique' };
  return { seconds: first, kind: 'gap' };
}

const DAY_SECONDS = 86400;

/** Offsets are looked up in spans of so many days: a year of a zone has its few changes in one table. */
const SPAN_DAYS = 366;
const SPAN_SECONDS = SPAN_DAYS * DAY_SECONDS;

/**
 * Where the offset is the same at two moments so far apart, it is taken to be so in between: the shortest time for which a
 * zone of tzdata changes its clock and changes it back is 7 days (America/Recife in October 2000; all zones, 1880 to 2039).
 */
const SAMPLE_SECONDS = 3 * DAY_SECONDS;

/** Most spans that are kept per zone, some 100 bytes each: what a date can name has 10,000 years. */
const SPANS_MAX = 10_000;

const UTC: TimeZone = { name: 'UTC', offsetAt: () => 0 };

/** The offsets of one span: each holds from its start (seconds since 1970) to the next. */
interface OffsetSpan {
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

class NamedZone implements TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #spans = new Map<number, OffsetSpan>();
  /** The last span that was looked into: dates of a file are mostly near each other. */
  #number = Number.NaN;
  #span: OffsetSpan = { starts: [], offsets: [] };

  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset', year: 'numeric' });
  }

  offsetAt(seconds: number): number {
    const number = Math.floor(seconds / SPAN_SECONDS);
    if (number !== this.#number) {
      this.#span = this.#spanOf(number);
      this.#number = number;
    }
    const { starts, offsets } = this.#span;
    let index = starts.length - 1;
    while (index > 0 && starts[index]! > seconds) index--;
    return offsets[index]!;
  }

  #spanOf(number: number): OffsetSpan {
    let span = this.#spans.get(number);
    if (span === undefined) {
      span = this.#makeSpan(number * SPAN_SECONDS);
      if (this.#spans.size >= SPANS_MAX) this.#spans.clear();
      this.#spans.set(number, span);
    }
    return span;
  }

  #makeSpan(start: number): OffsetSpan {
    const end = start + SPAN_SECONDS;
    const starts = [start];
    const offsets = [this.#read(start)];
    for (let at = start; at < end; at += SAMPLE_SECONDS) {
      const offset = this.#read(at + SAMPLE_SECONDS);
      if (offset === offsets.at(-1)) continue;
      starts.push(this.#changeWithin(at, at + SAMPLE_SECONDS));
      offsets.push(offset);
    }
    return { starts, offsets };
  }

  /** The first second of the offset that holds at `to`; at `from` another one holds. */
  #changeWithin(from: number, to: number): number {
    const offset = this.#read(to);
    let [before, after] = [from, to];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.#read(middle) === offset) after = middle;
      else before = middle;
    }
    return after;
  }

  /** The runtime names it as `GMT`, `GMT-03:30`, or with the seconds that local mean times have: `GMT-03:30:52`. */
  #read(seconds: number): number {
    const [, sign, hours, minutes, rest] = LONG_OFFSET.exec(this.#format.format(seconds * 1000))!;
    const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(rest ?? 0);
    return sign === '-' ? -size : size;
  }
}

const LONG_OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
