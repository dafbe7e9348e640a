// Rows from a read-ahead thread, with real files and a real second thread, against the scalar reference: for all files, windows
// and jobs, for growing files, and for all ends of the read-ahead thread.
import { deepStrictEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'tap';
import { openCsvReader } from '../../../../workers/input/csv/csv-reader.ts';
import { SingleByteSource } from '../../../../workers/input/encoding/single-byte-source.ts';
import { charactersOf } from '../../../../workers/input/encoding/single-byte-table.ts';
import { Utf8Lines } from '../../../../workers/input/encoding/utf8-lines.ts';
import type { ReadAheadThread } from '../../../../workers/input/read-ahead/read-ahead-thread.ts';
import { FileSource } from '../../../../workers/input/source/file-source.ts';
import { compileKernels, instantiateKernel } from '../../../../workers/kernel/bindings/kernel.ts';
import { fc } from '../../../random.ts';
import { skipUnlessLong, sweep } from '../../../sweep.ts';
import { referenceRows } from '../csv-reference.ts';
import { comparable, settings, sound, spoiled } from '../csv-texts.ts';
import { type ReadSettings, readRows } from '../read-rows.ts';
import { BusyReadAhead, freeCores, ready } from './busy-read-ahead.ts';

const kernel = instantiateKernel(compileKernels());
const folder = mkdtempSync(join(tmpdir(), 'template-run-'));

function fileOf(bytes: Uint8Array): { readonly path: string; readonly source: FileSource } {
  const path = join(folder, 'input.csv');
  writeFileSync(path, bytes);
  return { path, source: new FileSource(path) };
}

function table(rows: number): Buffer {
  const lines = Array.from({ length: rows }, (_, row) => `${row},"na""me ${row}",x\n`);
  return Buffer.from(`a,b,c\n${lines.join('')}`);
}

/** Rows of which a read-ahead thread can deliver many, and sometimes a text that it leaves to the reader. */
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

test('every file, window and job gives what the plain reference gives', { skip: skipUnlessLong }, async (t) => {
  const readAheadThreads = [17, 100, 1_000, Number.POSITIVE_INFINITY].map(
    (bytes) => new BusyReadAhead(freeCores(), bytes),
  );
  for (const readAhead of readAheadThreads) await ready(readAhead);
  const read = async (bytes: Uint8Array, given: ReadSettings, readAhead: ReadAheadThread): Promise<void> => {
    await ready(readAhead);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const got = await readRows(openCsvReader, kernel, source, { ...given, readAhead });
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(bytes, given), given.batches));
  };
  await t.resolves(
    fc.assert(fc.asyncProperty(texts, readings, fc.constantFrom(...readAheadThreads), read), {
      numRuns: sweep({ short: 100, long: 1_500 }),
    }),
  );
  for (const readAhead of readAheadThreads) {
    t.ok(readAhead.chunks > sweep({ short: 6, long: 90 }), `${readAhead.chunks} chunks`);
    await readAhead.end();
  }
});

test('text of a single-byte encoding is decoded ahead, and read as its UTF-8 is', async (t) => {
  const readAheadThreads = [100, Number.POSITIVE_INFINITY].map((bytes) => new BusyReadAhead(freeCores(), bytes));
  const name = 'windows-1252';
  const characters = charactersOf(name)!;
  const read = async (utf8: Uint8Array, given: ReadSettings, readAhead: BusyReadAhead): Promise<void> => {
    await ready(readAhead);
    // Invalid UTF-8 gives other characters, which are as good for this test.
    const bytes = Buffer.from(Buffer.from(utf8).toString(), 'latin1');
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const opened: typeof openCsvReader = (parts) => {
      const decoding = new SingleByteSource(source, { name, characters, utf8Lines: null }, parts.heap, kernel.exports);
      return openCsvReader({ ...parts, source: decoding });
    };
    const got = await readRows(opened, kernel, source, { ...given, readAhead });
    const text = Buffer.from(new TextDecoder(name).decode(bytes));
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(text, given), given.batches));
  };
  const property = fc.asyncProperty(texts, readings, fc.constantFrom(...readAheadThreads), read);
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 50, long: 1_500 }) }));
  for (const readAhead of readAheadThreads) {
    t.ok(readAhead.chunks > sweep({ short: 6, long: 90 }), `${readAhead.chunks} chunks`);
    await readAhead.end();
  }
});

