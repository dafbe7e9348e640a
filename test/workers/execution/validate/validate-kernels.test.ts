// The cells that the kernels of validate accept, compared with the definition of each check, over whole batches.

import { test } from 'tap';
import type { ColumnType } from '../../../../workers/batch/schema.ts';
import { validate } from '../../../../workers/operations/validate.ts';
import { fc } from '../../../random.ts';
import { skipUnlessLong } from '../../../sweep.ts';
import type { Cell } from '../../operations/batch-builder.ts';
import { runOperation } from '../../operations/harness.ts';

/** Rules, with the definition of the cells that pass. */
const KNOWN_BY_KERNELS: readonly [
  rule: Record<string, unknown>,
  type: ColumnType,
  passes: (cell: string) => boolean,
][] = [
  [
    { check: 'in', values: ['a', 'ä', 'a longer text than others'] },
    'text',
    (cell) => /^(a|ä|a longer.*s)$/.test(cell),
  ],
  [{ check: 'not_in', values: ['a', '7'] }, 'text', (cell) => cell !== 'a' && cell !== '7'],
  [{ check: 'starts_with', values: ['a', '-1'] }, 'text', (cell) => cell.startsWith('a') || cell.startsWith('-1')],
  [{ check: 'length', min: 2, max: 3 }, 'text', (cell) => [...cell].length === 2 || [...cell].length === 3],
  [{ check: 'length', min: 17 }, 'text', (cell) => [...cell].length > 16],
  [{ check: 'digits', min: 2, max: 3 }, 'text', (cell) => /^[0-9]{2,3}$/.test(cell)],
  [{ check: 'digits' }, 'text', (cell) => /^[0-9]+$/.test(cell)],
  [{ check: 'pattern', pattern: '^[0-9]{1,2}$' }, 'text', (cell) => /^[0-9]{1,2}$/.test(cell)],
  [
    { check: 'between', min: '-1.5', max: 700 },
    'text',
    (cell) => isPlain(cell) && Number(cell) >= -1.5 && Number(cell) <= 700,
  ],
  [{ check: 'max', value: '0.3' }, 'text', (cell) => isPlain(cell) && Number(cell) <= 0.3],
  [{ check: 'between', min: -1, max: 700 }, 'integer', (cell) => Number(cell) >= -1 && Number(cell) <= 700],
  [{ check: 'min', value: '0.5' }, 'integer', (cell) => Number(cell) >= 1],
  [{ check: 'between', min: '-1.5', max: '0.30' }, 'decimal', (cell) => Number(cell) >= -1.5 && Number(cell) <= 0.3],
  [{ check: 'max', value: 0.25 }, 'number', (cell) => Number(cell) <= 0.25],
  [
    { check: 'between', min: '1969-12-31', max: '2026-02-28' },
    'date',
    (cell) => cell >= '1969-12-31' && cell <= '2026-02-28',
  ],
];

const isPlain = (cell: string): boolean => /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$/.test(cell);

const CELLS: Readonly<Partial<Record<ColumnType, readonly string[]>>> = {
  text: [
    'a',
    'ä',
    'aé😀',
    '漢'.repeat(18),
    'a longer text than others',
    '7',
    '07',
    '007',
    '0007',
    '-1.5',
    '-1.51',
    '.3',
    '0.30',
    '+0.3',
    '0.31',
    '700',
    '700.',
    '1e2',
    '-',
    '--1',
    ' 7',
    '9'.repeat(30),
    '-',
    "x'",
  ],
  integer: ['-2', '-1', '0', '1', '700', '701', '999999999999999999', '-999999999999999999'],
  decimal: [
    '-1.51',
    '-1.5',
    '0',
    '0.3',
    '0.300',
    '0.3000001',
    '123456789012345678901234567890.5',
    '-99999999999999999999',
  ],
  number: ['-1e300', '0', '-0', '0.25', '0.2500000001', '1e300'],
  date: ['1969-12-30', '1969-12-31', '1970-01-01', '2026-02-28', '2026-03-01'],
};

test('kernels accept only cells that pass the check', { skip: skipUnlessLong }, async (t) => {
  for (const [rule, type, passes] of KNOWN_BY_KERNELS) {
    const cells = fc.array(fc.option(fc.constantFrom(...CELLS[type]!), { freq: 6 }), { minLength: 1, maxLength: 60 });
    const property = fc.property(cells, fc.constantFrom(1, 7, 100), fc.boolean(), (column, batchRows, sparse) => {
      const rows = column.map((cell, row): Cell[] => [String(row), cell]);
      const input = { columns: ['row', 'c'], types: ['text', type] as const, rows };
      const rules = [{ column: 'c', ...rule, on_error: 'drop_row' }];
      const made = runOperation(validate, { op: 'validate', rules }, input, { batchRows, sparse, arenaBytes: 8192 });
      const stay = rows.flatMap(([row], at) => (column[at] === null || passes(column[at]!) ? [row] : []));
      return made.rows.map(([row]) => row).join() === stay.join();
    });
    t.doesNotThrow(() => fc.assert(property, { numRuns: 60 }), JSON.stringify(rule));
  }
});

test('a condition that cannot be computed is also reported for rows that pass the check', async (t) => {
  const rule = { column: 'c', check: 'pattern', pattern: '^a', where: '1 / int(n) == 1', on_error: 'flag' };
  const input = {
    columns: ['c', 'n'],
    rows: [
      ['a', '0'],
      ['a', '1'],
      ['b', '1'],
      ['b', '5'],
    ],
  };
  const { errors } = runOperation(validate, { op: 'validate', rules: [rule] }, input);
  t.same(errors, { EXPR_DIV_ZERO: { count: 1, rows: [1] }, PATTERN_MISMATCH: { count: 1, rows: [3] } });
});
