// Inflates the pages of a Parquet file, by the number of their codec, each to the length that its header promises and no further.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { inflateLz4Block, inflateLz4Frames } from './lz4.ts';
import { HAS_RUNTIME_ZSTD, inflateZstd, ZSTD_PAGE_BYTES_MAX } from './zstd.ts';

/**
 * Both lie in the kernel's memory.
 * @returns whether `input` was sound and filled `output` to its last byte
 */
export type Inflate = (input: Uint8Array, output: Uint8Array, kernel: Kernel['exports']) => boolean;

interface Codec {
  readonly inflate: Inflate;
  /** It makes a buffer of its own for what comes out. */
  readonly copies: boolean;
  /** Of a page, inflated or as it is stored; PAGE_BYTES_MAX unless said. */
  readonly pageBytesMax?: number;
}

/** The codec of pages that are not compressed. */
export const UNCOMPRESSED = 0;

/** By their numbers in parquet.thrift; 3 is LZO, which nobody writes. */
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

/** Null for a codec that is not known. */
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
      // It throws for data that is not sound, or that is longer than was promised.
      return false;
    }
  };
}
