// Rows of the table of operations: moving, creating and splitting columns.
import type { OperationRow } from './operation-row.ts';

export const COLUMN_ROWS: readonly OperationRow[] = [
  {
    name: 'select six columns',
    covers: 'select',
    template: [{ op: 'select', columns: ['order_id', 'email', 'country', 'status', 'amount', 'qty'] }],
    sql: 'SELECT order_id, email, country, status, amount, qty FROM input',
    polars: (rows) => rows.select('order_id', 'email', 'country', 'status', 'amount', 'qty'),
  },
  {
    name: 'drop two columns',
    covers: 'drop',
    template: [{ op: 'drop', columns: ['notes', 'phone'] }],
    sql: 'SELECT * EXCLUDE (notes, phone) FROM input',
  },
  {
    name: 'rename three columns',
    covers: 'rename',
    template: [{ op: 'rename', columns: { order_id: 'id', amount: 'net', qty: 'pieces' } }],
    sql: 'SELECT * RENAME (order_id AS id, amount AS net, qty AS pieces) FROM input',
  },
  {
    name: 'two columns to the front',
    covers: 'reorder',
    template: [{ op: 'reorder', first: ['email', 'amount'] }],
    sql: 'SELECT email, amount, * EXCLUDE (email, amount) FROM input',
  },
  {
    name: 'copy a column',
    covers: 'copy',
    template: [{ op: 'copy', from: 'amount', to: 'amount_as_sent' }],
    sql: 'SELECT *, amount AS amount_as_sent FROM input',
    polars: (rows, { col }) => rows.withColumns(col('amount').alias('amount_as_sent')),
  },
  {
    name: 'set a constant',
    covers: 'set',
    template: [{ op: 'set', columns: { source: '"shop"' } }],
    sql: "SELECT *, 'shop' AS source FROM input",
    polars: (rows, { lit }) => rows.withColumns(lit('shop').alias('source')),
  },
  {
    name: 'merge two columns',
    covers: 'merge_columns',
    template: [
      { op: 'select', columns: ['order_id', 'country', 'sku'] },
      { op: 'merge_columns', columns: ['country', 'sku'], separator: '/', into: 'place' },
    ],
    sql: "SELECT order_id, concat_ws('/', country, sku) AS place FROM input",
  },
  {
    name: 'split a column in three',
    covers: 'split_column',
    template: [
      { op: 'select', columns: ['order_id', 'sku'] },
      { op: 'split_column', column: 'sku', by: { separator: '-' }, into: ['kind', 'shelf', 'number'] },
    ],
    sql: `SELECT order_id, split_part(sku, '-', 1) AS kind, split_part(sku, '-', 2) AS shelf,
      split_part(sku, '-', 3) AS number FROM input`,
  },
  {
    name: 'split pairs of keys and values',
    covers: 'split_pairs',
    template: [
      { op: 'select', columns: ['order_id', 'status', 'country'] },
      { op: 'set', columns: { pairs: '"status:" + status + ";country:" + country' } },
      { op: 'split_pairs', column: 'pairs', into: { status: 'first', country: 'second' } },
    ],
    sql: `SELECT *, regexp_extract(pairs, 'status:([^;]*)', 1) AS first, regexp_extract(pairs, 'country:([^;]*)', 1) AS second
      FROM (SELECT order_id, status, country, 'status:' || status || ';country:' || country AS pairs FROM input)`,
  },
  {
    name: 'extract the domain',
    covers: 'extract',
    template: [
      { op: 'select', columns: ['order_id', 'email'] },
      { op: 'extract', column: 'email', pattern: '@(?P<domain>[a-z.]+)$', into: { domain: 'domain' } },
    ],
    sql: "SELECT order_id, email, regexp_extract(email, '@([a-z.]+)$', 1) AS domain FROM input",
    polars: (rows, { col }) =>
      rows.select('order_id', 'email', col('email').str.extract('@([a-z.]+)$', 1).alias('domain')),
  },
  {
    name: 'four columns as JSON',
    covers: 'to_json',
    template: [
      { op: 'select', columns: ['order_id', 'country', 'status', 'sku'] },
      { op: 'to_json', columns: ['order_id', 'country', 'status', 'sku'], into: 'data' },
    ],
    sql: `SELECT order_id, country, status, sku, to_json({'order_id': order_id, 'country': country, 'status': status, 'sku': sku}) AS data FROM input`,
  },
  {
    name: 'read JSON and take it apart',
    covers: 'flatten_json',
    template: [
      { op: 'select', columns: ['order_id', 'country', 'sku'] },
      { op: 'to_json', columns: ['country', 'sku'], into: 'data' },
      { op: 'flatten_json', column: 'data', fields: { country: 'land', sku: 'item' } },
      { op: 'select', columns: ['order_id', 'land', 'item'] },
    ],
    sql: `SELECT order_id, data->>'$.country' AS land, data->>'$.sku' AS item
      FROM (SELECT order_id, to_json({'country': country, 'sku': sku}) AS data FROM input)`,
  },
  {
    name: 'read texts as JSON',
    covers: 'parse_json',
    template: [
      { op: 'select', columns: ['order_id', 'qty', 'sku'] },
      { op: 'set', columns: { data: '"[" + qty + ",\\"" + sku + "\\"]"' } },
      { op: 'parse_json', columns: ['data'] },
    ],
    sql: `SELECT order_id, qty, sku, CAST('[' || qty || ',"' || sku || '"]' AS JSON) AS data FROM input`,
  },
];
