// Worst cases of each operation: the files of worst-files.ts, with the longest parameters that a Template may have. Independent
// of the service.
import { PARAMETER_LENGTH_MAX } from '../../workers/template/base-parameters.ts';
import type { WORST_FILES } from './worst-files.ts';

/** Operations, and the file that they are applied to. Cells that the operations refuse become blank. */
export interface WorstCase {
  readonly file: keyof typeof WORST_FILES & string;
  readonly operations: readonly object[];
}

const LONGEST = '-'.repeat(PARAMETER_LENGTH_MAX);
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

const one = (file: string, op: string, parameters: object): WorstCase => ({
  file,
  operations: [{ op, ...parameters }],
});
/** A case over numbers, which are parsed first. */
const numbered = (op: string, parameters: object): WorstCase => ({
  file: 'wideNumbers',
  operations: [
    { op: 'parse_number', columns: '*' },
    { op, ...parameters },
  ],
});
const over = (files: readonly string[], op: string, parameters: object): WorstCase[] =>
  files.map((file) => one(file, op, parameters));

const TEXTS = ['ascii', 'wideLetters', 'longRows'];
const JSONS = ['jsonNumbers', 'jsonLists', 'jsonObjects', 'jsonKeys', 'jsonText'];
const metric = (fn: string) => ({ fn, column: 'a', as: `m_${fn}` });

const TEXT_STEPS = [
  ...[
    'trim',
    'collapse_spaces',
    'upper',
    'lower',
    'title',
    'sentence',
    'nfc',
    'nfkc',
    'strip_accents',
    'remove_control',
  ],
  ...['remove_invisible', 'straighten_quotes', 'remove_tags', 'unescape_html', 'digits_only', 'letters_only'],
  { prefix: '>'.repeat(1000) },
  { suffix: '<'.repeat(1000) },
  { pad_left: { length: 1000 } },
  { truncate: 1_000_000 },
  { remove_chars: 'x' },
  { keep_chars: 'Abcß' },
  'fix_encoding',
];