test('a line of UTF-8 in a text whose encoding was guessed ends the reading, with a read-ahead thread too', async (t) => {
  const western = Buffer.from('1,M\xfcller\n'.repeat(20_000), 'latin1');
  const line = Buffer.from('2,J\u00fcrgen\n');
  const files = [Buffer.concat([western, line, western]), Buffer.concat([western, line.subarray(0, -1)]), western];
  for (const [file, bytes] of files.entries()) {
    const readAhead = new BusyReadAhead(freeCores());
    await ready(readAhead);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const opened: typeof openCsvReader = (parts) => {
      const encoding = { name: 'windows-1252', characters: charactersOf('windows-1252')!, utf8Lines: new Utf8Lines() };
      return openCsvReader({ ...parts, source: new SingleByteSource(source, encoding, parts.heap, kernel.exports) });
    };
    const got = await readRows(opened, kernel, source, { windowBytes: 1_000, readAhead });
    if (file === 2) t.equal(got.failure, null, 'without such a line');
    else t.match(got.failure, /begins in windows-1252 and has lines in UTF-8/);
    t.ok(readAhead.chunks > 100, `${readAhead.chunks} chunks`);
    await readAhead.end();
  }
});

test('a lone CR at the end of a chunk does not change the line number of an error', async (t) => {
  const readAhead = new BusyReadAhead(freeCores());
  // The first quote is not closed on its line, so the reader stops reading ahead and reads these rows again.
  const bytes = Buffer.from(`a,b\n${'1,2\r'.repeat(40)}3,"x\r4,y"z\r${'1,2\r'.repeat(40)}5,"6\r`);
  const want = comparable(referenceRows(bytes), undefined);
  t.match(referenceRows(bytes).failure, /^Line 84 begins a quoted field that is not closed/);
  for (let windowBytes = 50; windowBytes < 200; windowBytes++) {
    await ready(readAhead);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const got = await readRows(openCsvReader, kernel, source, { windowBytes, readAhead });
    t.strictSame(comparable(got, undefined), want, `windows of ${windowBytes} bytes`);
  }
  t.ok(readAhead.chunks > 100, `${readAhead.chunks} chunks`);
  await readAhead.end();
});

test('a file that grows while it is read', async (t) => {
  const readAhead = new BusyReadAhead(freeCores());
  await ready(readAhead);
  const bytes = table(20_000);
  const { source } = fileOf(bytes);
  let known = 0;
  const grow = setInterval(() => {
    known = Math.min(bytes.length, known + 9_999);
    source.grown(known, known === bytes.length);
    if (known === bytes.length) clearInterval(grow);
  }, 1);
  const given = { windowBytes: 1_000, readAhead };
  const got = await readRows(openCsvReader, kernel, source, given);
  t.strictSame(got.rowsRead, 20_000);
  t.ok(JSON.stringify(got) === JSON.stringify(referenceRows(bytes)), 'the same rows');
  t.ok(readAhead.chunks > 100, `${readAhead.chunks} chunks`);
  await readAhead.end();
});

test('without a free core the reader reads alone, and the core of an job is given back', async (t) => {
  const cores = freeCores();
  const readAhead = new BusyReadAhead(cores);
  await ready(readAhead);
  const bytes = table(2_000);
  const read = async (): Promise<number> => {
    await ready(readAhead);
    const before = readAhead.chunks;
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const got = await readRows(openCsvReader, kernel, source, { windowBytes: 1_000, readAhead });
    t.strictSame(got.rowsRead, 2_000);
    return readAhead.chunks - before;
  };
  cores.take();
  t.ok((await read()) > 10);
  t.ok((await read()) > 10);
  cores.take();
  t.strictSame(await read(), 0);
  cores.release();
  t.ok((await read()) > 10);
  await readAhead.end();
});

