// W5: number and sum of orders by country and status.
import { type Cells, positions } from './javascript-program.ts';
import { SAME_SET } from './job.ts';
import type { Workload } from './workload.ts';

export const w5: Workload = {
  name: 'W5',
  title: 'count and sum by country and status',
  input: 'orders',
  ending: 'csv',
  template: {
    format: 1,
    operations: [
      { op: 'parse_number', columns: ['amount'] },
      {
        op: 'aggregate',
        group_by: ['country', 'status'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount', as: 'total' },
        ],
      },
    ],
    output: { format: 'csv' },
  },
  duckdb: `SELECT country, status, count(*) AS orders, sum(CAST(amount AS DECIMAL(12, 2))) AS total
    FROM input GROUP BY country, status`,
  polars: (rows, { col, Float64, len }) =>
    rows.groupBy(['country', 'status']).agg(len().alias('orders'), col('amount').cast(Float64).sum().alias('total')),
  miller: {
    flags: [],
    verbs: [
      ...['stats1', '-a', 'count,sum', '-f', 'amount', '-g', 'country,status'],
      ...['then', 'rename', 'amount_count,orders,amount_sum,total'],
    ],
  },
  javascript: (header) => {
    const [country, status, amount] = positions(header, ['country', 'status', 'amount']) as [number, number, number];
    const groups = new Map<string, { cells: Cells; orders: number; total: number }>();
    return {
      columns: ['country', 'status', 'orders', 'total'],
      row: (cells) => {
        const key = `${cells[country]}\n${cells[status]}`;
        let group = groups.get(key);
        if (group === undefined) {
          group = { cells: [cells[country]!, cells[status]!], orders: 0, total: 0 };
          groups.set(key, group);
        }
        group.orders++;
        group.total += Number(cells[amount]);
        return null;
      },
      *finish() {
        for (const { cells, orders, total } of groups.values()) yield [...cells, String(orders), total.toFixed(2)];
      },
    };
  },
  // Neither guarantees an order of groups, and keeping one would cost them time.
  answer: { numbers: ['orders', 'total'], lenient: { duckdb: [SAME_SET], polars: [SAME_SET] } },
  limit: ['scan'],
};
