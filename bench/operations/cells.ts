// Rows of the table of operations: edits of texts, numbers, dates and types, and masking of cells.
import type { OperationRow } from './operation-row.ts';

const TEXT_ROWS: readonly OperationRow[] = [
  {
    name: 'trim and lower',
    covers: 'text',
    template: [{ op: 'text', columns: ['customer', 'email'], steps: ['trim', 'lower'] }],
    sql: 'SELECT * REPLACE (lower(trim(customer)) AS customer, lower(trim(email)) AS email) FROM input',
  },
  {
    name: 'replace a word',
    covers: 'replace',
    template: [{ op: 'replace', columns: 'notes', find: 'parcel', replace: 'package' }],
    sql: "SELECT * REPLACE (replace(notes, 'parcel', 'package') AS notes) FROM input",
    polars: (rows, { col }) => rows.withColumns(col('notes').str.replaceAll('parcel', 'package').alias('notes')),
  },
  {
    name: 'map five values',
    covers: 'map_values',
    template: [
      {
        op: 'map_values',
        columns: 'status',
        map: { paid: 'P', open: 'O', refunded: 'R', cancelled: 'C', shipped: 'S' },
      },
    ],
    sql: `SELECT * REPLACE (CASE status WHEN 'paid' THEN 'P' WHEN 'open' THEN 'O' WHEN 'refunded' THEN 'R'
      WHEN 'cancelled' THEN 'C' WHEN 'shipped' THEN 'S' ELSE status END AS status) FROM input`,
  },
  {
    name: 'blank a value',
    covers: 'blank_if',
    template: [{ op: 'blank_if', columns: 'status', values: ['open'] }],
    sql: "SELECT * REPLACE (nullif(status, 'open') AS status) FROM input",
  },
  {
    name: 'fill blanks from a column',
    covers: 'fill_empty',
    template: [
      { op: 'blank_if', columns: 'status', values: ['open'] },
      { op: 'fill_empty', columns: 'status', from: ['country'] },
    ],
    sql: "SELECT * REPLACE (coalesce(nullif(status, 'open'), country) AS status) FROM input",
  },
  {
    name: 'fill down',
    covers: 'fill_down',
    template: [
      { op: 'blank_if', columns: 'status', values: ['open', 'paid'] },
      { op: 'fill_down', columns: 'status' },
    ],
    sql: `SELECT * REPLACE (last_value(CASE WHEN status NOT IN ('open', 'paid') THEN status END IGNORE NULLS)
      OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS status) FROM input`,
  },
  {
    name: 'fill up',
    covers: 'fill_up',
    template: [
      { op: 'blank_if', columns: 'status', values: ['open', 'paid'] },
      { op: 'fill_up', columns: 'status' },
    ],
    sql: `SELECT * REPLACE (first_value(CASE WHEN status NOT IN ('open', 'paid') THEN status END IGNORE NULLS)
      OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS status) FROM input`,
  },
  {
    name: 'blank what repeats',
    covers: 'blank_down',
    template: [{ op: 'blank_down', columns: 'status' }],
    sql: 'SELECT * REPLACE (CASE WHEN lag(status) OVER () IS DISTINCT FROM status THEN status END AS status) FROM input',
  },
];

