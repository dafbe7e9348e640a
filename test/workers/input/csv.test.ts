// The CSV fast path against the scalar reference (for all windows, chunks and batches) and against csv-parse.
import { deepStrictEqual } from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import { test } from 'tap';
import { openCsvReader } from '../../../workers/input/csv/csv-reader.ts';
import { openPlainReader } from '../../../workers/input/csv/plain-reader.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import { runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import { fc } from '../../random.ts';
import { skipUnlessLong, sweep } from '../../sweep.ts';
import { referenceRows } from './csv-reference.ts';
import { comparable, piece, settings, sound, spoiled } from './csv-texts.ts';
import { ChunkedSource, readerParts, readRows } from './read-rows.ts';

const kernel = instantiateKernel(compileKernels());

test('every window, chunk and batch gives the rows of the scalar reference', async (t) => {
  const property = fc.asyncProperty(fc.oneof(sound, spoiled), settings, async (bytes, given) => {
    const got = await readRows(openCsvReader, kernel, bytes, given);
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(bytes, given), given.batches));
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 190, long: 3_000 }) }));
});

test('the plain reader gives the same result', async (t) => {
  const property = fc.asyncProperty(fc.oneof(sound, spoiled), settings, async (bytes, given) => {
    const got = await readRows(openPlainReader, kernel, bytes, given);
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(bytes, given, false), given.batches));
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 120, long: 2_000 }) }));
});

test('long delimiters and quotes: the plain reader gives the rows of the fast path for short ones', async (t) => {
  const property = fc.asyncProperty(fc.oneof(sound, spoiled), settings, async (bytes, given) => {
    const dialect = { delimiter: ',', quote: "'", headerRow: given.dialect?.headerRow ?? null };
    const long = { delimiter: '¦', quote: '“', headerRow: dialect.headerRow };
    const nullValues = given.nullValues?.filter((value) => !/["']/.test(value)) ?? [];
    const short = bytes.toString().replaceAll('"', "'");
    const text = short.replaceAll(',', '¦').replaceAll("'", '“');
    const want = await readRows(openCsvReader, kernel, Buffer.from(short), { ...given, nullValues, dialect });
    const got = await readRows(openPlainReader, kernel, Buffer.from(text), { ...given, nullValues, dialect: long });
    // The plain reader does not restart when the fast path would keep rows apart.
    if (got.failure?.includes('continues over line breaks')) return;
    const shorten = (cell: string | null): string | null => cell?.replaceAll('¦', ',').replaceAll('“', "'") ?? null;
    const shortened = {
      ...got,
      headers: got.headers.map((text) => shorten(text) ?? ''),
      rows: got.rows.map((row) => row.map(shorten)),
    };
    deepStrictEqual(comparable(shortened, given.batches), comparable(want, given.batches));
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 63, long: 1_000 }) }));
});

test('the plain reader pauses within rows with very many delimiters, and after some of them', async (t) => {
  const row = `${'##'.repeat(8_000)}\n`;
  const turnBytesMax = 200_000;
  const dialect = { delimiter: '##', quote: '"', headerRow: 0 };
  const read = async (text: string) => {
    const parts = readerParts(kernel, new ChunkedSource(Buffer.from(text), [Number.POSITIVE_INFINITY]), { dialect });
    const reader = await runCoroutine(openPlainReader(parts));
    const batches: number[] = [];
    let pauses = 0;
    try {
      for (;;) {
        parts.arena.clear();
        const batch = reader.next(4096);
        if (batch === 'end') return { batches, pauses, failure: null };
        if (batch === 'wait') {
          pauses++;
          await reader.wait();
        } else batches.push(batch.live);
      }
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return { batches, pauses, failure: error.failure.message };
    } finally {
      reader.close();
    }
  };
  const many = await read(`a##b\n${row.repeat(100)}`);
  t.equal(
    many.batches.reduce((sum, rows) => sum + rows, 0),
    100,
  );
  for (const rows of many.batches) t.ok(rows * row.length <= turnBytesMax, `${rows} rows in one batch`);
  const quoted = await read(`a##b\n1##"${'##'.repeat(1_000_000)}"\n`);
  t.same(quoted.batches, [1]);
  t.ok(quoted.pauses >= 2_000_000 / turnBytesMax, `${quoted.pauses} pauses in a row`);
  const wide = await read(`a##b\n${'##'.repeat(1_000_000)}\n`);
  t.match(wide.failure, 'Line 2 has more than 16384 columns.');
});

test('long texts: several chunks of structurals, windows of the real size', { skip: skipUnlessLong }, async (t) => {
  const property = fc.asyncProperty(
    fc.array(piece, { minLength: 50, maxLength: 120 }),
    fc.integer(),
    async (pieces, seed) => {
      const text = `a,b\n${`${pieces.join('')}"\n1,2\n`.repeat(200 + (Math.abs(seed) % 100))}`;
      for (const bytes of [Buffer.from(text), Buffer.from(text.replaceAll('"', ''))]) {
        const reference = referenceRows(bytes);
        for (const windowBytes of [undefined, 20_000]) {
          const given = windowBytes === undefined ? {} : { windowBytes };
          deepStrictEqual(await readRows(openCsvReader, kernel, bytes, given), reference);
        }
      }
    },
  );
  await t.resolves(fc.assert(property, { numRuns: 15 }));
});

test('csv-parse gives the same rows of well-formed texts', async (t) => {
  const cell = fc.oneof(
    fc.string({ unit: fc.constantFrom('x', ',', '"', '\n', '\r', 'ü', ' '), maxLength: 8 }),
    fc.string({ minLength: 1, maxLength: 90, unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
  );
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const table = fc.integer({ min: 2, max: 5 }).chain((columns) => {
    return fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 12 });
  });
  const property = fc.asyncProperty(table, fc.constantFrom('\n', '\r\n'), async (rows, lineBreak) => {
    const bytes = Buffer.from(rows.map((row) => row.map(quoted).join(',')).join(lineBreak) + lineBreak);
    const want = parse(bytes, { record_delimiter: lineBreak }) as string[][];
    const got = await readRows(openCsvReader, kernel, bytes, { windowBytes: 64 });
    deepStrictEqual(got.failure, null);
    deepStrictEqual(got.headers, want[0]);
    deepStrictEqual(
      got.rows,
      want.slice(1).map((row) => row.map((text) => (text === '' ? null : text))),
    );
  });
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 19, long: 300 }) }));
});
