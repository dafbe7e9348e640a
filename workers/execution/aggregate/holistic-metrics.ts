// Metrics that need all values of a group: median, percentile, mode, count_distinct. They hold them while memory allows it;
// when there are too many they work on them when they come back sorted (late-values.ts).
import type { ColumnType } from '../../batch/schema.ts';
import type { BudgetShare } from '../../memory/budget.ts';
import {
  addDecimals,
  compareDecimals,
  Decimal,
  decimalFromNumber,
  multiplyDecimals,
  roundDecimal,
  subtractDecimals,
} from '../../values/decimal.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { Accumulator, HeldValue, SortedMetric } from './accumulator.ts';

/** What the metrics of one operation hold of one group at most, so that no group can end the thread. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

/** Taken whatever the budget says, so that ordinary groups do not depend on what other Runs hold. */
const HELD_BYTES_FORCED = 2 * 1024 * 1024;

/** A value in an array or map of the runtime, its text not counted. */
const VALUE_BYTES = 64;

/** Charged in steps, so that the budget is not asked for each value. */
const CHARGE_BYTES = 1024 * 1024;

/** Counts what is held of the group at hand. */
export class HeldBytes {
  readonly #budget: BudgetShare;
  #heldBytes = 0;
  #chargedBytes = 0;
  #isOver = false;

  constructor(budget: BudgetShare) {
    this.#budget = budget;
  }

  /** Whether more is held than may be: the metrics are to let go of their values before the next row. */
  get isOver(): boolean {
    return this.#isOver;
  }

