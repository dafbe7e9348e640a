// Compares closures chosen by static types with the dispatch by values: the same expression gives the same result over typed
// columns and over columns of unknown type.

import { test } from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { checkExpression } from '../../../workers/expression/check/checker.ts';
import { compileExpression } from '../../../workers/expression/compile/compiler.ts';
import type { ExpressionEnvironment } from '../../../workers/expression/compile/environment.ts';
import {
  EvaluationError,
  type Integer,
  narrowInteger,
  type Value,
  widenInteger,
} from '../../../workers/expression/compile/value.ts';
import { jsonText } from '../../../workers/expression/compile/value-text.ts';
import { typeName } from '../../../workers/expression/functions/conversion.ts';
import { type Decimal, decimalOf } from '../../../workers/values/decimal.ts';
import { CalendarDate } from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { ENVIRONMENT, ROW, run } from './row-case.ts';

const TYPES = ['integer', 'number', 'decimal', 'text', 'boolean', 'date'] as const;

/** Two columns of each type. The row contains values of dynamic type. */
const COLUMNS = new Map<string, ColumnType>(
  TYPES.flatMap((type) => [
    [`${type}1`, type],
    [`${type}2`, type],
  ]),
);

const integers = fc.oneof(
  // The values that the expressions contain, so that both sides of a comparison are often equal.
  fc.constantFrom(0n, 1n, 2n, 3n, -7n, 9007199254740993n),
  fc.bigInt({ min: -20n, max: 20n }),
  fc.constantFrom(2n ** 52n + 1n, 2n ** 62n, 94906267n),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const cells: Readonly<Record<(typeof TYPES)[number], fc.Arbitrary<Value>>> = {
  integer: integers,
  number: fc.oneof(fc.double(), fc.constantFrom(0, -0, 1.5, -2.25, 3), fc.integer({ min: -5, max: 5 })),
  decimal: fc.tuple(integers, fc.nat({ max: 4 })).map(([digits, scale]) => decimalOf(digits, scale) as Decimal),
  text: fc.constantFrom('', 'a', 'ab', 'b', 'Ä', '😀', '12', '-3', '1.5'),
  boolean: fc.boolean(),
  date: fc.integer({ min: -1000, max: 1000 }).map((days) => new CalendarDate(days)),
};
const rows = fc.record(
  Object.fromEntries(
    TYPES.flatMap((type) => [1, 2].map((index) => [`${type}${index}`, fc.option(cells[type], { freq: 6 })])),
  ) as Record<string, fc.Arbitrary<Value>>,
);

/** Expressions by the type of their result. */
const { condition } = fc.letrec<Record<'integer' | 'number' | 'decimal' | 'text' | 'condition', string>>((tie) => {
  const column = (type: string) => fc.constantFrom(`${type}1`, `${type}2`);
  const joined = (left: fc.Arbitrary<string>, operators: readonly string[], right: fc.Arbitrary<string>) =>
    fc.tuple(left, fc.constantFrom(...operators), right).map((parts) => `(${parts.join(' ')})`);
  const chosen = (part: fc.Arbitrary<string>) =>
    fc.tuple(tie('condition'), part, part).map(([c, x, y]) => `(${c} ? ${x} : ${y})`);
  const grow = { maxDepth: 3, depthIdentifier: 'expression' };
  const ORDERS = ['<', '<=', '>', '>=', '==', '!='];
  const compared = (['integer', 'number', 'decimal', 'text'] as const).map((type) =>
    joined(tie(type), ORDERS, tie(type)),
  );
  return {
    integer: fc.oneof(
      grow,
      column('integer'),
      fc.constantFrom('0', '3', '-7', '9007199254740993'),
      joined(tie('integer'), ['+', '-', '*', '/', '%'], tie('integer')),
      tie('integer').map((x) => `(-${x})`),
      tie('text').map((x) => `size(${x})`),
      tie('text').map((x) => `int(${x})`),
      chosen(tie('integer')),
    ),
    number: fc.oneof(
      grow,
      column('number'),
      fc.constantFrom('0.0', '1.5', '-2.25'),
      joined(tie('number'), ['+', '-', '*', '/'], tie('number')),
      tie('text').map((x) => `double(${x})`),
      chosen(tie('number')),
    ),
    decimal: fc.oneof(
      grow,
      column('decimal'),
      fc.constantFrom('0d', '1.50d', '-2.25d'),
      joined(tie('decimal'), ['+', '-', '*', '/', '%'], tie('decimal')),
      joined(tie('decimal'), ['+', '*'], column('integer')),
      tie('text').map((x) => `decimal(${x})`),
    ),
    text: fc.oneof(
      grow,
      column('text'),
      fc.constantFrom('"a"', '"12"'),
      joined(tie('text'), ['+'], tie('text')),
      tie('integer').map((x) => `string(${x})`),
      tie('text').map((x) => `upper(${x})`),
      chosen(tie('text')),
    ),
    condition: fc.oneof(
      grow,
      column('boolean'),
      ...compared,
      // Single comparisons again, because inside larger conditions they seldom determine the result.
      joined(column('integer'), [...ORDERS], fc.constantFrom('0', '3', '-7', '1.5')),
      joined(column('number'), ORDERS, fc.constantFrom('0.0', '1.5', '-2.25', '3')),
      joined(joined(column('integer'), ['+', '-', '*', '/', '%'], column('integer')), ORDERS, tie('integer')),
      joined(tie('integer'), ORDERS, tie('number')),
      joined(column('date'), ORDERS, column('date')),
      joined(tie('condition'), ['&&', '||'], tie('condition')),
      tie('condition').map((x) => `!${x}`),
      tie('text').map((x) => `${x}.startsWith("a")`),
      tie('text').map((x) => `(${x} in ["a", "b", "12"])`),
      tie('integer').map((x) => `(${x} in [3, 4, 9007199254740993])`),
      tie('integer').map((x) => `[1, 2, 3].exists(v, v > ${x})`),
    ),
  };
});

/** The result with its type, or the code of its error. */
function outcome(source: string, environment: ExpressionEnvironment, cell: (name: string) => unknown): string {
  const checked = checkExpression(source, environment);
  if ('problems' in checked) throw new Error(`${source}: ${checked.problems[0]!.message}`);
  try {
    const result = compileExpression<null>(checked.expression, { column: (name) => () => cell(name) })(null);
    const value = checked.expression.type.kind === 'int' ? widenInteger(result as Integer) : (result as Value);
    return `${typeName(value)} ${jsonText(value)}`;
  } catch (error) {
    if (error instanceof EvaluationError) return error.code;
    throw error;
  }
}

test('typed closures give the same results as dispatch by values', async (t) => {
  const outcomes = new Map<string, number>();
  const unknown = new Map(Array.from(COLUMNS.keys(), (name): [string, ColumnType] => [name, 'json']));
  fc.assert(
    fc.property(condition, fc.array(rows, { minLength: 6, maxLength: 6 }), (source, tried) => {
      for (const row of tried) {
        const typed = outcome(source, { columns: COLUMNS }, (name) => {
          const cell = row[name] ?? null;
          return typeof cell === 'bigint' ? narrowInteger(cell) : cell;
        });
        const dynamic = outcome(source, { columns: unknown, mode: 'dynamic' }, (name) => row[name] ?? null);
        outcomes.set(typed, (outcomes.get(typed) ?? 0) + 1);
        if (typed !== dynamic) throw new Error(`${source}: ${typed} with types, ${dynamic} without`);
      }
    }),
    { numRuns: sweep({ short: 1000, long: 5000 }) },
  );
  for (const seen of ['bool true', 'bool false', 'null_type null', 'OUT_OF_RANGE', 'NOT_A_NUMBER']) {
    t.ok((outcomes.get(seen) ?? 0) > 20, `${seen} came ${outcomes.get(seen)} times`);
  }
});

test('the cell at hand', async (t) => {
  const environment: ExpressionEnvironment = { ...ENVIRONMENT, value: 'text' };
  t.equal(run('upper(value) + row["value"]', ROW, environment), 'CELLown');
  t.match(run('value + 1', ROW, environment), /^!\+ does not take string and int/);
});
