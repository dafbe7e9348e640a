// No operation holds its thread on a file with as many columns as a file may have and long headers: not in its plan, at its start or
// in its first rows.
// With all tests only: fifty Runs of the widest file.
import { test } from 'tap';
import { operationTable } from '../../../workers/operations/index.ts';
import { longestStep } from './longest-step.ts';

const COLUMNS = 16_384;

/** Without pauses, the plan of the slowest operation took 470 ms for these names. The usual step takes 10 to 60 ms. */
const STEP_MILLISECONDS_MAX = 250;

/** The best of this many measurements counts. */
const TRIES = 3;

/** All names together are almost as long as they may be. */
const NAME = ' aB c-'.repeat(40);

/** The first columns are those that the operations below name. */
const HEADERS = Array.from({ length: COLUMNS }, (_, index) => (index < 20 ? `c${index}` : `c${index}${NAME}`));
const INPUT = `${HEADERS.join(',')}\n${`${new Array(COLUMNS).fill('1').join(',')}\n`.repeat(2)}`;

/** Takes milliseconds for each name, and matches none of the columns. */
const SLOW_PATTERN = '(?:[a-z]|[A-Z ]|B c){1,20}[xyz]{2,15}';

const WHERE = 'c1 != "a"';
const ALL = { columns: '*' };
const NUMBERS = { op: 'parse_number', ...ALL, on_error: 'blank' };
const DATES = { op: 'parse_date', ...ALL, formats: ['yyyy'], on_error: 'blank' };

/** For each operation its parameters, or a list of operations that ends with it. */
const WIDE: Readonly<Record<string, object | readonly object[]>> = {
  select: { columns: { except: ['c1'] } },
  drop: { columns: { pattern: '[02468]$' } },
  rename: { style: 'title' },
  reorder: { first: ['c9', 'c8'] },
  copy: { from: 'c1', to: 'new' },
  set: { each: '*', expr: 'value + "x"' },
  merge_columns: { ...ALL, into: 'new', separator: '-' },
  split_column: { column: 'c1', by: { separator: '-' }, into: ['new', 'newer'] },
  split_pairs: { column: 'c1', into: { x: 'new' } },
  extract: { column: 'c1', pattern: '(?P<a>x)', into: { a: 'new' } },
  flatten_json: { column: 'c1', fields: { x: 'new' } },
  parse_json: { ...ALL, on_error: 'blank' },
  to_json: { ...ALL, into: 'new' },
  text: { ...ALL, steps: ['trim'], where: 'value != "a"' },
  replace: { ...ALL, find: 'a', replace: 'b' },
  map_values: { ...ALL, map: { x: 'y' } },
  fill_empty: { ...ALL, value: 'x' },
  fill_down: { columns: { except: ['c1'] }, group_by: 'c1' },
  fill_up: ALL,
  blank_if: { ...ALL, values: ['v'] },
  blank_down: ALL,
  parse_number: NUMBERS,
  format_number: [NUMBERS, { op: 'format_number', ...ALL, scale: 2 }],
  round: [NUMBERS, { op: 'round', ...ALL, scale: 2 }],
  parse_date: DATES,
  parse_time: { ...ALL, on_error: 'blank' },
  parse_duration: { ...ALL, on_error: 'blank' },
  format_date: [DATES, { op: 'format_date', ...ALL, format: 'yyyy' }],
  cast: { columns: { c1: 'integer' } },
  filter: { where: WHERE },
  drop_blank_rows: {},
  drop_repeated_headers: {},
  slice: { skip: 1 },
  stop_when: { where: 'c1 == "a"' },
  dedupe: { by: '*' },
  sort: { by: 'c1' },
  top: { n: 3, by: 'c1' },
  sample: { n: 1 },
  merge_rows: { when: 'c1 == ""', join: '*' },
  explode: { column: 'c1', separator: ';' },
  unpivot: { columns: { except: ['c1'] } },
  pivot: { group_by: ['c3'], names_from: 'c1', values_from: 'c2', aggregate: 'first' },
  transpose: { header_from: 'c1' },
  aggregate: { group_by: 'c1', metrics: [{ fn: 'count', as: 'new' }], rest: 'first' },
  window: { columns: [{ fn: 'previous', column: 'c1', as: 'new' }] },
  complete: [
    { op: 'cast', columns: { c1: 'integer' } },
    { op: 'complete', column: 'c1' },
  ],
  append_rows: { table: 'more' },
  join: { table: 't', on: 'c1', columns: ['new'] },
  lookup_range: { table: 't', value: 'c1', from: 'c1', to: 'new', columns: ['new'] },
  validate: { rules: [{ check: 'unique_together', columns: ['c1', 'c2'] }], on_error: 'keep' },
  check_totals: { checks: [{ expr: 'count()', equals: '2' }] },
  expect_columns: { columns: ['c1', 'c2'], extra: 'allow' },
  mask: ALL,
  hash: { ...ALL, method: 'sha256_unkeyed' },
  redact: { ...ALL, patterns: ['email'] },
  generalize: [NUMBERS, { op: 'generalize', ...ALL, step: 10 }],
};

const CASES: Readonly<Record<string, readonly object[]>> = {
  ...Object.fromEntries(
    Object.entries(WIDE).map(([op, given]) => [op, Array.isArray(given) ? given : [{ op, ...given }]]),
  ),
  'names that are replaced by a slow pattern': [{ op: 'rename', pattern: SLOW_PATTERN, replace: '' }],
  'columns that are chosen by a slow pattern': [
    { op: 'text', columns: { pattern: SLOW_PATTERN }, steps: ['trim'], if_missing: 'skip' },
  ],
  'hundreds of parts of many columns': Array.from({ length: 16 }, (_, step) => ({
    op: 'split_column',
    column: `c${step}`,
    by: { separator: '-' },
    into: Array.from({ length: 1000 }, (_, part) => `p${step}-${part}`),
  })),
};

test('each operation is tested', async (t) => {
  t.same(Object.keys(WIDE).toSorted(), [...operationTable.keys()].toSorted());
});

for (const [name, operations] of Object.entries(CASES)) {
  test(`a wide file: ${name}`, async (t) => {
    let best = Number.POSITIVE_INFINITY;
    let end = '';
    const template = { tables: { t: { ref: 't' }, more: { ref: 'more' } }, operations };
    for (let left = TRIES; left > 0 && best > STEP_MILLISECONDS_MAX; left--) {
      const step = await longestStep({ template, input: INPUT, tables: { t: 'c1,new\n1,2\n', more: 'c1,c2\n1,2\n' } });
      best = Math.min(best, step.longest);
      end = step.end;
    }
    t.comment(`${best.toFixed(0)} ms, ${end}`);
    t.ok(best <= STEP_MILLISECONDS_MAX, `held its thread for ${best.toFixed(0)} ms`);
    t.ok(ENDS.includes(end), end);
  });
}

/** A row may have an error, because all operations get the same cells. */
const ENDS = ['done', 'cancelled', 'RUN_RESOURCE_LIMIT'];
