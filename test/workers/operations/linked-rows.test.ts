// dedupe with any_of: rows that share any key, directly or through other rows, are one group. The results are compared with a
// simple search, also with rows and keys in files.
import { test } from 'tap';
import { dedupe } from '../../../workers/operations/dedupe.ts';
import { PIECE_UNITS } from '../../../workers/values/text-edits.ts';
import { fc, noise } from '../../random.ts';
import type { Cell, Rows } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const COLUMNS = ['n', 'a', 'b', 'c'];
const SETS = [[1], [2, 3]];
const ANY_OF = [['a'], ['b', 'c']];

/** The group of each row as row numbers, found by merging pairs until nothing changes. */
function groupsOf(rows: Rows): number[][] {
  const shares = (one: readonly Cell[], other: readonly Cell[]) =>
    SETS.some((set) => set.every((at) => one[at] !== null && one[at]!.trim() !== '' && one[at] === other[at]));
  const names = rows.map((_, place) => place);
  for (let changed = true; changed; ) {
    changed = false;
    for (const [one, row] of rows.entries()) {
      for (const [other, second] of rows.entries()) {
        if (names[one]! <= names[other]! || !shares(row, second)) continue;
        const [from, to] = [names[one]!, names[other]!];
        for (const [place, name] of names.entries()) if (name === from) names[place] = to;
        changed = true;
      }
    }
  }
  return names.map((name) => names.flatMap((other, place) => (other === name ? [place] : [])));
}

test('dedupe any_of of any small table', async () => {
  const cell = fc.option(fc.constantFrom('', ' ', 'x', 'y', 'z', '1', '2'), { nil: null });
  const keep = fc.constantFrom('first' as const, 'last' as const, 'none' as const);
  const table = fc.array(fc.tuple(cell, cell, cell), { maxLength: 20 });
  fc.assert(
    fc.property(table, keep, fc.integer({ min: 1, max: 5 }), (cells, kept, batchRows) => {
      const rows = cells.map((row, place) => [String(place), ...row]);
      const groups = groupsOf(rows);
      const expected = rows.flatMap((row, place) => {
        const group = groups[place]!;
        const stands = kept === 'last' ? group.at(-1) : group[0];
        return stands !== place || (kept === 'none' && group.length > 1) ? [] : [[...row, String(group.length)]];
      });
      const operation = { op: 'dedupe', any_of: ANY_OF, keep: kept, count_into: 'rows' };
      const made = runOperation(dedupe, operation, { columns: COLUMNS, rows }, { batchRows, sparse: true });
      return JSON.stringify(made.rows) === JSON.stringify(expected);
    }),
    { numRuns: 150 },
  );
});

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 999, budgetBytes: 400_000, arenaBytes: 65_536 },
];

/** Chains of ten rows: each row shares a key with the previous row, alternately in one column and in the two others. */
function chains(count: number): Cell[][] {
  const next = noise(5);
  const rows = Array.from({ length: count }, (_, row) => {
    const chain = Math.floor(row / 10);
    const step = row % 10;
    const link = (at: number) => `chain ${chain} link ${Math.floor(at / 2)} ${'ä'.repeat(chain % 9)}`;
    return [`${chain}.${step}`, link(step), link(step + 1), 'same'];
  });
  // Rows of a chain are not adjacent.
  for (let at = rows.length - 1; at > 0; at--) {
    const other = next(at + 1);
    [rows[at], rows[other]] = [rows[other]!, rows[at]!];
  }
  return rows;
}

test('long chains are one group, spilling or not', async (t) => {
  const rows = chains(12_000);
  const seen = new Set<string>();
  const expected = rows.filter(([name]) => {
    const chain = name!.split('.')[0]!;
    return !seen.has(chain) && seen.add(chain);
  });
  for (const way of WAYS) {
    const made = runOperation(dedupe, { op: 'dedupe', any_of: ANY_OF }, { columns: COLUMNS, rows }, way);
    t.equal(made.rows.length, 1200, JSON.stringify(way));
    t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), 'the first row of each chain, in order');
    t.equal(made.spilled, way.budgetBytes !== undefined, 'spills when it must');
  }
});

test('dedupe any_of refuses invalid settings', async (t) => {
  const problems = (operation: object) =>
    runOperation(dedupe, { op: 'dedupe', ...operation }, { columns: COLUMNS, rows: [] }).problems;
  t.match(problems({ any_of: ANY_OF, by: ['a'] }), [/either "by" or "any_of"/]);
  t.match(problems({ any_of: ANY_OF, nulls: 'equal' }), [/never matches/]);
});

test('long texts in which the match ignores everything are blank, and are examined with pauses', async (t) => {
  const pieces = 4;
  const ignored = '-._\u200b'.repeat((pieces * PIECE_UNITS) / 4);
  const rows = [ignored, ignored, `${ignored}é`, `${ignored}E`].map((text, at) => [text, `${at}`]);
  let looks = 0;
  const clock = {
    isDue(): boolean {
      looks++;
      return true;
    },
  };
  const made = runOperation(dedupe, { any_of: ['a'], match: 'loose' }, { columns: ['a', 'n'], rows }, { clock });
  t.same(
    made.rows.map(([, n]) => n),
    ['0', '1', '2'],
  );
  // All texts are examined, and the last two are also edited.
  t.ok(looks >= 4 * pieces + 2 * pieces, `${looks} checks of the clock`);
});
