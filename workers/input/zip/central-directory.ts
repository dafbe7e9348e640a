// Reads the central directory at the end of a ZIP archive (PKWARE APPNOTE 6.3.10, sections 4.3.12 to 4.3.16), including
// ZIP64, and refuses inconsistent directories.
import { PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import { DIRECTORY_BYTES_MAX, ENTRIES_MAX, isTurn, malformedArchive } from './limits.ts';
import { type RandomAccess, readExactly } from './random-access.ts';

/** An entry as described by the central directory. */
export interface ZipEntry {
  readonly name: string;
  /** 0 is stored, 8 is deflated. Other methods are refused when the entry is read. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly compressedBytes: number;
  readonly inflatedBytes: number;
  readonly crc32: number;
  /** Offset of its local header in the file. */
  readonly position: number;
}

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_BYTES = 20;
const END_64_SIGNATURE = 0x06064b50;
const END_64_BYTES = 56;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;

/** Value of a 32-bit or 16-bit field whose actual value is in the ZIP64 form. */
const IN_64_BITS = 0xffffffff;
const IN_64_BITS_SHORT = 0xffff;

const EXTRA_64_BITS = 1;
const FLAG_ENCRYPTED = 0x0001;
const FLAG_STRONG_ENCRYPTION = 0x0040;
const FLAG_UTF8 = 0x0800;

interface Directory {
  readonly position: number;
  readonly bytes: number;
  readonly entries: number;
  /** Offset of the end-of-directory record. */
  readonly end: number;
}

/** Returns all entries, in the order of the directory. Throws Failed. */
export function* readCentralDirectory(file: RandomAccess): Sliced<ZipEntry[]> {
  const directory = findDirectory(file);
  const { end } = directory;
  if (directory.entries > ENTRIES_MAX) {
    throw malformedArchive(`it declares ${directory.entries} entries, and at most ${ENTRIES_MAX} are allowed`, end);
  }
  if (directory.bytes > DIRECTORY_BYTES_MAX) {
    throw malformedArchive(
      `its list of entries has ${directory.bytes} bytes, and at most ${DIRECTORY_BYTES_MAX} are allowed`,
      end,
    );
  }
  // If the file has bytes before the archive, all offsets of the directory are shifted.
  const shift = directory.end - directory.bytes - directory.position;
  if (shift < 0) {
    const list = `${directory.bytes} bytes from byte ${directory.position} on`;
    throw malformedArchive(`its list of entries should have ${list}, but would then extend past its own end`, end);
  }
  const start = directory.position + shift;
  const bytes = readExactly(file, start, directory.bytes);
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let index = 0; index < directory.entries; index++) {
    if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw malformedArchive(
        `entry ${index + 1} of ${directory.entries} is expected in its list of entries`,
        start + at,
      );
    }
    const next =
      at + ENTRY_BYTES + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (next > bytes.length) {
      const entry = `entry ${index + 1} of ${directory.entries} in its list of entries`;
      throw malformedArchive(
        `${entry} should have ${next - at} bytes, but only ${bytes.length - at} are left`,
        start + at,
      );
    }
    if (isTurn(index)) yield PAUSE;
    entries.push(readEntry(bytes.subarray(at, next), start + at, shift));
    at = next;
  }
  yield PAUSE;
  refuseOverlaps(entries, start);
  return entries;
}

function findDirectory(file: RandomAccess): Directory {
  const tailBytes = Math.min(file.sizeBytes, END_BYTES + COMMENT_BYTES_MAX);
  const tailAt = file.sizeBytes - tailBytes;
  const tail = readExactly(file, tailAt, tailBytes);
  for (let at = tailBytes - END_BYTES; at >= 0; at--) {
    if (tail[at] !== 0x50 || tail.readUInt32LE(at) !== END_SIGNATURE) continue;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) > tailBytes) continue;
    const end = {
      entries: tail.readUInt16LE(at + 10),
      bytes: tail.readUInt32LE(at + 12),
      position: tail.readUInt32LE(at + 16),
      end: tailAt + at,
    };
    if (tail.readUInt16LE(at + 4) !== 0 && tail.readUInt16LE(at + 4) !== IN_64_BITS_SHORT) {
      throw malformedArchive('it is one part of an archive in several parts', end.end);
    }
    const is64 = end.entries === IN_64_BITS_SHORT || end.bytes === IN_64_BITS || end.position === IN_64_BITS;
    return is64 ? (findDirectory64(file, end.end) ?? end) : end;
  }
  throw malformedArchive('the list of entries that ends it is missing, as in a file that is cut off', file.sizeBytes);
}

