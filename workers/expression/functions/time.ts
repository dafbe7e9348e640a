// Owns CEL's selectors on instants and spans (getFullYear and so on) with their time zones.
import { civilDate, dayOfYear, isoWeekday } from '../../values/calendar.ts';
import { type TimeZone, timeZone } from '../../values/time-zone.ts';
import { type Duration, durationNanos, type Timestamp } from '../../values/timestamp.ts';
import { DURATION, INT, STRING, TIMESTAMP } from '../check/type.ts';
import { BAD_ARGUMENT } from '../compile/evaluation-error.ts';
import { narrowInteger } from '../compile/value.ts';
import {
  type Constants,
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type Overload,
  overload,
} from './definition.ts';

/** Zones that one call keeps when the zone is no literal. */
const ZONES_KEPT_MAX = 64;

/** A lookup of zones that keeps them; BAD_ARGUMENT for an unknown one. */
export function zoneCache(): (name: string) => TimeZone {
  const kept = new Map<string, TimeZone>();
  return (name) => {
    let zone = kept.get(name);
    if (zone === undefined) {
      const found = timeZone(name);
      if (found === null) throw BAD_ARGUMENT;
      zone = found;
      if (kept.size >= ZONES_KEPT_MAX) kept.clear();
      kept.set(name, zone);
    }
    return zone;
  };
}

/** What is wrong with a literal zone at a position. */
export function checkZone(position: number) {
  return (constants: Constants): string | null => {
    const name = constants[position];
    return typeof name === 'string' && timeZone(name) === null
      ? `The time zone ${JSON.stringify(name)} is unknown. Write a name such as "Europe/Berlin" or an offset such as "+02:00".`
      : null;
  };
}

/** A number out of the local clock (`local` seconds as if UTC) of an instant; UTC when no zone is given. */
function selector(
  name: string,
  result: string,
  select: (local: number, nanos: number) => number,
  more: readonly Overload[] = [],
): DocumentedFunction {
  const zoned = (_context: Context) => {
    const zoneOf = zoneCache();
    return (at: Timestamp, zone: string) => select(at.seconds + zoneOf(zone).offsetAt(at.seconds), at.nanos);
  };
  const definition = define(
    name,
    'method',
    [
      overload([TIMESTAMP], INT, (at: Timestamp) => select(at.seconds, at.nanos)),
      { parameters: [TIMESTAMP, STRING], result: INT, prepare: zoned },
      ...more,
    ],
    { check: checkZone(1) },
  );
  const part = name.slice('get'.length);
  return documented(
    `instant.${name}([zone])`,
    `The ${part} of an instant in UTC or a zone, counted as CEL counts (months and days of the week from 0).`,
    `timestamp("2024-02-29T23:30:15.25Z").${name}()`,
    result,
    definition,
  );
}

const day = (local: number) => Math.floor(local / 86400);
const secondOfDay = (local: number) => local - day(local) * 86400;
const ofDuration = (divisor: bigint) =>
  overload([DURATION], INT, (span: Duration) => narrowInteger(durationNanos(span) / divisor));

export const TIME_FUNCTIONS: readonly DocumentedFunction[] = [
  selector('getFullYear', '2024', (local) => civilDate(day(local)).year),
  selector('getMonth', '1', (local) => civilDate(day(local)).month - 1),
  selector('getDate', '29', (local) => civilDate(day(local)).day),
  selector('getDayOfMonth', '28', (local) => civilDate(day(local)).day - 1),
  selector('getDayOfWeek', '4', (local) => isoWeekday(day(local)) % 7),
  selector('getDayOfYear', '59', (local) => dayOfYear(day(local)) - 1),
  selector('getHours', '23', (local) => Math.floor(secondOfDay(local) / 3600), [ofDuration(3_600_000_000_000n)]),
  selector('getMinutes', '30', (local) => Math.floor(secondOfDay(local) / 60) % 60, [ofDuration(60_000_000_000n)]),
  selector('getSeconds', '15', (local) => secondOfDay(local) % 60, [ofDuration(1_000_000_000n)]),
  selector('getMilliseconds', '250', (_local, nanos) => Math.floor(nanos / 1_000_000), [
    overload([DURATION], INT, (span: Duration) => narrowInteger((durationNanos(span) % 1_000_000_000n) / 1_000_000n)),
  ]),
];