  hold(textLength = 0): void {
    this.#heldBytes += VALUE_BYTES + textLength * 2;
    if (this.#heldBytes > HELD_BYTES_MAX) this.#isOver = true;
    if (this.#heldBytes <= this.#chargedBytes) return;
    if (this.#heldBytes > HELD_BYTES_FORCED && !this.#budget.take(CHARGE_BYTES)) {
      this.#isOver = true;
      return;
    }
    if (this.#heldBytes <= HELD_BYTES_FORCED) this.#budget.force(CHARGE_BYTES);
    this.#chargedBytes += CHARGE_BYTES;
  }

  release(): void {
    this.#isOver = false;
    this.#heldBytes = 0;
    if (this.#chargedBytes > 0) this.#budget.give(this.#chargedBytes);
    this.#chargedBytes = 0;
  }
}

export function distinctCount(column: ColumnType, held: HeldBytes): Accumulator {
  const counts = countedValues(held);
  let different = 0;
  const sorted: SortedMetric = {
    begin: () => {
      different = 0;
    },
    add: (_value, isNew) => {
      if (isNew) different++;
    },
    end: () => different,
  };
  return {
    begin: counts.begin,
    add: counts.add,
    end: () => counts.entries.size,
    holding: { type: column, sorted },
  };
}

/** The most frequent value; of equally frequent ones that which came first. */
export function mode(column: ColumnType, held: HeldBytes): Accumulator {
  const counts = countedValues(held);
  return {
    begin: counts.begin,
    add: counts.add,
    end: () => {
      let most: HeldValue | null = null;
      for (const entry of counts.entries.values()) if (most === null || entry.count > most.count) most = entry;
      return most?.value ?? null;
    },
    holding: { type: column, sorted: sortedMode() },
  };
}

/** The longest run of equals; of equally long ones that whose first value came first. */
function sortedMode(): SortedMetric {
  const none = { value: null as unknown, count: 0, place: 0 };
  let most = none;
  let run = none;
  const close = (): void => {
    if (run.count > most.count || (run.count === most.count && run.place < most.place)) most = run;
  };
  return {
    begin: () => {
      most = none;
      run = none;
    },
    add: ({ value, count }, isNew, place) => {
      if (!isNew) {
        run.count += count;
        return;
      }
      close();
      run = { value, count, place };
    },
    end: () => {
      close();
      return most.value;
    },
  };
}

function countedValues(held: HeldBytes) {
  const entries = new Map<string, { readonly value: unknown; count: number }>();
  return {
    get entries() {
      return entries;
    },
    begin: () => entries.clear(),
    add: (value: unknown) => {
      if (value === null) return;
      const key = canonicalText(value);
      const known = entries.get(key);
      if (known !== undefined) {
        known.count++;
        return;
      }
      held.hold(key.length * 2);
      entries.set(key, { value, count: 1 });
    },
  };
}

/** Equal values have equal texts: 1.5 and 1.50. */
function canonicalText(value: unknown): string {
  if (typeof value === 'number' && value === 0) return '0';
  const text = textOfValue(value);
  return value instanceof Decimal && value.scale > 0 ? text.replace(/\.?0+$/, '') : text;
}

/** Between two values the part of the way that is left, as in spreadsheets (PERCENTILE.INC); decimals stay exact. */
export function percentile(column: ColumnType, percent: number, held: HeldBytes): Accumulator {
  const part = decimalFromNumber(percent);
  if (part === null) throw new Error('a percentage is a finite number');
  const type = column === 'number' ? 'number' : 'decimal';
  let values: unknown[] = [];
  return {
    begin: () => {
      values = [];
    },
    add: (value) => {
      if (value === null) return;
      held.hold();
      values.push(column === 'integer' ? new Decimal(value as number | bigint, 0) : value);
    },
    end: () => {
      if (values.length === 0) return null;
      const place = placeAmong(values.length, part);
      if (place === null) return new CellFault('OUT_OF_RANGE');
      if (type === 'number') (values as number[]).sort((a, b) => a - b);
      else (values as Decimal[]).sort(compareDecimals);
      return between(values[place.at], values[place.at + 1], place.rest);
    },
    holding: {
      type,
      sorted: sortedPercentile(part),
    },
  };
}

function sortedPercentile(part: Decimal): SortedMetric {
  let place: SortedPlace | null = null;
  let taken = 0;
  let low: unknown = null;
  let high: unknown = null;
  return {
    begin: (count) => {
      place = placeAmong(count, part);
      taken = 0;
    },
    add: ({ value }) => {
      if (taken === place?.at) low = value;
      else if (taken - 1 === place?.at) high = value;
      taken++;
    },
    end: () => {
      if (taken === 0) return null;
      return place === null ? new CellFault('OUT_OF_RANGE') : between(low, high, place.rest);
    },
  };
}

/** Behind the value at `at` of the sorted ones, `rest` of the step to the next one. */
interface SortedPlace {
  readonly at: number;
  readonly rest: Decimal;
}

/** Null when it takes more digits than there are. */
function placeAmong(count: number, part: Decimal): SortedPlace | null {
  const place = multiplyDecimals(part, new Decimal(count - 1, 2));
  const whole = place === null ? null : roundDecimal(place, 0, 'down');
  return place === null || whole === null ? null : { at: Number(whole.digits), rest: subtractDecimals(place, whole)! };
}

function between(low: unknown, high: unknown, rest: Decimal): unknown {
  if (typeof low !== 'number') {
    return betweenDecimals(low as Decimal, high as Decimal, rest) ?? new CellFault('OUT_OF_RANGE');
  }
  const way = Number(rest);
  return way === 0 ? low : low + ((high as number) - low) * way;
}

function betweenDecimals(low: Decimal, high: Decimal, rest: Decimal): Decimal | null {
  if (Number(rest.digits) === 0) return low;
  const step = subtractDecimals(high, low);
  const way = step === null ? null : multiplyDecimals(step, rest);
  const value = way === null ? null : addDecimals(low, way);
  if (value === null) return null;
  let { scale } = value;
  let digits = BigInt(value.digits);
  for (; scale > Math.max(low.scale, high.scale) && digits % 10n === 0n; scale--) digits /= 10n;
  return roundDecimal(value, scale, 'down');
}