/** Cases by the name of the operation. */
export const WORST_OPERATIONS: Readonly<Record<string, readonly WorstCase[]>> = {
  select: over(['wide', 'longRows'], 'select', { columns: '*' }),
  drop: over(['wide'], 'drop', { columns: { pattern: '7' } }),
  rename: [...over(['wide'], 'rename', { style: 'upper' }), one('wide', 'rename', { pattern: '^', replace: LONGEST })],
  reorder: over(['wide'], 'reorder', { first: 'c16383' }),
  copy: over(['longRows'], 'copy', { from: 'a', to: 'z' }),
  set: [
    ...over(['two'], 'set', { columns: { a: 'a + "x" + b', b: 'b + a' } }),
    one('two', 'set', { columns: Object.fromEntries(names(50).map((name) => [name, 'a + ""'])) }),
    one('shortRows', 'set', { column: 'z', value: LONGEST }),
  ],
  merge_columns: [
    ...over(['wide', 'wideLong'], 'merge_columns', { columns: '*', into: 'm', separator: LONGEST }),
    one('longRows', 'merge_columns', { columns: '*', into: 'm', separator: LONGEST }),
    one('two', 'merge_columns', { template: '{a}{b}{a}{b}'.repeat(200), into: 'm' }),
  ],
  split_column: [
    ...over(['separators', 'letters'], 'split_column', { column: 'a', by: { separator: ',' }, into: names(100) }),
    one('separators', 'split_column', { column: 'a', by: { pattern: ',' }, into: names(100), too_many: 'merge_last' }),
    one('letters', 'split_column', {
      column: 'a',
      by: { widths: Array.from({ length: 100 }, () => 1) },
      into: names(100),
    }),
  ],
  split_pairs: over(['separators', 'letters'], 'split_pairs', {
    column: 'a',
    pair: ',',
    into: Object.fromEntries(names(100).map((name) => [name, name])),
  }),
  extract: over(TEXTS, 'extract', { column: 'a', pattern: '(.*)(.)(.*)', into: { 1: 'x', 2: 'y', 3: 'z' } }),
  flatten_json: [
    ...over(JSONS, 'flatten_json', {
      column: 'a',
      fields: Object.fromEntries(names(500).map((name, n) => [`[${n}].k`, name])),
    }),
    ...over(JSONS, 'flatten_json', {
      column: 'a',
      fields: Object.fromEntries(names(500).map((name, n) => [`["${n}"]`, name])),
    }),
  ],
  parse_json: over(JSONS, 'parse_json', { columns: 'a' }),
  to_json: over(['wide', 'longRows', 'wideLong'], 'to_json', { columns: '*', into: 'j' }),
  text: [
    ...TEXT_STEPS.flatMap((step) => over(TEXTS, 'text', { columns: '*', steps: [step] })),
    ...over([...TEXTS, 'wide', 'wideLong'], 'text', { columns: '*', steps: TEXT_STEPS }),
  ],
  replace: [
    ...over(['letters', 'wideLetters'], 'replace', { columns: '*', find: 'x', replace: LONGEST }),
    ...over(['letters', 'wideLetters'], 'replace', { columns: '*', find: '字|x', replace: 'yy', mode: 'regex' }),
    ...over(['letters', 'wideLetters'], 'replace', {
      columns: 'a',
      pairs: { x: 'y', ß: 's', é: 'e' },
      case_sensitive: false,
    }),
    ...over(['wide'], 'replace', { columns: '*', find: 'v', replace: LONGEST }),
  ],
  map_values: [
    ...over(TEXTS, 'map_values', { columns: '*', map: { y: LONGEST, b1: LONGEST }, match: 'loose' }),
    one('wide', 'map_values', { columns: '*', map: { v1: LONGEST }, default: { value: LONGEST } }),
    one('shortRows', 'map_values', { columns: 'b', map: { none: '-' }, default: { value: LONGEST } }),
  ],
  fill_empty: [
    ...over(['longRows'], 'fill_empty', { columns: '*', value: 'x' }),
    one('wide', 'fill_empty', { columns: '*', value: LONGEST }),
  ],
  fill_down: over(['longRows', 'wide'], 'fill_down', { columns: '*' }),
  fill_up: [
    ...over(['longRows', 'wide'], 'fill_up', { columns: '*' }),
    one('longRows', 'fill_up', { columns: 'a', group_by: 'g' }),
  ],
  blank_if: over([...TEXTS, 'wide'], 'blank_if', { columns: '*', values: [LONGEST], case_sensitive: false }),
  blank_down: over(['longRows', 'wide'], 'blank_down', { columns: '*' }),
  parse_number: over(['digits', 'wideNumbers'], 'parse_number', {
    columns: '*',
    grouping: '.',
    decimal: ',',
    strip: ['€'],
  }),
  format_number: [
    numbered('format_number', { columns: '*', scale: 100, prefix: '-'.repeat(100), suffix: '-'.repeat(100) }),
  ],
  round: [numbered('round', { columns: '*', scale: -2 })],
  parse_date: [
    ...over(['digits', 'wide'], 'parse_date', { columns: '*', formats: ['yyyy-MM-dd', 'd. MMMM yyyy'] }),
    one('longRows', 'parse_date', { columns: 'a', formats: ['dd/MM/yyyy', 'MM/dd/yyyy'], ambiguous: 'column_vote' }),
  ],
  parse_time: over(['digits', 'wide', 'longRows'], 'parse_time', { columns: '*' }),
  parse_duration: over(['digits', 'wide', 'longRows'], 'parse_duration', { columns: '*', plain: 's' }),
  format_date: [
    {
      file: 'wideNumbers',
      operations: [
        { op: 'parse_date', columns: '*', formats: ['yyyyMMdd'], excel_serial: '1900' },
        { op: 'format_date', columns: '*', format: 'dd. MMMM yyyy HH:mm', locale: 'de' },
      ],
    },
  ],
  cast: [
    ...['json', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime'].map((type) =>
      one('digits', 'cast', { columns: { a: type } }),
    ),
    ...over(JSONS, 'cast', { columns: { a: 'json' } }),
  ],
  filter: [...over(['longRows', 'wideLong'], 'filter', { where: 'a + "x" != "y"' })],
  drop_blank_rows: over(['longRows', 'wide'], 'drop_blank_rows', {}),
  drop_repeated_headers: over(['longRows', 'wide'], 'drop_repeated_headers', {}),
  slice: over(['longRows', 'wide'], 'slice', { skip: 1, skip_last: 5 }),
  stop_when: over(['longRows'], 'stop_when', { where: 'a + "x" == "y"' }),
  dedupe: [
    ...over(['longRows', 'wide', 'shortRows'], 'dedupe', {}),
    ...over(['longRows', 'wide'], 'dedupe', { keep: 'last', match: 'case_insensitive' }),
    one('longRows', 'dedupe', { by: 'a', keep: 'none' }),
    ...over(['longRows', 'shortRows'], 'dedupe', { any_of: ['a', ['a']], match: 'loose' }),
  ],
  sort: [
    ...over(['longRows', 'shortRows'], 'sort', { by: ['a'] }),
    ...over(['longRows'], 'sort', { by: [{ column: 'a', compare: 'natural', order: 'desc' }] }),
    ...over(['longRows', 'shortRows'], 'sort', { by: [{ column: 'a', compare: { locale: 'hu' } }] }),
    ...over(['longRows'], 'sort', { by: [{ column: 'a', compare: 'case_insensitive' }] }),
    one('wide', 'sort', { by: ['c1', 'c2'] }),
  ],
  top: [one('longRows', 'top', { n: 10, by: 'a' }), one('longRows', 'top', { n: 10, by: 'a', group_by: 'g' })],
  sample: over(['longRows', 'wide'], 'sample', { n: 10 }),
  merge_rows: [
    ...over(['longRows', 'wide'], 'merge_rows', { when: 'run.row % 3 != 0', join: '*' }),
    one('shortRows', 'merge_rows', { when: 'run.row % 3000 != 1', join: '*', separator: LONGEST }),
  ],
  explode: [
    ...over(['separators', 'letters', 'longRows'], 'explode', { column: 'a', separator: ',', index_into: 'i' }),
    ...over(JSONS, 'explode', { column: 'a', json: true }),
    {
      file: 'wideLong',
      operations: [
        { op: 'text', columns: 'a', steps: [{ truncate: 100 }] },
        { op: 'explode', column: 'a', separator: 'x' },
      ],
    },
  ],
  unpivot: over(['longRows', 'wide', 'wideLong'], 'unpivot', { columns: '*' }),
  transpose: over(['longRows'], 'transpose', { header_from: 'b', columns: ['b0', 'b1'], on_error: 'drop_row' }),
  pivot: [
    one('longRows', 'pivot', { group_by: 'b', names_from: 'g', values_from: 'a', values: ['0', '1'] }),
    one('longRows', 'pivot', {
      group_by: 'g',
      names_from: 'b',
      values_from: 'a',
      values: ['b0', 'b1', 'b2'],
      aggregate: 'join',
      other: { into: 'o' },
    }),
    one('shortRows', 'pivot', {
      group_by: 'g',
      names_from: 'b',
      values_from: 'a',
      values: names(1000),
      fill: LONGEST,
      aggregate: 'join',
    }),
  ],
  complete: ['a', 'g'].map((group) => ({
    file: 'longRows',
    operations: [
      { op: 'window', columns: [{ fn: 'row_number', as: 'n' }] },
      { op: 'complete', column: 'n', group_by: group, every: 3, range: { to: 1000 }, fill: { b: LONGEST } },
    ],
  })),
  aggregate: [
    ...['count_distinct', 'min', 'max', 'first', 'last', 'mode', 'join'].flatMap((fn) => [
      one('longRows', 'aggregate', { group_by: 'g', metrics: [metric(fn)] }),
      one('longRows', 'aggregate', { group_by: 'a', metrics: [metric(fn)] }),
    ]),
    one('longRows', 'aggregate', {
      group_by: 'b',
      metrics: ['first', 'last', 'min', 'max'].map(metric),
      order: 'sorted',
    }),
    one('shortRows', 'aggregate', { group_by: 'g', metrics: [{ ...metric('join'), separator: LONGEST }] }),
    one('shortRows', 'aggregate', { metrics: [metric('count_distinct'), metric('mode'), metric('join')] }),
    {
      file: 'shortRows',
      operations: [
        { op: 'parse_number', columns: 'a' },
        { op: 'aggregate', metrics: ['median', 'stdev', 'variance', 'sum', 'mean'].map(metric) },
      ],
    },
    one('longRows', 'aggregate', { group_by: 'a', metrics: [metric('join')], totals: { label: LONGEST } }),
    one('longRows', 'aggregate', {
      group_by: ['a', 'g'],
      metrics: [metric('max')],
      totals: { label: LONGEST, by: 'a' },
    }),
  ],
  window: [
    ...['previous', 'next', 'first', 'last'].map((fn) =>
      one('longRows', 'window', { partition_by: 'g', columns: [metric(fn)] }),
    ),
    one('longRows', 'window', { partition_by: 'a', order_by: ['a'], columns: [{ fn: 'row_number' }, { fn: 'rank' }] }),
    one('wide', 'window', { order_by: ['c1'], columns: [{ fn: 'row_number' }] }),
  ],
  append_rows: [
    one('longRows', 'append_rows', { rows: names(200).map(() => ({ a: LONGEST })) }),
    one('wide', 'append_rows', { rows: names(200).map(() => ({ c1: LONGEST })) }),
    {
      file: 'longRows',
      operations: [
        { op: 'set', columns: { key: 'g', value: 'b' } },
        { op: 'append_rows', table: 't' },
      ],
    },
  ],
  join: [
    one('longRows', 'join', { table: 't', on: [{ left: 'g', right: 'key' }], columns: ['value'], multiple: 'all' }),
    one('longRows', 'join', { table: 't', on: [{ left: 'a', right: 'key' }], columns: ['value'] }),
    one('wide', 'join', { table: 't', on: [{ left: 'c1', right: 'key' }], columns: ['value'] }),
  ],
  lookup_range: [
    one('longRows', 'lookup_range', { table: 't', value: 'a', from: 'key', to: 'key', columns: ['value'] }),
    one('wide', 'lookup_range', { table: 't', value: 'c1', from: 'key', to: 'key', columns: ['value'] }),
  ],
  validate: [
    ...over([...TEXTS, 'digits'], 'validate', {
      rules: [
        ...[
          'email',
          'url',
          'phone_e164',
          'iban',
          'bic',
          'luhn',
          'ean',
          'isin',
          'lei',
          'currency',
          'country',
          'required',
        ].map((check) => ({ column: 'a', check })),
        { column: 'a', check: 'pattern', pattern: '^(a|b)*$' },
        { column: 'a', check: 'in', values: [LONGEST], match: 'loose' },
        { column: 'a', check: 'length', max: 10 },
        { column: 'a', check: 'expr', expr: 'a + "x" == "y"' },
      ],
    }),
    one('longRows', 'validate', {
      rules: [
        { column: 'a', check: 'unique' },
        { check: 'unique_together', columns: ['a', 'b'] },
      ],
    }),
    one('longRows', 'validate', { rules: [{ column: 'a', check: 'increasing' }] }),
  ],
  check_totals: [one('longRows', 'check_totals', { checks: [{ expr: 'count()', equals: 6 }] })],
  expect_columns: over(['wide'], 'expect_columns', { columns: ['c1'], extra: 'allow' }),
  mask: over([...TEXTS, 'wide'], 'mask', { columns: '*', keep_last: 4, char: '•' }),
  hash: over([...TEXTS, 'wide'], 'hash', { columns: '*', key: 'pepper' }),
  redact: [
    ...over([...TEXTS, 'digits', 'wide'], 'redact', { columns: '*', patterns: ['email', 'iban', 'card', 'phone'] }),
    one('digits', 'redact', { columns: '*', patterns: ['card'], replace: LONGEST }),
  ],
  generalize: [numbered('generalize', { columns: '*', step: 1000 })],
};
