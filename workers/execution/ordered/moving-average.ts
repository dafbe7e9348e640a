// The average of the last rows, for `window`: of each row that comes and goes the sum is changed, and not made anew. Both kinds
// of sums are exact, so that the order and what was taken away leave no trace.
import type { ColumnType } from '../../batch/schema.ts';
import { addDecimals, Decimal, divideDecimals, roundDecimal, subtractDecimals } from '../../values/decimal.ts';
import { ExactSum } from '../aggregate/exact-sum.ts';
import { CellFault } from '../cells/value-cells.ts';
import { decimalOfCell, type WindowStep } from './window-step.ts';

/** The sum of the values that are there. */
interface MovingSum {
  add(value: unknown): void;
  take(value: unknown): void;
  /** @param last all values that are there, the oldest first */
  mean(count: number, last: () => readonly unknown[]): unknown;
}

/** Of the values of the last rows, this one included; null where none of them has one. */
export function movingAverage(column: ColumnType, rows: number): WindowStep {
  /** The place of the oldest is the next to be written. */
  let values: unknown[] = [];
  let seen = 0;
  let count = 0;
  let sum: MovingSum = column === 'number' ? new DoubleSum() : new DecimalSum();
  const last = (): readonly unknown[] => {
    const oldest = seen % rows;
    return [...values.slice(oldest), ...values.slice(0, oldest)].filter((value) => value !== null);
  };
  return {
    begin: () => {
      values = [];
      seen = 0;
      count = 0;
      sum = column === 'number' ? new DoubleSum() : new DecimalSum();
    },
    next: (value) => {
      const place = seen++ % rows;
      const gone = values[place] ?? null;
      values[place] = value;
      if (gone !== null) {
        sum.take(gone);
        count--;
      }
      if (value !== null) {
        sum.add(value);
        count++;
      }
      return count === 0 ? null : sum.mean(count, last);
    },
  };
}

class DoubleSum implements MovingSum {
  readonly #sum = new ExactSum();
  /** Infinities and NaN cannot be taken away again: how many of each are there. */
  readonly #special = new Map<string, number>();

  add(value: number): void {
    if (Number.isFinite(value)) this.#sum.add(value);
    else this.#count(value, 1);
  }

  take(value: number): void {
    if (Number.isFinite(value)) this.#sum.add(-value);
    else this.#count(value, -1);
  }

  mean(count: number): number {
    if (this.#special.size === 0) return this.#sum.mean(count);
    return [...this.#special.keys()].reduce((sum, special) => sum + Number(special), 0);
  }

  #count(value: number, change: number): void {
    const key = String(value);
    const there = (this.#special.get(key) ?? 0) + change;
    if (there === 0) this.#special.delete(key);
    else this.#special.set(key, there);
  }
}

/** With fewer digits before and behind the point no sum of a thousand values comes near the 1,000 digits of a decimal. */
const PLAIN_SCALE_MAX = 400;
const PLAIN_LIMIT = 10n ** 400n;

class DecimalSum implements MovingSum {
  #sum = new Decimal(0, 0);
  /** How many values have each scale: the sum has the largest. */
  readonly #scales = new Map<number, number>();
  #scale = 0;
  /** Values that may have too many digits on the way to the sum: with one of them it is made anew. */
  #wide = 0;

  add(value: unknown): void {
    const term = decimalOfCell(value);
    if (isWide(term)) {
      this.#wide++;
      return;
    }
    this.#sum = addDecimals(this.#sum, term)!;
    this.#scales.set(term.scale, (this.#scales.get(term.scale) ?? 0) + 1);
    this.#scale = Math.max(this.#scale, term.scale);
  }

  take(value: unknown): void {
    const term = decimalOfCell(value);
    if (isWide(term)) {
      this.#wide--;
      return;
    }
    this.#sum = subtractDecimals(this.#sum, term)!;
    const left = this.#scales.get(term.scale)! - 1;
    this.#scales.set(term.scale, left);
    if (left > 0) return;
    this.#scales.delete(term.scale);
    if (term.scale < this.#scale) return;
    this.#scale = Math.max(0, ...this.#scales.keys());
    // What is dropped is zeros.
    this.#sum = roundDecimal(this.#sum, this.#scale, 'down')!;
  }

  mean(count: number, last: () => readonly unknown[]): Decimal | CellFault {
    const sum = this.#wide === 0 ? this.#sum : sumOf(last());
    const mean = sum && divideDecimals(sum, new Decimal(count, 0));
    return mean ?? new CellFault('OUT_OF_RANGE');
  }
}

function isWide({ digits, scale }: Decimal): boolean {
  return scale > PLAIN_SCALE_MAX || (typeof digits === 'bigint' && (digits >= PLAIN_LIMIT || digits <= -PLAIN_LIMIT));
}

/** Null where it has too many digits on the way. */
function sumOf(values: readonly unknown[]): Decimal | null {
  return values.reduce<Decimal | null>(
    (sum, value) => sum && addDecimals(sum, decimalOfCell(value)),
    new Decimal(0, 0),
  );
}
