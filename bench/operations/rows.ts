// Rows of the table of operations: selecting and ordering rows, and checks of rows and columns.
import type { OperationRow } from './operation-row.ts';

const CHOSEN_ROWS: readonly OperationRow[] = [
  {
    name: 'filter by a status',
    covers: 'filter',
    template: [{ op: 'filter', where: 'status == "paid"' }],
    sql: "SELECT * FROM input WHERE status = 'paid'",
    polars: (rows, { col, lit }) => rows.filter(col('status').eq(lit('paid'))),
  },
  {
    name: 'drop blank rows',
    covers: 'drop_blank_rows',
    template: [
      { op: 'blank_if', columns: 'status', values: ['open'] },
      { op: 'drop_blank_rows', columns: ['status'] },
    ],
    sql: "SELECT * FROM input WHERE status <> 'open'",
    polars: (rows, { col, lit }) => rows.filter(col('status').neq(lit('open'))),
  },
  {
    name: 'drop repeated headers',
    covers: 'drop_repeated_headers',
    template: [{ op: 'drop_repeated_headers' }],
    sql: `SELECT * FROM input WHERE NOT (order_id = 'order_id' AND customer = 'customer' AND email = 'email'
      AND country = 'country' AND status = 'status' AND order_date = 'order_date')`,
  },
  {
    name: 'slice',
    covers: 'slice',
    template: [{ op: 'slice', skip: 10_000, limit: 100_000_000 }],
    sql: 'SELECT * FROM input LIMIT 100000000 OFFSET 10000',
  },
  {
    // Order numbers ascend, so the condition has the same meaning without an order of rows.
    name: 'stop at a row',
    covers: 'stop_when',
    template: [
      { op: 'cast', columns: { order_id: 'integer' } },
      { op: 'stop_when', where: 'order_id > 100000000' },
    ],
    sql: 'SELECT * FROM input WHERE CAST(order_id AS BIGINT) <= 100000000',
  },
  {
    name: 'last row of each address and country',
    covers: 'dedupe',
    template: [{ op: 'dedupe', by: ['email', 'country'], keep: 'last' }],
    sql: 'SELECT DISTINCT ON (email, country) * FROM input',
    polars: (rows) => rows.unique({ subset: ['email', 'country'], keep: 'last', maintainOrder: false }),
    lenient: [{ as: 'set', columns: ['email', 'country'] }],
  },
  {
    // The second key links no rows that the first does not, so that SQL can express it.
    name: 'first row of all that share an address, or address and country',
    covers: 'dedupe',
    template: [{ op: 'dedupe', any_of: [['email'], ['email', 'country']] }],
    sql: 'SELECT DISTINCT ON (email) * FROM input',
    lenient: [{ as: 'set', columns: ['email'] }],
  },
  {
    name: 'first row of similar countries of each address',
    covers: 'dedupe',
    // Texts with a similarity of 1 are equal, so that SQL can express it.
    template: [{ op: 'dedupe', by: ['email'], similar: { column: 'country', threshold: 1 } }],
    sql: 'SELECT DISTINCT ON (email, country) * FROM input',
    lenient: [{ as: 'set', columns: ['email', 'country'] }],
  },
  {
    name: 'sort by a text',
    covers: 'sort',
    template: [{ op: 'sort', by: ['email'] }],
    sql: 'SELECT * FROM input ORDER BY email',
    polars: (rows) => rows.sort({ by: ['email'], descending: false }),
    lenient: [
      { as: 'set', columns: 'all' },
      { as: 'sequence', columns: ['email'] },
    ],
  },
  {
    name: 'the largest thousand',
    covers: 'top',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'top', n: 1000, by: [{ column: 'amount', order: 'desc' }, 'order_id'] },
    ],
    sql: `SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount) FROM input
      ORDER BY CAST(amount AS DECIMAL(12, 2)) DESC, order_id LIMIT 1000`,
    numbers: ['amount'],
  },
  {
    name: 'three largest of each country',
    covers: 'top',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'top', n: 3, by: [{ column: 'amount', order: 'desc' }, 'order_id'], group_by: ['country'] },
    ],
    sql: `SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount) FROM input
      QUALIFY row_number() OVER (PARTITION BY country ORDER BY CAST(amount AS DECIMAL(12, 2)) DESC, order_id) <= 3`,
    numbers: ['amount'],
    order: 'any',
  },
  {
    name: 'every tenth row',
    covers: 'sample',
    template: [{ op: 'sample', every: 10 }],
    sql: 'SELECT * FROM input QUALIFY row_number() OVER () % 10 = 0',
  },
];

const MADE_ROWS: readonly OperationRow[] = [
  {
    name: 'join rows that go on',
    covers: 'merge_rows',
    template: [
      { op: 'select', columns: ['order_id', 'status', 'sku'] },
      { op: 'merge_rows', when: 'status == "open"', join: ['sku'] },
    ],
    sql: `SELECT arg_min(order_id, n) AS order_id, arg_min(status, n) AS status, string_agg(sku, ' ' ORDER BY n) AS sku
      FROM (SELECT *, count(*) FILTER (WHERE status <> 'open') OVER (ORDER BY n) AS bundle
        FROM (SELECT order_id, status, sku, row_number() OVER () AS n FROM input))
      GROUP BY bundle`,
    order: 'any',
  },
  {
    name: 'a row for each word',
    covers: 'explode',
    template: [
      { op: 'select', columns: ['order_id', 'sku'] },
      { op: 'explode', column: 'sku', separator: '-' },
    ],
    sql: "SELECT order_id, unnest(string_split(sku, '-')) AS sku FROM input",
  },
  {
    name: 'a row behind the last',
    covers: 'append_rows',
    template: [{ op: 'append_rows', rows: [{ order_id: 'end' }] }],
    sql: "SELECT * FROM input UNION ALL BY NAME SELECT 'end' AS order_id",
  },
];

const CHECKED_ROWS: readonly OperationRow[] = [
  {
    name: 'four rules',
    covers: 'validate',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      {
        op: 'validate',
        rules: [
          { column: 'email', check: 'required', on_error: 'drop_row' },
          { column: 'status', check: 'in', values: ['paid', 'open', 'shipped'], on_error: 'drop_row' },
          { column: 'amount', check: 'between', min: 10, max: 900, on_error: 'drop_row' },
          { column: 'sku', check: 'length', min: 5, max: 20, on_error: 'drop_row' },
        ],
      },
    ],
    sql: `SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount) FROM input WHERE email IS NOT NULL
      AND status IN ('paid', 'open', 'shipped') AND CAST(amount AS DECIMAL(12, 2)) BETWEEN 10 AND 900
      AND length(sku) BETWEEN 5 AND 20`,
    numbers: ['amount'],
  },
  {
    name: 'a total that must be right',
    covers: 'check_totals',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'check_totals', checks: [{ expr: 'sum(amount)', between: [1, 1_000_000_000_000] }] },
    ],
    sql: `SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount) FROM input
      WHERE (SELECT sum(CAST(amount AS DECIMAL(12, 2))) FROM input) BETWEEN 1 AND 1000000000000`,
    numbers: ['amount'],
  },
  {
    name: 'columns that must be there',
    covers: 'expect_columns',
    template: [{ op: 'expect_columns', columns: ['order_id', 'email', 'amount'] }],
    sql: 'SELECT * FROM input WHERE (SELECT count(order_id) + count(email) + count(amount) FROM (FROM input LIMIT 1)) >= 0',
  },
];

export const ROW_ROWS: readonly OperationRow[] = [...CHOSEN_ROWS, ...MADE_ROWS, ...CHECKED_ROWS];