/** Returns null if there is no ZIP64 directory: the values of the short form are then valid. */
function findDirectory64(file: RandomAccess, endAt: number): Directory | null {
  if (endAt < LOCATOR_BYTES) return null;
  const locator = readExactly(file, endAt - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR_SIGNATURE) return null;
  let end = readSafe(locator, 8, endAt - LOCATOR_BYTES);
  let record = readExactly(file, end, END_64_BYTES);
  if (record.readUInt32LE(0) !== END_64_SIGNATURE) {
    end = endAt - LOCATOR_BYTES - END_64_BYTES;
    record = readExactly(file, end, END_64_BYTES);
    if (record.readUInt32LE(0) !== END_64_SIGNATURE) {
      throw malformedArchive('the record that ends its list of entries is expected', end);
    }
  }
  const number = (at: number): number => readSafe(record, at, end);
  return { entries: number(32), bytes: number(40), position: number(48), end };
}

/** @param listedAt offset of the bytes in the file */
function readEntry(bytes: Buffer, listedAt: number, shift: number): ZipEntry {
  const flags = bytes.readUInt16LE(8);
  const nameEnd = ENTRY_BYTES + bytes.readUInt16LE(28);
  const extra = bytes.subarray(nameEnd, nameEnd + bytes.readUInt16LE(30));
  const wide = wideFields(extra);
  const read = (at: number): number => {
    const value = bytes.readUInt32LE(at);
    if (value !== IN_64_BITS || wide === null) return value;
    if (wide.at + 8 > wide.end) throw malformedArchive('an entry lacks its 64-bit size', listedAt);
    const found = readSafe(extra, wide.at, listedAt);
    wide.at += 8;
    return found;
  };
  // ZIP64 fields appear in this order, each only if the short form refers to it.
  const inflatedBytes = read(24);
  const compressedBytes = read(20);
  const position = read(42) + shift;
  return {
    name: bytes.toString((flags & FLAG_UTF8) === 0 ? 'latin1' : 'utf8', ENTRY_BYTES, nameEnd),
    method: bytes.readUInt16LE(10),
    isEncrypted: (flags & (FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION)) !== 0,
    crc32: bytes.readUInt32LE(16),
    compressedBytes,
    inflatedBytes,
    position,
  };
}

function wideFields(extra: Buffer): { at: number; readonly end: number } | null {
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === EXTRA_64_BITS) return { at: at + 4, end: Math.min(end, extra.length) };
    at = end;
  }
  return null;
}

/** Overlapping entries let a few bytes inflate to many (David Fifield, "A better zip bomb", 2019). */
function refuseOverlaps(entries: readonly ZipEntry[], directoryAt: number): void {
  const sorted = [...entries].sort((a, b) => a.position - b.position);
  for (const [index, { position, compressedBytes }] of sorted.entries()) {
    const limit = sorted[index + 1]?.position ?? directoryAt;
    if (position + LOCAL_HEADER_BYTES + compressedBytes > limit) {
      throw malformedArchive(
        `an entry of ${compressedBytes} bytes does not fit between its position and byte ${limit}`,
        position,
      );
    }
  }
}

/** @param position offset in the file, for the failure */
function readSafe(bytes: Buffer, at: number, position: number): number {
  const value = Number(bytes.readBigUInt64LE(at));
  if (!Number.isSafeInteger(value))
    throw malformedArchive(`a size of ${value} bytes is too large for any file`, position);
  return value;
}
