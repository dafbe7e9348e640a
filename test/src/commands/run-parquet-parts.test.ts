// A local Run of Parquet that several threads share by row groups: bytes, failure and report are those of one thread.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import type { LocalEngine } from '../../../src/commands/local-engine.ts';
import { InflatedBytes } from '../../../workers/input/parquet/page-memory.ts';
import { PartTurns, TURNS_BYTES } from '../../../workers/protocol/part-turns.ts';
import { DuckDb, WITHOUT_DUCKDB } from '../../fixtures/duckdb.ts';
import { engineOf, textOf } from './engine-of-parts.ts';

const skip = WITHOUT_DUCKDB;
/** Row groups of 2,048 rows: the smallest that DuckDB writes. */
const ROWS = 30_000;
const COLUMNS = `i AS id, 'name ' || (i % 977) AS name,
  CASE WHEN i % 9973 = 9000 OR i = ${ROWS - 1} THEN 'x' ELSE (i / 8)::varchar END AS amount,
  [i, null] AS list, (i % 7)::decimal(9, 2) AS part`;

async function run(engine: LocalEngine, template: object, path: string): Promise<{ parts: number; result: string }> {
  const { parts, outcome, outputPath } = await engine.run(path, textOf(template));
  const { output, failure, report } = outcome;
  const bytes = output === null ? null : Buffer.from(output.bytes ?? readFileSync(outputPath)).toString('base64');
  if (output !== null && output.bytes === null) rmSync(outputPath);
  return { parts, result: JSON.stringify({ bytes, failure, report }) };
}

async function parquet(t: Test, settings: string, rows = ROWS): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'run-parquet-parts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'input.parquet');
  const duck = await DuckDb.open();
  await duck.run(`copy (select ${COLUMNS} from range(${rows}) AS r(i)) to '${path}' (format parquet, ${settings})`);
  return path;
}

const parsed = (onError: string): object => ({ op: 'parse_number', columns: ['amount'], on_error: onError });
const grouped = {
  op: 'aggregate',
  group_by: 'name',
  metrics: [
    { fn: 'count', as: 'n' },
    { fn: 'sum', column: 'amount' },
  ],
};

const windowed = { op: 'window', partition_by: ['name'], columns: [{ fn: 'previous', column: 'amount' }] };

const CASES: readonly [title: string, isDivided: boolean, template: object][] = [
  ['all columns', true, {}],
  ['NDJSON', true, { output: { format: 'ndjson' } }],
  ['few columns', true, { operations: [{ op: 'select', columns: ['name'] }] }],
  ['row errors', true, { operations: [parsed('flag'), { op: 'filter', where: 'int(id) > 100' }] }],
  ['groups', true, { operations: [parsed('drop_row'), grouped] }],
  ['windows', false, { operations: [windowed] }],
  ['few errors', true, { defaults: { max_errors: 4 }, operations: [parsed('blank')] }],
  ['too many errors', false, { defaults: { max_errors: 3 }, operations: [parsed('blank')] }],
  ['an error that ends the Run', false, { operations: [parsed('fail')] }],
  ['rows in order', false, { operations: [{ op: 'dedupe', by: ['name'] }] }],
  ['rows that need others', false, { operations: [{ op: 'fill_down', columns: ['amount'] }] }],
  ['a missing column', false, { operations: [{ op: 'drop', columns: ['lacking'] }] }],
  ['an output in one piece', false, { output: { format: 'json' } }],
];

test('row groups in parts give what the whole file gives', { skip }, async (t) => {
  const one = engineOf(t, 1, null);
  const paths = [await parquet(t, 'row_group_size 2048'), await parquet(t, 'row_group_size 2048, codec zstd')];
  // Parts smaller and larger than a row group, on one thread and on several.
  const engines = [engineOf(t, 2, 5_000), engineOf(t, 3, 100_000), engineOf(t, 1, 20_000)];
  for (const path of paths) {
    for (const [title, isDivided, template] of CASES) {
      const whole = await run(one, template, path);
      t.equal(whole.parts, 1);
      for (const [number, engine] of engines.entries()) {
        const divided = await run(engine, template, path);
        t.ok(divided.result === whole.result, `${title}, engine ${number}`);
        t.equal(divided.parts > 1, isDivided, `${title}, engine ${number}: ${divided.parts} parts`);
      }
    }
  }
});

test('a file with one row group is not divided', { skip }, async (t) => {
  const path = await parquet(t, 'row_group_size 100000');
  t.equal((await run(engineOf(t, 2, 5_000), {}, path)).parts, 1);
});

test('the decompressed bytes of all threads count for the limit', async (t) => {
  const shared = new SharedArrayBuffer(TURNS_BYTES);
  const [one, other] = [1, 2].map(() => {
    const turns = new PartTurns(shared, 1_000);
    return new InflatedBytes(100, { part: { from: 0, to: 1_000, addInflated: (bytes) => turns.addInflated(bytes) } });
  }) as [InflatedBytes, InflatedBytes];
  one.add(60);
  other.add(40);
  t.throws(() => one.add(1), { message: /inflates to more than 100 bytes/ });
});
