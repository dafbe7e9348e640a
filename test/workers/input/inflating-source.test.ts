// Compressed files in pieces of any size: several streams in one file, bytes after the streams, and truncated files. Zstandard is
// tested only if the runtime supports it.

import * as zlib from 'node:zlib';
import { constants, gzipSync } from 'node:zlib';
import { test } from 'tap';
import { type Compression, compressionOf } from '../../../workers/input/source/compression.ts';
import { InflatingSource, ZstdFrames } from '../../../workers/input/source/inflating-source.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import { ChunkedSource } from './read-rows.ts';

const CHUNKS: readonly (readonly number[])[] = [[Number.POSITIVE_INFINITY], [1], [2, 0, 3], [7], [1000]];

async function inflate(
  bytes: Uint8Array,
  compression: Compression,
  chunks: readonly number[],
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<string> {
  const source = new InflatingSource(new ChunkedSource(bytes, chunks), compression, bytesMax);
  const pieces: Buffer[] = [];
  const target = Buffer.alloc(5000);
  try {
    while (!source.ended) {
      const length = source.read(target);
      pieces.push(Buffer.from(target.subarray(0, length)));
      if (length === 0 && !source.ended) await source.wait();
    }
    return Buffer.concat(pieces).toString();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return error.failure.code;
  } finally {
    source.close();
  }
}

const TEXT = 'a,b\n1,'.repeat(20_000);
const [FIRST, SECOND] = ['a,b\n1,', '2\n3,4\n'];

test('members of gzip', async (t) => {
  const [first, second] = [gzipSync(FIRST), gzipSync(SECOND)];
  const both = Buffer.concat([first, second]);
  const cases: readonly (readonly [string, Uint8Array, string])[] = [
    ['one', gzipSync(TEXT), TEXT],
    ['two', both, FIRST + SECOND],
    ['zeros after', Buffer.concat([both, Buffer.alloc(40_000)]), FIRST + SECOND],
    ['zeros between', Buffer.concat([first, Buffer.alloc(20_000), second]), FIRST + SECOND],
    ['something after', Buffer.concat([both, Buffer.from('garbage')]), 'MALFORMED_FILE'],
    ['something after zeros', Buffer.concat([both, Buffer.alloc(20), Buffer.from('x')]), 'MALFORMED_FILE'],
    ['cut off', both.subarray(0, -3), 'MALFORMED_FILE'],
    ['cut off in its head', both.subarray(0, first.length + 4), 'MALFORMED_FILE'],
    ['wrong checksum', Buffer.concat([first.subarray(0, -8), Buffer.alloc(4), first.subarray(-4)]), 'MALFORMED_FILE'],
    ['nothing inside', gzipSync(''), ''],
  ];
  for (const [what, bytes, expected] of cases) {
    for (const chunks of CHUNKS) {
      if (bytes.length > 10_000 && chunks[0]! < 1000) continue;
      t.ok((await inflate(bytes, 'gzip', chunks)) === expected, `${what} in pieces of ${chunks}`);
    }
  }
});

test('more than the ceiling', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  t.equal(await inflate(bomb, 'gzip', [Number.POSITIVE_INFINITY], 1_000_000), 'FILE_TOO_LARGE');
  t.equal(await inflate(gzipSync(TEXT), 'gzip', [100], TEXT.length), TEXT);
  t.equal(await inflate(gzipSync(TEXT), 'gzip', [100], TEXT.length - 1), 'FILE_TOO_LARGE');
});

test('compressions by their first bytes', async (t) => {
  t.equal(compressionOf(gzipSync('')), 'gzip');
  t.equal(compressionOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0])), 'zstd');
  t.equal(compressionOf(Buffer.from('a,b\n')), null);
});

/** Zstandard frames of level 3, with a checksum: 'a,b\n1,' and '2\n3,4\n'. */
const FRAMES = [
  Buffer.from('28b52ffd2006310000612c620a312c', 'hex'),
  Buffer.from('28b52ffd2006310000320a332c340a', 'hex'),
] as const;
const SKIPPABLE = Buffer.from('502a4d1803000000010203', 'hex');

test('where frames of Zstandard end', async (t) => {
  const file = Buffer.concat([FRAMES[0], SKIPPABLE, FRAMES[1]]);
  const ends = [15, 26, 41];
  for (const step of [1, 2, 5, 14, 15, 41]) {
    const frames = new ZstdFrames();
    const found: number[] = [];
    for (let at = 0; at < file.length; ) {
      at += frames.take(file.subarray(at, at + step), at);
      if (frames.isWhole) found.push(at);
    }
    t.strictSame(found, ends, `in steps of ${step}`);
  }
  t.throws(() => new ZstdFrames().take(Buffer.from('garbage'), 7), { message: /at byte 7/ });
});

const hasZstd = 'createZstdDecompress' in zlib;

test('frames of Zstandard', { skip: hasZstd ? false : 'this Node reads no Zstandard' }, async (t) => {
  const { zstdCompressSync } = zlib as typeof zlib & {
    zstdCompressSync: (bytes: Uint8Array | string, options?: object) => Buffer;
  };
  const parameter = (name: string): number => (constants as Readonly<Record<string, number>>)[name]!;
  const both = Buffer.concat(FRAMES);
  const params = {
    [parameter('ZSTD_c_windowLog')]: 27,
    [parameter('ZSTD_c_enableLongDistanceMatching')]: 1,
    [parameter('ZSTD_c_checksumFlag')]: 1,
  };
  const cases: readonly (readonly [string, Uint8Array, string])[] = [
    ['one', zstdCompressSync(TEXT), TEXT],
    ['two', both, FIRST + SECOND],
    ['with one to skip', Buffer.concat([FRAMES[0], SKIPPABLE, FRAMES[1]]), FIRST + SECOND],
    ['something after', Buffer.concat([both, Buffer.from('garbage')]), 'MALFORMED_FILE'],
    ['cut off', both.subarray(0, -3), 'MALFORMED_FILE'],
    ['cut off in its head', both.subarray(0, 18), 'MALFORMED_FILE'],
    ['large window', zstdCompressSync(Buffer.alloc(20_000_000, 'abc,'), { params }), 'UNSUPPORTED_FILE_TYPE'],
  ];
  for (const [what, bytes, expected] of cases) {
    for (const chunks of CHUNKS)
      t.ok((await inflate(bytes, 'zstd', chunks)) === expected, `${what} in pieces of ${chunks}`);
  }
  const bomb = zstdCompressSync(Buffer.alloc(50_000_000));
  t.equal(await inflate(bomb, 'zstd', [Number.POSITIVE_INFINITY], 1_000_000), 'FILE_TOO_LARGE');
});

test('Zstandard where the runtime lacks it', { skip: hasZstd ? 'this Node reads Zstandard' : false }, async (t) => {
  const open = () => new InflatingSource(new ChunkedSource(FRAMES[0], [1]), 'zstd', 1);
  t.throws(open, { message: /Node 22\.15 or later/ });
});
