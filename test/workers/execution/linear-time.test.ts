// Each step on texts, each operation on cells and each function of expressions takes time that is linear in its cells, whatever
// they contain: a table of all of them over cells that provoke quadratic time.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { checkExpression } from '../../../workers/expression/check/checker.ts';
import type { Type } from '../../../workers/expression/check/type.ts';
import { compileExpression } from '../../../workers/expression/compile/compiler.ts';
import type { ExpressionEnvironment } from '../../../workers/expression/compile/environment.ts';
import { EvaluationError } from '../../../workers/expression/compile/value.ts';
import { FUNCTIONS } from '../../../workers/expression/functions/index.ts';
import { operationTable } from '../../../workers/operations/index.ts';
import { mappingSchema } from '../../../workers/template/json-schema.ts';
import { parseTimestamp } from '../../../workers/values/timestamp.ts';
import { type RunOptions, runOperation } from '../operations/harness.ts';
import { adversarialCells, excessiveGrowth } from './adversarial-cells.ts';

type Parameters = Readonly<Record<string, unknown>>;

const LONG_FIND = `${'a'.repeat(500)}b${'a'.repeat(500)}`;
const NUMBER_WAYS: readonly Parameters[] = [
  {},
  { decimal: ',', grouping: '.', percent: true, exponent: true },
  { grouping: ' ', strip: ['9', '€', LONG_FIND], negative: ['-x', 'x-', '(x)', 'x CR'] },
];
const CHECKS = ['email', 'url', 'phone_e164', 'iban', 'bic', 'luhn', 'ean', 'isin', 'lei', 'currency', 'country'];
const TYPES = ['integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'];
const PATTERN = '(?:a|ab)(\\.|@|x?9)*\\b';

/** For each operation on text cells, its different ways to read them. The column is `a`. */
const OPERATIONS: Readonly<Record<string, readonly Parameters[]>> = {
  set: [{ columns: { made: 'a + "x"' } }],
  merge_columns: [
    { columns: ['a', 'b'], into: 'made' },
    { template: '{a}{{{b}', into: 'made' },
  ],
  split_column: [
    ...[{ separator: ' ' }, { separator: LONG_FIND }, { pattern: PATTERN }, { widths: [1, 2, 3000] }].map((by) => ({
      column: 'a',
      by,
      into: ['x', 'y'],
      trim: true,
      too_many: 'merge_last',
    })),
  ],
  split_pairs: [' ', LONG_FIND].map((pair) => ({ column: 'a', pair, key: 'x', into: { a: 'x', '9': 'y' } })),
  extract: [{ column: 'a', pattern: `(?P<x>${PATTERN})`, into: { x: 'made' } }],
  flatten_json: [{ column: 'a', fields: { a: 'x', '[3]': 'y', 'a.a[0].a': 'z', '["1"]': 'one' } }],
  parse_json: [{ columns: 'a' }],
  to_json: [{ columns: ['a', 'b'], into: 'made' }],
  text: textSteps().map((step) => ({ columns: 'a', steps: [step] })),
  replace: [
    { columns: 'a', find: '9', replace: 'nine' },
    { columns: 'a', find: LONG_FIND, replace: '' },
    { columns: 'a', find: 'aé', replace: 'x', case_sensitive: false },
    { columns: 'a', find: 'x', replace: 'y', mode: 'whole_cell', case_sensitive: false },
    { columns: 'a', find: PATTERN, replace: '$1', mode: 'regex' },
    { columns: 'a', find: 'x(?:.*y)?', replace: '$0', mode: 'regex' },
    { columns: 'a', find: ' +$', replace: '', mode: 'regex' },
  ],
  map_values: ['case_insensitive', 'normal', 'loose'].map((match) => ({ columns: 'a', map: { é: 'x' }, match })),
  fill_empty: [{ columns: 'a', value: 'x' }],
  fill_down: [{ columns: ['a'] }],
  fill_up: [{ columns: ['a'] }],
  blank_if: [
    { columns: 'a', values: ['É', 'n/a'], case_sensitive: false },
    { columns: 'a', where: 'value.endsWith("?")' },
  ],
  blank_down: [{ columns: ['a'] }],
  parse_number: NUMBER_WAYS.map((way) => ({ columns: 'a', ...way })),
  parse_date: [
    { columns: 'a', formats: ['dd.MM.yyyy', 'EEEE d MMMM yyyy'], locale: 'fr' },
    { columns: 'a', formats: ["MMM d, yyyy 'at' h:mm a X"] },
  ],
  parse_time: [{ columns: 'a' }, { columns: 'a', formats: ["h:mm a 'x'", 'HHmm'] }],
  parse_duration: [{ columns: 'a' }, { columns: 'a', clock: 'minutes_seconds', plain: 'h', decimal: ',' }],
  cast: TYPES.map((type) => ({ columns: { a: type } })),
  mask: [{ columns: 'a', keep_first: 2, keep_last: 2 }],
  hash: [{ columns: 'a', key: 'demo' }],
  redact: ['email', 'iban', 'card', 'phone'].map((kind) => ({ columns: 'a', patterns: [kind] })),
  drop_repeated_headers: [{}],
  dedupe: ['normal', 'loose'].map((match) => ({ by: ['a'], match })),
  sort: ['natural', 'case_insensitive', { locale: 'cs' }, { order: ['a'] }].map((compare) => ({
    by: [{ column: 'a', compare }],
  })),
  explode: [
    { column: 'a', separator: ' ' },
    { column: 'a', separator: '9'.repeat(100) },
    { column: 'a', json: true },
  ],
  validate: [
    ...CHECKS.map((check) => ({ rules: [{ column: 'a', check }] })),
    ...TYPES.map((type) => ({ rules: [{ column: 'a', check: 'type', type }] })),
    { rules: [{ column: 'a', check: 'in', values: ['é'], match: 'loose' }] },
    { rules: [{ column: 'a', check: 'pattern', pattern: PATTERN }] },
    { rules: [{ column: 'a', check: 'digits', min: 1 }] },
    { rules: [{ column: 'a', check: 'starts_with', values: ['a'] }] },
  ],
  filter: [{ where: 'a.contains("99x") || a == b' }],
  aggregate: [
    {
      group_by: [],
      metrics: [
        { fn: 'count_distinct', column: 'a' },
        { fn: 'max', column: 'a', as: 'm' },
      ],
    },
  ],
};

