// Random tables of cells with kinds through random sequences of operations that only move cells, against a reference model: in
// batches of all sizes, in memory and with files.
import assert from 'node:assert/strict';
import t from 'tap';
import { KIND_NUMBER, KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { KIND_NAMES } from '../../fixtures/kinds-format.ts';
import { type TypedCell, typedTable, typedTableFormat } from '../../fixtures/typed-table.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { applyKinds, type KnownRow } from '../apply-kinds.ts';
import { applyTemplate } from '../apply-template.ts';

import { byId, cell, compareTexts, HEADERS, last, move, type Row, textOf } from './native-moves.ts';

function known(cell: TypedCell, hasKinds: boolean): string | null {
  return cell === null ? null : `${hasKinds ? KIND_NAMES[cell[0]] : 'text'}:${cell[1]}`;
}

t.test('moved cells keep their kind', async () => {
  const table = fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1, maxLength: 40 });
  const moves = fc.array(move, { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(
    table,
    moves,
    fc.option(last),
    fc.constantFrom(1, 3, 4096),
    fc.boolean(),
    async (cells, moves, last, batchRows, spills) => {
      const rows = cells.map((cells, row): TypedCell[] => [[KIND_NUMBER, String(row)], ...cells]);
      const hasKinds = [true, true, true, true, false];
      const all = last === null ? moves : [...moves, last];
      // A second window would make a column of the same name.
      const steps = all.filter(
        ({ step }, at) => step.op !== 'window' || all.findIndex(({ step }) => step.op === 'window') === at,
      );
      const start = rows.map(
        (row): Row => Object.fromEntries(HEADERS.map((name, index) => [name, known(row[index]!, hasKinds[index]!)])),
      );
      const expected = steps.reduce<readonly Row[]>((rows, { apply }) => apply(rows), start);
      const template = { input: { null_values: [] }, operations: steps.map(({ step }) => step) };
      const made = await applyKinds(template, HEADERS, rows, { batchRows, spills, hasKinds });
      assert.deepEqual(
        made,
        expected.map((row) => withMoved(row, made)),
      );
    },
  );
  await fc.assert(property, { numRuns: sweep({ short: 15, long: 2000 }) });
});

/** Rows that are appended after a window have its column too. */
function withMoved(row: Row, made: readonly KnownRow[]): Row {
  const names = Object.keys(made[0] ?? row);
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

t.test('many rows, whose groups and sorts go through files', async (t) => {
  const rows = Array.from({ length: 30_000 }, (_, row): TypedCell[] => {
    const kind = row % 7;
    const a: TypedCell = row % 5 === 0 ? null : [kind, `cell ${row} ${'x'.repeat(row % 90)}`];
    return [[KIND_NUMBER, String(row)], [row % 2 === 0 ? KIND_NUMBER : KIND_TEXT, String(row % 3001)], a, null, null];
  });
  const operations = [
    { op: 'fill_down', columns: 'a', group_by: ['group'] },
    { op: 'window', partition_by: ['group'], columns: [{ fn: 'next', column: 'a', as: 'next' }] },
    { op: 'dedupe', by: ['group'], keep: 'last' },
    { op: 'sort', by: ['a'] },
  ];
  const expectedBy = new Map<string, Row>();
  const above = new Map<string, string>();
  for (const [id, group, a] of rows) {
    const key = group![1];
    const value = a === null ? (above.get(key) ?? null) : known(a!, true);
    if (value !== null) above.set(key, value);
    expectedBy.set(key, { id: known(id!, true), group: known(group!, true), a: value, next: null });
  }
  const expected = [...expectedBy.values()].sort((x, y) => compareTexts(textOf(x.a), textOf(y.a)) || byId(x, y));
  for (const spills of [false, true]) {
    const made = await applyKinds({ operations }, HEADERS, rows, { spills });
    t.equal(made.length, expected.length);
    t.ok(
      made.every(({ id, group, a, next }, at) => {
        const row = expected[at]!;
        return id === row.id && group === row.group && a === row.a && next === null;
      }),
      spills ? 'through files' : 'in memory',
    );
  }
});

t.test('a sort at the end, whose rows wait as the bytes that they become', async (t) => {
  const cells: readonly TypedCell[] = [
    [KIND_NUMBER, '-1.50'],
    [KIND_TEXT, '=1'],
    null,
    [KIND_NAMES.indexOf('json'), '{"a":[1]}'],
    [KIND_NAMES.indexOf('boolean'), 'true'],
    [KIND_NAMES.indexOf('date'), '2026-01-31'],
  ];
  const values = ['-1.50', '"=1"', 'null', '{"a":[1]}', 'true', '"2026-01-31"'];
  const texts = ['-1.50', "'=1", '', '"{""a"":[1]}"', 'true', '2026-01-31'];
  const rows = Array.from({ length: 20_000 }, (_, row): TypedCell[] => [
    [KIND_TEXT, String((row * 7919) % 20_000).padStart(5, '0')],
    cells[row % cells.length]!,
  ]);
  const sorted = rows.map(([id], row) => [id![1], row % cells.length] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  const table = typedTable({ headers: ['id', 'v'], hasKinds: [true, true] }, rows);
  for (const [format, expected] of [
    ['ndjson', sorted.map(([id, cell]) => `{"id":"${id}","v":${values[cell]}}\n`).join('')],
    ['csv', `id,v\n${sorted.map(([id, cell]) => `${id},${texts[cell]}\n`).join('')}`],
  ]) {
    const template = {
      operations: [{ op: 'sort', by: ['id'] }],
      output: { format, ...(format === 'csv' && { formula_guard: 'strict' }) },
    };
    for (const spills of [false, true]) {
      const { text } = await applyTemplate(template, table, 4096, {}, { spills, formats: [typedTableFormat] });
      t.ok(text === expected, `${format} ${spills ? 'through files' : 'in memory'}`);
    }
  }
});
