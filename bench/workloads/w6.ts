// W6: all rows sorted by amount, largest first, equal ones in file order.
import { type Cells, positions } from './javascript-program.ts';
import { type Agreement, SAME_SET } from './job.ts';
import type { Workload } from './workload.ts';

/**
 * Sorted, but rows with equal amounts may be in any order: a stable sort is not required of systems for which it costs
 * time.
 */
const SORTED: readonly Agreement[] = [SAME_SET, { as: 'sequence', columns: ['amount'] }];

export const w6: Workload = {
  name: 'W6',
  title: 'sort by amount, largest first',
  input: 'orders',
  ending: 'csv',
  template: {
    format: 1,
    operations: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'sort', by: [{ column: 'amount', order: 'desc' }] },
    ],
    output: { format: 'csv' },
  },
  duckdb: 'SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount) FROM input ORDER BY amount DESC',
  polars: (rows, { col, Float64 }) =>
    rows.withColumns(col('amount').cast(Float64).alias('amount')).sort({ by: ['amount'], descending: true }),
  miller: { flags: [], verbs: ['sort', '-nr', 'amount'] },
  javascript: (header) => {
    const [amount] = positions(header, ['amount']) as [number];
    const rows: { readonly cells: Cells; readonly amount: number }[] = [];
    return {
      columns: header,
      row: (cells) => {
        rows.push({ cells, amount: Number(cells[amount]) });
        return null;
      },
      *finish() {
        rows.sort((left, right) => right.amount - left.amount);
        for (const { cells } of rows) yield cells;
      },
    };
  },
  answer: { numbers: ['amount'], lenient: { duckdb: SORTED, polars: SORTED } },
  limit: ['scan', 'memcpy', 'write'],
};