/** Operations that accept only cells of other types. */
const OTHER_TYPES = ['format_number', 'round', 'format_date', 'generalize'];

const OPTIONS: RunOptions = { batchRows: 16, onError: 'blank' };

test('each operation on cells is driven', async (t) => {
  const onCells = [...operationTable.values()].filter(({ cells }) => cells).map(({ name }) => name);
  t.strictSame(
    onCells.filter((name) => OPERATIONS[name] === undefined && !OTHER_TYPES.includes(name)),
    [],
    'add it to the table above',
  );
});

for (const [name, ways] of Object.entries(OPERATIONS)) {
  test(`${name} takes time that grows with its cells`, async (t) => {
    for (const way of ways) {
      const problems = new Set<string>();
      const growth = excessiveGrowth((length) => {
        const rows = adversarialCells(length).map((cell) => [cell, 'b']);
        const { problems: found } = runOperation(
          operationTable.get(name)!,
          way,
          { columns: ['a', 'b'], rows },
          OPTIONS,
        );
        for (const problem of found) problems.add(problem);
      });
      t.same([...problems], [], JSON.stringify(way).slice(0, 100));
      if (growth !== null)
        t.fail(`${JSON.stringify(way).slice(0, 100)}: ${growth} times the time for 4 times the cell`);
    }
  });
}

const ENVIRONMENT: ExpressionEnvironment = {
  columns: new Map([
    ['a', 'text'],
    ['b', 'text'],
    ['j', 'json'],
  ]),
  tables: new Map([['suppliers', ['id', 'name']]]),
};

interface Row {
  readonly a: string;
  readonly b: string;
}

const TEXT_KINDS = ['string', 'list', 'dyn', 'variable'];

/** The argument for a parameter that is not the cell; null if no text can express the argument. */
function plainArgument({ kind, parameters }: Type): string | null {
  if (kind === 'list') return parameters[0]!.kind === 'string' ? '[a, b, a]' : '[a, 1, b]';
  const known: Readonly<Record<string, string>> = {
    ...{ string: '"a"', dyn: '"a"', variable: '"a"', int: '3', bool: 'true', double: '1.5', decimal: '1.5d' },
    ...{ bytes: 'bytes(a)', timestamp: 'timestamp("2026-01-31T12:00:00Z")', date: 'date("2026-01-31")' },
    optional: 'optional.of(a)',
  };
  return known[kind] ?? null;
}

