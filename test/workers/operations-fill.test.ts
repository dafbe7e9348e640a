// fill_up and fill_down: by groups, with resets, of values of all types, the same whatever the batches and with rows put
// off to files.
import fc from 'fast-check';
import { test } from 'tap';
import { fillDown } from '../../workers/operations/fill-down.ts';
import { fillUp } from '../../workers/operations/fill-up.ts';
import type { Cell } from './operations/batch-builder.ts';
import { type RunOptions, runOperation } from './operations/harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 1000, budgetBytes: 300_000 },
  { batchRows: 333, budgetBytes: 100_000, arenaBytes: 65_536, sparse: true },
];

/** By definition: the value of the last row before with one, in the same group, not before a reset. */
function filledDown(rows: readonly Cell[][], column: number, group: number | null, reset: number | null): Cell[][] {
  const last = new Map<string, Cell>();
  return rows.map((row) => {
    const key = group === null ? '' : JSON.stringify(row[group]);
    if (reset !== null && row[reset] === 'reset') last.delete(key);
    const cell = row[column];
    if (cell !== null && cell !== '') last.set(key, cell!);
    const made = [...row];
    made[column] = last.get(key) ?? cell!;
    return made;
  });
}

function filledUp(rows: readonly Cell[][], column: number, group: number | null): Cell[][] {
  return filledDown(rows.toReversed(), column, group, null).toReversed();
}

function rowsOf(count: number, groups: number, seed: number): Cell[][] {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, (_, row) => {
    const group = Math.floor(next() * groups);
    const text = next() < 0.6 ? null : next() < 0.1 ? '' : `value ${'ä'.repeat(Math.floor(next() * 60))}${row}`;
    const amount = next() < 0.7 ? null : row % 50 === 0 ? `12345678901234567890123.${row % 10}5` : `${row}.50`;
    return [String(row), group === 0 ? null : `group ${group}`, text, amount, next() < 0.05 ? 'reset' : null];
  });
}

const COLUMNS = ['n', 'g', 'text', 'amount', 'kind'];
const TYPES = ['text', 'text', 'text', 'decimal', 'text'] as const;

for (const groups of [3, 5000]) {
  const rows = rowsOf(9000, groups, groups);
  const input = { columns: COLUMNS, types: TYPES, rows };
  test(`${groups} groups, in memory and put off`, async (t) => {
    for (const way of WAYS) {
      const label = JSON.stringify(way);
      const up = runOperation(fillUp, { op: 'fill_up', columns: ['text', 'amount'], group_by: 'g' }, input, way);
      t.ok(JSON.stringify(up.rows) === JSON.stringify(filledUp(filledUp(rows, 2, 1), 3, 1)), `up ${label}`);
      t.same(up.sources.slice(0, 5), [1, 2, 3, 4, 5]);
      t.equal(up.spilled, way.budgetBytes !== undefined, 'spills when it must');
      const free = runOperation(fillUp, { op: 'fill_up', columns: ['text', 'amount'] }, input, way);
      t.ok(JSON.stringify(free.rows) === JSON.stringify(filledUp(filledUp(rows, 2, null), 3, null)), `all ${label}`);
      const expected = filledDown(filledDown(rows, 2, 1, 4), 3, 1, 4);
      const operation = {
        op: 'fill_down',
        columns: ['text', 'amount'],
        group_by: ['g'],
        reset_when: 'kind == "reset"',
      };
      const down = runOperation(fillDown, operation, input, way);
      t.ok(JSON.stringify(down.rows) === JSON.stringify(expected), `down ${label}`);
      if (groups > 3) t.equal(down.spilled, way.budgetBytes !== undefined, 'many groups need files');
      else if (way.budgetBytes !== 100_000) t.notOk(down.spilled, 'few groups need none');
      const changed = expected.filter((row, at) => row[2] !== rows[at]![2]).length;
      const amounts = expected.filter((row, at) => row[3] !== rows[at]![3]).length;
      t.equal(down.report.cells_changed, changed + amounts, 'counts what it changed');
    }
  });
}

test('without groups fill_down keeps one value, forgets at a reset', async (t) => {
  const rows = rowsOf(3000, 2, 5);
  for (const way of WAYS) {
    const operation = { op: 'fill_down', columns: ['text', 'amount'], reset_when: 'kind == "reset"' };
    const made = runOperation(fillDown, operation, { columns: COLUMNS, types: TYPES, rows }, way);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(filledDown(filledDown(rows, 2, null, 4), 3, null, 4)));
    t.notOk(made.spilled);
  }
});

test('any small table', async () => {
  const cell = fc.option(fc.constantFrom('', 'a', 'b', '\u00e9'), { nil: null });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (rows, batchRows, isTight) => {
        const way = isTight ? { batchRows, budgetBytes: 1024 } : { batchRows, sparse: true };
        const input = { columns: ['g', 'a', 'b'], rows };
        const some = rows.map((row) => [...row]);
        const up = runOperation(fillUp, { op: 'fill_up', columns: ['a', 'b'], group_by: ['g'] }, input, way);
        const down = runOperation(fillDown, { op: 'fill_down', columns: ['a', 'b'], group_by: ['g'] }, input, way);
        return (
          JSON.stringify(up.rows) === JSON.stringify(filledUp(filledUp(some, 1, 0), 2, 0)) &&
          JSON.stringify(down.rows) === JSON.stringify(filledDown(filledDown(some, 1, 0, null), 2, 0, null))
        );
      },
    ),
    { numRuns: 60 },
  );
});
