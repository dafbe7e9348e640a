// W4: the first row of each e-mail address, in file order.
import { positions } from './javascript-program.ts';
import type { Workload } from './workload.ts';

export const w4: Workload = {
  name: 'W4',
  title: 'first row of each e-mail address, in order',
  input: 'orders',
  ending: 'csv',
  template: { format: 1, operations: [{ op: 'dedupe', by: ['email'] }], output: { format: 'csv' } },
  duckdb: 'SELECT DISTINCT ON (email) * FROM input',
  polars: (rows) => rows.unique({ subset: ['email'], keep: 'first', maintainOrder: true }),
  miller: { flags: ['-S'], verbs: ['head', '-n', '1', '-g', 'email'] },
  javascript: (header) => {
    const [email] = positions(header, ['email']) as [number];
    const seen = new Set<string>();
    return {
      columns: header,
      row: (cells) => {
        if (seen.has(cells[email]!)) return null;
        seen.add(cells[email]!);
        return cells;
      },
    };
  },
  answer: {
    numbers: [],
    // DuckDB's fast form returns one row per address, but neither certainly the first nor in order. Forms with both
    // properties take two to three times as long.
    lenient: { duckdb: [{ as: 'set', columns: ['email'] }] },
  },
  limit: ['scan', 'memcpy', 'write'],
};
