// The steps of a series, such as days or months, and the rows that a group needs for the steps that it lacks.
import type { ColumnType } from '../../batch/schema.ts';
import { addMonths, CalendarDate, civilDate, endOfMonth, startOfMonth, Timestamp } from '../../values/timestamp.ts';

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

/**
 * Lists the missing steps of a series, group by group. With steps of months, a row counts for the month, quarter or
 * year that contains its date. An added date has the same day of the month as `from`. Without `from`, it has the latest
 * day of the month among the rows so far, or the last day of its month if this is true of all rows so far.
 */
export class MissingSteps {
  readonly #step: SeriesStep;
  /** First and last position of every group, or null for those of the group's rows. */
  readonly #from: bigint | null;
  readonly #to: bigint | null;
  #anchor: bigint | null = null;
  #count = 0n;
  /** Number of months of a step, or null for other units. */
  readonly #months: number | null;
  /** Day of the month of added dates, from 1. */
  #day = 1;
  #isMonthEnd = true;

  constructor(step: SeriesStep, from: bigint | null, to: bigint | null) {
    this.#step = step;
    this.#from = from;
    this.#to = to;
    const months = step.unit === null ? undefined : MONTHS[step.unit];
    this.#months = months === undefined ? null : months * step.every;
  }

  begin(): void {
    this.#anchor = this.#from;
    this.#count = 0n;
    this.#day = 1;
    this.#isMonthEnd = true;
    if (this.#months !== null && this.#from !== null) this.#seeDay(this.#from, true);
  }

  /** Yields the missing steps before a row's position. Positions of a group ascend. */
  *before(position: bigint): Generator<bigint, void, undefined> {
    this.#anchor ??= position;
    if (this.#months !== null) return yield* this.#beforeMonth(position, this.#months);
    const end = this.#to !== null && this.#to < position ? this.#to + 1n : position;
    yield* this.#until(end);
    if (this.#at() === position) this.#count++;
  }

  /** The same for steps of months. */
  *#beforeMonth(position: bigint, months: number): Generator<bigint, void, undefined> {
    const anchor = this.#anchor!;
    if (position >= anchor) this.#seeDay(position, this.#from === null);
    const steps = BigInt(Math.floor((monthOf(position) - monthOf(anchor)) / months));
    while (this.#count < steps) {
      const at = this.#at();
      if (this.#to !== null && at > this.#to) return;
      yield at;
      this.#count++;
    }
    if (this.#count === steps) this.#count++;
  }

  #seeDay(position: bigint, isDayOfSeries: boolean): void {
    const days = Number(position);
    if (isDayOfSeries) this.#day = Math.max(this.#day, civilDate(days).day);
    if (days !== endOfMonth(days)) this.#isMonthEnd = false;
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

  #at(): bigint {
    const { unit, every } = this.#step;
    const steps = this.#count * BigInt(every);
    const anchor = this.#anchor!;
    if (unit === null) return anchor + steps;
    const micros = MICROS[unit];
    if (micros !== undefined) return anchor + steps * micros;
    const days = DAYS[unit];
    if (days !== undefined) return anchor + steps * BigInt(days);
    const first = addMonths(startOfMonth(Number(anchor)), Number(steps) * MONTHS[unit]!);
    const last = endOfMonth(first);
    return BigInt(this.#isMonthEnd ? last : Math.min(first + this.#day - 1, last));
  }
}

/** Number of the month of a day, counted from the year 0. */
function monthOf(position: bigint): number {
  const { year, month } = civilDate(Number(position));
  return year * 12 + month - 1;
}
