// Rows that a scout reads ahead, from real files with a real second thread, against the plain reference: whatever the
// file, the windows, the errands, how the file grows, and whatever becomes of the scout.
import { deepStrictEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { test } from 'tap';
import { CoreShare, newCoreCounts } from '../../../workers/core-share.ts';
import { openCsvReader } from '../../../workers/input/csv/csv-reader.ts';
import { FileSource } from '../../../workers/input/file-source.ts';
import { Scout } from '../../../workers/input/scout/scout.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/kernel.ts';
import { referenceRows } from './csv-reference.ts';
import { comparable, settings, sound, spoiled } from './csv-texts.ts';
import { type ReadSettings, readRows } from './read-rows.ts';

const kernel = instantiateKernel(compileKernels());
const folder = mkdtempSync(join(tmpdir(), 'template-run-'));

/** Of small files too, and counts what it brought. */
class BusyScout extends Scout {
  stretches = 0;

  constructor(cores: CoreShare, errandBytesMax = Number.POSITIVE_INFINITY, entry?: URL) {
    super(cores, { startBytesMin: 0, errandBytesMin: 1, errandBytesMax, idleMilliseconds: 10_000 }, entry);
  }

  override taken(): void {
    this.stretches++;
    super.taken();
  }
}

function freeCores(cores = 2): CoreShare {
  return new CoreShare(newCoreCounts(cores, 1), 0);
}

async function ready(scout: Scout): Promise<void> {
  while (!scout.isIdle) {
    scout.prepare({ path: '', from: 0, to: 1, ends: true });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function fileOf(bytes: Uint8Array): { readonly path: string; readonly source: FileSource } {
  const path = join(folder, 'input.csv');
  writeFileSync(path, bytes);
  return { path, source: new FileSource(path) };
}

function table(rows: number): Buffer {
  const lines = Array.from({ length: rows }, (_, row) => `${row},"na""me ${row}",x\n`);
  return Buffer.from(`a,b,c\n${lines.join('')}`);
}

/** Rows of which a scout can bring many, and now and then a text that it leaves to the reader. */
const tidy = fc
  .array(fc.constantFrom('1,2,3\n', 'a,,\r\n', '"x,\ny",é,"q""q"\n', '\n', ',\r', '1,2,3,4\n', 'a;b,"",x"y\n'), {
    minLength: 20,
    maxLength: 60,
  })
  .map((rows) => Buffer.from(rows.join('')));
const parts = fc.oneof(
  { weight: 12, arbitrary: tidy },
  { weight: 2, arbitrary: sound },
  { weight: 1, arbitrary: spoiled },
);
const texts = fc
  .array(parts, { minLength: 4, maxLength: 12 })
  .map((some) => Buffer.concat(some.flatMap((part) => [part, Buffer.from('\n')])));
const windows = fc.integer({ min: 50, max: 1_500 });
const readings = fc.tuple(settings, windows).map(([some, windowBytes]) => ({ ...some, windowBytes }));

test('every file, window and errand gives what the plain reference gives', async (t) => {
  const scouts = [17, 100, 1_000, Number.POSITIVE_INFINITY].map((bytes) => new BusyScout(freeCores(), bytes));
  for (const scout of scouts) await ready(scout);
  const read = async (bytes: Uint8Array, given: ReadSettings, scout: Scout): Promise<void> => {
    await ready(scout);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const got = await readRows(openCsvReader, kernel, source, { ...given, scout });
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(bytes, given), given.batches));
  };
  await t.resolves(fc.assert(fc.asyncProperty(texts, readings, fc.constantFrom(...scouts), read), { numRuns: 1_500 }));
  for (const scout of scouts) {
    t.ok(scout.stretches > 300, `${scout.stretches} stretches`);
    await scout.end();
  }
});

test('a file that grows while it is read', async (t) => {
  const scout = new BusyScout(freeCores());
  await ready(scout);
  const bytes = table(20_000);
  const { source } = fileOf(bytes);
  let known = 0;
  const grow = setInterval(() => {
    known = Math.min(bytes.length, known + 9_999);
    source.grown(known, known === bytes.length);
    if (known === bytes.length) clearInterval(grow);
  }, 1);
  const given = { windowBytes: 1_000, scout };
  const got = await readRows(openCsvReader, kernel, source, given);
  t.strictSame(got.rowsRead, 20_000);
  t.ok(JSON.stringify(got) === JSON.stringify(referenceRows(bytes)), 'the same rows');
  t.ok(scout.stretches > 100, `${scout.stretches} stretches`);
  await scout.end();
});

test('without a free core the reader reads alone, and the core of an errand is given back', async (t) => {
  const cores = freeCores();
  const scout = new BusyScout(cores);
  await ready(scout);
  const bytes = table(2_000);
  const read = async (): Promise<number> => {
    await ready(scout);
    const before = scout.stretches;
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const got = await readRows(openCsvReader, kernel, source, { windowBytes: 1_000, scout });
    t.strictSame(got.rowsRead, 2_000);
    return scout.stretches - before;
  };
  cores.take();
  t.ok((await read()) > 10);
  t.ok((await read()) > 10);
  cores.take();
  t.strictSame(await read(), 0);
  cores.give();
  t.ok((await read()) > 10);
  await scout.end();
});

test('a reader that is closed calls its scout back; the next one can send it', async (t) => {
  const scout = new BusyScout(freeCores());
  await ready(scout);
  const bytes = table(5_000);
  for (let turn = 0; turn < 50; turn++) {
    await ready(scout);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    let batches = 0;
    const stop = new Error('enough');
    const stopping = Object.assign(scout, {
      taken(): void {
        BusyScout.prototype.taken.call(scout);
        batches++;
        if (batches > turn % 5) throw stop;
      },
    });
    await t.rejects(readRows(openCsvReader, kernel, source, { windowBytes: 700, scout: stopping }), stop);
  }
  await scout.end();
});

test('a scout that is lost on its way leaves the reader the rest', async (t) => {
  const bytes = table(50_000);
  const want = JSON.stringify(referenceRows(bytes));
  for (const after of [1, 2, 3, 20]) {
    const scout = new BusyScout(freeCores());
    await ready(scout);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const dying = Object.assign(scout, {
      taken(): void {
        BusyScout.prototype.taken.call(scout);
        if (scout.stretches === after) void scout.end();
      },
    });
    const got = await readRows(openCsvReader, kernel, source, { windowBytes: 4_000, scout: dying });
    t.ok(JSON.stringify(got) === want, `lost after ${after} stretches: the same rows`);
    // On a busy machine a thread takes its time to end.
    await scout.end();
    t.strictSame(scout.isIdle, false);
    await ready(scout);
    t.strictSame(scout.isIdle, true, 'another one is started');
    await scout.end();
  }
});

test('a file that the scout cannot open is read by the reader, who has it open', async (t) => {
  const scout = new BusyScout(freeCores());
  await ready(scout);
  const bytes = table(3_000);
  const { path, source } = fileOf(bytes);
  source.grown(bytes.length, true);
  source.read(new Uint8Array(1));
  source.rewind();
  rmSync(path);
  const got = await readRows(openCsvReader, kernel, source, { windowBytes: 1_000, scout });
  t.ok(JSON.stringify(got) === JSON.stringify(referenceRows(bytes)), 'the same rows');
  t.strictSame(scout.stretches, 0);
  await ready(scout);
  t.ok(scout.isIdle, 'it is there for the next one');
  await scout.end();
});

test('a scout that fails at its start is told on standard error, and the reader reads alone', async (t) => {
  const entry = join(folder, 'broken.cjs');
  writeFileSync(entry, "throw new Error('broken at its start')");
  const scout = new BusyScout(freeCores(), undefined, pathToFileURL(entry));
  const warnings: string[] = [];
  process.once('warning', ({ message }) => warnings.push(message));
  scout.prepare({ path: '', from: 0, to: 1, ends: true });
  while (warnings.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  t.match(warnings[0], /scout.*broken at its start/);
  const bytes = table(1_000);
  const { source } = fileOf(bytes);
  source.grown(bytes.length, true);
  const got = await readRows(openCsvReader, kernel, source, { windowBytes: 1_000, scout });
  t.ok(JSON.stringify(got) === JSON.stringify(referenceRows(bytes)), 'the same rows');
});

test('the folder is removed', (t) => {
  rmSync(folder, { recursive: true });
  t.end();
});
