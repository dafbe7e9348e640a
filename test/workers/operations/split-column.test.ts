// split_column splits cells with kernels if possible: the parts are those of a reference, for all separators, in place or not.
import { test } from 'tap';
import { extract } from '../../../workers/operations/extract.ts';
import { splitColumn } from '../../../workers/operations/split-column.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { runOperation } from './harness.ts';

type Given = { readonly limit?: number; readonly too_many?: 'merge_last' | 'drop'; readonly trim?: boolean };

const text = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '-', '--', '😀', '1'), maxLength: 12 });
const cells = fc.array(fc.option(text, { nil: null, freq: 6 }), { maxLength: 20 });
const givens: fc.Arbitrary<Given> = fc.record(
  {
    limit: fc.integer({ min: 1, max: 5 }),
    too_many: fc.constantFrom('merge_last', 'drop'),
    trim: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Parts of one text; `pattern` matches the separators. */
function expectedParts(cell: string | null, pattern: RegExp, wanted: number, given: Given): (string | null)[] {
  const parts: string[] = [];
  const most = Math.min(given.limit ?? Infinity, given.too_many === 'drop' ? Infinity : wanted);
  let rest = cell ?? '';
  for (let match = pattern.exec(rest); match !== null && parts.length < most - 1; match = pattern.exec(rest)) {
    parts.push(rest.slice(0, match.index));
    rest = rest.slice(match.index + match[0].length);
  }
  parts.push(rest);
  return Array.from({ length: wanted }, (_, index) => {
    const part = parts[index] ?? '';
    return (given.trim === false ? part : part.trim()) || null;
  });
}

test('cells are cut at every separator and pattern', async (t) => {
  const by = fc.constantFrom(
    ...([{ separator: '-' }, { separator: '--' }, { separator: 'é' }, { separator: ' ' }, { pattern: '-+' }] as const),
  );
  fc.assert(
    fc.property(cells, by, givens, fc.integer({ min: 1, max: 4 }), (texts, between, given, wanted) => {
      // Enough rows for the automaton of a pattern.
      const rows = Array.from({ length: 600 }, (_, row) => [texts.length === 0 ? null : texts[row % texts.length]!]);
      const into = Array.from({ length: wanted }, (_, index) => (index === 1 ? 'a' : `p${index}`));
      const operation = { op: 'split_column', column: 'a', by: between, into, ...given };
      const made = runOperation(splitColumn, operation, { columns: ['a'], rows }, { sparse: true });
      const pattern = 'pattern' in between ? /-+/ : new RegExp(between.separator);
      const expected = rows.map(([cell]) => expectedParts(cell ?? null, pattern, wanted, given));
      if (JSON.stringify(made.rows) !== JSON.stringify(expected)) throw new Error(JSON.stringify({ operation, texts }));
    }),
    { numRuns: sweep({ short: 15, long: 1000 }) },
  );
  t.pass('all are the same');
});

test('groups are found in many rows, in place and beside, and rows that are left out keep their cells', async (t) => {
  const rows = Array.from({ length: 900 }, (_, row): [Cell, Cell] => [
    row % 7 === 0 ? null : `k${row % 10}-${row}`,
    String(row % 3),
  ]);
  const operation = {
    op: 'extract',
    column: 'a',
    pattern: '^(k[0-4]|k)(.*?)-(?P<no>[0-9]+?)$',
    into: { no: 'a', 1: 'kind', 0: 'all', 2: 'rest' },
    where: 'b != "0"',
  };
  const made = runOperation(extract, operation, { columns: ['a', 'b'], rows }, { sparse: true });
  const expected = rows.map(([a, b]): Cell[] => {
    if (b === '0') return [a, b, null, null, null];
    const match = a === null ? null : /^(k[0-4]|k)(.*?)-([0-9]+?)$/.exec(a);
    return [match?.[3] ?? null, b, match?.[1] ?? null, match?.[0] ?? null, match?.[2] || null];
  });
  const byName = (row: readonly Cell[]) => made.columns.map((name) => row[ORDER.indexOf(name)]);
  t.same(made.problems, []);
  t.same(made.rows, expected.map(byName));
});

const ORDER = ['a', 'b', 'kind', 'all', 'rest'];
