// Measures evaluations per second of expressions over rows of texts on one thread, compared with other CEL libraries if
// bench/peers has them. Checks the results of every evaluator before its time counts.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { checkExpression } from '../workers/expression/check/checker.ts';
import { compileExpression } from '../workers/expression/compile/compiler.ts';
import type { ExpressionEnvironment } from '../workers/expression/compile/environment.ts';
import { median } from './median.ts';

/** Number of rows that are processed repeatedly: more than fit into the processor's caches. */
const ROW_COUNT = 200_000;

/** Rounds of every evaluator, interleaved; the median counts. */
const ROUNDS = 5;

/** Time of one evaluator in one round, in milliseconds. */
const ROUND_MILLISECONDS = 400;

const COLUMNS = ['id', 'status', 'amount', 'name'];

type Row = readonly string[];
type Engine = (rows: readonly Row[]) => number;

interface Contest {
  readonly expression: string;
  readonly expected: (row: Row) => boolean;
}

const CONTESTS: readonly Contest[] = [
  {
    expression: 'row.status == "paid" && double(row.amount) * 1.2 > 100.0',
    expected: (row) => row[1] === 'paid' && Number(row[2]) * 1.2 > 100,
  },
  {
    expression: 'row.status in ["paid", "open"] || row.name.startsWith("A")',
    expected: (row) => row[1] === 'paid' || row[1] === 'open' || row[3]!.startsWith('A'),
  },
  {
    expression: 'row.name.matches("^[A-Z][a-z]+-[0-9]{2}$")',
    expected: (row) => /^[A-Z][a-z]+-[0-9]{2}$/.test(row[3]!),
  },
];

/** The same rows in every run: a small linear congruential generator (Numerical Recipes). */
function makeRows(): Row[] {
  const states = ['paid', 'open', 'cancelled', 'paid'];
  const names = ['Anna-12', 'Boris', 'carla-7', 'Dora-99'];
  let seed = 42;
  const next = (bound: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
  return Array.from({ length: ROW_COUNT }, (_, index) => [
    String(index),
    states[next(4)]!,
    `${next(500)}.${String(next(100)).padStart(2, '0')}`,
    names[next(4)]!,
  ]);
}

function ownEngine(expression: string): Engine {
  const environment: ExpressionEnvironment = { columns: new Map(COLUMNS.map((name) => [name, 'text' as const])) };
  const checked = checkExpression(expression, environment);
  if ('problems' in checked) throw new Error(checked.problems[0]!.message);
  const evaluate = compileExpression<Row>(checked.expression, {
    column: (name) => {
      const index = COLUMNS.indexOf(name);
      return (row) => row[index];
    },
  });
  return counting((row) => evaluate(row) === true);
}

function counting(holds: (row: Row) => boolean): Engine {
  return (rows) => {
    let count = 0;
    for (const row of rows) if (holds(row)) count++;
    return count;
  };
}

/** Returns a library of bench/peers, or null if it is not installed there. */
async function peer<T>(name: string): Promise<T | null> {
  const require = createRequire(new URL('../../bench/peers/package.json', import.meta.url));
  try {
    return (await import(pathToFileURL(require.resolve(name)).href)) as T;
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).includes('NOT_FOUND')) return null;
    throw error;
  }
}

function asObject(row: Row): Record<string, string> {
  return { id: row[0]!, status: row[1]!, amount: row[2]!, name: row[3]! };
}

async function peerEngines(expression: string): Promise<Map<string, Engine | null>> {
  const celJs = await peer<{ parse(source: string): (context: object) => unknown }>('@marcbachmann/cel-js');
  const bufbuild = await peer<{
    run(source: string, bindings: object): unknown;
    plan(environment: unknown, expression: unknown): (bindings: object) => unknown;
    parse(source: string): unknown;
    celEnv(): unknown;
  }>('@bufbuild/cel');
  const engines = new Map<string, Engine | null>();
  const parsed = celJs?.parse(expression);
  engines.set(
    '@marcbachmann/cel-js',
    parsed === undefined ? null : counting((row) => parsed({ row: asObject(row) }) === true),
  );
  const planned = bufbuild?.plan(bufbuild.celEnv(), bufbuild.parse(expression));
  engines.set(
    '@bufbuild/cel',
    planned === undefined ? null : counting((row) => planned({ row: asObject(row) }) === true),
  );
  return engines;
}

/** Millions of evaluations per second, over whole passes of the rows. */
function measure(engine: Engine, rows: readonly Row[], expected: number): number {
  let evaluations = 0;
  const start = performance.now();
  let elapsed = 0;
  do {
    if (engine(rows) !== expected) throw new Error('an engine changed its answer');
    evaluations += rows.length;
    elapsed = performance.now() - start;
  } while (elapsed < ROUND_MILLISECONDS);
  return evaluations / elapsed / 1000;
}

const rows = makeRows();
for (const { expression, expected } of CONTESTS) {
  const count = rows.filter(expected).length;
  const engines = new Map<string, Engine | null>([
    ['written by hand', counting(expected)],
    ['template-run closures', ownEngine(expression)],
    ...(await peerEngines(expression)),
  ]);
  const results = new Map<string, number[]>();
  for (const [name, engine] of engines) {
    if (engine === null) continue;
    if (engine(rows) !== count) throw new Error(`${name} gives another answer for ${expression}`);
    results.set(name, []);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, measured] of results) measured.push(measure(engines.get(name)!, rows, count));
  }
  console.log(
    `\n${expression}\n  ${count} of ${rows.length} rows hold; million evaluations a second, one thread, median of ${ROUNDS}`,
  );
  for (const name of engines.keys()) {
    const measured = results.get(name);
    const figure = measured === undefined ? 'skipped: not in bench/peers' : median(measured).toFixed(1).padStart(8);
    console.log(`  ${name.padEnd(24)}${figure}`);
  }
}
