// The JSON kernel against JSON.stringify: escapes at all positions of a step, kinds of columns, nesting, nulls, buffer sizes.
import assert from 'node:assert/strict';
import t from 'tap';
import type { ColumnData } from '../../../workers/batch/batch.ts';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { nestConflicts } from '../../../workers/output/json/json-writer.ts';
import { checkTemplate } from '../../../workers/plan/template-cache.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import {
  batchOf,
  drive,
  newBench,
  rawBatch,
  schemaOf,
  select,
  type TypedValue,
  typedColumn,
  viewsColumn,
} from '../batch/build-batch.ts';
import { createRowWriter, jsonOutput, keepingSink } from '../output/output-settings.ts';

const characters = fc.constantFrom(
  ...[
    'a',
    'b',
    '"',
    '\\',
    '\n',
    '\r',
    '\t',
    '\b',
    '\f',
    '\u0000',
    '\u001f',
    '\u007f',
    ',',
    '/',
    'é',
    '€',
    '😀',
    '\u2028',
  ],
);

const cell = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: characters, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom('', 'NA', 'null', '"', '""') },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 13, max: 70 }), characters)
      .map(([length, last]) => 'x'.repeat(length) + last),
  },
);

interface Kind {
  readonly type: ColumnType;
  readonly value: fc.Arbitrary<string | TypedValue>;
}

const bigint64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const kinds: readonly Kind[] = [
  { type: 'text', value: cell },
  { type: 'integer', value: bigint64 },
  {
    type: 'decimal',
    value: fc.record({ unscaled: fc.oneof(bigint64, fc.bigInt()), scale: fc.integer({ min: 0, max: 40 }) }),
  },
  { type: 'number', value: fc.double() },
  { type: 'boolean', value: fc.boolean() },
  { type: 'date', value: fc.bigInt({ min: -719162n, max: 2932896n }) },
  { type: 'datetime', value: fc.bigInt({ min: 0n, max: 253402300799n }).map((seconds) => seconds * 1_000_000n) },
  { type: 'json', value: fc.json().map((text) => JSON.stringify(JSON.parse(text))) },
];

/** JSON text of a value, or null. Implemented independently of the writer. */
function jsonOf(type: ColumnType, value: string | TypedValue, decimals: string): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return type === 'json' ? value : JSON.stringify(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') {
    if (type === 'integer') return String(value);
    if (type === 'date') return `"${new Date(Number(value) * 86_400_000).toISOString().slice(0, 10)}"`;
    return `"${new Date(Number(value / 1000n)).toISOString().replace('.000', '')}"`;
  }
  const digits = String(value.unscaled)
    .replace('-', '')
    .padStart(value.scale + 1, '0');
  const point = digits.length - value.scale;
  const sign = value.unscaled < 0n ? '-' : '';
  const text = `${sign}${digits.slice(0, point)}${value.scale > 0 ? `.${digits.slice(point)}` : ''}`;
  return decimals === 'string' ? `"${text}"` : text;
}

/** A row by the paths of its names: objects are maps, so that their order is that of first appearance. */
type Tree = Map<string, string | Tree>;

function rowText(names: readonly string[], values: readonly (string | null)[], nest: boolean, omit: boolean): string {
  const root: Tree = new Map();
  names.forEach((name, index) => {
    const path = nest ? name.split('.') : [name];
    const parent = path.slice(0, -1).reduce((tree, key) => {
      if (!tree.has(key)) tree.set(key, new Map());
      return tree.get(key) as Tree;
    }, root);
    const value = values[index]!;
    parent.set(path.at(-1)!, value ?? (omit ? 'left out' : 'null'));
  });
  return treeText(root, omit) ?? '{}';
}

function treeText(tree: Tree, omit: boolean): string | null {
  const members = [...tree].flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : treeText(value, omit);
    return text === null || text === 'left out' ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return members.length === 0 && omit ? null : `{${members.join(',')}}`;
}

const NAMES = [
  'a.b',
  'a name longer than two steps of a copy',
  'a.c.d',
  'quoted "name"\n',
  'e.f',
  'a.c.e',
  'é',
  'e.g.h',
];

