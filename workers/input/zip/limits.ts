// Limits for ZIP archives, and failures of damaged ones.
import { Failed } from '../../protocol/failure.ts';

// Limits for ZIP archives. Declared sizes are not trusted: the actual output is counted.

/**
 * Maximum number of entries: more than a workbook with thousands of sheets and pictures has. Each takes 200 bytes of
 * heap.
 */
export const ENTRIES_MAX = 20_000;

/** Number of entries between two possible pauses of work on all entries. */
const ENTRIES_AT_ONCE = 512;

/** True if work on all entries may pause after the entry with this index. */
export function isTurn(index: number): boolean {
  return index % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1;
}

/** Maximum size of the central directory in bytes: enough for entries with names of some hundred bytes. */
export const DIRECTORY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Maximum decompressed size of all entries of one archive together, in bytes, unless the service sets a lower limit.
 */
export const INFLATED_BYTES_MAX = 8 * 1024 * 1024 * 1024;

/**
 * Maximum ratio of decompressed to compressed bytes in a section of an entry. Sheets of equal rows reach 60. Deflate
 * can reach 1,032, but only repetitions of one short pattern come near.
 */
export const INFLATION_RATIO_MAX = 200;

/**
 * Number of decompressed bytes in a section whose ratio is checked, so that a small sheet of equal cells is not
 * mistaken for a bomb.
 */
export const RATIO_FREE_BYTES = 16 * 1024 * 1024;

/** Compressed bytes read at a time. */
export const COMPRESSED_PIECE_BYTES = 64 * 1024;

/** Size of emitted pieces in bytes. At most two pieces are buffered. */
export const INFLATED_PIECE_BYTES = 256 * 1024;

/**
 * Maximum declared size of an entry that is decompressed synchronously, in bytes: this is faster than the round trip
 * through the thread pool.
 */
export const AT_ONCE_BYTES_MAX = 128 * 1024;

// Failures of damaged ZIP archives. A message says which rule is broken and contains nothing of the content.

/**
 * @param reason continues "The ZIP archive is damaged: "
 * @param position offset of the error in the file, from 0
 */
export function malformedArchive(reason: string, position: number): Failed {
  return new Failed('MALFORMED_FILE', `The ZIP archive is damaged: ${reason}, at byte ${position}.`);
}

/** @param position offset in the file up to which no error was found */
export function notInflatable(position: number): Failed {
  const message = `The ZIP archive is damaged: the data of an entry cannot be inflated, at byte ${position} or after it.`;
  return new Failed('MALFORMED_FILE', message);
}

export function encryptedEntry(): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', 'The ZIP archive is encrypted; send it without a password.');
}
