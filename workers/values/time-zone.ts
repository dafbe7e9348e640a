// Time zones: offsets of IANA zones, and names of zones after times in exports.
import { parseOffset } from './timestamp.ts';

// Offsets of IANA time zones, read from the runtime's tzdata through Intl and cached per zone.

/** A named zone or a fixed offset. */
export interface TimeZone {
  readonly name: string;
  /** Seconds by which local time is ahead of UTC at an instant (seconds since 1970). */
  offsetAt(seconds: number): number;
}

/** Number of occurrences of a local time: once, never, or twice. A clock change skips or repeats times. */
export type LocalTimeKind = 'unique' | 'gap' | 'twice';

/** The zone of `Europe/Berlin`, `UTC`, `Z` or `+02:00`; null if the runtime does not know it. */
export function timeZone(name: string): TimeZone | null {
  if (name === 'UTC' || name === 'Z' || name === 'z') return UTC;
  const fixed = parseOffset(name);
  if (fixed !== null) return { name, offsetAt: () => fixed };
  // Intl accepts further spellings of offsets ("+2"), which are not names. Only names of the database may reach it.
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return null;
  try {
    return new NamedZone(name);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The instants (seconds since 1970) that a local time can mean. Both are equal if `kind` is `unique`. */
export interface LocalInstants {
  readonly kind: LocalTimeKind;
  /** In a gap: interpreted with the offset after the change, so that the clock goes back. */
  readonly earlier: number;
  /** In a gap: interpreted with the offset before the change, so that the clock goes forward. */
  readonly later: number;
}

/** The instants of a local time (seconds of the local clock, counted as if it were UTC). */
export function instantsOfLocal(zone: TimeZone, localSeconds: number): LocalInstants {
  const before = zone.offsetAt(localSeconds - DAY_SECONDS);
  const after = zone.offsetAt(localSeconds + DAY_SECONDS);
  if (before === after && zone.offsetAt(localSeconds - before) === before) {
    return only(localSeconds - before);
  }
  const first = localSeconds - before;
  const second = localSeconds - after;
  const firstHolds = zone.offsetAt(first) === before;
  const secondHolds = zone.offsetAt(second) === after;
  if (firstHolds === secondHolds && first !== second) {
    const kind = firstHolds ? 'twice' : 'gap';
    return { kind, earlier: Math.min(first, second), later: Math.max(first, second) };
  }
  return only(secondHolds ? second : first);
}

/** The first instant of a day (days since 1970) in a zone. */
export function startOfDay(zone: TimeZone, days: number): number {
  const { kind, earlier, later } = instantsOfLocal(zone, days * DAY_SECONDS);
  // If a clock change skips midnight, the day starts with the change, which is midnight moved forward.
  return kind === 'gap' ? later : earlier;
}

function only(seconds: number): LocalInstants {
  return { kind: 'unique', earlier: seconds, later: seconds };
}

const DAY_SECONDS = 86400;

/** Offsets are cached in spans of this many days: one table holds the few changes of a year. */
const SPAN_DAYS = 366;
const SPAN_SECONDS = SPAN_DAYS * DAY_SECONDS;

/**
 * If the offset is equal at two moments this far apart, it is assumed to be constant in between. The shortest time
 * between two opposite changes in tzdata is 7 days (America/Recife in October 2000; all zones, 1880 to 2039).
 */
const SAMPLE_SECONDS = 3 * DAY_SECONDS;

/** Maximum number of spans cached per zone, about 100 bytes each: dates range over 10,000 years. */
const SPANS_MAX = 10_000;

const UTC: TimeZone = { name: 'UTC', offsetAt: () => 0 };

/** The offsets of one span. Each is valid from its start (seconds since 1970) to the next. */
interface OffsetSpan {
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

class NamedZone implements TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #spans = new Map<number, OffsetSpan>();
  /** The span used last: dates of a file are usually close together. */
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

  /** The first second of the offset that is valid at `to`. At `from`, another offset is valid. */
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

  /**
   * Reads the offset at an instant. The runtime formats it as `GMT`, `GMT-03:30`, or with seconds for local mean
   * time: `GMT-03:30:52`.
   */
  #read(seconds: number): number {
    const [, sign, hours, minutes, rest] = LONG_OFFSET.exec(this.#format.format(seconds * 1000))!;
    const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(rest ?? 0);
    return sign === '-' ? -size : size;
  }
}

const LONG_OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

// Parses names of zones after times in exports: `GMT+2`, `UTC-03:00`, `CEST`. Only names with the same offset
// everywhere are accepted.

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Largest offset that clocks have had, in hours. */
const HOURS_MAX = 15;

/**
 * Offsets from UTC in hours. The names of the United States are from RFC 2822. Names that two countries use for
 * different offsets are excluded, such as BST and IST. CST is included although China uses it too, because the RFC
 * defines it.
 */
const ABBREVIATIONS: ReadonlyMap<string, number> = new Map([
  ...Object.entries({
    Z: 0,
    UTC: 0,
    GMT: 0,
    UT: 0,
    WET: 0,
    WEST: 1,
    CET: 1,
    MEZ: 1,
    CEST: 2,
    MESZ: 2,
    EET: 2,
    EEST: 3,
    MSK: 3,
  }),
  ...Object.entries({
    EST: -5,
    EDT: -4,
    CST: -6,
    CDT: -5,
    MST: -7,
    MDT: -6,
    PST: -8,
    PDT: -7,
    AKST: -9,
    AKDT: -8,
    HST: -10,
  }),
  ...Object.entries({ BRT: -3, ART: -3, SAST: 2, JST: 9, KST: 9, AWST: 8, AEST: 10, AEDT: 11, NZST: 12, NZDT: 13 }),
]);

/** A name with an optional offset. The minus may be U+2212. */
const ZONE = /([A-Za-z]{1,4})?(?:([+\-\u2212])(\d{1,2})(?::?([0-5]\d))?)?(?![A-Za-z\d:])/y;

/** Names that may be followed by an offset. */
const BASES: ReadonlySet<string> = new Set(['UTC', 'GMT', 'UT']);

/**
 * Parses a zone at a position: its offset and the position after it. Null if there is no zone, or if its offset is
 * not known for certain.
 */
export function zoneTextAt(text: string, at: number): { readonly offsetSeconds: number; readonly end: number } | null {
  ZONE.lastIndex = at;
  const match = ZONE.exec(text);
  if (match === null || match[0] === '') return null;
  const [whole, written, sign, hours, minutes = '0'] = match;
  const end = at + whole.length;
  const name = written?.toUpperCase();
  if (sign === undefined) {
    const offset = ABBREVIATIONS.get(name!);
    return offset === undefined ? null : { offsetSeconds: offset * HOUR, end };
  }
  if ((name !== undefined && !BASES.has(name)) || Number(hours) > HOURS_MAX) return null;
  const offset = Number(hours) * HOUR + Number(minutes) * MINUTE;
  return { offsetSeconds: sign === '+' ? offset : 0 - offset, end };
}

/**
 * Abbreviations that several countries use for different offsets. A text with such an abbreviation is not read, and its
 * row error is AMBIGUOUS_ZONE.
 */
const AMBIGUOUS = /(?<!\p{L})(?:ACT|ADT|AMT|AST|BST|BT|ECT|GST|IST|LMT|SST|WST)(?![\p{L}\d])/iu;

/** True if a text has an abbreviation of a zone with several meanings. */
export function hasAmbiguousZone(text: string): boolean {
  return AMBIGUOUS.test(text);
}

/** Finds names of zones in texts, such as `Europe/Berlin`, and caches their zones. */
export class ZoneNames {
  readonly #zones = new Map<string, TimeZone | null>();

  /** The zone at a position and the position after it; null: no name of a zone of the IANA database. */
  at(text: string, at: number): { readonly zone: TimeZone; readonly end: number } | null {
    ZONE_NAME.lastIndex = at;
    const name = ZONE_NAME.exec(text)?.[0];
    if (name === undefined) return null;
    let zone = this.#zones.get(name);
    if (zone === undefined) {
      zone = timeZone(name);
      if (this.#zones.size >= ZONE_NAMES_MAX) this.#zones.clear();
      this.#zones.set(name, zone);
    }
    return zone === null ? null : { zone, end: at + name.length };
  }
}

/** Requires a slash. Programs do not write names such as `Japan`. */
const ZONE_NAME = /[A-Za-z]{2,}(?:\/[A-Za-z][A-Za-z0-9_+-]*){1,2}/y;

/** Limits the cache, because a file may contain any number of words with a slash. The database has about 600 names. */
const ZONE_NAMES_MAX = 1_000;

/** `UTC`, `UTC+02:00`. */
export function zoneTextOf(offsetSeconds: number): string {
  const minutes = Math.round(Math.abs(offsetSeconds) / MINUTE);
  if (minutes === 0) return 'UTC';
  const digits = (value: number) => String(value).padStart(2, '0');
  return `UTC${offsetSeconds < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
}