/** Calls of a function with the cell in each text parameter, and with two cells. */
function callsOf(name: string): string[] {
  const { overloads, style } = FUNCTIONS.get(name)!;
  const calls = overloads.flatMap(({ parameters, rest }) => {
    const types = rest === undefined ? parameters : [...parameters, rest];
    const plain = types.map(plainArgument);
    if (!types.some(({ kind }) => TEXT_KINDS.includes(kind)) || plain.includes(null)) return [];
    const isText = (type: Type): boolean => TEXT_KINDS.includes(type.kind) && type.kind !== 'list';
    const one = types.flatMap((type, at) => (isText(type) ? [plain.with(at, 'a')] : []));
    const both = types.map((type, at) => (isText(type) ? (at === 0 ? 'a' : 'b') : plain[at]!));
    return [...one, both, plain];
  });
  const written = calls.map(([first, ...others]) =>
    style === 'method' ? `(${first}).${name}(${others.join(', ')})` : `${name}(${[first, ...others].join(', ')})`,
  );
  return [...new Set(written)];
}

/** Calls that the types alone do not determine: parameters that must be literals, and operators. */
const OTHER_CALLS: Readonly<Record<string, readonly string[]>> = {
  extract: [`extract(a, "${PATTERN.replaceAll('\\', '\\\\')}")`],
  replace_re: ['replace_re(a, "x(?:.*y)?", "z")', 'replace_re(a, "[9 ]+$", "z")'],
  parse_date: ['parse_date(a, "d MMMM yyyy", "fr")'],
  lookup: ['lookup("suppliers", a, "name")'],
  format: ['a.format([a, b])', '"%s %s".format([a, b])'],
  format_date: ['format_date(date("2026-01-31"), "dd.MM.yyyy")'],
  to_epoch: ['to_epoch(timestamp("2026-01-31T12:00:00Z"), "s")'],
  from_epoch: ['from_epoch(3, "ms")'],
  duration_of: ['duration_of(3, "min")'],
  operators: [
    'a < b',
    'a == b',
    'a + b',
    'a in [b, a]',
    'a.split("9").map(x, x + "1").join()',
    'size(string(j))',
    'j == j',
  ],
};

/** The expression over a row; null if the expression is invalid, for example because a text must be a literal. */
function compiled(source: string): ((row: Row) => void) | null {
  const checked = checkExpression(source, ENVIRONMENT);
  if ('problems' in checked) return null;
  const evaluate = compileExpression<Row>(checked.expression, {
    column: (name) => (row) => (name === 'j' ? row.a : row[name as keyof Row]),
    value: () => null,
    runRow: () => 1,
    startedAt: parseTimestamp('2026-01-31T12:00:00Z')!,
    lookup: () => () => null,
  });
  return (row) => {
    try {
      evaluate(row);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
    }
  };
}

test('each function of expressions takes time that grows with its texts', async (t) => {
  const sources = [...FUNCTIONS.keys()].map((name): [string, readonly string[]] => [
    name,
    [...callsOf(name), ...(OTHER_CALLS[name] ?? [])],
  ]);
  for (const [, calls] of [...sources, ['operators', OTHER_CALLS['operators']!] as const]) {
    const known = calls.flatMap((call) => {
      const run = compiled(call);
      return run === null ? [] : [{ call, run }];
    });
    if (calls.length > 0) t.ok(known.length > 0, `one of ${calls.join(' ')}`);
    for (const { call, run } of known) {
      const growth = excessiveGrowth((length) => {
        const cells = adversarialCells(length);
        for (const a of cells) run({ a, b: cells.at(-1)! });
      });
      if (growth !== null) t.fail(`${call}: ${growth} times the time for 4 times the texts`);
    }
  }
});

function textSteps(): unknown[] {
  const { steps } = mappingSchema(operationTable.get('text')!.parameters).properties;
  const { anyOf } = steps!['items'] as { anyOf: readonly { enum?: readonly string[]; properties?: object }[] };
  const plain = anyOf.flatMap((form) => form.enum ?? []);
  const named = anyOf.flatMap(({ properties: form }) => Object.keys(form ?? {}));
  const values: Readonly<Record<string, unknown>> = {
    pad_left: { length: 100_000 },
    pad_right: { length: 100_000, char: 'é' },
    truncate: 5000,
    prefix: 'é',
    suffix: 'x',
    remove_chars: 'é9',
    keep_chars: 'é9 ',
  };
  return [...plain, ...named.map((name) => ({ [name]: values[name] ?? name }))];
}
