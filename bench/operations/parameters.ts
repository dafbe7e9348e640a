// Rows of the table of operations: parameters that use another code path than the plain form of an operation.
import type { OperationRow } from './operation-row.ts';

const NUMBER_ROWS: readonly OperationRow[] = [
  {
    name: 'numbers in two notations',
    covers: 'parse_number',
    template: [
      { op: 'set', columns: { amount: 'status == "open" ? amount.replace(".", ",") : amount' } },
      {
        op: 'parse_number',
        columns: ['amount'],
        formats: [{ decimal: '.' }, { decimal: ',', grouping: '.' }],
        ambiguous: 'first',
      },
    ],
    sql: `SELECT * REPLACE (CAST(replace(CASE WHEN status = 'open' THEN replace(amount, '.', ',') ELSE amount END,
      ',', '.') AS DECIMAL(12, 2)) AS amount) FROM input`,
    numbers: ['amount'],
  },
  {
    name: 'a notation by vote of the column',
    covers: 'parse_number',
    template: [
      {
        op: 'parse_number',
        columns: ['amount'],
        formats: [{ decimal: ',', grouping: '.' }, { decimal: '.' }],
        ambiguous: 'column_vote',
      },
    ],
    sql: `SELECT input.* REPLACE (CASE WHEN commas > points THEN TRY_CAST(replace(replace(amount, '.', ''), ',', '.') AS DECIMAL(12, 2))
      ELSE CAST(amount AS DECIMAL(12, 2)) END AS amount) FROM input, (SELECT count(TRY_CAST(amount AS DECIMAL(12, 2))) AS points,
      count(TRY_CAST(CASE WHEN regexp_matches(amount, '^[0-9]{1,3}(\\.[0-9]{3})*(,[0-9]+)?$') THEN replace(replace(amount, '.', ''), ',', '.') END
      AS DECIMAL(12, 2))) AS commas FROM input)`,
    numbers: ['amount'],
  },
  {
    name: 'numbers with units',
    covers: 'parse_number',
    template: [
      { op: 'set', columns: { amount: 'amount + (status == "open" ? " M" : "k")' } },
      { op: 'parse_number', columns: ['amount'], units: { k: 1000, M: 1_000_000 } },
    ],
    sql: `SELECT * REPLACE (CASE WHEN status = 'open' THEN CAST(rtrim(amount || ' M', ' M') AS DECIMAL(12, 2)) * 1000000
      ELSE CAST(rtrim(amount || 'k', 'k') AS DECIMAL(12, 2)) * 1000 END AS amount) FROM input`,
    numbers: ['amount'],
  },
  {
    name: 'rows apart that are no numbers',
    covers: 'parse_number',
    template: [
      { op: 'set', columns: { amount: 'country == "DE" ? "?" : amount' } },
      { op: 'parse_number', columns: ['amount'], on_error: 'reject' },
    ],
    sql: `SELECT * FROM (SELECT * REPLACE (TRY_CAST(CASE WHEN country = 'DE' THEN '?' ELSE amount END AS DECIMAL(12, 2))
      AS amount) FROM input) WHERE amount IS NOT NULL`,
    numbers: ['amount'],
  },
];

const DATE_ROWS: readonly OperationRow[] = [
  {
    name: 'instants, the day of a zone',
    covers: 'parse_date',
    template: [
      {
        op: 'parse_date',
        columns: ['updated_at'],
        formats: ["yyyy-MM-dd'T'HH:mm:ssX"],
        type: 'date',
        to_timezone: 'Etc/GMT-10',
      },
    ],
    // A time zone without clock changes, so that SQL needs no time zone table.
    sql: "SELECT * REPLACE (CAST(strptime(updated_at, '%Y-%m-%dT%H:%M:%SZ') + INTERVAL 10 HOUR AS DATE) AS updated_at) FROM input",
  },
  {
    name: 'instants as seconds since 1970',
    covers: 'format_date',
    template: [
      { op: 'parse_date', columns: ['updated_at'], formats: ["yyyy-MM-dd'T'HH:mm:ssX"], type: 'datetime' },
      { op: 'format_date', columns: ['updated_at'], epoch: 's' },
    ],
    sql: `SELECT * REPLACE (CAST(epoch(strptime(updated_at, '%Y-%m-%dT%H:%M:%SZ')) AS BIGINT) AS updated_at) FROM input`,
  },
  {
    name: 'instants of seconds since 1970',
    covers: 'parse_date',
    template: [{ op: 'parse_date', columns: ['order_id'], epoch: 's', type: 'date' }],
    sql: 'SELECT * REPLACE (CAST(make_timestamp(CAST(order_id AS BIGINT) * 1000000) AS DATE) AS order_id) FROM input',
  },
  {
    name: 'quarter and week of dates',
    covers: 'expression',
    template: [
      { op: 'parse_date', columns: ['order_date'], formats: ['yyyy-MM-dd'] },
      { op: 'set', columns: { q: 'quarter(order_date)', w: 'iso_week(order_date)', y: 'iso_year(order_date)' } },
    ],
    sql: `SELECT *, quarter(order_date) AS q, week(order_date) AS w, isoyear(order_date) AS y
      FROM (SELECT * REPLACE (CAST(order_date AS DATE) AS order_date) FROM input)`,
  },
];

