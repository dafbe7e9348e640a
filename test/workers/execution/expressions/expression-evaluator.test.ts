// The kernels of expressions against the closures: the same rows and the same errors, for random expressions over random cells.
import { test } from 'tap';
import { plannerOf } from '../../../../workers/execution/expressions/planner.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { Comparison } from './comparison.ts';

const comparison = new Comparison({
  t: 'text',
  u: 'text',
  i: 'integer',
  d: 'decimal',
  n: 'number',
  b: 'boolean',
});

const TEXTS = [
  '',
  'paid',
  'paid ',
  'ünpaid',
  '1',
  '-1',
  '100',
  '100.0',
  '1.50',
  '.5',
  '5.',
  '-',
  '.',
  '-0',
  '1e3',
  ' 7',
  '+7',
];
const MORE_TEXTS = [
  '9007199254740993',
  '123456789012345',
  '1234567890123456',
  '0.000000000000001',
  'NaN',
  `${'x'.repeat(40)}paid`,
];
const text = fc.option(fc.constantFrom(...TEXTS, ...MORE_TEXTS), { nil: null, freq: 8 });

const integer = fc.oneof(fc.bigInt(-20n, 120n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
const decimal = fc.record({
  unscaled: fc.oneof(
    fc.bigInt(-20_000n, 20_000n),
    fc.bigInt(-(2n ** 70n), 2n ** 70n),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  ),
  scale: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(30)),
});
const number = fc.oneof(fc.constantFrom(0, -0, 1.5, 100, -7, Number.NaN, Number.POSITIVE_INFINITY), fc.double());
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 8 });

const row = fc.tuple(text, text, orNull(integer), orNull(decimal), orNull(number), orNull(fc.boolean()));
const rows = fc.array(row, { minLength: 1, maxLength: 60 });

const literalText = fc.constantFrom('""', '"paid"', '"100"', '"p"', '"id"', '"ü"', '"x"', '"1.50"');
const textColumn = fc.constantFrom('t', 'u', 'row.t', 'row["u"]');
const order = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');

/** Numbers of one kind. */
function numbers(
  form: 'double' | 'int' | 'decimal',
  column: string,
  literals: string[],
  operators: string[],
): fc.Arbitrary<string> {
  const leaf = fc.oneof(
    fc.constant(column),
    textColumn.map((name) => `${form}(${name})`),
    fc.constantFrom(...literals),
  );
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .tuple(tie('tree'), fc.constantFrom(...operators), tie('tree'))
        .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    ),
  }));
  return tree;
}

const doubles = numbers('double', 'n', ['1.5', '100.0', '0.0', '1e300'], ['+', '-', '*', '/']);
const integers = numbers('int', 'i', ['0', '7', '100', '9007199254740991'], ['+', '-', '*']);
const decimals = numbers('decimal', 'd', ['1.5d', '0.00d', '100d', '123456789.123456789d'], ['+', '-', '*']);

const test1 = fc.oneof(
  fc.tuple(textColumn, order, literalText).map((parts) => parts.join(' ')),
  fc
    .tuple(textColumn, fc.array(literalText, { maxLength: 4 }))
    .map(([name, texts]) => `${name} in [${texts.join(', ')}]`),
  fc
    .tuple(textColumn, fc.constantFrom('startsWith', 'endsWith', 'contains'), literalText)
    .map(([name, f, part]) => `${name}.${f}(${part})`),
  fc.tuple(textColumn, fc.constantFrom('==', '!=')).map(([name, operator]) => `${name} ${operator} null`),
  fc.tuple(doubles, order, doubles).map((parts) => parts.join(' ')),
  fc.tuple(integers, order, integers).map((parts) => parts.join(' ')),
  fc.tuple(decimals, order, decimals).map((parts) => parts.join(' ')),
  fc.tuple(doubles, fc.constantFrom('<', '>='), fc.constantFrom('7', '100')).map((parts) => parts.join(' ')),
  fc.constant('b'),
);

const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 4 },
    test1,
    tie('condition').map((inner) => `!(${inner})`),
    fc
      .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
      .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
  ),
}));

test('conditions by kernels are those by closures', async (t) => {
  let planned = 0;
  fc.assert(
    fc.property(condition, rows, (source, cells) => {
      const expression = comparison.checked(source);
      if (expression === null) return;
      comparison.sameCondition(expression, cells);
      if (plannerOf(expression).states(expression.root) !== null) planned++;
    }),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
  t.ok(planned > sweep({ short: 90, long: 1_500 }), `${planned} conditions were planned`);
});

test('columns of results by kernels equal those by closures', async (t) => {
  let compared = 0;
  const choice = condition.map((source) => `(${source}) ? "yes" : ""`);
  const sources = fc.oneof(doubles, integers, decimals, condition, textColumn, choice);
  fc.assert(
    fc.property(sources, rows, (source, cells) => {
      const expression = comparison.checked(source);
      if (expression === null) return;
      comparison.sameColumn(expression, cells);
      compared++;
    }),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
  t.ok(compared > sweep({ short: 90, long: 1_500 }), `${compared} columns were compared`);
});

test('expressions that kernels support, and expressions that they do not', async (t) => {
  const planned = (source: string, kind: 'states' | 'numbers'): unknown => {
    const expression = comparison.checked(source)!;
    return plannerOf(expression)[kind](expression.root);
  };
  const isPlanned = (source: string): boolean => planned(source, 'states') !== null;
  t.ok(isPlanned('row.t == "paid" && double(row.u) > 100.0'));
  t.ok(isPlanned('!(t in ["a", "b"]) || u.contains("x") && b'));
  t.ok(isPlanned('decimal(t) * 1.2d >= d'));
  t.ok(isPlanned('lower(t) == "paid"'));
  t.ok(isPlanned('t == u'));
  t.notOk(isPlanned('t.reverse() == u.reverse()'));
  t.ok(planned('decimal(t) * 1.19', 'numbers'));
  t.ok(planned('int(t) * 2 + i', 'numbers'));
  t.equal(planned('i / 2', 'numbers'), null);
});
