// Parquet files with false lengths where these would cost most: each file is refused, or read correctly, quickly and within the
// budget.
// With all tests only: work and memory of large inputs.
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { test } from 'tap';
import { isWorthInflating } from '../../../../workers/input/parquet/decompress.ts';
import { unlimitedShare } from '../../../../workers/memory/budget.ts';
import { repeatedFrame, storedFrame } from '../../../fuzz/zstd-writer.ts';
import { processorClock } from '../../../processor-clock.ts';
import { type Lies, lyingFile } from './lying-file.ts';
import { failureOf, readParquet } from './parquet-cells.ts';

/** In processor time. */
const MILLISECONDS_MAX = 2000;
const now = processorClock(process);
const BUDGET_BYTES = 96 * 1024 * 1024;
const MIB = 1024 * 1024;
const MANY = 2 ** 31 - 1;

const INT32: Lies = { values: 2, rows: 2, bytes: 8, storedBytes: 8, codec: 0, physical: 1, repetition: 0, encoding: 0 };
const TWO = Buffer.from([1, 0, 0, 0, 2, 0, 0, 0]);
const LONG = Buffer.alloc(4, 0xff);

/** Levels: a run of 2^31 nulls in six bytes. */
const NULLS = Buffer.from([6, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0]);

/** Deltas with zero bits: any number of equal values in a few bytes. */
const EQUAL = Buffer.from([0x80, 0x80, 0x80, 0x80, 0x08, 1, 0xff, 0xff, 0xff, 0xff, 0x07, 2, 0, 0]);

const MANY_EQUAL: Partial<Lies> = { bytes: EQUAL.length, storedBytes: EQUAL.length, values: MANY, rows: MANY };

const CASES: readonly (readonly [what: string, body: Uint8Array, lies: Partial<Lies>, code: string | null])[] = [
  ['the truth', TWO, {}, null],
  ['a page of 2 GiB', TWO, { bytes: MANY, storedBytes: MANY }, 'MALFORMED_FILE'],
  ['a page that inflates to 2 GiB', TWO, { bytes: MANY, codec: 1 }, 'FILE_TOO_LARGE'],
  ['a page that inflates to 64 MiB, and does not', TWO, { bytes: 64 * MIB, codec: 1 }, 'MALFORMED_FILE'],
  ['more rows than values', TWO, { rows: 3 }, 'MALFORMED_FILE'],
  ['fewer rows than values', TWO, { rows: 1 }, 'MALFORMED_FILE'],
  ['more values than bytes', TWO, { rows: MANY, values: MANY }, 'MALFORMED_FILE'],
  ['rows without end', TWO, { rows: 2 ** 53 }, 'MALFORMED_FILE'],
  ['a text of 4 GiB', LONG, { bytes: 4, storedBytes: 4, values: 1, rows: 1, physical: 6 }, 'MALFORMED_FILE'],
  // The first length is 1, and no bytes follow the lengths.
  ['2^31 lengths without bytes', EQUAL, { ...MANY_EQUAL, physical: 6, encoding: 6 }, 'MALFORMED_FILE'],
  ['2^31 prefixes without rests', EQUAL, { ...MANY_EQUAL, physical: 6, encoding: 7 }, 'MALFORMED_FILE'],
  ['an unknown codec', TWO, { codec: 9 }, 'UNSUPPORTED_FILE_TYPE'],
  ['an unknown encoding', TWO, { encoding: 12 }, 'UNSUPPORTED_FILE_TYPE'],
];

async function within(
  bytes: Buffer,
  batches = [4096],
): Promise<{ readonly code: string | null; readonly took: number }> {
  const share = unlimitedShare();
  const budget = {
    ...share,
    take: (wanted: number) => share.takenBytes + wanted <= BUDGET_BYTES && share.take(wanted),
  };
  const start = now();
  const failure = await failureOf(bytes, { budget, batches });
  return { code: failure?.code ?? null, took: now() - start };
}

test('false lengths', async (t) => {
  for (const [what, body, lies, code] of CASES) {
    const done = await within(lyingFile(body, { ...INT32, ...lies }));
    t.equal(done.code, code, what);
    t.ok(done.took < MILLISECONDS_MAX, `${what}: ${Math.round(done.took)} ms`);
  }
});