const COLUMN_ROWS: readonly OperationRow[] = [
  {
    name: 'one expression over three columns',
    covers: 'set',
    template: [
      { op: 'set', each: { pattern: '^(amount|qty|order_id)$' }, expr: 'decimal(value) * 1.19d', into: '{name}_gross' },
    ],
    sql: `SELECT *, CAST(order_id AS DECIMAL(12, 2)) * 1.19 AS order_id_gross, CAST(amount AS DECIMAL(12, 2)) * 1.19 AS amount_gross,
      CAST(qty AS DECIMAL(12, 2)) * 1.19 AS qty_gross FROM input`,
    numbers: ['order_id_gross', 'amount_gross', 'qty_gross'],
  },
  {
    name: 'fingerprints of names',
    covers: 'expression',
    template: [
      { op: 'select', columns: ['order_id', 'sku', 'email'] },
      { op: 'set', columns: { key: 'fingerprint(sku + " " + email)' } },
    ],
    sql: `SELECT order_id, sku, email, array_to_string(list_sort(list_distinct(string_split(
      regexp_replace(lower(sku || ' ' || email), '[[:punct:]]', '', 'g'), ' '))), ' ') AS key FROM input`,
  },
];

const GROUP_ROWS: readonly OperationRow[] = [
  {
    name: 'sum, count and largest up to the row',
    covers: 'window',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      {
        op: 'window',
        partition_by: ['country'],
        columns: [
          { fn: 'sum', column: 'amount', frame: 'up_to_here', as: 'sum_yet' },
          { fn: 'max', column: 'amount', frame: 'up_to_here', as: 'largest_yet' },
          { fn: 'count', where: 'status == "paid"', frame: 'up_to_here', as: 'paid_yet' },
        ],
      },
    ],
    sql: `SELECT * EXCLUDE (n), sum(amount) OVER w AS sum_yet, max(amount) OVER w AS largest_yet,
      count(*) FILTER (status = 'paid') OVER w AS paid_yet
      FROM (SELECT * REPLACE (CAST(amount AS DECIMAL(12, 2)) AS amount), row_number() OVER () AS n FROM input)
      WINDOW w AS (PARTITION BY country ORDER BY n ROWS UNBOUNDED PRECEDING) ORDER BY n`,
    numbers: ['amount', 'sum_yet', 'largest_yet'],
  },
  {
    name: 'the row three before',
    covers: 'window',
    template: [
      {
        op: 'window',
        partition_by: ['country'],
        columns: [{ fn: 'previous', column: 'sku', offset: 3, as: 'before' }],
      },
    ],
    sql: `SELECT * EXCLUDE (n), lag(sku, 3) OVER (PARTITION BY country ORDER BY n) AS before
      FROM (SELECT *, row_number() OVER () AS n FROM input) ORDER BY n`,
  },
  {
    name: 'sum by country, the rest of the first row',
    covers: 'aggregate',
    template: [
      { op: 'parse_number', columns: ['amount'] },
      { op: 'select', columns: ['country', 'status', 'sku', 'amount'] },
      {
        op: 'aggregate',
        group_by: ['country', 'status'],
        metrics: [{ fn: 'sum', column: 'amount', as: 'total' }],
        rest: 'first',
      },
    ],
    sql: `SELECT country, status, sum(amount) AS total, first(sku ORDER BY n) AS sku FROM (SELECT country, status, sku,
      CAST(amount AS DECIMAL(12, 2)) AS amount, row_number() OVER () AS n FROM input)
      GROUP BY country, status ORDER BY min(n)`,
    numbers: ['total'],
  },
];

export const PARAMETER_ROWS: readonly OperationRow[] = [...NUMBER_ROWS, ...DATE_ROWS, ...COLUMN_ROWS, ...GROUP_ROWS];
