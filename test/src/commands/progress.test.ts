// Progress of a local Run: rows and bytes as counted by its threads, and the progress line.
import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { LocalEngine } from '../../../src/commands/local-engine.ts';
import { progressLine } from '../../../src/commands/run.ts';
import { Progress } from '../../../src/commands/terminal.ts';

const ROWS = 50_000;

const TEXT = `id,name\n${Array.from({ length: ROWS }, (_, row) => `${row},name ${row}\n`).join('')}`;

interface Case {
  readonly threads?: number;
  readonly inputs?: number;
  readonly operations?: readonly object[];
  readonly inParts?: boolean;
}

function engineOf({ threads = 1, inputs = 1, operations = [], inParts = false }: Case): LocalEngine {
  const source = JSON.stringify({ format: 1, operations, input: { csv: { encoding: ['utf-8', 'windows-1252'] } } });
  return new LocalEngine({
    threads,
    cores: threads,
    inputs,
    memoryBudgetBytes: 256 * 1024 * 1024,
    template: { source, format: 'json', sha256: createHash('sha256').update(source).digest('hex') },
    tables: {},
    secretsDirectory: null,
    overrides: { delimiter: null, headerRow: null },
    ...(inParts ? { partSizes: { fileBytesMin: 0, partBytes: 100_000 } } : {}),
  });
}

t.test('all rows and bytes were counted once the Runs are over', async (t) => {
  const folder = t.testdir({ 'a.csv': TEXT, 'c.csv': 'id,name\n' });
  writeFileSync(join(folder, 'b.csv.gz'), gzipSync(TEXT));
  // The byte that is no UTF-8 comes last: the file is read once more.
  writeFileSync(join(folder, 'd.csv'), Buffer.concat([Buffer.from(TEXT), Buffer.from('1,\xe4\n', 'latin1')]));
  const cases: readonly (Case & { readonly files: readonly string[]; readonly rows: number })[] = [
    { files: ['a.csv'], rows: ROWS },
    { files: ['b.csv.gz'], rows: ROWS },
    { files: ['c.csv'], rows: 0 },
    { files: ['d.csv'], rows: ROWS + 1 },
    { files: ['a.csv'], rows: ROWS, threads: 2, inParts: true },
    // A part that fails lets the whole be done again.
    { files: ['d.csv'], rows: ROWS + 1, threads: 2, inParts: true },
    { files: ['a.csv', 'd.csv', 'b.csv.gz'], rows: 3 * ROWS + 1, threads: 2, inputs: 3 },
    { files: ['a.csv'], rows: ROWS, operations: [{ op: 'slice', limit: 3 }] },
  ];
  for (const { files, rows, ...settings } of cases) {
    const paths = files.map((name) => join(folder, name));
    const engine = engineOf(settings);
    const name = JSON.stringify([files, settings]);
    try {
      for (const { outcome } of await Promise.all(paths.map((path) => engine.run(path))))
        t.equal(outcome.failure, null);
      const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
      t.strictSame(engine.progress, { rows, bytes }, name);
      t.equal(engine.inputBytes, bytes, name);
    } finally {
      await engine.close();
    }
  }
});

t.test('the line', async (t) => {
  const engine = { progress: { rows: 1234, bytes: 2_500_000 }, inputBytes: 10_000_000, writtenBytes: 1_000_000 };
  const one = progressLine({ all: 1, done: () => 0 }, engine, 3);
  t.equal(one, '25 % (2.5 of 10.0 MB) read, 1234 rows, 1.0 MB written, 3 s');
  const three = progressLine({ all: 3, done: () => 2 }, { ...engine, inputBytes: 0 }, 3);
  t.match(three, /^2 of 3 files done, 0 % /);
});

t.test('only a terminal sees it, unless it is asked for', async (t) => {
  const lineOn = async (isTerminal: boolean, always: boolean): Promise<string> => {
    const stream = Object.assign(new PassThrough(), { isTTY: isTerminal });
    const progress = new Progress(stream, () => 'so far', always ? 'always' : 'auto');
    // Keeps the event loop alive, because the timer of the progress line does not.
    const hold = setInterval(() => {}, 1_000);
    const [line] = (await new Promise<Buffer[]>((resolve) => stream.once('data', (data) => resolve([data]))))!;
    clearInterval(hold);
    progress.end();
    return String(line);
  };
  t.equal(await lineOn(true, false), '\r\u001b[Kso far');
  t.equal(await lineOn(false, true), 'so far\n');
  const silent = new PassThrough();
  const none = new Progress(silent, () => 'nobody has asked');
  await lineOn(false, true);
  none.end();
  t.equal(silent.read(), null);
});