t.test('all kinds of columns are written as by JSON.stringify', async () => {
  const table = fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: NAMES.length }).chain((columns) =>
    fc.record({
      columns: fc.constant(columns),
      rows: fc.array(fc.tuple(...columns.map((kind) => fc.option(kind.value))), { maxLength: 6 }),
      picks: fc.array(fc.nat(), { maxLength: 8 }),
      decimals: fc.constantFrom('number', 'string'),
      nulls: fc.constantFrom('include', 'omit'),
      nest: fc.constantFrom('.', null),
      format: fc.constantFrom('json', 'ndjson'),
      bytes: fc.constantFrom(16, 3000, 8192),
    }),
  );
  fc.assert(
    fc.property(table, ({ columns, rows, picks, decimals, nulls, nest, format, bytes }) => {
      const bench = newBench();
      const names = NAMES.slice(0, columns.length);
      const data = columns.map(({ type }, index): ColumnData => {
        const values = rows.map((row) => row[index]!);
        if (type === 'text' || type === 'json') return viewsColumn(bench, values as (string | null)[]);
        return typedColumn(bench, type, values as TypedValue[]);
      });
      const selection = rows.length === 0 ? [] : picks.map((pick) => pick % rows.length);
      const sink = keepingSink();
      const writer = createRowWriter({
        output: jsonOutput(format, { decimals, nulls, nest }),
        schema: schemaOf(Object.fromEntries(names.map((name, index) => [name, columns[index]!.type]))),
        nullValues: [''],
        kernel: bench.kernel,
        heap: bench.heap,
        clock: bench.clock,
        sink,
        bufferBytes: bytes,
      });
      const batch = select(bench, batchOf(bench, rows.length, data), selection);
      // Two batches: the second must continue after the end of the first.
      const middle = Math.floor(selection.length / 2);
      drive(writer.push(batch.slice(0, middle)));
      drive(writer.push(batch.slice(middle, selection.length)));
      writer.finish();
      const texts = selection.map((pick) => {
        const values = columns.map(({ type }, index) => jsonOf(type, rows[pick]![index]!, decimals));
        return rowText(names, values, nest === '.', nulls === 'omit');
      });
      const lines = texts.map((text) => `${text}\n`).join('');
      const array = texts.length === 0 ? '[]\n' : `[\n${texts.join(',\n')}\n]\n`;
      assert.equal(sink.text(), format === 'json' ? array : lines);
      if (format === 'json') JSON.parse(sink.text());
    }),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
});

t.test('raw fields, quoted or not, with all sorts of null values', async () => {
  const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 });
  const nullValues = fc.constantFrom<string[]>([''], ['', 'NA'], [], ['"', 'NA'], ['null']);
  fc.assert(
    fc.property(rows, nullValues, fc.boolean(), fc.constantFrom(16, 4096), (rows, nullValues, always, bytes) => {
      const bench = newBench();
      const text = rows.map((row) => `${row.map((cell) => fieldText(cell, always)).join(',')}\n`).join('');
      const sink = keepingSink();
      const writer = createRowWriter({
        output: jsonOutput('ndjson'),
        schema: schemaOf({ a: 'text', b: 'text', c: 'text' }),
        nullValues,
        kernel: bench.kernel,
        heap: bench.heap,
        clock: bench.clock,
        sink,
        bufferBytes: bytes,
      });
      drive(writer.push(rawBatch(bench, Buffer.from(text), 3, { nullValues })));
      writer.finish();
      const lines = rows.map((row) => {
        const [a, b, c] = row.map((cell) => (nullValues.includes(cell) ? null : cell));
        return `${JSON.stringify({ a, b, c })}\n`;
      });
      assert.equal(sink.text(), lines.join(''));
    }),
    { numRuns: sweep({ short: 120, long: 2000 }) },
  );
});

t.test('a JSON value keeps to its line', async (t) => {
  const bench = newBench();
  const sink = keepingSink();
  const writer = createRowWriter({
    output: jsonOutput('ndjson'),
    schema: schemaOf({ a: 'json' }),
    nullValues: [''],
    kernel: bench.kernel,
    heap: bench.heap,
    clock: bench.clock,
    sink,
  });
  drive(writer.push(batchOf(bench, 1, [viewsColumn(bench, ['{\n\t"a": [1,\r\n 2]\n}'])])));
  writer.finish();
  t.equal(sink.text(), '{"a":{  "a": [1,   2] }}\n');
});

t.test('names that cannot be nested side by side are found', async (t) => {
  t.same(nestConflicts(['a', 'a.b'], '.'), [[0, 1]]);
  t.same(nestConflicts(['a.b.c', 'x', 'a.b'], '.'), [[0, 2]]);
  t.same(nestConflicts(['a', 'a.', '.a', 'a..b', '__proto__.a', 'constructor'], '.'), []);
  t.same(nestConflicts(['a', 'a.b'], null), []);
  const template = (nest: string) =>
    checkTemplate(
      `{"format": 1, "operations": [{"select": {"columns": ["a", "a.b"]}}], "output": {"format": "json", "json": {"nest": "${nest}"}}}`,
      'json',
    );
  t.match(template('.'), { problems: [{ pointer: '/output/json/nest', code: 'NAME_CONFLICT' }] });
  t.notOk('problems' in template('/'));
  try {
    createRowWriter({
      ...newBench(),
      output: jsonOutput('json', { nest: '.' }),
      schema: schemaOf({ x: 'text', 'secret.a': 'text', secret: 'text' }),
      nullValues: [''],
      sink: keepingSink(),
    });
    t.fail('it was taken');
  } catch (error) {
    t.ok(error instanceof Failed);
    t.match((error as Failed).failure, { code: 'TEMPLATE_CHECK_FAILED', message: /^Columns 2 and 3 of the output/ });
    t.notMatch((error as Failed).failure.message, /secret/, 'names may come from the file');
  }
});

function fieldText(cell: string, always: boolean): string {
  return always || /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
