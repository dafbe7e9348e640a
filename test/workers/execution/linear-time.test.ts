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
import { parseTimestamp } from '../../../workers/values/timestamp.ts';
import { PATTERN } from '../../operations/adversarial-parameters.ts';
import { loadOperationCases } from '../../operations/operation-cases.ts';
import { type RunOptions, runOperation } from '../operations/harness.ts';
import { adversarialCells, excessiveGrowth } from './adversarial-cells.ts';

const OPTIONS: RunOptions = { batchRows: 16, onError: 'blank' };

for (const [name, { linearTime = [] }] of await loadOperationCases()) {
  if (linearTime.length === 0) continue;
  test(`${name} takes time that grows with its cells`, async (t) => {
    for (const way of linearTime) {
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
