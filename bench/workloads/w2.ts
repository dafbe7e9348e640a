// W2: paid orders above an amount, reduced to six columns.
import { positions } from './javascript-program.ts';
import type { Workload } from './workload.ts';

const COLUMNS = ['order_id', 'customer', 'email', 'country', 'order_date', 'amount'];

export const w2: Workload = {
  name: 'W2',
  title: 'filter on status and amount, select 6 of 12 columns',
  input: 'orders',
  ending: 'csv',
  template: {
    format: 1,
    operations: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'filter', where: 'status == "paid" && amount > 750' },
      { op: 'select', columns: COLUMNS },
    ],
    output: { format: 'csv' },
  },
  duckdb: `SELECT ${COLUMNS.join(', ')} FROM input WHERE status = 'paid' AND CAST(amount AS DECIMAL(12, 2)) > 750`,
  polars: (rows, { col, lit, Float64 }) =>
    rows.filter(col('status').eq(lit('paid')).and(col('amount').cast(Float64).gt(750))).select(...COLUMNS),
  miller: {
    flags: [],
    verbs: ['filter', '$status == "paid" && $amount > 750', 'then', 'cut', '-o', '-f', COLUMNS.join(',')],
  },
  javascript: (header) => {
    const [status, amount] = positions(header, ['status', 'amount']) as [number, number];
    const taken = positions(header, COLUMNS);
    return {
      columns: COLUMNS,
      row: (cells) =>
        cells[status] === 'paid' && Number(cells[amount]) > 750 ? taken.map((position) => cells[position]!) : null,
    };
  },
  answer: { numbers: ['amount'], lenient: {} },
  limit: ['scan', 'write'],
};
