// The steps of a series, such as days or months, and the rows that a group needs for the steps that it lacks.
import type { ColumnType } from '../../batch/schema.ts';
import { addMonths, CalendarDate, DAY_MAX, Timestamp } from '../../values/timestamp.ts';

export const STEP_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

export interface SeriesStep {
  /** null for the numbers of an integer column. */
  readonly unit: (typeof STEP_UNITS)[number] | null;
  readonly every: number;
}

/** Units of dates, in days or months; units of times, in microseconds. */
const DAYS: Readonly<Record<string, number>> = { day: 1, week: 7 };
const MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };
const MICROS: Readonly<Record<string, bigint>> = { minute: 60_000_000n, hour: 3_600_000_000n };
const MICROS_PER_SECOND = 1_000_000n;
const NANOS_PER_MICRO = 1000;

/** Returns the units that a column of this type can have, or null if it can have no series. */
export function unitsOf(type: ColumnType): readonly string[] | null {
  if (type === 'date') return [...Object.keys(DAYS), ...Object.keys(MONTHS)];
  if (type === 'datetime') return Object.keys(MICROS);
  return type === 'integer' ? [] : null;
}

/** Returns the position of a cell's value in the series: days, microseconds or the number itself. */
export function positionOf(value: unknown): bigint {
  if (value instanceof CalendarDate) return BigInt(value.days);
  if (value instanceof Timestamp) {
    return BigInt(value.seconds) * MICROS_PER_SECOND + BigInt(Math.trunc(value.nanos / NANOS_PER_MICRO));
  }
  return BigInt(value as number | bigint);
}

/** The reverse of `positionOf`. */
export function valueAt(position: bigint, type: ColumnType): unknown {
  if (type === 'date') return new CalendarDate(Number(position));
  if (type === 'integer') return position;
  const micros = ((position % MICROS_PER_SECOND) + MICROS_PER_SECOND) % MICROS_PER_SECOND;
  return new Timestamp(Number((position - micros) / MICROS_PER_SECOND), Number(micros) * NANOS_PER_MICRO, 0);
}

/** Lists the missing steps of one group after the other. */
export class MissingSteps {
  readonly #step: SeriesStep;
  /** First and last position of every group, or null for those of the group's rows. */
  readonly #from: bigint | null;
  readonly #to: bigint | null;
  #anchor: bigint | null = null;
  #count = 0n;

  constructor(step: SeriesStep, from: bigint | null, to: bigint | null) {
    this.#step = step;
    this.#from = from;
    this.#to = to;
  }

  begin(): void {
    this.#anchor = this.#from;
    this.#count = 0n;
  }

  /** Yields the missing steps before a row's position. Positions of a group ascend. */
  *before(position: bigint): Generator<bigint, void, undefined> {
    this.#anchor ??= position;
    const end = this.#to !== null && this.#to < position ? this.#to + 1n : position;
    yield* this.#until(end);
    if (this.#at() === position) this.#count++;
  }

  /** Yields the missing steps after the last row of the group. */
  *rest(): Generator<bigint, void, undefined> {
    if (this.#to !== null && this.#anchor !== null) yield* this.#until(this.#to + 1n);
  }

  *#until(end: bigint): Generator<bigint, void, undefined> {
    for (let at = this.#at(); at < end; at = this.#at()) {
      yield at;
      this.#count++;
    }
  }

  /** Months are counted from the first step: after 31 January and 28 February follows 31 March. */
  #at(): bigint {
    const { unit, every } = this.#step;
    const steps = this.#count * BigInt(every);
    const anchor = this.#anchor!;
    if (unit === null) return anchor + steps;
    const micros = MICROS[unit];
    if (micros !== undefined) return anchor + steps * micros;
    const days = DAYS[unit];
    if (days !== undefined) return anchor + steps * BigInt(days);
    const months = Number(steps) * MONTHS[unit]!;
    return months > MONTHS_MAX ? BigInt(DAY_MAX) + 1n : BigInt(addMonths(Number(anchor), months));
  }
}

/** More months than all dates have. */
const MONTHS_MAX = 12 * 9999;
