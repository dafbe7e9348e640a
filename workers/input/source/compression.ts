// The compressions in which a file may come, told by its first bytes, and the runtime's decoder of each.
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { Failed } from '../../protocol/failure.ts';

export type Compression = 'gzip' | 'zstd';

/** A stream of node:zlib: `bytesWritten` is what it has used of what it was given. */
export type Decoder = Transform & { readonly bytesWritten: number };

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** Inflated bytes that a decoder makes at a time: it hands on two such pieces at most before they are read. */
const DECODED_PIECE_BYTES = 65_536;

/**
 * A stream may refer back by 8 MiB, which every decoder is to support (RFC 8878, 3.1.1.1.2), and which level 19 uses. A
 * decoder holds as much; larger windows are made with --long and --ultra.
 */
const ZSTD_WINDOW_LOG_MAX = 23;

/** What a decoder holds beside what it makes, in bytes: that of gzip has its place in a Run's reservation. */
export const DECODER_BYTES: Readonly<Record<Compression, number>> = { gzip: 0, zstd: 2 ** ZSTD_WINDOW_LOG_MAX };

/** Of node:zlib from Node 22.15 on. */
interface ZstdSupport {
  readonly createZstdDecompress?: (options: object) => Decoder;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
}

export function compressionOf(head: Uint8Array): Compression | null {
  if (startsWith(head, GZIP)) return 'gzip';
  return startsWith(head, ZSTD) ? 'zstd' : null;
}

/** Throws Failed UNSUPPORTED_FILE_TYPE where the runtime lacks the decoder. */
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
 * What is wrong with compressed data that its decoder refuses.
 * @param error the decoder's
 * @param position byte of the file up to which the decoder found nothing wrong
 */
export function corrupt(compression: Compression, error: NodeJS.ErrnoException, position: number): Failed {
  const { code, message } = error;
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    const advice = 'compress it without --long and --ultra';
    return new Failed('UNSUPPORTED_FILE_TYPE', `The Zstandard data needs a window of more than 8 MiB; ${advice}.`);
  }
  if (code === 'Z_BUF_ERROR') return cutOff(compression, position);
  // In the words of zlib.
  if (/incorrect header check/.test(message)) return goesOn(compression, `${position} or behind it`);
  const isChanged = /incorrect (?:data|length) check/.test(message) || code === 'ZSTD_error_checksum_wrong';
  const what = isChanged ? 'has changed: its checksum is another one' : 'is corrupt';
  return malformed(compression, what, `${position} or behind it`);
}

/** @param position behind the last byte of the file */
export function cutOff(compression: Compression, position: number): Failed {
  return malformed(compression, 'is cut off: the file ends in the middle of it', position);
}

/** @param position byte of the file at which something else begins */
export function goesOn(compression: Compression, position: number | string): Failed {
  return malformed(compression, 'ends, and something else stands behind it', position);
}

function malformed(compression: Compression, what: string, position: number | string): Failed {
  const name = compression === 'gzip' ? 'gzip' : 'Zstandard';
  return new Failed('MALFORMED_FILE', `The ${name} data ${what}, at byte ${position}.`);
}

function startsWith(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => head[index] === byte);
}
