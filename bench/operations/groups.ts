// Rows of the table of operations: groups, neighbouring rows, and reference tables.
import type { OperationRow } from './operation-row.ts';

const AMOUNT = 'CAST(amount AS DECIMAL(12, 2))';
const PARSED = { op: 'parse_number', columns: ['amount'] };

const GROUP_ROWS: readonly OperationRow[] = [
  {
    name: 'days without orders by country',
    covers: 'complete',
    template: [
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      {
        op: 'aggregate',
        group_by: ['country', 'status', 'order_date'],
        metrics: [{ fn: 'count', as: 'orders' }],
      },
      { op: 'complete', column: 'order_date', group_by: ['country', 'status'], fill: { orders: 0 } },
    ],
    sql: `WITH counts AS (
        SELECT country, status, CAST(order_date AS DATE) AS order_date, count(*) AS orders FROM input GROUP BY ALL),
      days AS (SELECT country, status, CAST(unnest(generate_series(min(order_date), max(order_date), INTERVAL 1 DAY)) AS DATE)
        AS order_date FROM counts GROUP BY country, status)
      SELECT country, status, order_date, coalesce(orders, 0) AS orders
      FROM days LEFT JOIN counts USING (country, status, order_date)`,
    numbers: ['orders'],
    order: 'any',
  },
  {
    name: 'count and mean by country',
    covers: 'aggregate',
    template: [
      PARSED,
      {
        op: 'aggregate',
        group_by: ['country'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'mean', column: 'amount', as: 'mean' },
          { fn: 'max', column: 'amount', as: 'largest' },
        ],
      },
    ],
    sql: `SELECT country, count(*) AS orders, avg(${AMOUNT}) AS mean, max(${AMOUNT}) AS largest FROM input GROUP BY country`,
    numbers: ['orders', 'mean', 'largest'],
    order: 'any',
  },
  {
    name: 'sums and extremes by country and month',
    covers: 'aggregate',
    template: [
      PARSED,
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'cast', columns: { qty: 'integer' } },
      { op: 'set', columns: { month: 'format_date(order_date, "yyyy-MM")' } },
      {
        op: 'aggregate',
        group_by: ['country', 'month'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount', as: 'total' },
          { fn: 'mean', column: 'amount', as: 'mean' },
          { fn: 'min', column: 'amount', as: 'smallest' },
          { fn: 'max', column: 'amount', as: 'largest' },
          { fn: 'sum', column: 'qty', as: 'pieces' },
          { fn: 'max', column: 'qty', as: 'most' },
        ],
      },
    ],
    sql: `SELECT country, strftime(CAST(order_date AS DATE), '%Y-%m') AS month, count(*) AS orders, sum(${AMOUNT}) AS total,
      avg(${AMOUNT}) AS mean, min(${AMOUNT}) AS smallest, max(${AMOUNT}) AS largest, sum(qty::BIGINT) AS pieces,
      max(qty::BIGINT) AS most FROM input GROUP BY ALL`,
    numbers: ['orders', 'total', 'mean', 'smallest', 'largest', 'pieces', 'most'],
    order: 'any',
  },
  {
    name: 'sums and extremes by country and day',
    covers: 'aggregate',
    template: [
      PARSED,
      { op: 'parse_date', columns: ['updated_at'], formats: ["yyyy-MM-dd'T'HH:mm:ss'Z'"] },
      { op: 'set', columns: { day: 'format_date(updated_at, "dd.MM.yyyy")' } },
      {
        op: 'aggregate',
        group_by: ['country', 'day'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount', as: 'total' },
          { fn: 'min', column: 'amount', as: 'smallest' },
          { fn: 'max', column: 'updated_at', as: 'latest' },
          { fn: 'count_distinct', column: 'status', as: 'states' },
        ],
      },
      { op: 'format_date', columns: ['latest'], format: 'yyyy-MM-dd HH:mm:ss' },
    ],
    sql: `SELECT country, strftime(moment, '%d.%m.%Y') AS day, count(*) AS orders, sum(amount) AS total, min(amount) AS smallest,
      strftime(max(moment), '%Y-%m-%d %H:%M:%S') AS latest, count(DISTINCT status) AS states FROM (SELECT country, status,
      strptime(updated_at, '%Y-%m-%dT%H:%M:%SZ') AS moment, ${AMOUNT} AS amount FROM input) GROUP BY ALL`,
    numbers: ['orders', 'total', 'smallest', 'states'],
    order: 'any',
  },
  {
    name: 'six metrics of months with their names',
    covers: 'aggregate',
    template: [
      PARSED,
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'cast', columns: { qty: 'integer' } },
      { op: 'set', columns: { month: 'format_date(order_date, "MMM yyyy")' } },
      {
        op: 'aggregate',
        group_by: ['month'],
        metrics: [
          { fn: 'sum', column: 'amount', as: 'total' },
          { fn: 'stdev', column: 'amount', as: 'spread' },
          { fn: 'median', column: 'qty', as: 'middle' },
          { fn: 'min', column: 'order_date', as: 'first_day' },
          { fn: 'max', column: 'customer', as: 'last_name' },
          { fn: 'count', as: 'paid', where: 'status == "paid"' },
        ],
      },
    ],
    sql: `SELECT strftime(CAST(order_date AS DATE), '%b %Y') AS month, sum(${AMOUNT}) AS total,
      stddev_samp(CAST(amount AS DOUBLE)) AS spread, median(qty::BIGINT) AS middle, min(CAST(order_date AS DATE)) AS first_day,
      max(customer) AS last_name, count(*) FILTER (WHERE status = 'paid') AS paid FROM input GROUP BY ALL`,
    numbers: ['total', 'spread', 'middle', 'paid'],
    order: 'any',
  },
  {
    name: 'subtotals by country and status',
    covers: 'aggregate',
    template: [
      PARSED,
      {
        op: 'aggregate',
        group_by: ['country', 'status', 'sku'],
        metrics: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', column: 'amount', as: 'total' },
        ],
        totals: { label: 'Total', by: ['country', 'status'] },
      },
    ],
    sql: `SELECT CASE WHEN GROUPING(country) = 1 THEN 'Total' ELSE country END AS country,
      CASE WHEN GROUPING(country) = 1 THEN NULL WHEN GROUPING(status) = 1 THEN 'Total' ELSE status END AS status,
      CASE WHEN GROUPING(status) = 1 THEN NULL WHEN GROUPING(sku) = 1 THEN 'Total' ELSE sku END AS sku,
      count(*) AS orders, sum(${AMOUNT}) AS total FROM input GROUP BY ROLLUP (country, status, sku)`,
    numbers: ['orders', 'total'],
    order: 'any',
  },
  {
    name: 'median and 90 % by country and status',
    covers: 'aggregate',
    template: [
      PARSED,
      {
        op: 'aggregate',
        group_by: ['country', 'status'],
        metrics: [
          { fn: 'median', column: 'amount', as: 'middle' },
          { fn: 'percentile', column: 'amount', p: 90, as: 'most' },
        ],
      },
    ],
    sql: `SELECT country, status, quantile_cont(CAST(amount AS DOUBLE), 0.5) AS middle,
      quantile_cont(CAST(amount AS DOUBLE), 0.9) AS most FROM input GROUP BY country, status`,
    numbers: ['middle', 'most'],
    order: 'any',
  },
  {
    name: 'different addresses by country',
    covers: 'aggregate',
    template: [
      {
        op: 'aggregate',
        group_by: ['country'],
        metrics: [
          { fn: 'count_distinct', column: 'email', as: 'customers' },
          { fn: 'min', column: 'email', as: 'first' },
        ],
      },
    ],
    sql: 'SELECT country, count(DISTINCT email) AS customers, min(email) AS first FROM input GROUP BY country',
    numbers: ['customers'],
    order: 'any',
  },
  {
    name: 'texts of each day in one cell',
    covers: 'aggregate',
    template: [
      {
        op: 'aggregate',
        group_by: ['email'],
        metrics: [
          { fn: 'join', column: 'sku', as: 'skus' },
          { fn: 'first', column: 'status', as: 'status' },
        ],
      },
    ],
    sql: `SELECT email, string_agg(sku, ', ' ORDER BY n) AS skus, arg_min(status, n) AS status
      FROM (SELECT email, sku, status, row_number() OVER () AS n FROM input) GROUP BY email`,
    order: 'any',
  },
  {
    name: 'most frequent status, spread of amounts',
    covers: 'aggregate',
    template: [
      PARSED,
      {
        op: 'aggregate',
        group_by: ['country', 'order_date'],
        metrics: [
          { fn: 'mode', column: 'qty', as: 'usual' },
          { fn: 'stdev', column: 'amount', as: 'spread' },
        ],
      },
    ],
    sql: `SELECT country, order_date, mode(qty) AS usual, stddev_samp(CAST(amount AS DOUBLE)) AS spread FROM input
      GROUP BY country, order_date`,
    numbers: ['spread'],
    // Among equally frequent values, template-run chooses the first, the others any.
    lenient: [{ as: 'set', columns: ['country', 'order_date', 'spread'] }],
  },
  {
    name: 'pivot of pairs of key and value',
    covers: 'pivot',
    template: [
      { op: 'select', columns: ['order_id', 'status', 'sku'] },
      {
        op: 'pivot',
        group_by: 'order_id',
        names_from: 'status',
        values_from: 'sku',
        values: ['paid', 'open', 'shipped'],
      },
    ],
    sql: `SELECT order_id, first(sku) FILTER (WHERE status = 'paid') AS paid, first(sku) FILTER (WHERE status = 'open') AS open,
      first(sku) FILTER (WHERE status = 'shipped') AS shipped FROM input GROUP BY order_id`,
    order: 'any',
  },
];

