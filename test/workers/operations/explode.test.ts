// explode splits cells with kernels: the rows are those of a reference, wherever lists, the arena and batches end, with errors in
// between.
import { test } from 'tap';
import { explode } from '../../../workers/operations/explode.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell, Rows } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\u3000', '-', '--', '😀', '1'), maxLength: 12 });
const separators = fc.constantFrom('-', '--', 'é', ' ', '😀', 'a'.repeat(40));
const ways: fc.Arbitrary<RunOptions> = fc.record({
  batchRows: fc.constantFrom(1, 3, 1000),
  arenaBytes: fc.constantFrom(256, 4096, 1_048_576),
  sparse: fc.boolean(),
  onError: fc.constantFrom('blank' as const, 'keep' as const, 'drop_row' as const),
});

/** Removes the white space that occurs in the cells above. */
const trimmed = (item: string): string => item.replace(/^[ \u3000]+|[ \u3000]+$/g, '');

function expectedRows(
  cells: readonly (string | null)[],
  items: (cell: string) => readonly Cell[] | null,
  itemsMax: number,
  onError: RunOptions['onError'],
): Cell[][] {
  return cells.flatMap((cell, row): Cell[][] => {
    const made = cell === null || cell === '' ? [] : items(cell);
    if (made === null || made.length > itemsMax) {
      if (onError === 'drop_row') return [];
      return [onError === 'keep' ? [String(row), cell, '1'] : [String(row), null, null]];
    }
    return made.length === 0
      ? [[String(row), null, null]]
      : made.map((item, index) => [String(row), item, String(index + 1)]);
  });
}

function check(
  operation: Readonly<Record<string, unknown>>,
  cells: readonly (string | null)[],
  way: RunOptions,
  expected: Rows,
): void {
  const rows = cells.map((cell, row) => [String(row), cell]);
  const made = runOperation(explode, operation, { columns: ['n', 'a'], rows }, way);
  if (JSON.stringify(made.rows) !== JSON.stringify(expected)) {
    throw new Error(JSON.stringify({ operation, way, cells, made: made.rows, expected }));
  }
}

test('cells are cut at a separator', async (t) => {
  const cells = fc.array(fc.option(text, { nil: null, freq: 6 }), { maxLength: 20 });
  const itemsMax = fc.constantFrom(1, 2, 3, 10_000);
  fc.assert(
    fc.property(cells, separators, fc.boolean(), itemsMax, ways, (texts, separator, trim, most, way) => {
      const items = (cell: string) => cell.split(separator).map((item) => (trim ? trimmed(item) : item) || null);
      const operation = { op: 'explode', column: 'a', separator, trim, index_into: 'no', max_items: most };
      check(operation, texts, way, expectedRows(texts, items, most, way.onError));
    }),
    { numRuns: sweep({ short: 38, long: 3000 }) },
  );
  t.pass('all are the same');
});

test('items of JSON arrays are rows', async (t) => {
  const item = fc.constantFrom(...ITEMS);
  const space = fc.constantFrom('', ' ', '\n', '\t ');
  const list = fc.tuple(fc.array(fc.tuple(space, item, space), { maxLength: 6 }), space, space).map(
    ([parts, before, after]): WrittenList => ({
      text: `${before}[${parts.map(([left, [written], right]) => left + written + right).join(',') || before}]${after}`,
      items: parts.map(([, [, value]]) => value),
    }),
  );
  const broken = fc.constantFrom(...BROKEN).map((written): WrittenList => ({ text: written, items: null }));
  const cells = fc.array(fc.option(fc.oneof({ weight: 6, arbitrary: list }, broken), { nil: null }), { maxLength: 20 });
  fc.assert(
    fc.property(cells, fc.constantFrom(1, 3, 10_000), ways, (lists, most, way) => {
      const texts = lists.map((made) => made?.text ?? null);
      const items = new Map(lists.map((made) => [made?.text, made?.items ?? null]));
      const operation = { op: 'explode', column: 'a', json: true, index_into: 'no', max_items: most };
      check(
        operation,
        texts,
        way,
        expectedRows(texts, (cell) => items.get(cell)!, most, way.onError),
      );
    }),
    { numRuns: sweep({ short: 38, long: 3000 }) },
  );
  t.pass('all are the same');
});

interface WrittenList {
  readonly text: string;
  /** Null for an invalid list. */
  readonly items: readonly Cell[] | null;
}

/** Values in their JSON notation, and their cells. */
const ITEMS: readonly (readonly [string, Cell])[] = [
  ['null', null],
  ['""', null],
  ['1.50', '1.50'],
  ['true', 'true'],
  ['-0e3', '-0e3'],
  ['"a"', 'a'],
  ['"\\u00e9\\n"', 'é\n'],
  ['"\\ud83d\\ude00"', '😀'],
  ['"\\ud800"', '\ufffd'],
  ['"😀é"', '😀é'],
  ['[]', '[]'],
  ['{ "x" : [1, "]"] }', '{ "x" : [1, "]"] }'],
  ['[ [ ] , 2 ]', '[ [ ] , 2 ]'],
  ['"a longer text than sixteen bytes \\" it is"', 'a longer text than sixteen bytes " it is'],
];

/** The last list is nested deeper than the engine reads. */
const BROKEN = ['[', '[1,]', '{}', '"a"', '[1] 2', '[1}', '["a]', '1', `${'['.repeat(201)}${']'.repeat(201)}`];

test('a cell of more values than a batch has rows, and many rows without a value', async (t) => {
  const long = Array.from({ length: 9000 }, (_, index) => String(index)).join(';');
  const cells = [null, long, ...Array.from({ length: 5000 }, () => null), long, 'x'];
  const items = (cell: string) => cell.split(';');
  const operation = { op: 'explode', column: 'a', separator: ';', index_into: 'no' };
  check(operation, cells, { batchRows: 3000 }, expectedRows(cells, items, 10_000, 'blank'));
  const lists = cells.map((cell) => (cell === null ? null : `[${cell.replaceAll(';', ',"\\n",')}]`));
  const given = { op: 'explode', column: 'a', json: true, index_into: 'no', max_items: 18_000 };
  for (const arenaBytes of [4096, 1_048_576]) {
    check(
      given,
      lists,
      { batchRows: 3000, arenaBytes },
      expectedRows(
        lists,
        (cell) => {
          return cell === '[x]' ? null : (JSON.parse(cell) as unknown[]).map(String);
        },
        18_000,
        'blank',
      ),
    );
  }
  t.pass('all are the same');
});
