// Compares arithmetic on statically typed ints with 64-bit bigints.

import { test } from 'tap';
import {
  EvaluationError,
  INT_MAX,
  INT_MIN,
  type Integer,
  narrowInteger,
} from '../../../../workers/expression/compile/value.ts';
import {
  addIntegers,
  divideIntegers,
  multiplyIntegers,
  negateInteger,
  remainderOfIntegers,
  subtractIntegers,
} from '../../../../workers/expression/functions/operator.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';

const integers = fc.oneof(
  fc.bigInt({ min: -100n, max: 100n }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: -(2n ** 53n) - 3n, max: -(2n ** 53n) + 3n }),
  fc.bigInt({ min: -(2n ** 33n), max: 2n ** 33n }),
  fc.bigInt({ min: INT_MIN, max: INT_MAX }),
  fc.constantFrom(INT_MIN, INT_MAX, 0n, 1n, -1n),
);

const OPERATIONS: readonly [(left: Integer, right: Integer) => Integer, (left: bigint, right: bigint) => bigint][] = [
  [addIntegers, (left, right) => left + right],
  [subtractIntegers, (left, right) => left - right],
  [multiplyIntegers, (left, right) => left * right],
  [divideIntegers, (left, right) => left / right],
  [remainderOfIntegers, (left, right) => left % right],
  [(left) => negateInteger(left), (left) => -left],
];

/** The result or the error, including its type: -0 and unsafe numbers are not ints. */
function outcome(compute: () => unknown): string {
  try {
    const value = compute();
    return Object.is(value, -0) ? 'minus zero' : `${typeof value} ${value}`;
  } catch (error) {
    if (error instanceof EvaluationError) return error.code;
    if (error instanceof RangeError) return 'EXPR_DIV_ZERO';
    throw error;
  }
}

test('ints compute as integers of 64 bits', async (t) => {
  fc.assert(
    fc.property(integers, integers, fc.constantFrom(...OPERATIONS), (left, right, [operate, exact]) => {
      const expected = outcome(() => {
        const value = exact(left, right);
        return value < INT_MIN || value > INT_MAX ? null : narrowInteger(value);
      });
      const given = outcome(() => operate(narrowInteger(left), narrowInteger(right)));
      return given === (expected === 'object null' ? 'OUT_OF_RANGE' : expected);
    }),
    { numRuns: sweep({ short: 1_250, long: 20_000 }) },
  );
  t.pass();
});
