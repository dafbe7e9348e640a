// Compressed files: detects the compression by the first bytes, and creates the decoder of the runtime.
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { Failed } from '../../protocol/failure.ts';

export type Compression = 'gzip' | 'zstd';

/** A stream of node:zlib. `bytesWritten` is the number of input bytes that it has consumed. */
export type Decoder = Transform & { readonly bytesWritten: number };

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** Size of the pieces that a decoder emits. At most two pieces are buffered before they are read. */
const DECODED_PIECE_BYTES = 65_536;

/**
 * Largest Zstandard window: 8 MiB. Every decoder should support this size (RFC 8878, 3.1.1.1.2), and level 19 uses it.
 * The decoder allocates that much memory. Larger windows need --long or --ultra.
 */
const ZSTD_WINDOW_LOG_MAX = 23;

/**
 * Memory of a decoder in bytes, in addition to its output. The memory of gzip is included in every Run's reservation.
 */
export const DECODER_BYTES: Readonly<Record<Compression, number>> = { gzip: 0, zstd: 2 ** ZSTD_WINDOW_LOG_MAX };

/** Members of node:zlib since Node 22.15. */
interface ZstdSupport {
  readonly createZstdDecompress?: (options: object) => Decoder;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
}

export function compressionOf(head: Uint8Array): Compression | null {
  if (startsWith(head, GZIP)) return 'gzip';
  return startsWith(head, ZSTD) ? 'zstd' : null;
}

/** Throws Failed UNSUPPORTED_FILE_TYPE if the runtime lacks the decoder. */
export function makeDecoder(compression: Compression): Decoder {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: DECODED_PIECE_BYTES });
  const { createZstdDecompress, constants } = zlib as ZstdSupport;
  if (createZstdDecompress === undefined || constants.ZSTD_d_windowLogMax === undefined) {
    throw new Failed(
      'UNSUPPORTED_FILE_TYPE',
      'The file is compressed by Zstandard, which this service reads on Node 22.15 or later; compress it with gzip.',
    );
  }
  return createZstdDecompress({
    chunkSize: DECODED_PIECE_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
  });
}

/**
 * Describes the error in compressed data that its decoder refuses.
 * @param error error of the decoder
 * @param position offset in the file up to which the decoder found no error
 */
export function corrupt(compression: Compression, error: NodeJS.ErrnoException, position: number): Failed {
  const { code, message } = error;
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    const advice = 'compress it without --long and --ultra';
    return new Failed('UNSUPPORTED_FILE_TYPE', `The Zstandard data needs a window of more than 8 MiB; ${advice}.`);
  }
  if (code === 'Z_BUF_ERROR') return cutOff(compression, position);
  // Message of zlib.
  if (/incorrect header check/.test(message)) return otherDataFollows(compression, `${position} or after it`);
  const isChanged = /incorrect (?:data|length) check/.test(message) || code === 'ZSTD_error_checksum_wrong';
  const what = isChanged ? 'is damaged: its checksum is wrong' : 'is corrupt';
  return malformed(compression, what, `${position} or after it`);
}

/** @param position offset after the last byte of the file */
export function cutOff(compression: Compression, position: number): Failed {
  return malformed(compression, 'is cut off: the file ends in the middle of it', position);
}

/** @param position offset in the file at which other data begins */
export function otherDataFollows(compression: Compression, position: number | string): Failed {
  return malformed(compression, 'ends, and other data follows', position);
}

function malformed(compression: Compression, what: string, position: number | string): Failed {
  const name = compression === 'gzip' ? 'gzip' : 'Zstandard';
  return new Failed('MALFORMED_FILE', `The ${name} data ${what}, at byte ${position}.`);
}

function startsWith(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => head[index] === byte);
}
