// Inflates Zstandard: by the runtime where it can (from Node 22.15 on), else by fzstd.
import zlib from 'node:zlib';
import { decompress } from 'fzstd';
import { isWorthInflating } from './zstd-blocks.ts';

type RuntimeInflate = (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** A frame begins with it. */
const FRAME_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/**
 * Of a page, where the runtime has no decoder: what takes its place inflates some 100 MB a second, and cannot be interrupted.
 * Writers make pages of 1 MiB.
 */
export const ZSTD_PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Whether pages may be as long as those of other compressions. */
export const HAS_RUNTIME_ZSTD = 'zstdDecompressSync' in zlib;

/** @returns whether `input` was sound and filled `output` to its last byte */
export function inflateZstd(input: Uint8Array, output: Uint8Array): boolean {
  if (FRAME_MAGIC.some((byte, index) => input[index] !== byte)) return false;
  const ours = (zlib as { readonly zstdDecompressSync?: RuntimeInflate }).zstdDecompressSync;
  try {
    const inflated =
      ours === undefined ? inflateInOne(input, output) : ours(input, { maxOutputLength: Math.max(1, output.length) });
    if (inflated?.length !== output.length) return false;
    if (inflated !== output) output.set(inflated);
    return true;
  } catch {
    // Both say by what they throw that the data is not sound: which words they use does not matter.
    return false;
  }
}

/** It writes no further than the output goes, whatever the frame says of its length. Null: it is not worth the time. */
function inflateInOne(input: Uint8Array, output: Uint8Array): Uint8Array | null {
  return isWorthInflating(input, output.length) ? decompress(input, output) : null;
}
