// Decompresses the pages of a Parquet file by their codec number. The output never exceeds the length in the page
// header.

// Decompresses the pages of a Parquet file by their codec number. The output never exceeds the length in the page
// header.
import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import type { Kernel } from '../../kernel/bindings/kernel.ts';

// Decompresses Zstandard with the runtime if possible (since Node 22.15), otherwise with fzstd.

type RuntimeInflate = (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** First bytes of a frame. */
const FRAME_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/**
 * Maximum size of a page if the runtime has no decoder: fzstd decompresses about 100 MB/s and cannot be interrupted.
 * Writers make pages of 1 MiB.
 */
const ZSTD_PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** True if the runtime has a decoder, so that pages may be as large as with other codecs. */
const HAS_RUNTIME_ZSTD = 'zstdDecompressSync' in zlib;

/** @returns whether `input` was valid and filled `output` exactly */
function inflateZstd(input: Uint8Array, output: Uint8Array): boolean {
  if (FRAME_MAGIC.some((byte, index) => input[index] !== byte)) return false;
  const ours = (zlib as { readonly zstdDecompressSync?: RuntimeInflate }).zstdDecompressSync;
  try {
    const inflated =
      ours === undefined ? inflateInOne(input, output) : ours(input, { maxOutputLength: Math.max(1, output.length) });
    if (inflated?.length !== output.length) return false;
    if (inflated !== output) output.set(inflated);
    return true;
  } catch {
    // Both decoders throw if the data is invalid. The message does not matter.
    return false;
  }
}

/**
 * Never writes beyond the output, whatever length the frame declares. Returns null if the frame has too many blocks.
 */
function inflateInOne(input: Uint8Array, output: Uint8Array): Uint8Array | null {
  return isWorthInflating(input, output.length) ? decompress(input, output) : null;
}

// Decompresses LZ4 into a buffer of known length: single blocks (LZ4_RAW), and blocks in the frames of Hadoop (LZ4, the
// older form). The work is bounded by both lengths.

const MATCH_MIN = 4;

/** Value that means that a length continues after its four bits. */
const MORE = 15;

/** Length of a frame header: decompressed and compressed length, big-endian. */
const FRAME_BYTES = 8;

/** @returns whether `input` is a valid block that fills `output` exactly */
function inflateLz4Block(input: Uint8Array, output: Uint8Array): boolean {
  let at = 0;
  let out = 0;
  /** Reads a length whose first part is `start`. Returns -1 if the input ends before. */
  const length = (start: number): number => {
    let sum = start;
    if (start !== MORE) return sum;
    for (;;) {
      const byte = input[at++];
      if (byte === undefined || sum > output.length) return -1;
      sum += byte;
      if (byte !== 255) return sum;
    }
  };
  while (at < input.length) {
    const token = input[at++]!;
    const literals = length(token >>> 4);
    if (literals < 0 || literals > input.length - at || literals > output.length - out) return false;
    output.set(input.subarray(at, at + literals), out);
    at += literals;
    out += literals;
    // The last sequence has only literals.
    if (at === input.length) return out === output.length;
    const offset = input[at]! + (input[at + 1] ?? 0) * 256;
    at += 2;
    const match = length(token & MORE) + MATCH_MIN;
    if (match < MATCH_MIN || offset === 0 || offset > out || match > output.length - out) return false;
    if (offset >= match) output.copyWithin(out, out - offset, out - offset + match);
    else for (let index = 0; index < match; index++) output[out + index] = output[out + index - offset]!;
    out += match;
  }
  return input.length === 0 && output.length === 0;
}

/** Same as inflateLz4Block, for Hadoop frames. Some files that declare LZ4 contain a block without a frame. */
function inflateLz4Frames(input: Uint8Array, output: Uint8Array): boolean {
  return inflateFrames(input, output) || inflateLz4Block(input, output);
}

function inflateFrames(input: Uint8Array, output: Uint8Array): boolean {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  let out = 0;
  for (let at = 0; at < input.length; ) {
    if (input.length - at < FRAME_BYTES) return false;
    const inflated = view.getUint32(at);
    const compressed = view.getUint32(at + 4);
    at += FRAME_BYTES;
    if (compressed === 0 || compressed > input.length - at || inflated > output.length - out) return false;
    if (!inflateLz4Block(input.subarray(at, at + compressed), output.subarray(out, out + inflated))) return false;
    at += compressed;
    out += inflated;
  }
  return out === output.length;
}

/**
 * Input and output are in the kernel's memory.
 * @returns whether `input` was valid and filled `output` exactly
 */
export type Inflate = (input: Uint8Array, output: Uint8Array, kernel: Kernel['exports']) => boolean;

interface Codec {
  readonly inflate: Inflate;
  /** True if the decoder allocates its own output buffer. */
  readonly copies: boolean;
  /** Maximum size of a page, decompressed or as stored. PAGE_BYTES_MAX by default. */
  readonly pageBytesMax?: number;
}

/** Codec number of uncompressed pages. */
export const UNCOMPRESSED = 0;

/** Codecs by their numbers in parquet.thrift. 3 is LZO, which no writer uses. */
const CODECS: readonly (Codec | null)[] = [
  { inflate: copyPlain, copies: false },
  { inflate: inflateSnappy, copies: false },
  { inflate: byRuntime(gunzipSync), copies: true },
  null,
  { inflate: byRuntime(brotliDecompressSync), copies: true },
  { inflate: inflateLz4Frames, copies: false },
  { inflate: inflateZstd, copies: true, ...(!HAS_RUNTIME_ZSTD && { pageBytesMax: ZSTD_PAGE_BYTES_MAX }) },
  { inflate: inflateLz4Block, copies: false },
];

/** Returns null for an unknown codec. */
export function codecOf(number: number): Codec | null {
  return CODECS[number] ?? null;
}

function inflateSnappy(input: Uint8Array, output: Uint8Array, kernel: Kernel['exports']): boolean {
  const [from, to] = [input.byteOffset, output.byteOffset];
  return Boolean(kernel.inflateSnappy(from, from + input.length, to, to + output.length));
}

function copyPlain(input: Uint8Array, output: Uint8Array): boolean {
  if (input.length !== output.length) return false;
  output.set(input);
  return true;
}

function byRuntime(inflate: typeof gunzipSync): Inflate {
  return (input, output) => {
    try {
      const inflated = inflate(input, { maxOutputLength: Math.max(1, output.length) });
      if (inflated.length !== output.length) return false;
      output.set(inflated);
      return true;
    } catch {
      // Decoders throw if the data is invalid or longer than the page header declares.
      return false;
    }
  };
}

// Inspects the frames of a Zstandard page (RFC 8878) before code that cannot be interrupted decompresses them. Each
// block takes time, so a page must not have too many blocks for its content. The content must not be larger than the
// page header declares.

const FRAME_MAGIC_WORD = 0xfd2fb528;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const BLOCK_STORED = 0;
const BLOCK_REPEATED = 1;
const BLOCK_RESERVED = 3;

/**
 * Number of blocks that any page may have, and minimum content in bytes for each further block. Encoders fill blocks up
 * to 128 KiB.
 */
const BLOCKS_FREE = 64;
const BLOCK_BYTES_MIN = 1024;

/** @returns whether `input` is a sequence of frames that may contain `bytes` bytes */
export function isWorthInflating(input: Uint8Array, bytes: number): boolean {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const blocksMax = BLOCKS_FREE + bytes / BLOCK_BYTES_MIN;
  let blocks = 0;
  /** Sum of the content sizes of blocks that declare them. */
  let told = 0;
  for (let at = 0; at < input.length; ) {
    if (at + 5 > input.length || view.getUint32(at, true) !== FRAME_MAGIC_WORD) return false;
    const descriptor = input[at + 4]!;
    at += 5 + headerBytes(descriptor);
    for (let isLast = false; !isLast; blocks++) {
      if (at + BLOCK_HEADER_BYTES > input.length || blocks > blocksMax) return false;
      const header = view.getUint16(at, true) | (input[at + 2]! << 16);
      isLast = (header & 1) !== 0;
      const kind = (header >> 1) & 3;
      const size = header >> 3;
      if (kind === BLOCK_STORED || kind === BLOCK_REPEATED) told += size;
      if (kind === BLOCK_RESERVED || told > bytes) return false;
      at += BLOCK_HEADER_BYTES + (kind === BLOCK_REPEATED ? 1 : size);
    }
    if ((descriptor & 4) !== 0) at += CHECKSUM_BYTES;
    if (at > input.length) return false;
  }
  return true;
}

/** Length of a frame header after its descriptor. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  return sizeBytes + [0, 1, 2, 4][descriptor & 3]! + Number(!isSingleSegment);
}
