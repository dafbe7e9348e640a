// Metadata of Parquet files: row groups are read one by one, and the metadata that is read without a pause is limited.
import { test } from 'tap';
import { unlimitedShare } from '../../../../workers/memory/budget.ts';
import { INTEGERS, type ThriftWriter } from '../../../../workers/output/parquet/thrift-writer.ts';
import { type Lies, lyingFile } from './lying-file.ts';
import { failureOf, readParquet } from './parquet-cells.ts';

const MIB = 1024 * 1024;
const TWO = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0]);
const INT32: Lies = { values: 2, rows: 2, bytes: 8, storedBytes: 8, codec: 0, physical: 1, repetition: 0, encoding: 0 };
const NO_EMPTY = { before: 0, after: 0, offset: 0 };
/** A row group after the first one. */
const LATER = { before: 0, after: 1, offset: 4 };
/** Field numbers that no reader knows. */
const UNKNOWN_FIELD = 15;
const ENCRYPTION_FIELD = 8;

test('a row group with long statistics is read', async (t) => {
  const group = lyingFile(TWO, INT32, LATER, { group: (thrift) => thrift.text(UNKNOWN_FIELD, 'x'.repeat(20 * MIB)) });
  t.equal((await readParquet(group)).rowsRead, 2);
});

test('encryption is found after the row groups', async (t) => {
  for (const batches of [[4096], [0]]) {
    const file = lyingFile(TWO, INT32, NO_EMPTY, { file: (thrift) => thrift.struct(ENCRYPTION_FIELD, () => {}) });
    t.match(await failureOf(file, { batches }), { code: 'UNSUPPORTED_FILE_TYPE', message: /encrypted/ });
  }
});

test('millions of values in the metadata are refused', async (t) => {
  for (const where of ['group', 'file'] as const) {
    const file = lyingFile(TWO, INT32, LATER, {
      [where]: (thrift: ThriftWriter) => {
        thrift.list(UNKNOWN_FIELD, INTEGERS, 4_200_000);
        for (let count = 0; count < 4_200_000; count++) thrift.element(0);
      },
    });
    t.match(await failureOf(file), { code: 'FILE_TOO_LARGE', message: /4194304 values/ }, where);
  }
});

test('a broken row group is refused after the rows before it', async (t) => {
  const file = lyingFile(TWO, INT32, LATER);
  const { rows } = await readParquet(file, { rowsMax: 2 });
  t.equal(rows.length, 2);
  // An unknown type replaces the last field, before the ends of the row group and of the metadata.
  const broken = Buffer.from(file);
  broken[file.length - 8 - 4] = 0x2d;
  t.match(await failureOf(broken), { code: 'MALFORMED_FILE' });
});

test('a column name has at most 4 MiB', async (t) => {
  const named = (bytes: number): Buffer => lyingFile(TWO, INT32, NO_EMPTY, { name: 'x'.repeat(bytes) });
  t.equal(await failureOf(named(4 * MIB)), null);
  t.match(await failureOf(named(4 * MIB + 1)), {
    code: 'MALFORMED_FILE',
    message: /a name of more than 4194304 bytes/,
  });
});

test('the last value of a delta page is charged', async (t) => {
  const valueBytes = 3 * MIB;
  const peakOf = async (encoding: number): Promise<number> => {
    const share = unlimitedShare();
    let peak = 0;
    const take = (bytes: number): boolean => {
      peak = Math.max(peak, share.takenBytes + bytes);
      return share.take(bytes);
    };
    const lengths = (encoding === PREFIXES ? [0, valueBytes] : [valueBytes]).map(oneDelta);
    const body = Buffer.concat([...lengths, Buffer.alloc(valueBytes, 0x61)]);
    const sizes = { bytes: body.length, storedBytes: body.length, values: 1, rows: 1 };
    const file = lyingFile(body, { ...INT32, ...sizes, physical: 6, encoding });
    const { rows } = await readParquet(file, { budget: { ...share, take }, hasNewMemory: true });
    t.equal(rows[0]![0]![1].length, valueBytes);
    return peak;
  };
  const more = (await peakOf(PREFIXES)) - (await peakOf(LENGTHS));
  t.ok(more >= 2 * valueBytes, `${more} bytes: a copy of the value, and its prefix for the next page`);
});

/** Encodings of texts: lengths before the bytes, and prefixes with lengths before the bytes. */
const LENGTHS = 6;
const PREFIXES = 7;

/** One number in the delta encoding. */
function oneDelta(value: number): Buffer {
  const bytes = [0x80, 1, 4, 1];
  let rest = value * 2;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
