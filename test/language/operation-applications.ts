// Applications of each operation to the columns `id`, `k`, `v` and `w` of lost-cells.test.ts, with the intended changes.
// Independent of the test framework.

export interface Application {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Columns whose cells the operation is meant to edit, in the rows of `where`. */
  readonly edits?: readonly string[];
  /** Columns that the operation removes. */
  readonly removes?: readonly string[];
  /** The operation makes rows from other rows. */
  readonly groups?: true;
  /** The operation does not receive rows after the last row that it accepts. */
  readonly ends?: true;
}

/** The reference table `codes`. */
export const TABLE = 'key,text\n12,twelve\n7.25,seven\nx,ex\nw1,one\n';

/** The same operation in place, by a pattern, on all matching columns, and into a new column. */
function onCells(parameters: Readonly<Record<string, unknown>>): Application[] {
  return [
    { parameters: { columns: 'v', ...parameters }, edits: ['v'] },
    { parameters: { columns: { pattern: '^v$' }, ...parameters }, edits: ['v'] },
    { parameters: { columns: ['v'], into: 'made', ...parameters } },
  ];
}

const ALL = ['v', 'w'];

export const APPLICATIONS: Readonly<Record<string, readonly Application[]>> = {
  select: [
    { parameters: { columns: ['id', 'v'] }, removes: ['k', 'w'] },
    { parameters: { columns: ['v', 'id'], keep_rest: true } },
  ],
  drop: [{ parameters: { columns: ['w'] }, removes: ['w'] }],
  rename: [
    { parameters: { columns: { w: 'x' } }, removes: ['w'] },
    { parameters: { style: 'upper', columns: undefined }, removes: ['id', 'k', 'v', 'w'], groups: true },
  ],
  reorder: [{ parameters: { first: ['v'], last: 'id' } }],
  copy: [{ parameters: { from: 'v', to: 'made' } }],
  set: [
    { parameters: { column: 'v', value: 5 }, edits: ['v'] },
    { parameters: { column: 'v', value: 'five' }, edits: ['v'] },
    { parameters: { column: 'v', value: '[5]', type: 'json' }, edits: ['v'] },
    { parameters: { column: 'v', value: { column: 'w' } }, edits: ['v'] },
    { parameters: { columns: { v: 'int(k) + 1', w: 'w + "!"' } }, edits: ALL },
    { parameters: { columns: { v: 'dyn([k])' } }, edits: ['v'] },
    { parameters: { columns: { v: '10 / int(k)' } }, edits: ['v'] },
    { parameters: { columns: { v: 'string(10 / int(k))', made: '[v]' } }, edits: ['v'] },
    { parameters: { columns: { made: 'date(w)' } } },
    { parameters: { each: ['v', 'w'], expr: 'dyn([value])' }, edits: ['v', 'w'] },
    { parameters: { each: ['v'], expr: 'string(10 / int(value))', into: '{name}_made' } },
  ],
  merge_columns: [
    { parameters: { columns: ['v', 'w'], into: 'v', keep_source: true }, edits: ['v'] },
    { parameters: { columns: ['v', 'w'], into: 'w' }, edits: ['w'], removes: ['v'] },
    { parameters: { template: '{v}/{k}', into: 'made', keep_source: true } },
  ],
  split_column: [
    {
      parameters: { column: 'v', by: { separator: '-' }, into: ['v', 'y'], too_many: 'fail', too_few: 'fail' },
      edits: ['v'],
    },
    { parameters: { column: 'v', by: { separator: ',' }, into: ['x', 'y'], keep_source: true } },
    { parameters: { column: 'v', by: { separator: ',' }, into: [null, 'y', null] }, removes: ['v'] },
  ],
  split_pairs: [{ parameters: { column: 'v', pair: ',', key: '1', into: { x: 'made', 2: 'other' } } }],
  extract: [{ parameters: { column: 'v', pattern: '(?P<no>[0-9]+)', into: { no: 'made' } } }],
  flatten_json: [{ parameters: { column: 'v', fields: { x: 'made' } } }],
  parse_json: onCells({}),
  to_json: [{ parameters: { columns: ['v', 'w'], into: 'made' } }],
  text: [
    ...onCells({ steps: ['upper', { suffix: '!' }] }),
    { parameters: { columns: ALL, steps: ['digits_only'] }, edits: ALL },
  ],
  replace: [
    ...onCells({ find: '1', replace: '' }),
    { parameters: { columns: 'v', find: '[a-z]+', replace: 'Z', mode: 'regex' }, edits: ['v'] },
  ],
  map_values: [
    ...onCells({ map: { '12': 'twelve', x: null } }),
    ...onCells({ map: { '12': 'twelve' }, default: 'error' }),
    ...onCells({ map: { '12': 'twelve' }, default: 'blank' }),
    ...onCells({ table: 'codes', key: 'key', value: 'text', default: 'error' }),
  ],
  fill_empty: [
    ...onCells({ value: '2026-02-01' }),
    ...onCells({ value: '9' }),
    ...onCells({ from: ['w'] }),
    ...onCells({ expr: 'v' }),
    ...onCells({ expr: 'w' }),
  ],
  fill_down: [...onCells({}), ...onCells({ group_by: 'k' }), ...onCells({ reset_when: 'k == "1"' })],
  fill_up: [...onCells({}), ...onCells({ group_by: 'k' })],
  blank_if: [...onCells({ values: ['12', 'x'] }), ...onCells({})],
  blank_down: [...onCells({}), { parameters: { columns: ['k', 'v'] }, edits: ['k', 'v'] }],
  parse_number: [
    ...onCells({}),
    ...onCells({ decimal: ',', type: 'integer' }),
    ...onCells({ formats: [{ decimal: ',' }, {}], units: { k: 1000 } }),
    ...onCells({ formats: [{ grouping: ',', groups: 'indian' }, { decimal: ',' }], ambiguous: 'column_vote' }),
    { parameters: { columns: { except: ['id', 'k', 'w'] } }, edits: ['v'] },
  ],
  format_number: onCells({ scale: 1, suffix: ' €' }),
  round: [...onCells({ scale: 0 }), ...onCells({ scale: 20 })],
  parse_date: [
    ...onCells({ formats: ['yyyy-MM-dd'] }),
    ...onCells({ formats: ['yyyy-MM-dd'], type: 'datetime' }),
    ...onCells({ epoch: 's' }),
  ],
  parse_time: [...onCells({}), ...onCells({ formats: ['H'] })],
  parse_duration: [...onCells({}), ...onCells({ plain: 'h', unit: 'min' })],
  format_date: [...onCells({ format: 'dd.MM.yyyy' }), ...onCells({ epoch: 's' })],
  cast: ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'].flatMap((type) => [
    { parameters: { columns: { v: type } }, edits: ['v'] },
    { parameters: { columns: { v: type }, into: { v: 'made' } } },
  ]),
  filter: [
    { parameters: { where: 'k != "1"' } },
    { parameters: { where: 'int(w) > 1' } },
    { parameters: { where: 'k == "0"', mode: 'drop' } },
  ],
  drop_blank_rows: [{ parameters: {} }, { parameters: { columns: 'v' } }],
  drop_repeated_headers: [{ parameters: {} }],
  slice: [{ parameters: { skip: 1, limit: 7 }, ends: true }, { parameters: { skip_last: 2 } }],
  stop_when: [{ parameters: { where: 'id == "r7"' }, ends: true }],
  dedupe: [
    { parameters: { by: ['v'] } },
    { parameters: { by: ['k'], keep: 'last' } },
    { parameters: { by: ['k', 'v'], keep: 'none' } },
    { parameters: { any_of: [['k', 'v'], ['w']] } },
    { parameters: { any_of: [['v']], keep: 'last', match: 'loose' } },
  ],
  sort: [{ parameters: { by: ['v'] } }, { parameters: { by: [{ column: 'k', order: 'desc' }, { column: 'v' }] } }],
  top: [{ parameters: { n: 4, by: ['v'] } }],
  sample: [{ parameters: { every: 2 } }, { parameters: { n: 3, seed: 7 } }],
  merge_rows: [
    { parameters: { when: 'k == "1"', join: ['v'] }, edits: ['v'], groups: true },
    { parameters: { when: 'false', join: ['v', 'w'] } },
  ],
  explode: [
    { parameters: { column: 'v', separator: '-', index_into: 'no' }, edits: ['v'], groups: true },
    { parameters: { column: 'v', json: true }, edits: ['v'], groups: true },
  ],
  unpivot: [
    { parameters: { columns: ['v', 'w'], names_to: 'n', values_to: 'x' }, removes: ['v', 'w'], groups: true },
    {
      parameters: { columns: ['v', 'w'], pattern: '()(.)', names_to: ['n', 'm'], values_to: 'x' },
      removes: ['v', 'w'],
      groups: true,
    },
  ],
  pivot: [
    {
      parameters: { group_by: ['id', 'v'], names_from: 'k', values_from: 'w', values: ['0', '1', '2'] },
      removes: ['k', 'w'],
      groups: true,
    },
  ],
  transpose: [
    {
      parameters: { header_from: 'id', columns: Array.from({ length: 50 }, (_, row) => `r${row}`) },
      removes: ['k', 'v', 'w'],
      groups: true,
    },
  ],
  // Only of dates: no other column of this file can be a series.
  complete: [{ parameters: { column: 'v', group_by: ['id'] } }],
  aggregate: [
    { parameters: { group_by: ['id', 'v'], metrics: [{ fn: 'count', as: 'n' }] }, removes: ['k', 'w'], groups: true },
    {
      parameters: {
        group_by: ['id'],
        metrics: [
          { fn: 'first', column: 'v', as: 'v' },
          { fn: 'last', column: 'w', as: 'w' },
        ],
      },
      removes: ['k'],
      groups: true,
    },
  ],
  window: [
    {
      parameters: {
        partition_by: 'k',
        columns: [
          { fn: 'previous', column: 'v', as: 'made' },
          { fn: 'row_number', as: 'no' },
        ],
      },
    },
    {
      parameters: {
        columns: [
          { fn: 'max', column: 'v', as: 'made' },
          { fn: 'count', as: 'no', where: 'w != "w1"', frame: 'up_to_here' },
        ],
      },
    },
  ],
  append_rows: [{ parameters: { rows: [{ id: 'new', w: 'x' }] } }],
  join: [
    { parameters: { table: 'codes', on: [{ left: 'v', right: 'key' }], columns: ['text'] } },
    { parameters: { table: 'codes', on: [{ left: 'w', right: 'key' }], type: 'anti' } },
    { parameters: { table: 'codes', on: [{ left: 'w', right: 'key' }], type: 'inner' } },
  ],
  lookup_range: [
    { parameters: { table: 'codes', value: 'v', from: 'key', to: 'key', columns: ['text'] } },
    { parameters: { table: 'codes', value: 'w', from: 'key', to: 'key', prefix: 'code_' } },
  ],
  validate: [
    { parameters: { rules: [{ column: 'v', check: 'required' }] }, edits: ['v'] },
    { parameters: { rules: [{ column: 'w', check: 'in', values: ['w1', 'w2'] }] }, edits: ['w'] },
    { parameters: { rules: [{ column: 'k', check: 'unique' }] }, edits: ['k'] },
  ],
  check_totals: [{ parameters: { checks: [{ expr: 'count()', between: [1, 1000] }] } }],
  expect_columns: [{ parameters: { columns: ['id', 'k', 'v', 'w'] } }],
  mask: onCells({ keep_last: 1 }),
  hash: onCells({ method: 'sha256_unkeyed' }),
  redact: onCells({ patterns: ['phone', 'email'] }),
  generalize: [...onCells({ to: 'year' }), ...onCells({ step: 10 })],
};