test('a reader that is closed calls its read-ahead thread back; the next one can send it', async (t) => {
  const readAhead = new BusyReadAhead(freeCores());
  await ready(readAhead);
  const bytes = table(5_000);
  for (let turn = 0; turn < 50; turn++) {
    await ready(readAhead);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    let batches = 0;
    const stop = new Error('enough');
    const stopping = Object.assign(readAhead, {
      taken(): void {
        BusyReadAhead.prototype.taken.call(readAhead);
        batches++;
        if (batches > turn % 5) throw stop;
      },
    });
    await t.rejects(readRows(openCsvReader, kernel, source, { windowBytes: 700, readAhead: stopping }), stop);
  }
  await readAhead.end();
});

test('a read-ahead thread that is lost on its way leaves the reader the rest', { skip: skipUnlessLong }, async (t) => {
  const bytes = table(50_000);
  const want = JSON.stringify(referenceRows(bytes));
  for (const after of [1, 2, 3, 20]) {
    const readAhead = new BusyReadAhead(freeCores());
    await ready(readAhead);
    const { source } = fileOf(bytes);
    source.grown(bytes.length, true);
    const dying = Object.assign(readAhead, {
      taken(): void {
        BusyReadAhead.prototype.taken.call(readAhead);
        if (readAhead.chunks === after) void readAhead.end();
      },
    });
    const got = await readRows(openCsvReader, kernel, source, { windowBytes: 4_000, readAhead: dying });
    t.ok(JSON.stringify(got) === want, `lost after ${after} chunks: the same rows`);
    // On a busy machine, the thread takes a while to end.
    await readAhead.end();
    t.strictSame(readAhead.isIdle, false);
    await ready(readAhead);
    t.strictSame(readAhead.isIdle, true, 'another one is started');
    await readAhead.end();
  }
});

test('a file that the read-ahead thread cannot open is read by the reader, which has it open', async (t) => {
  const readAhead = new BusyReadAhead(freeCores());
  await ready(readAhead);
  const bytes = table(3_000);
  const { path, source } = fileOf(bytes);
  source.grown(bytes.length, true);
  source.read(new Uint8Array(1));
  source.rewind();
  rmSync(path);
  const got = await readRows(openCsvReader, kernel, source, { windowBytes: 1_000, readAhead });
  t.ok(JSON.stringify(got) === JSON.stringify(referenceRows(bytes)), 'the same rows');
  t.strictSame(readAhead.chunks, 0);
  await ready(readAhead);
  t.ok(readAhead.isIdle, 'it is there for the next one');
  await readAhead.end();
});

test('a read-ahead thread that fails at its start is reported on standard error, and the reader reads alone', async (t) => {
  const entry = join(folder, 'broken.cjs');
  writeFileSync(entry, "throw new Error('broken at its start')");
  const readAhead = new BusyReadAhead(freeCores(), undefined, pathToFileURL(entry));
  const warnings: string[] = [];
  process.once('warning', ({ message }) => warnings.push(message));
  readAhead.prepare({ path: '', from: 0, to: 1, ends: true });
  while (warnings.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  t.match(warnings[0], /read-ahead.*broken at its start/);
  const bytes = table(1_000);
  const { source } = fileOf(bytes);
  source.grown(bytes.length, true);
  const got = await readRows(openCsvReader, kernel, source, { windowBytes: 1_000, readAhead });
  t.ok(JSON.stringify(got) === JSON.stringify(referenceRows(bytes)), 'the same rows');
});

test('the folder is removed', (t) => {
  rmSync(folder, { recursive: true });
  t.end();
});
