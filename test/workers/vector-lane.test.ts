// The kernels of expressions against the closures: the same rows, the same errors, on random expressions over random cells.
import fc from 'fast-check';
import { type Test, test } from 'tap';
import type { Batch, ColumnData } from '../../workers/batch.ts';
import { checkExpression } from '../../workers/expression/checker.ts';
import type { CheckedExpression } from '../../workers/expression/resolution.ts';
import type { CellEdit } from '../../workers/operations/cells/cell-operator.ts';
import { CellFault, valueEdit } from '../../workers/operations/cells/value-cells.ts';
import { expressionEdit } from '../../workers/operations/expressions/expression-edit.ts';
import { rowCondition } from '../../workers/operations/expressions/row-condition.ts';
import { RowExpression } from '../../workers/operations/expressions/row-expression.ts';
import { planNumbers, planStates } from '../../workers/operations/expressions/vector-plan.ts';
import type { OperatorContext } from '../../workers/operations/operation.ts';
import type { ColumnType, Schema } from '../../workers/schema.ts';
import { SpillFolder } from '../../workers/spill/spill-folder.ts';
import { type Bench, batchOf, newBench, schemaOf, type TypedValue, typedColumn, viewsColumn } from './build-batch.ts';
import { cellText } from './operations/harness.ts';

const TYPES: Readonly<Record<string, ColumnType>> = {
  t: 'text',
  u: 'text',
  i: 'integer',
  d: 'decimal',
  n: 'number',
  b: 'boolean',
};
const SCHEMA: Schema = schemaOf(TYPES);
const STARTED_AT = '2026-01-31T12:00:00Z';

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

type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

function batchOfRows(bench: Bench, cells: readonly Row[]): Batch {
  const column = (index: number) => cells.map((row) => row[index] as TypedValue);
  const columns: ColumnData[] = [
    viewsColumn(
      bench,
      cells.map(([t]) => t),
    ),
    viewsColumn(
      bench,
      cells.map(([, u]) => u),
    ),
    typedColumn(bench, 'integer', column(2)),
    typedColumn(bench, 'decimal', column(3)),
    typedColumn(bench, 'number', column(4)),
    typedColumn(bench, 'boolean', column(5)),
  ];
  return batchOf(bench, cells.length, columns);
}

/** No expression here looks anything up. */
const AROUND = {
  tables: new Map(),
  spill: new SpillFolder('none'),
  startedAt: STARTED_AT,
  beforeRows(): void {
    throw new Error('no expression here reads a table');
  },
};

function checked(source: string): CheckedExpression | null {
  const result = checkExpression(source, { columns: new Map(Object.entries(TYPES)) });
  return 'expression' in result ? result.expression : null;
}

/** The rows that the closures keep, and the errors that they meet. */
function byClosures(
  expression: CheckedExpression,
  bench: Bench,
  batch: Batch,
): { kept: number[]; failed: [number, string][] } {
  const closures = new RowExpression(expression, SCHEMA, { ...bench, ...AROUND });
  closures.bind(batch);
  const all = Array.from({ length: batch.live }, (_, at) => batch.physicalRow(at));
  const results = all.map((row) => [row, closures.holds(row)] as const);
  bench.arena.clear();
  return {
    kept: results.filter(([, holds]) => holds === true).map(([row]) => row),
    failed: results.flatMap(([row, holds]) =>
      holds instanceof CellFault ? [[row, holds.code] as [number, string]] : [],
    ),
  };
}

function sameConditions(t: Test, source: string, cells: readonly Row[]): void {
  const expression = checked(source);
  if (expression === null) return;
  t.ok(planStates(expression) !== null, `is planned: ${source}`);
  const bench = newBench();
  const batch = batchOfRows(bench, cells);
  const expected = byClosures(expression, bench, batch);
  const choose = rowCondition(expression, SCHEMA, { ...bench, ...AROUND });
  const list = bench.arena.take(batch.live * 4);
  bench.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
  const failed: [number, string][] = [];
  const count = choose(batch, list, batch.live, (row, code) => failed.push([row, code]));
  const kept = [...bench.heap.u32.subarray(list >>> 2, (list >>> 2) + count)];
  if (JSON.stringify({ kept, failed }) === JSON.stringify(expected)) return;
  throw new Error(`${source}: ${JSON.stringify({ kept, failed })} instead of ${JSON.stringify(expected)}`);
}

test('conditions by kernels are those by closures', async (t) => {
  let planned = 0;
  const counting = { ok: () => planned++ } as unknown as Test;
  fc.assert(
    fc.property(condition, rows, (source, cells) => sameConditions(counting, source, cells)),
    { numRuns: 3000 },
  );
  t.ok(planned > 2500, `${planned} conditions were planned`);
});

/** The cells of an edit, its failures and its count of changes. */
function cellsOf(edit: CellEdit, batch: Batch): unknown {
  const failed: [number, string][] = [];
  let changed = 0;
  const rows = batch.arena.take(batch.live * 4);
  batch.heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
  const made = edit({
    batch,
    column: -1,
    rows,
    count: batch.live,
    inPlace: false,
    fail: (row, code) => failed.push([row, code]),
    changed: (count) => {
      changed += count;
    },
  });
  if (made === null) throw new Error('the arena is full');
  const cells = Array.from({ length: batch.live }, (_, at) => cellText(batch, made, batch.physicalRow(at)));
  batch.arena.clear();
  return { cells, failed: failed.sort(([a], [b]) => a - b), changed };
}

test('columns of results by kernels are those by closures', async (t) => {
  let compared = 0;
  const choice = condition.map((source) => `(${source}) ? "yes" : ""`);
  const sources = fc.oneof(doubles, integers, decimals, condition, textColumn, choice);
  fc.assert(
    fc.property(sources, rows, (source, cells) => {
      const expression = checked(source);
      if (expression === null) return;
      const bench = newBench();
      const batch = batchOfRows(bench, cells);
      const context = { ...bench, input: SCHEMA, startedAt: STARTED_AT } as unknown as OperatorContext;
      const closures = new RowExpression(expression, SCHEMA, context);
      const byClosures = valueEdit(context, {
        type: closures.type,
        bind: (rows) => closures.bind(rows),
        compute: (row) => closures.cell(row),
      });
      const expected = JSON.stringify(cellsOf(byClosures, batch));
      const found = JSON.stringify(cellsOf(expressionEdit(context, expression), batch));
      if (found !== expected) throw new Error(`${source}: ${found} instead of ${expected}`);
      compared++;
    }),
    { numRuns: 3000 },
  );
  t.ok(compared > 2500, `${compared} columns were compared`);
});

test('what is planned and what is not', async (t) => {
  const isPlanned = (source: string) => planStates(checked(source)!) !== null;
  t.ok(isPlanned('row.t == "paid" && double(row.u) > 100.0'));
  t.ok(isPlanned('!(t in ["a", "b"]) || u.contains("x") && b'));
  t.ok(isPlanned('decimal(t) * 1.2d >= d'));
  t.notOk(isPlanned('lower(t) == "paid"'));
  t.notOk(isPlanned('t == u'));
  t.ok(planNumbers(checked('decimal(t) * 1.19')!) !== null);
  t.ok(planNumbers(checked('int(t) * 2 + i')!) !== null);
  t.equal(planNumbers(checked('i / 2')!), null);
});
