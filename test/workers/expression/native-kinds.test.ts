// Expressions over cells that a file declares as numbers, dates and the like: functions that parse texts use the typed values,
// all others see the canonical texts. The table of docs/reference/input.md, function by function.
import t from 'tap';
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../../workers/kernel/layout/cells.ts';
import type { TypedCell } from '../../fixtures/typed-table.ts';
import { applyKinds } from '../apply-kinds.ts';

const CELLS: readonly TypedCell[] = [
  [KIND_TEXT, '1.234,50'],
  [KIND_NUMBER, '1.234'],
  [KIND_NUMBER, '2E3'],
  [KIND_NUMBER, '20260131'],
  [KIND_BOOLEAN, 'true'],
  [KIND_DATE, '2026-01-31'],
  [KIND_DATETIME, '2026-01-31T13:05:00'],
  [KIND_TIME, '13:05:00'],
  [KIND_JSON, '[1]'],
  null,
];

type Known = string | null;

const kept = (gives: Readonly<Record<number, string>>): Known[] => CELLS.map((_, row) => gives[row] ?? null);

/** A cell whose expression fails has no entry. */
const TABLE: Readonly<Record<string, readonly Known[]>> = {
  'parse_number(v, ",", ".")': kept({
    0: 'decimal:1234.50',
    1: 'decimal:1.234',
    2: 'decimal:2000',
    3: 'decimal:20260131',
  }),
  'v.trim().parse_number(",", ".")': kept({
    0: 'decimal:1234.50',
    1: 'decimal:1.234',
    2: 'decimal:2000',
    3: 'decimal:20260131',
  }),
  'parse_number(id == "none" ? id : coalesce(v, "7"), ",", ".")': [
    'decimal:1234.50',
    'decimal:1.234',
    'decimal:2000',
    'decimal:20260131',
    ...[null, null, null, null, null],
    'decimal:7',
  ],
  'parse_number(replace(v, ".", ""), ",", ".")': kept({
    0: 'decimal:1234.50',
    1: 'decimal:1234',
    3: 'decimal:20260131',
    2: 'decimal:2000',
  }),
  'parse_number(v)': kept({ 1: 'decimal:1.234', 2: 'decimal:2000', 3: 'decimal:20260131' }),
  'decimal(v)': kept({ 1: 'decimal:1.234', 2: 'decimal:2000', 3: 'decimal:20260131' }),
  'double(v)': kept({ 1: 'number:1.234', 2: 'number:2000', 3: 'number:20260131' }),
  'int(v)': kept({ 1: 'integer:1', 2: 'integer:2000', 3: 'integer:20260131' }),
  'bool(v)': kept({ 4: 'boolean:true' }),
  'date(v)': kept({ 5: 'date:2026-01-31', 6: 'date:2026-01-31' }),
  'timestamp(v)': kept({ 5: 'datetime:2026-01-31T00:00:00Z', 6: 'datetime:2026-01-31T13:05:00Z' }),
  'parse_date(v, "dd.MM.yyyy")': kept({ 5: 'date:2026-01-31', 6: 'date:2026-01-31' }),
  'parse_date(v, "yyyyMMdd")': kept({ 3: 'date:2026-01-31', 5: 'date:2026-01-31', 6: 'date:2026-01-31' }),
  'parse_date(v, "dd.MM.yyyy HH:mm")': kept({
    5: 'datetime:2026-01-31T00:00:00Z',
    6: 'datetime:2026-01-31T13:05:00Z',
  }),
  'v + "x"': CELLS.map((cell) => (cell === null ? null : `text:${cell[1]}x`)),
  'v == "1.234"': CELLS.map((cell) => `boolean:${cell?.[1] === '1.234'}`),
  v: CELLS.map((cell) => (cell === null ? null : `text:${cell[1]}`)),
};

const rows = CELLS.map((cell, row): TypedCell[] => [[KIND_TEXT, String(row)], cell]);

for (const [expression, gives] of Object.entries(TABLE)) {
  t.test(expression, async (t) => {
    for (const batchRows of [1, 3, 4096]) {
      const step = { op: 'set', columns: { w: expression }, on_error: 'blank' };
      const made = await applyKinds({ operations: [step] }, ['id', 'v'], rows, { batchRows });
      t.same(
        made.map(({ w }) => w),
        gives,
        `batches of ${batchRows}`,
      );
    }
  });
}

t.test('the cell at hand, in conditions', async (t) => {
  const step = { op: 'text', columns: ['v'], steps: [{ prefix: '#' }], where: 'parse_number(value, ",", ".") < 2d' };
  const made = await applyKinds({ operations: [{ ...step, on_error: 'keep' }] }, ['id', 'v'], rows);
  const expected = CELLS.map((cell) => (cell === null ? null : cell[1] === '1.234' ? '#1.234' : cell[1]));
  t.same(
    made.map(({ v }) => v?.replace(/^[a-z]+:/, '') ?? null),
    expected,
  );
  const filtered = await applyKinds(
    { operations: [{ op: 'filter', where: 'int(v) == 2000', on_error: 'drop_row' }] },
    ['id', 'v'],
    rows,
  );
  t.same(
    filtered.map(({ v }) => v),
    ['number:2E3'],
  );
});