const SIDE_ROWS: readonly OperationRow[] = [
  {
    name: 'number and previous row',
    covers: 'window',
    template: [
      {
        op: 'window',
        columns: [
          { fn: 'row_number', as: 'no' },
          { fn: 'previous', column: 'status', as: 'before' },
        ],
      },
    ],
    sql: 'SELECT *, row_number() OVER () AS no, lag(status) OVER () AS before FROM input',
    numbers: ['no'],
  },
  {
    name: 'rank and running sum by address',
    covers: 'window',
    template: [
      PARSED,
      {
        op: 'window',
        partition_by: ['email'],
        order_by: [{ column: 'amount', order: 'desc' }, 'order_id'],
        columns: [
          { fn: 'rank', as: 'place' },
          { fn: 'running_sum', column: 'amount', as: 'so_far' },
        ],
      },
    ],
    sql: `SELECT * REPLACE (${AMOUNT} AS amount), rank() OVER w AS place,
      sum(${AMOUNT}) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far FROM input
      WINDOW w AS (PARTITION BY email ORDER BY ${AMOUNT} DESC, order_id)`,
    numbers: ['amount', 'place', 'so_far'],
    order: 'any',
  },
  {
    name: 'previous order and number of orders by address',
    covers: 'window',
    template: [
      {
        op: 'window',
        partition_by: ['email'],
        order_by: ['order_date', 'order_id'],
        columns: [
          { fn: 'previous', column: 'sku', as: 'before' },
          { fn: 'group_size', as: 'orders' },
        ],
      },
    ],
    sql: `SELECT *, lag(sku) OVER w AS before, count(*) OVER (PARTITION BY email) AS orders FROM input
      WINDOW w AS (PARTITION BY email ORDER BY order_date, order_id)`,
    numbers: ['orders'],
    order: 'any',
  },
  {
    name: 'number and running sum of very many small groups',
    covers: 'window',
    template: [
      PARSED,
      {
        op: 'window',
        partition_by: ['customer', 'order_date'],
        order_by: ['order_id'],
        columns: [
          { fn: 'row_number', as: 'no' },
          { fn: 'running_sum', column: 'amount', as: 'so_far' },
        ],
      },
    ],
    sql: `SELECT * REPLACE (${AMOUNT} AS amount), row_number() OVER w AS no,
      sum(${AMOUNT}) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far FROM input
      WINDOW w AS (PARTITION BY customer, order_date ORDER BY order_id)`,
    numbers: ['amount', 'no', 'so_far'],
    order: 'any',
  },
  {
    name: 'sum, mean and size of very many small groups',
    covers: 'window',
    template: [
      { op: 'cast', columns: { qty: 'integer' } },
      {
        op: 'window',
        partition_by: ['customer', 'order_date'],
        columns: [
          { fn: 'sum', column: 'qty', as: 'pieces' },
          { fn: 'mean', column: 'qty', as: 'usual' },
          { fn: 'group_size', as: 'orders' },
        ],
      },
    ],
    sql: `SELECT * REPLACE (qty::BIGINT AS qty), sum(qty::BIGINT) OVER w AS pieces, avg(qty::BIGINT) OVER w AS usual,
      count(*) OVER w AS orders FROM input WINDOW w AS (PARTITION BY customer, order_date)`,
    numbers: ['qty', 'pieces', 'usual', 'orders'],
    order: 'any',
  },
  {
    name: 'next order and running maximum by customer',
    covers: 'window',
    template: [
      PARSED,
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      {
        op: 'window',
        partition_by: ['customer'],
        order_by: ['order_date', 'order_id'],
        columns: [
          { fn: 'next', column: 'order_date', as: 'after' },
          { fn: 'max', column: 'amount', frame: 'up_to_here', as: 'most' },
        ],
      },
    ],
    sql: `SELECT * REPLACE (${AMOUNT} AS amount, CAST(order_date AS DATE) AS order_date),
      lead(CAST(order_date AS DATE)) OVER w AS after,
      max(${AMOUNT}) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS most FROM input
      WINDOW w AS (PARTITION BY customer ORDER BY order_date, order_id)`,
    numbers: ['amount', 'most'],
    order: 'any',
  },
  {
    name: 'share of the country’s sum',
    covers: 'window',
    template: [
      { op: 'select', columns: ['order_id', 'country', 'amount'] },
      PARSED,
      { op: 'window', partition_by: ['country'], columns: [{ fn: 'sum', column: 'amount', as: 'total' }] },
    ],
    sql: `SELECT order_id, country, ${AMOUNT} AS amount, sum(${AMOUNT}) OVER (PARTITION BY country) AS total FROM input`,
    numbers: ['amount', 'total'],
    order: 'any',
  },
  {
    name: 'unpivot two columns',
    covers: 'unpivot',
    template: [
      { op: 'select', columns: ['order_id', 'amount', 'qty'] },
      { op: 'unpivot', columns: ['amount', 'qty'], names_to: 'name', values_to: 'value' },
    ],
    sql: 'SELECT order_id, name, value FROM (UNPIVOT (SELECT order_id, amount, qty FROM input) ON amount, qty)',
  },
  {
    name: 'turn the sums by status',
    covers: 'transpose',
    template: [
      { op: 'select', columns: ['status', 'qty'] },
      { op: 'cast', columns: { qty: 'integer' } },
      {
        op: 'aggregate',
        group_by: 'status',
        metrics: [
          { fn: 'sum', column: 'qty', as: 'pieces' },
          { fn: 'count', as: 'orders' },
        ],
      },
      { op: 'transpose', header_from: 'status', columns: ['paid', 'open', 'shipped', 'cancelled', 'refunded'] },
    ],
    sql: `SELECT name AS status, first(n) FILTER (WHERE status = 'paid') AS paid, first(n) FILTER (WHERE status = 'open') AS open,
      first(n) FILTER (WHERE status = 'shipped') AS shipped, first(n) FILTER (WHERE status = 'cancelled') AS cancelled,
      first(n) FILTER (WHERE status = 'refunded') AS refunded FROM (UNPIVOT (SELECT status, sum(qty::BIGINT)::BIGINT AS pieces,
      count(*) AS orders FROM input GROUP BY status) ON pieces, orders INTO NAME name VALUE n) GROUP BY name`,
    order: 'any',
  },
  {
    name: 'unpivot pairs of columns by a pattern',
    covers: 'unpivot',
    template: [
      {
        op: 'rename',
        columns: { amount: 'number_1', qty: 'number_2', sku: 'text_1', status: 'text_2' },
      },
      { op: 'select', columns: ['order_id', 'number_1', 'text_1', 'number_2', 'text_2'] },
      { op: 'unpivot', pattern: '(\\w+)_(\\d)', names_to: ['.value', 'no'] },
    ],
    sql: `SELECT order_id, unnest(['1', '2']) AS no, unnest([amount, qty]) AS number, unnest([sku, status]) AS text FROM input`,
  },
];

const TABLE_ROWS: readonly OperationRow[] = [
  {
    name: 'join a table of countries',
    covers: 'join',
    tables: ['regions'],
    template: [{ op: 'join', table: 'regions', on: [{ left: 'country', right: 'code' }], columns: ['region'] }],
    sql: 'SELECT input.*, regions.region FROM input LEFT JOIN regions ON input.country = regions.code',
    order: 'any',
  },
  {
    name: 'a rate by a range',
    covers: 'lookup_range',
    tables: ['tariff'],
    template: [
      PARSED,
      { op: 'lookup_range', table: 'tariff', value: 'amount', from: 'since', to: 'until', columns: ['rate'] },
    ],
    sql: `SELECT input.* REPLACE (${AMOUNT} AS amount), tariff.rate FROM input ASOF LEFT JOIN
      (SELECT CAST(since AS DECIMAL(12, 2)) AS since, rate FROM tariff) AS tariff ON ${AMOUNT} >= tariff.since`,
    numbers: ['amount'],
    order: 'any',
  },
];

export const GROUP_ROW_LIST: readonly OperationRow[] = [...GROUP_ROWS, ...SIDE_ROWS, ...TABLE_ROWS];