const VALUE_ROWS: readonly OperationRow[] = [
  {
    name: 'parse two numbers',
    covers: 'parse_number',
    template: [{ op: 'parse_number', columns: ['amount', 'qty'] }],
    sql: 'SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount, CAST(qty AS INTEGER) AS qty) FROM input',
    numbers: ['amount', 'qty'],
  },
  {
    name: 'write numbers with groups',
    covers: 'format_number',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'set', columns: { amount: 'amount * 100' } },
      { op: 'format_number', columns: ['amount'], grouping: ',', scale: 2 },
    ],
    sql: "SELECT * REPLACE (format('{:,.2f}', CAST(amount AS DOUBLE) * 100) AS amount) FROM input",
  },
  {
    name: 'round to units',
    covers: 'round',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'round', columns: ['amount'], scale: 0, mode: 'half_up' },
    ],
    sql: 'SELECT * REPLACE (round(CAST(amount AS DECIMAL(12, 2)), 0) AS amount) FROM input',
    numbers: ['amount'],
  },
  {
    name: 'parse dates',
    covers: 'parse_date',
    template: [{ op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] }],
    sql: "SELECT * REPLACE (CAST(strptime(order_date, '%Y-%m-%d') AS DATE) AS order_date) FROM input",
  },
  {
    name: 'parse dates without a year',
    covers: 'parse_date',
    template: [
      { op: 'set', columns: { order_date: 'right(order_date, 5)' } },
      { op: 'parse_date', columns: ['order_date'], formats: ['MM-dd'], default_year: 2024 },
    ],
    sql: "SELECT * REPLACE (CAST(strptime('2024-' || right(order_date, 5), '%Y-%m-%d') AS DATE) AS order_date) FROM input",
  },
  {
    name: 'parse times',
    covers: 'parse_time',
    template: [
      { op: 'set', columns: { order_date: '"10:" + right(order_date, 2)' } },
      { op: 'parse_time', columns: ['order_date'] },
    ],
    sql: "SELECT * REPLACE ('10:' || right(order_date, 2) || ':00' AS order_date) FROM input",
  },
  {
    name: 'parse durations',
    covers: 'parse_duration',
    template: [{ op: 'parse_duration', columns: ['amount'], plain: 'min' }],
    sql: 'SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) * 60 AS amount) FROM input',
    numbers: ['amount'],
  },
  {
    name: 'dates in another notation',
    covers: 'format_date',
    template: [
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'format_date', columns: ['order_date'], format: 'dd.MM.yyyy' },
    ],
    sql: "SELECT * REPLACE (strftime(CAST(order_date AS DATE), '%d.%m.%Y') AS order_date) FROM input",
  },
  {
    name: 'cast three columns',
    covers: 'cast',
    template: [{ op: 'cast', columns: { order_id: 'integer', amount: 'decimal', order_date: 'date' } }],
    sql: `SELECT * REPLACE (CAST(order_id AS BIGINT) AS order_id, CAST(amount AS DECIMAL(12, 2)) AS amount,
      CAST(order_date AS DATE) AS order_date) FROM input`,
    numbers: ['amount'],
  },
];

const PRIVACY_ROWS: readonly OperationRow[] = [
  {
    name: 'mask telephone numbers',
    covers: 'mask',
    template: [{ op: 'mask', columns: ['phone'], keep_last: 4 }],
    sql: "SELECT * REPLACE (repeat('*', length(phone) - 4) || right(phone, 4) AS phone) FROM input",
  },
  {
    name: 'digests of addresses',
    covers: 'hash',
    template: [{ op: 'hash', columns: 'email', method: 'sha256_unkeyed' }],
    sql: 'SELECT * REPLACE (sha256(email) AS email) FROM input',
  },
  {
    name: 'addresses out of texts',
    covers: 'redact',
    template: [
      { op: 'select', columns: ['order_id', 'notes', 'email'] },
      { op: 'merge_columns', columns: ['notes', 'email'], separator: ' ', into: 'text' },
      { op: 'redact', columns: ['text'], patterns: ['email'], replace: '[email]' },
    ],
    sql: `SELECT order_id, regexp_replace(concat_ws(' ', notes, email), '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+[.][A-Za-z]{2,}',
      '[email]', 'g') AS text FROM input`,
  },
  {
    name: 'dates to their month',
    covers: 'generalize',
    template: [
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'generalize', columns: 'order_date', to: 'month' },
    ],
    sql: "SELECT * REPLACE (CAST(date_trunc('month', CAST(order_date AS DATE)) AS DATE) AS order_date) FROM input",
  },
];

export const CELL_ROWS: readonly OperationRow[] = [...TEXT_ROWS, ...VALUE_ROWS, ...PRIVACY_ROWS];
