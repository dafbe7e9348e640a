// Files that another program changes while a command reads them: shorter, longer, replaced, removed. With real files of each format.
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import { grownSince } from '../../../src/commands/local-input.ts';
import { type LocalResult, summaryOf } from '../../../src/commands/run-summary.ts';
import type { PartSizes } from '../../../src/pool/shared-run.ts';

const ROWS = 40_000;
const folder = mkdtempSync(join(tmpdir(), 'template-run-changed-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);
const CSV = `id,name\n${Array.from({ length: ROWS }, (_, row) => `${row},name ${row}\n`).join('')}`;

function engineOf(format: string, partSizes?: PartSizes): LocalEngine {
  const source = JSON.stringify({ format: 1, operations: [], output: { format } });
  return new LocalEngine({
    threads: 1,
    cores: 1,
    inputs: 1,
    memoryBudgetBytes: 256 * 1024 * 1024,
    template: { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') },
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
    ...(partSizes === undefined ? {} : { partSizes }),
  });
}

async function withEngine<T>(engine: LocalEngine, body: (engine: LocalEngine) => Promise<T>): Promise<T> {
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
}

/** Runs a file, and changes it after the command has seen its size and before it has read anything. */
async function runChanged(engine: LocalEngine, file: string, change: () => void): Promise<LocalResult> {
  return await withEngine(engine, async () => {
    const result = engine.run(file);
    // Only promises are awaited, so that the event loop does not start the Run before the change.
    while (engine.inputBytes === 0) await null;
    change();
    return await result;
  });
}

/** The same table in another format. */
async function converted(format: string): Promise<Buffer> {
  writeFileSync(path('original.csv'), CSV);
  return await withEngine(engineOf(format), async (engine) => {
    const { outcome, outputPath } = await engine.run(path('original.csv'));
    return outcome.output!.bytes === null ? readFileSync(outputPath) : Buffer.from(outcome.output!.bytes);
  });
}

t.test('a file that becomes shorter while it is read, in each format', async (t) => {
  const files: readonly (readonly [ending: string, bytes: Buffer])[] = [
    ['csv', Buffer.from(CSV)],
    ['csv.gz', gzipSync(CSV)],
    ['json', await converted('json')],
    ['ndjson', await converted('ndjson')],
    ['xlsx', await converted('xlsx')],
    ['parquet', await converted('parquet')],
  ];
  for (const [ending, bytes] of files) {
    for (const part of [0, 0.5, 0.999]) {
      const file = path(`input.${ending}`);
      writeFileSync(file, bytes);
      const run = runChanged(engineOf('csv'), file, () => truncateSync(file, Math.floor(bytes.length * part)));
      await t.rejects(run, {
        code: 'TRUNCATED',
        message: `${file} became shorter while it was read. Run the command again.`,
      });
    }
  }
});

t.test('a file that becomes shorter while it is read in parts', async (t) => {
  const file = path('parts.csv');
  writeFileSync(file, CSV);
  const engine = engineOf('csv', { fileBytesMin: 0, partBytes: 1_000 });
  const message = `${file} became shorter while it was read. Run the command again.`;
  await t.rejects(
    runChanged(engine, file, () => truncateSync(file, 9_000)),
    { code: 'TRUNCATED', message },
  );
});

t.test('a file that grows is read up to the size that it had', async (t) => {
  const file = path('grown.csv');
  writeFileSync(file, CSV);
  const result = await runChanged(engineOf('csv'), file, () => appendFileSync(file, '1,late\n2,late\n'));
  t.equal(result.outcome.rowsWritten, ROWS);
  t.match(
    summaryOf(result, { json: false, keepsRejects: false }),
    /the file grew meanwhile: its last 14 bytes were not read/,
  );
});

t.test('a file that is replaced or rewritten is not read as a mixture', async (t) => {
  const file = path('replaced.csv');
  const refusal = { code: 'CHANGED', message: `${file} was changed while it was read. Run the command again.` };
  writeFileSync(file, CSV);
  writeFileSync(path('new.csv'), CSV.toUpperCase());
  const replaced = runChanged(engineOf('csv'), file, () => renameSync(path('new.csv'), file));
  await t.rejects(replaced, refusal);
  const rewritten = runChanged(engineOf('csv'), file, () => writeFileSync(file, CSV));
  await t.rejects(rewritten, refusal);
});

t.test('a file that is removed: read if it was open, otherwise one line', async (t) => {
  const file = path('removed.csv');
  writeFileSync(file, CSV);
  const run = runChanged(engineOf('csv'), file, () => rmSync(file));
  await t.rejects(run, { code: 'ENOENT', message: `${file} cannot be read: ENOENT.` });
  t.equal(grownSince({ size: 3 } as Parameters<typeof grownSince>[0], file), 0);
});
