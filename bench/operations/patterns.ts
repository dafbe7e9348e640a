// Rows of the table of operations: eight uses of regular expressions.
import type { OperationRow } from './operation-row.ts';

const COVERS = 'regular expression';

export const PATTERN_ROWS: readonly OperationRow[] = [
  {
    name: 'matches: a whole cell',
    covers: COVERS,
    template: [{ op: 'filter', where: 'sku.matches("^SKU-[0-4][0-9]-[0-9]+$")' }],
    sql: "SELECT * FROM input WHERE regexp_matches(sku, '^SKU-[0-4][0-9]-[0-9]+$')",
    polars: (rows, { col }) => rows.filter(col('sku').str.contains('^SKU-[0-4][0-9]-[0-9]+$')),
  },
  {
    name: 'matches: one of several words',
    covers: COVERS,
    template: [{ op: 'filter', where: 'notes.matches("fragile|gift wrap|schnell")' }],
    sql: "SELECT * FROM input WHERE regexp_matches(notes, 'fragile|gift wrap|schnell')",
    polars: (rows, { col }) => rows.filter(col('notes').str.contains('fragile|gift wrap|schnell')),
  },
  {
    name: 'matches: anywhere, behind a literal',
    covers: COVERS,
    template: [{ op: 'filter', where: 'email.matches("user[0-9]*7@example[.](com|org)")' }],
    sql: "SELECT * FROM input WHERE regexp_matches(email, 'user[0-9]*7@example[.](com|org)')",
    polars: (rows, { col }) => rows.filter(col('email').str.contains('user[0-9]*7@example[.](com|org)')),
  },
  {
    name: 'extract two groups',
    covers: COVERS,
    template: [
      { op: 'select', columns: ['order_id', 'phone'] },
      { op: 'extract', column: 'phone', pattern: '^\\+([0-9]+) ([0-9]{3})', into: { 1: 'land', 2: 'area' } },
    ],
    sql: `SELECT order_id, phone, regexp_extract(phone, '^\\+([0-9]+) ([0-9]{3})', 1) AS land,
      regexp_extract(phone, '^\\+([0-9]+) ([0-9]{3})', 2) AS area FROM input`,
  },
  {
    name: 'replace with groups',
    covers: COVERS,
    template: [
      { op: 'replace', columns: 'phone', find: '^\\+(\\d+) (\\d+) (\\d+)$', replace: '00$1-$2-$3', mode: 'regex' },
    ],
    sql: "SELECT * REPLACE (regexp_replace(phone, '^\\+(\\d+) (\\d+) (\\d+)$', '00\\1-\\2-\\3') AS phone) FROM input",
  },
  {
    name: 'replace all that match',
    covers: COVERS,
    template: [{ op: 'replace', columns: 'notes', find: '[aeiou]+', replace: '_', mode: 'regex' }],
    sql: "SELECT * REPLACE (regexp_replace(notes, '[aeiou]+', '_', 'g') AS notes) FROM input",
    polars: (rows, { col }) => rows.withColumns(col('notes').str.replaceAll('[aeiou]+', '_').alias('notes')),
  },
  {
    name: 'split by a pattern',
    covers: COVERS,
    template: [
      { op: 'select', columns: ['order_id', 'phone'] },
      { op: 'split_column', column: 'phone', by: { pattern: ' +' }, into: ['land', 'area', 'number'] },
    ],
    sql: `SELECT order_id, parts[1] AS land, parts[2] AS area, parts[3] AS number
      FROM (SELECT order_id, regexp_split_to_array(phone, ' +') AS parts FROM input)`,
  },
  {
    name: 'validate a pattern',
    covers: COVERS,
    template: [
      {
        op: 'validate',
        rules: [
          { column: 'email', check: 'pattern', pattern: '^[a-z0-9.]+@[a-z]+[.](com|org)$', on_error: 'drop_row' },
        ],
      },
    ],
    sql: "SELECT * FROM input WHERE regexp_matches(email, '^[a-z0-9.]+@[a-z]+[.](com|org)$')",
  },
];