test('row groups without rows, for all declared offsets of their columns', async (t) => {
  for (const offset of [-1, 0, 4, 2 ** 40]) {
    for (const [before, after] of [
      [1, 0],
      [0, 1],
      [2, 2],
    ] as const) {
      const bytes = lyingFile(TWO, INT32, { before, after, offset });
      for (const batches of [[4096], [1], [0]]) {
        const { rowsRead } = await readParquet(bytes, { batches });
        t.equal(rowsRead, 2, `offset ${offset}, ${before} before and ${after} after, batches of ${batches}`);
      }
    }
    const none = lyingFile(TWO, { ...INT32, rows: 0, values: 0 }, { before: 1, after: 0, offset });
    t.equal((await readParquet(none)).rowsRead, 0, `no other row group, offset ${offset}`);
  }
});

test('pages that inflate to more than they declare, or to more than is allowed', async (t) => {
  const zeros = Buffer.alloc(60 * MIB);
  for (const [codec, packed] of [
    [2, gzipSync(zeros)],
    [4, brotliCompressSync(zeros)],
  ] as const) {
    const stored = { codec, storedBytes: packed.length };
    const small = await within(lyingFile(packed, { ...INT32, ...stored }));
    t.equal(small.code, 'MALFORMED_FILE');
    t.ok(small.took < MILLISECONDS_MAX);
    const rows = zeros.length / 4;
    const honest = lyingFile(packed, { ...INT32, ...stored, bytes: zeros.length, values: rows, rows });
    t.match(await failureOf(honest, { inflatedBytesMax: MIB }), { code: 'FILE_TOO_LARGE', message: /1048576 bytes/ });
  }
});

test('Zstandard: no more bytes than the page declares, and a limited number of blocks', async (t) => {
  const page = (packed: Uint8Array, bytes: number): Buffer => {
    const values = bytes / 4;
    return lyingFile(packed, { ...INT32, codec: 6, bytes, storedBytes: packed.length, values, rows: values });
  };
  t.equal((await within(page(storedFrame(TWO), TWO.length))).code, null);
  t.equal((await within(page(repeatedFrame(0, 8), MIB))).code, null);
  t.equal((await within(page(repeatedFrame(0, 9), MIB))).code, 'MALFORMED_FILE', 'a block too many');
  t.equal((await within(page(repeatedFrame(0, 64, MIB), MIB))).code, 'MALFORMED_FILE', 'a frame that lies');
  const split = Buffer.concat(Array.from({ length: MIB / 4 }, (_, at) => storedFrame(Buffer.of(at, 0, 0, 0))));
  const many = await within(page(split, MIB));
  t.ok(many.took < MILLISECONDS_MAX);
  t.notOk(isWorthInflating(split, MIB), 'a frame for each value');
  t.ok(isWorthInflating(repeatedFrame(7, 512), 64 * MIB));
  for (let length = 0; length < 30; length++)
    t.notOk(isWorthInflating(repeatedFrame(0, 8).subarray(1, 1 + length), MIB) && length > 0);
});

test('2^31 equal values are unpacked a batch at a time, within the budget', async (t) => {
  const rowsMax = 100_000;
  const share = unlimitedShare();
  const budget = { ...share, take: (bytes: number) => share.takenBytes + bytes <= BUDGET_BYTES && share.take(bytes) };
  const bytes = lyingFile(EQUAL, { ...INT32, ...MANY_EQUAL, encoding: 5 });
  const { rows } = await readParquet(bytes, { rowsMax, budget });
  t.ok(rows.length >= rowsMax, `${rows.length} rows`);
  t.ok(rows.every(([cell]) => cell?.[1] === '1'));
  t.equal((await readParquet(bytes, { batches: [10, 0], budget })).rowsRead, MANY, 'counted by the header');
});

test('2^31 rows of nulls are counted by their header', async (t) => {
  const lies = { bytes: 10, storedBytes: 10, values: MANY, rows: MANY, repetition: 1 };
  const bytes = lyingFile(NULLS, { ...INT32, ...lies });
  const start = now();
  t.equal((await readParquet(bytes, { batches: [10, 0] })).rowsRead, MANY);
  t.ok(now() - start < MILLISECONDS_MAX);
});

test('metadata that declares to be longer than the file, or that has no end', async (t) => {
  const bytes = lyingFile(TWO, INT32);
  for (const length of [bytes.length, 2 ** 32 - 1, 1]) {
    const lying = Buffer.from(bytes);
    lying.writeUInt32LE(length, lying.length - 8);
    t.equal((await within(lying)).code, 'MALFORMED_FILE');
  }
});
