// fill_empty, fill_up and fill_down: by groups, with resets, with values of all types. The results are the same for all batch
// sizes and with rows deferred to files.

import { test } from 'tap';
import { blankDown } from '../../../workers/operations/blank-down.ts';
import { fillDown } from '../../../workers/operations/fill-down.ts';
import { fillEmpty } from '../../../workers/operations/fill-empty.ts';
import { fillUp } from '../../../workers/operations/fill-up.ts';
import { fc, noise } from '../../random.ts';
import { skipUnlessLong } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 1000, budgetBytes: 300_000 },
  { batchRows: 333, budgetBytes: 100_000, arenaBytes: 65_536, sparse: true },
];

/** Definition: the last value in an earlier row of the same group, but not before a reset. */
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

function rowsOf(count: number, groups: number, stream: number): Cell[][] {
  const next = noise(stream);
  return Array.from({ length: count }, (_, row) => {
    const group = next(groups);
    const text = next(10) < 6 ? null : next(10) === 0 ? '' : `value ${'ä'.repeat(next(60))}${row}`;
    const amount = next(10) < 7 ? null : row % 50 === 0 ? `12345678901234567890123.${row % 10}5` : `${row}.50`;
    return [String(row), group === 0 ? null : `group ${group}`, text, amount, next(20) === 0 ? 'reset' : null];
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

/**
 * Definition: values come from all rows, and only rows that match `where` are filled. A new column is null in the other rows.
 */
function filledWhere(
  rows: readonly Cell[][],
  filled: readonly Cell[][],
  column: number,
  where: (row: readonly Cell[]) => boolean,
): { readonly inPlace: Cell[][]; readonly made: Cell[] } {
  const cells = rows.map((row, at) => (where(row) ? filled[at]![column]! : null));
  const inPlace = rows.map((row, at) => row.map((cell, index) => (index === column && where(row) ? cells[at]! : cell)));
  return { inPlace, made: cells };
}

test('where and into: values come from all rows, however they are cut and put off', {
  skip: skipUnlessLong,
}, async (t) => {
  for (const groups of [3, 5000]) {
    const rows = rowsOf(6000, groups, groups + 1);
    const input = { columns: COLUMNS, types: TYPES, rows };
    const isOdd = (row: readonly Cell[]): boolean => /[13579]$/.test(String(row[0]));
    const where = 'n.matches("[13579]$")';
    const forms = {
      down: filledDown(filledDown(rows, 2, 1, null), 3, 1, null),
      up: filledUp(filledUp(rows, 2, 1), 3, 1),
    };
    for (const way of WAYS) {
      for (const [name, filled] of Object.entries(forms)) {
        const [definition, op] = name === 'up' ? [fillUp, 'fill_up'] : [fillDown, 'fill_down'];
        const label = `${op}, ${groups} groups, ${JSON.stringify(way)}`;
        const common = { op, columns: ['text', 'amount'], group_by: 'g', where };
        const [texts, amounts] = [filledWhere(rows, filled, 2, isOdd), filledWhere(rows, filled, 3, isOdd)];
        const inPlace = runOperation(definition, common, input, way);
        const expected = texts.inPlace.map((row, at) =>
          row.map((cell, i) => (i === 3 ? amounts.inPlace[at]![3]! : cell)),
        );
        t.ok(JSON.stringify(inPlace.rows) === JSON.stringify(expected), `in place, ${label}`);
        const changed = [2, 3].map((i) => expected.filter((row, at) => row[i] !== rows[at]![i]).length);
        t.equal(inPlace.report.cells_changed, changed[0]! + changed[1]!, 'counts what it changed');
        const into = runOperation(definition, { ...common, into: ['t', 'a'] }, input, way);
        t.same(into.columns, [...COLUMNS, 't', 'a']);
        const wider = rows.map((row, at) => [...row, texts.made[at]!, amounts.made[at]!]);
        t.ok(JSON.stringify(into.rows) === JSON.stringify(wider), `into, ${label}`);
        const values = [...texts.made, ...amounts.made].filter((cell) => cell !== null).length;
        t.equal(into.report.cells_changed, values, 'counts the values of the new columns');
        if (groups > 3 || name === 'up') t.equal(inPlace.spilled, way.budgetBytes !== undefined);
      }
    }
  }
});

test('a row for which where fails is reported, and stays as it is or goes with its value', async (t) => {
  const input = {
    columns: ['n', 'a'],
    rows: [
      ['1', 'x'],
      ['1', null],
      ['0', 'y'],
      ['1', null],
    ],
  };
  const operation = { op: 'fill_down', columns: 'a', where: '1 / int(n) == 1' };
  for (const batchRows of [1, 4]) {
    const kept = runOperation(fillDown, operation, input, { batchRows });
    t.same(kept.errors['EXPR_DIV_ZERO'], { count: 1, rows: [3] });
    t.same(kept.rows, [
      ['1', 'x'],
      ['1', 'x'],
      ['0', 'y'],
      ['1', 'y'],
    ]);
    const dropped = runOperation(fillDown, operation, input, { batchRows, onError: 'drop_row' });
    t.same(dropped.rows, [
      ['1', 'x'],
      ['1', 'x'],
      ['1', 'x'],
    ]);
    const up = runOperation(fillUp, { ...operation, op: 'fill_up' }, input, { batchRows, onError: 'drop_row' });
    t.same(up.rows, [
      ['1', 'x'],
      ['1', null],
      ['1', null],
    ]);
    t.same(up.sources, [1, 2, 4]);
    const blank = { op: 'blank_down', columns: 'n', where: '1 / int(n) == 1' };
    t.same(runOperation(blankDown, blank, input, { batchRows, onError: 'drop_row' }).rows, [
      ['1', 'x'],
      [null, null],
      [null, null],
    ]);
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

test('fill_empty shows the first text of other columns, in place', async (t) => {
  const texts = [null, '', 'a', 'é "x"', 'a longer text that is in no word'];
  const rows = Array.from({ length: 600 }, (_, row) => [
    texts[row % 2]!,
    texts[Math.floor(row / 2) % 5]!,
    texts[Math.floor(row / 10) % 5]!,
    'kept',
  ]);
  const first = (cells: readonly (string | null)[]): string | null =>
    cells.find((cell) => cell !== null && cell !== '') ?? null;
  const columns = ['a', 'b', 'c', 'd'];
  for (const way of [{ batchRows: 1000 }, { batchRows: 7, sparse: true }, { batchRows: 100, arenaBytes: 3000 }]) {
    const ofOthers = { op: 'fill_empty', columns: ['a', 'd'], from: ['b', 'c'] };
    const made = runOperation(fillEmpty, ofOthers, { columns, rows }, way);
    t.same(
      made.rows,
      rows.map(([_, b, c, d]) => [first([b!, c!]), b, c, d]),
    );
    // An empty text that becomes null also counts as changed.
    t.equal(made.report.cells_changed, rows.filter(([a, b, c]) => a !== first([b!, c!])).length);
    const ofText = { op: 'fill_empty', columns: 'b', value: 'ü' };
    const constant = runOperation(fillEmpty, ofText, { columns, rows }, way);
    t.same(
      constant.rows,
      rows.map(([a, b, c, d]) => [a, first([b!]) ?? 'ü', c, d]),
    );
  }
});

test('fill_up of long texts: more comes back than was put aside, in the order of the rows', {
  skip: skipUnlessLong,
}, async (t) => {
  const next = noise(5);
  const rows = Array.from({ length: 2500 }, (_, row): Cell[] => [
    String(row),
    row === 1200 ? 'x'.repeat(600_000) : next(4) > 0 ? null : `${row} `.repeat(300 + next(500)),
  ]);
  const answer = JSON.stringify(filledUp(rows, 1, null));
  for (const way of [...WAYS, { batchRows: 2048, budgetBytes: 2_000_000 }]) {
    const made = runOperation(fillUp, { op: 'fill_up', columns: ['text'] }, { columns: ['n', 'text'], rows }, way);
    t.ok(JSON.stringify(made.rows) === answer, JSON.stringify(way));
    t.equal(made.spilled, way.budgetBytes !== undefined, 'spills when it must');
  }
});
