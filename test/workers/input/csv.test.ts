// The CSV fast lane against the plain reference (whatever windows, chunks and batches) and against csv-parse.
import { deepStrictEqual } from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { test } from 'tap';
import { openCsvReader } from '../../../workers/input/csv/csv-reader.ts';
import { openPlainReader } from '../../../workers/input/csv/plain-reader.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/kernel.ts';
import { referenceRows } from './csv-reference.ts';
import { type ReadSettings, readRows } from './read-rows.ts';

const kernel = instantiateKernel(compileKernels());

/** Pieces of CSV text, so that quotes, breaks and delimiters meet in every way; long plain pieces reach the SIMD blocks. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(',', ',', '\n', '\n', '"', '""', '\r\n', '\r', 'a', 'é', ' ', 'NA') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"x,y"', '"x\ny"', '"a""b"', ',"",', ',"q"\n', '\n\n', '1,2\n', '1,2,3\n', '"\r\n"'),
  },
  { weight: 2, arbitrary: fc.nat(70).map((length) => 'abcdefghij'.repeat(7).slice(0, length)) },
);
const sound = fc.array(piece, { maxLength: 120 }).map((pieces) => Buffer.from(pieces.join('')));
const spoiled = fc
  .array(fc.oneof({ weight: 40, arbitrary: piece }, { weight: 1, arbitrary: fc.constantFrom('\0', '\u{1f600}') }), {
    maxLength: 80,
  })
  .chain((pieces) => {
    const bytes = Buffer.from(pieces.join(''));
    return fc
      .nat(bytes.length)
      .map((at) => (at % 3 === 0 ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]) : bytes));
  });
const settings: fc.Arbitrary<ReadSettings> = fc.record({
  dialect: fc.record({
    delimiter: fc.constantFrom(',', ',', ';', 'a'),
    quote: fc.constantFrom('"', '"', '"', '', "'"),
    headerRow: fc.constantFrom(0, 0, 0, 1, 2, null, null),
  }),
  nullValues: fc.constantFrom([''], [''], ['', 'NA'], ['NA'], [], ['', '"', 'a"b']),
  ragged: fc.constantFrom('pad', 'pad', 'fail'),
  strayQuotes: fc.constantFrom('keep', 'keep', 'fail'),
  chunks: fc.constantFrom([Number.POSITIVE_INFINITY], [1], [7, 0], [0, 1, 100], [64]),
  windowBytes: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constant(65_536)),
  batches: fc.constantFrom([4096], [1], [2, 3], [1, 0], [0]),
});

/** What a run that looked at every row would give: batches of 0 rows only count. */
function comparable(rows: Awaited<ReturnType<typeof readRows>>, batches: readonly number[] | undefined): unknown {
  return batches?.includes(0) ? { ...rows, rows: null, sourceRows: null } : rows;
}

test('every window, chunk and batch gives what the plain reference gives', async (t) => {
  const property = fc.asyncProperty(fc.oneof(sound, spoiled), settings, async (bytes, given) => {
    const got = await readRows(openCsvReader, kernel, bytes, given);
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(bytes, given), given.batches));
  });
  await t.resolves(fc.assert(property, { numRuns: 3_000 }));
});

test('the plain lane gives the same', async (t) => {
  const property = fc.asyncProperty(fc.oneof(sound, spoiled), settings, async (bytes, given) => {
    const got = await readRows(openPlainReader, kernel, bytes, given);
    deepStrictEqual(comparable(got, given.batches), comparable(referenceRows(bytes, given), given.batches));
  });
  await t.resolves(fc.assert(property, { numRuns: 2_000 }));
});

test('long delimiters and quotes: the plain lane gives what the fast lane gives for short ones', async (t) => {
  const property = fc.asyncProperty(fc.oneof(sound, spoiled), settings, async (bytes, given) => {
    const dialect = { delimiter: ',', quote: "'", headerRow: given.dialect?.headerRow ?? null };
    const long = { delimiter: '¦', quote: '“', headerRow: dialect.headerRow };
    const nullValues = given.nullValues?.filter((value) => !/["']/.test(value)) ?? [];
    const short = bytes.toString().replaceAll('"', "'");
    const text = short.replaceAll(',', '¦').replaceAll("'", '“');
    const want = await readRows(openCsvReader, kernel, Buffer.from(short), { ...given, nullValues, dialect });
    const got = await readRows(openPlainReader, kernel, Buffer.from(text), { ...given, nullValues, dialect: long });
    const shorten = (cell: string | null): string | null => cell?.replaceAll('¦', ',').replaceAll('“', "'") ?? null;
    const shortened = {
      ...got,
      headers: got.headers.map((text) => shorten(text) ?? ''),
      rows: got.rows.map((row) => row.map(shorten)),
    };
    deepStrictEqual(comparable(shortened, given.batches), comparable(want, given.batches));
  });
  await t.resolves(fc.assert(property, { numRuns: 1_000 }));
});

test('long texts: several stretches of structurals, windows of the real size', async (t) => {
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
  await t.resolves(fc.assert(property, { numRuns: 300 }));
});
