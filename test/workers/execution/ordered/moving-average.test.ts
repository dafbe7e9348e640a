// A moving average equals the mean of the values of the last rows, computed anew for each row.
import { test } from 'tap';
import { ExactSum } from '../../../../workers/execution/aggregate/sums.ts';
import { CellFault } from '../../../../workers/execution/cells/value-cells.ts';
import { movingAverage } from '../../../../workers/execution/ordered/window-functions.ts';
import { addDecimals, Decimal, decimalOf, divideDecimals } from '../../../../workers/values/decimal.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';

type Mean = (values: readonly never[]) => unknown;

function doubleMean(values: readonly number[]): number {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum.mean(values.length);
}

function decimalMean(values: readonly Decimal[]): Decimal | CellFault {
  const sum = values.reduce<Decimal | null>((all, one) => all && addDecimals(all, one), new Decimal(0, 0));
  return (sum && divideDecimals(sum, new Decimal(values.length, 0))) ?? new CellFault('OUT_OF_RANGE');
}

/** A text that is the same for two means only if their values, digits and scales are the same. */
function told(mean: unknown): string {
  if (mean instanceof CellFault) return mean.code;
  if (mean instanceof Decimal) return `${mean.digits} ${typeof mean.digits} ${mean.scale}`;
  return Object.is(mean, -0) ? '-0' : String(mean);
}

function checkAll(type: 'number' | 'decimal', values: readonly unknown[], rows: number, mean: Mean): void {
  const average = movingAverage(type, rows);
  for (const group of [values, values.toReversed()]) {
    average.begin();
    for (const [index, value] of group.entries()) {
      const there = group.slice(Math.max(0, index + 1 - rows), index + 1).filter((one) => one !== null);
      const made = told(average.next(value, null, false));
      const expected = there.length === 0 ? 'null' : told(mean(there as never[]));
      if (made !== expected) throw new Error(`row ${index}: ${made} and not ${expected}`);
    }
  }
}

const rowsOfAverage = fc.integer({ min: 1, max: 9 });
const numRuns = sweep({ short: 500, long: 50_000 });

test('doubles', async (t) => {
  const double = fc.oneof(
    fc.double(),
    fc.integer({ min: -1000, max: 1000 }).map((n) => n / 10),
    fc.constantFrom(...[0, -0, 1e308, -1e308, Number.MAX_VALUE, Number.MIN_VALUE, 1e16, 1, 0.1]),
  );
  const values = fc.array(fc.option(double, { nil: null, freq: 6 }), { maxLength: 40 });
  fc.assert(
    fc.property(values, rowsOfAverage, (some, rows) => checkAll('number', some, rows, doubleMean)),
    { numRuns },
  );
  t.pass('all are the same');
});

test('decimals, also of nearly too many digits', async (t) => {
  const digits = fc.oneof(
    fc.bigInt({ min: -100_000n, max: 100_000n }),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.constantFrom(10n ** 400n, 10n ** 400n - 1n, 10n ** 1000n - 1n, 1n - 10n ** 1000n, 5n * 10n ** 999n),
  );
  const scale = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom(20, 400, 401, 1000));
  const decimal = fc.tuple(digits, scale).map(([some, places]) => decimalOf(some, places)!);
  const values = fc.array(fc.option(decimal, { nil: null, freq: 6 }), { maxLength: 40 });
  fc.assert(
    fc.property(values, rowsOfAverage, (some, rows) => checkAll('decimal', some, rows, decimalMean)),
    { numRuns },
  );
  t.pass('all are the same');
});

test('a wide average takes as long as a narrow one', async (t) => {
  const milliseconds = (rows: number): number => {
    const average = movingAverage('decimal', rows);
    average.begin();
    const begun = process.cpuUsage();
    for (let row = 0; row < 20_000; row++) average.next(new Decimal((row * 7919) % 10_007, 2), null, false);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
  const tries = [1, 2, 3].map(() => milliseconds(1000) / milliseconds(10));
  t.comment(`${Math.min(...tries).toFixed(1)} times as long`);
  // Computing the sum anew for each row takes at least 70 times as long.
  t.ok(Math.min(...tries) < 10, 'its sum is not made anew for each row');
});
