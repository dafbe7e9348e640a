// Variance and standard deviation: exact for integers and decimals, by Welford's method for doubles.
import type { ColumnType } from '../../batch/schema.ts';
import { addDecimals, Decimal, multiplyDecimals, powerOfTen } from '../../values/decimal.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { Accumulator } from './accumulator.ts';

/** Of a sample (n - 1); null for less than two values. Integers and decimals are summed exactly. */
export function variance(column: ColumnType, root: boolean): Accumulator {
  const inner = column === 'number' ? doubleVariance() : exactVariance();
  return {
    begin: inner.begin,
    add: inner.add,
    end: () => {
      const value = inner.end();
      return typeof value === 'number' && root ? Math.sqrt(value) : value;
    },
  };
}

/** Welford's method, in the order of the source. */
function doubleVariance(): Accumulator {
  let [count, mean, squares] = [0, 0, 0];
  return {
    begin: () => {
      [count, mean, squares] = [0, 0, 0];
    },
    add: (value) => {
      if (value === null) return;
      const x = value as number;
      const distance = x - mean;
      count++;
      mean += distance / count;
      squares += distance * (x - mean);
    },
    end: () => (count < 2 ? null : squares / (count - 1)),
  };
}

function exactVariance(): Accumulator {
  const zero = new Decimal(0, 0);
  let count = 0;
  let sum: Decimal | null = zero;
  let squares: Decimal | null = zero;
  return {
    begin: () => {
      count = 0;
      sum = zero;
      squares = zero;
    },
    add: (value) => {
      if (value === null || sum === null || squares === null) return;
      const x = value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
      const square = multiplyDecimals(x, x);
      sum = addDecimals(sum, x);
      squares = square === null ? null : addDecimals(squares, square);
      count++;
    },
    end: () => {
      if (sum === null || squares === null) return new CellFault('OUT_OF_RANGE');
      if (count < 2) return null;
      const scale = Math.max(squares.scale, sum.scale * 2);
      const squared = BigInt(sum.digits) ** 2n * powerOfTen(scale - sum.scale * 2);
      const above = BigInt(count) * BigInt(squares.digits) * powerOfTen(scale - squares.scale) - squared;
      return ratio(above, BigInt(count) * BigInt(count - 1) * powerOfTen(scale));
    },
  };
}

/** A quotient of whole numbers that are not negative as a double, from its first 70 bits or more. */
function ratio(above: bigint, below: bigint): number {
  const shift = Math.max(0, 70 + below.toString(2).length - above.toString(2).length);
  const quotient = Number((above << BigInt(shift)) / below);
  return shift < 1000 ? quotient / 2 ** shift : quotient / 2 ** 1000 / 2 ** (shift - 1000);
}
