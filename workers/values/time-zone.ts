// Owns offsets of IANA time zones, taken from the runtime's own tzdata through Intl and kept per zone. It does not read
// or write dates.
import { dayNumber } from './calendar.ts';
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

/** Offsets are kept per stretch of 15 minutes: every change of a zone since 1900 that tzdata knows begins on one. */
const STRETCH_SECONDS = 900;

/** Most stretches that are kept per zone; then the store begins again. */
const STRETCHES_MAX = 100_000;

const UTC: TimeZone = { name: 'UTC', offsetAt: () => 0 };

class NamedZone implements TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  offsetAt(seconds: number): number {
    const stretch = Math.floor(seconds / STRETCH_SECONDS);
    let offset = this.#offsets.get(stretch);
    if (offset === undefined) {
      offset = this.#read(stretch * STRETCH_SECONDS);
      if (this.#offsets.size >= STRETCHES_MAX) this.#offsets.clear();
      this.#offsets.set(stretch, offset);
    }
    return offset;
  }

  #read(seconds: number): number {
    const fields: Record<string, number> = {};
    let era = 'AD';
    for (const { type, value } of this.#format.formatToParts(seconds * 1000)) {
      if (type === 'era') era = value;
      else fields[type] = Number(value);
    }
    const year = era.startsWith('B') ? 1 - fields['year']! : fields['year']!;
    const days = dayNumber(year, fields['month']!, fields['day']!);
    return days * DAY_SECONDS + fields['hour']! * 3600 + fields['minute']! * 60 + fields['second']! - seconds;
  }
}
