// Rows of the table of operations: thirteen families of expressions, each in one `set`.
import type { OperationRow } from './operation-row.ts';

const COLUMNS = [
  'order_id',
  'customer',
  'email',
  'status',
  'order_date',
  'amount',
  'qty',
  'sku',
  'phone',
  'updated_at',
];
const COVERS = 'expression';

/** The expressions as new columns, in the Template language and in SQL. */
function family(name: string, made: Readonly<Record<string, readonly [string, string]>>): OperationRow {
  const columns = Object.entries(made);
  return {
    name: `set: ${name}`,
    covers: COVERS,
    template: [
      { op: 'select', columns: COLUMNS },
      { op: 'set', columns: Object.fromEntries(columns.map(([column, [ours]]) => [column, ours])) },
    ],
    sql: `SELECT ${COLUMNS.join(', ')}, ${columns.map(([column, [, sql]]) => `${sql} AS ${column}`).join(', ')} FROM input`,
  };
}

function numeric(row: OperationRow, ...numbers: string[]): OperationRow {
  return { ...row, numbers };
}

export const EXPRESSION_ROWS: readonly OperationRow[] = [
  numeric(
    family('similarity of two texts', {
      // ASCII texts only, because DuckDB compares bytes.
      alike: ['similarity(sku, email)', 'jaro_winkler_similarity(sku, email)'],
    }),
    'alike',
  ),
  family('case and spaces', {
    big: ['upper(customer)', 'upper(customer)'],
    small: ['lower(email)', 'lower(email)'],
    bare: ['customer.trim()', 'trim(customer)'],
  }),
  family('parts by place', {
    head: ['left(sku, 6)', 'left(sku, 6)'],
    tail: ['right(phone, 4)', 'right(phone, 4)'],
    middle: ['order_date.substring(0, 4)', 'substring(order_date, 1, 4)'],
  }),
  family('parts by separator', {
    shelf: ['split_part(sku, "-", 2)', "split_part(sku, '-', 2)"],
    domain: ['split_part(email, "@", 2)', "split_part(email, '@', 2)"],
  }),
  family('contains and ends', {
    net: ['email.contains("mail.")', "contains(email, 'mail.')"],
    com: ['email.endsWith(".com")', "ends_with(email, '.com')"],
    low: ['sku.startsWith("SKU-0")', "starts_with(sku, 'SKU-0')"],
  }),
  numeric(
    family('concatenation and size', {
      label: ['status + "/" + sku', "status || '/' || sku"],
      letters: ['size(customer)', 'length(customer)'],
    }),
    'letters',
  ),
  family('replace, pad, digits', {
    flat: ['sku.replace("-", "")', "replace(sku, '-', '')"],
    wide: ['pad_left(qty, 6, "0")', "lpad(qty, 6, '0')"],
    dial: ['digits(phone)', "regexp_replace(phone, '[^0-9]', '', 'g')"],
  }),
  family('missing values', {
    blank: ['is_blank(status)', "(status IS NULL OR trim(status) = '')"],
    any: ['coalesce(status, email, "none")', "coalesce(status, email, 'none')"],
  }),
  family('comparisons and in', {
    done: ['status in ["paid", "shipped", "refunded"]', "status IN ('paid', 'shipped', 'refunded')"],
    late: ['order_date >= "2022-06-01"', "order_date >= '2022-06-01'"],
    same: ['status == "paid" && qty != "1"', "(status = 'paid' AND qty <> '1')"],
  }),
  family('choices', {
    group: [
      'status == "paid" ? "done" : status == "open" ? "waiting" : "other"',
      "CASE WHEN status = 'paid' THEN 'done' WHEN status = 'open' THEN 'waiting' ELSE 'other' END",
    ],
    shown: ['email.endsWith(".net") ? sku : status', "CASE WHEN ends_with(email, '.net') THEN sku ELSE status END"],
  }),
  numeric(
    family('dates', {
      calendar: ['year(date(order_date))', 'year(CAST(order_date AS DATE))'],
      season: ['month(date(order_date))', 'month(CAST(order_date AS DATE))'],
      age: [
        'days_between(date(order_date), date("2026-01-01"))',
        "date_diff('day', CAST(order_date AS DATE), DATE '2026-01-01')",
      ],
    }),
    'calendar',
    'season',
    'age',
  ),
  numeric(
    family('decimals', {
      total: ['decimal(amount) * decimal(qty)', 'CAST(amount AS DECIMAL(12, 2)) * CAST(qty AS INTEGER)'],
      capped: ['min(decimal(amount), 500.0d)', 'least(CAST(amount AS DECIMAL(12, 2)), 500.00)'],
      whole: ['round(decimal(amount) + 0.25d)', 'round(CAST(amount AS DECIMAL(12, 2)) + 0.25, 0)'],
    }),
    'total',
    'capped',
    'whole',
  ),
  numeric(
    family('casts', {
      number: ['int(qty) + 1', 'CAST(qty AS BIGINT) + 1'],
      text: ['string(int(order_id) * 2)', 'CAST(CAST(order_id AS BIGINT) * 2 AS VARCHAR)'],
      half: ['double(amount) / 2.0', 'CAST(amount AS DOUBLE) / 2.0'],
    }),
    'number',
    'half',
  ),
];
