// Records from a read-ahead thread, with real files and a real second thread, against the reader alone: for all files, keys,
// windows, jobs and numbers of requested rows.
import { deepStrictEqual } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { Failed } from '../../../../workers/protocol/failure.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { expecting, type JsonFile, type JsonReading, readJsonFile } from '../json/read-json-file.ts';
import { BusyReadAhead, freeCores, ready } from './busy-read-ahead.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-'));
const path = join(folder, 'input.json');

const values = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      '1',
      '-2.50',
      '"x"',
      '""',
      '"a\\nb"',
      '"\\u00e9"',
      'null',
      'true',
      '"é語😀"',
      '"\\ud800"',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom('{"a" : 1}', '[1, {"b":"]"}]', '{}', '[]', '{"a":{"b":null}}') },
  { weight: 1, arbitrary: fc.nat(90).map((length) => `"${'abcdefghij'.repeat(9).slice(0, length)}"`) },
);
const keys = fc.constantFrom(
  '"a"',
  '"b"',
  '"customer_name"',
  '"c\\u0041"',
  '"a key that is longer than any guess is"',
  '"z"',
);
const members = fc.array(fc.tuple(keys, values), { maxLength: 6 });
const sound = members.map((some) => `{${some.map(([key, value]) => `${key}:${value}`).join(',')}}`);
const spaced = members.map((some) => `{ ${some.map(([key, value]) => `${key} : ${value}`).join(' ,\n')}\t}`);
const record = fc.oneof({ weight: 8, arbitrary: sound }, { weight: 1, arbitrary: spaced });
/** Sometimes a value that is not a record, or a key that first occurs there. */
const any = fc.oneof(
  { weight: 60, arbitrary: record },
  { weight: 1, arbitrary: fc.constantFrom('{"a":1,}', '{"late":7}', '7', '{"a":"\u0000"}', '{"a":01}', '}') },
);
const files = fc
  .tuple(
    fc.array(any, { minLength: 10, maxLength: 60 }),
    fc.constantFrom('\n', '\n', '\r\n', ' ', '\n\n', ',\n'),
    fc.nat(30),
  )
  .map(([records, between, spoil]) => {
    const text = records.join(between);
    const isInObject = between === ',\n' && spoil % 3 === 0;
    const list = isInObject ? `{"n":1,"records":[${text}],"rest":{"list":[{"x":1}]},"m":null}` : `[${text}]`;
    const bytes = Buffer.from(between === ',\n' ? list : spoil % 2 === 0 ? text : `${text}\n`);
    // Invalid UTF-8.
    if (spoil === 7) bytes[bytes.length >> 1] = 0xff;
    return bytes;
  });
const readings: fc.Arbitrary<JsonReading> = fc.record({
  windowBytes: fc.integer({ min: 40, max: 1_500 }),
  guesses: fc.boolean(),
  rowsMax: fc.constantFrom(4096, 3, [4096, 5, 2]),
  input: fc.constantFrom({}, { json: { flatten: '.' } }, { null_values: ['x', '1'] }),
});

async function reading(bytes: Buffer, given: JsonReading): Promise<JsonFile | string> {
  try {
    return await readJsonFile(bytes, given);
  } catch (error) {
    if (error instanceof Failed) return error.message;
    throw error;
  }
}

test('every file, window and job gives what the reader gives alone, in its windows and in one', async (t) => {
  const threads = [100, 1_000, Number.POSITIVE_INFINITY].map((bytes) => new BusyReadAhead(freeCores(), bytes));
  const compare = async (bytes: Buffer, given: JsonReading, readAhead: BusyReadAhead): Promise<void> => {
    await ready(readAhead);
    const ahead = await reading(bytes, { ...given, ahead: { readAhead, path } });
    deepStrictEqual(ahead, await reading(bytes, given));
    // With one window, only the end follows the bytes that are read.
    deepStrictEqual(ahead, await reading(bytes, { ...given, windowBytes: undefined }));
  };
  await t.resolves(
    fc.assert(fc.asyncProperty(files, readings, fc.constantFrom(...threads), compare), {
      numRuns: sweep({ short: 400, long: 5_000 }),
    }),
  );
  for (const readAhead of threads) {
    t.ok(readAhead.chunks > sweep({ short: 12, long: 150 }), `${readAhead.chunks} chunks`);
    await readAhead.end();
  }
});

test('the message of an error does not depend on windows and jobs', async (t) => {
  const readAhead = new BusyReadAhead(freeCores());
  // The Template names its columns, so the file is read as soon as its first 64 KiB are searched for keys.
  const streamed = { expected: expecting(['a']), input: { other_columns: 'drop' } };
  const records = Array.from({ length: 8_000 }, (_, row) => `{"a":${row}}`).join(',\n');
  const refused = [
    ',\n]',
    ',\n   }',
    '\n/* x */',
    '\nNaN',
    ',\n{"a":1,\n}',
    ",\n{'a':1}",
    ',\n{"a":None}',
    ',\n{"a":[1,\n]}',
  ];
  for (const text of refused) {
    const bytes = Buffer.from(`[${records}${text},${records}]`);
    const message = await reading(bytes, streamed);
    t.match(message, /^Line 800[12]/);
    for (const windowBytes of [997, 5_000, 5_001, 5_002, 5_003]) {
      await ready(readAhead);
      const given = { ...streamed, windowBytes };
      const messages = [await reading(bytes, given), await reading(bytes, { ...given, ahead: { readAhead, path } })];
      t.strictSame(messages, [message, message], `${JSON.stringify(text)} in windows of ${windowBytes} bytes`);
    }
  }
  t.ok(readAhead.chunks > 500, `${readAhead.chunks} chunks`);
  await readAhead.end();
});

test('unread columns are null, with and without the read-ahead thread', async (t) => {
  const readAhead = new BusyReadAhead(freeCores());
  await ready(readAhead);
  const line = (row: number): string => `{"a":${row},"b":"x${row}","c":null,"d":[${row}]}\n`;
  const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, row) => line(row)).join(''));
  for (const ahead of [undefined, { readAhead, path }]) {
    const { rows } = await readJsonFile(bytes, { columns: [0, 3], windowBytes: 2_000, ahead });
    t.equal(rows.length, 3_000);
    const texts = rows.map((row) => row.map((cell) => cell?.[1] ?? null));
    t.strictSame(texts[2_999], ['2999', null, null, '[2999]']);
    t.ok(texts.every((row) => row[1] === null && row[0] !== null));
  }
  t.ok(readAhead.chunks > 50, `${readAhead.chunks} chunks`);
  await readAhead.end();
});

test('the folder is removed', (t) => {
  rmSync(folder, { recursive: true });
  t.end();
});
