// Rows of the table of operations: everyday Templates, three of them with Parquet as output.
import type { OperationRow } from './operation-row.ts';

const AMOUNT = 'CAST(amount AS DECIMAL(12, 2))';
const PARSED = { op: 'parse_number', columns: ['amount'] };

export const EVERYDAY_ROWS: readonly OperationRow[] = [
  {
    name: 'rank and running sum by group',
    covers: 'window',
    template: [
      PARSED,
      {
        op: 'window',
        partition_by: ['country'],
        order_by: [{ column: 'amount', order: 'desc' }, 'order_id'],
        columns: [
          { fn: 'rank', as: 'place' },
          { fn: 'running_sum', column: 'amount', as: 'so_far' },
        ],
      },
    ],
    sql: `SELECT * REPLACE (${AMOUNT} AS amount), rank() OVER w AS place,
      sum(${AMOUNT}) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far FROM input
      WINDOW w AS (PARTITION BY country ORDER BY ${AMOUNT} DESC, order_id)`,
    numbers: ['amount', 'place', 'so_far'],
    order: 'any',
  },
  {
    name: 'count, sum and median of each address',
    covers: 'aggregate',
    template: [
      PARSED,
      {
        op: 'aggregate',
        group_by: ['email'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount', as: 'total' },
          { fn: 'median', column: 'amount', as: 'middle' },
        ],
      },
    ],
    sql: `SELECT email, count(*) AS orders, sum(${AMOUNT}) AS total, median(${AMOUNT}::DOUBLE) AS middle FROM input
      GROUP BY email`,
    polars: (rows, { col, Float64, len }) =>
      rows
        .withColumns(col('amount').cast(Float64).alias('amount'))
        .groupBy(['email'])
        .agg(len().alias('orders'), col('amount').sum().alias('total'), col('amount').median().alias('middle')),
    numbers: ['orders', 'total', 'middle'],
    order: 'any',
  },
  {
    name: 'count and sum of each address',
    covers: 'aggregate',
    template: [
      PARSED,
      {
        op: 'aggregate',
        group_by: ['email'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount', as: 'total' },
        ],
      },
    ],
    sql: `SELECT email, count(*) AS orders, sum(${AMOUNT}) AS total FROM input GROUP BY email`,
    polars: (rows, { col, Float64, len }) =>
      rows.groupBy(['email']).agg(len().alias('orders'), col('amount').cast(Float64).sum().alias('total')),
    numbers: ['orders', 'total'],
    order: 'any',
  },
  {
    name: 'sort by two texts',
    covers: 'sort',
    template: [{ op: 'sort', by: ['country', 'customer'] }],
    sql: 'SELECT * FROM input ORDER BY country, customer',
    polars: (rows) => rows.sort({ by: ['country', 'customer'], descending: false }),
    lenient: [
      { as: 'set', columns: 'all' },
      { as: 'sequence', columns: ['country', 'customer'] },
    ],
  },
  {
    name: 'unpivot three columns',
    covers: 'unpivot',
    template: [{ op: 'unpivot', columns: ['amount', 'qty', 'sku'], names_to: 'name', values_to: 'value' }],
    sql: 'SELECT * FROM (UNPIVOT input ON amount, qty, sku INTO NAME name VALUE value)',
  },
  {
    name: 'two expressions of every kind',
    covers: 'set',
    template: [
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      {
        op: 'set',
        columns: {
          code: 'upper(left(customer.trim(), 3)) + "-" + split_part(sku, "-", 2)',
          kind: 'order_date > date("2023-01-01") && status in ["paid", "shipped"] ? "new" : size(notes) > 60 ? "long" : "old"',
        },
      },
    ],
    sql: `SELECT * REPLACE (CAST(order_date AS DATE) AS order_date),
      upper(left(trim(customer), 3)) || '-' || split_part(sku, '-', 2) AS code,
      CASE WHEN CAST(order_date AS DATE) > DATE '2023-01-01' AND status IN ('paid', 'shipped') THEN 'new'
        WHEN length(notes) > 60 THEN 'long' ELSE 'old' END AS kind FROM input`,
  },
  {
    name: 'filter by a pattern or a prefix',
    covers: 'filter',
    template: [{ op: 'filter', where: 'email.matches("^user[0-9]*3@.*[.]com$") || sku.startsWith("SKU-1")' }],
    sql: "SELECT * FROM input WHERE regexp_matches(email, '^user[0-9]*3@.*[.]com$') OR starts_with(sku, 'SKU-1')",
  },
  {
    name: 'pivot with three sums in 30 groups',
    covers: 'pivot',
    template: [
      PARSED,
      {
        op: 'pivot',
        group_by: 'country',
        names_from: 'status',
        values_from: 'amount',
        values: ['paid', 'open', 'shipped'],
        aggregate: 'sum',
      },
    ],
    sql: `SELECT country, sum(${AMOUNT}) FILTER (WHERE status = 'paid') AS paid,
      sum(${AMOUNT}) FILTER (WHERE status = 'open') AS open,
      sum(${AMOUNT}) FILTER (WHERE status = 'shipped') AS shipped FROM input GROUP BY country`,
    numbers: ['paid', 'open', 'shipped'],
    order: 'any',
  },
  {
    name: 'CSV to Parquet',
    covers: 'parquet',
    output: 'parquet',
    template: [],
    sql: 'SELECT * FROM input',
  },
  {
    name: 'CSV to Parquet with numbers and dates',
    covers: 'parquet',
    output: 'parquet',
    template: [
      PARSED,
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'cast', columns: { order_id: 'integer', qty: 'integer' } },
    ],
    sql: `SELECT * REPLACE (order_id::BIGINT AS order_id, ${AMOUNT} AS amount, CAST(order_date AS DATE) AS order_date,
      qty::BIGINT AS qty) FROM input`,
    numbers: ['order_id', 'amount', 'qty'],
  },
  {
    name: 'half of the rows and columns to Parquet',
    covers: 'parquet',
    output: 'parquet',
    template: [
      PARSED,
      { op: 'filter', where: 'amount >= 500d' },
      { op: 'select', columns: ['order_id', 'email', 'country', 'status', 'amount', 'sku'] },
    ],
    sql: `SELECT order_id, email, country, status, ${AMOUNT} AS amount, sku FROM input WHERE ${AMOUNT} >= 500`,
    numbers: ['amount'],
  },
];
