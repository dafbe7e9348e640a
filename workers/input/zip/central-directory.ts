// Reads the list of entries at the end of a ZIP archive (PKWARE APPNOTE 6.3.10, sections 4.3.12 to 4.3.16), with its 64-bit
// form, and refuses lists that contradict themselves.
import { DIRECTORY_BYTES_MAX, ENTRIES_MAX } from './limits.ts';
import { malformedArchive } from './malformed-archive.ts';
import { type RandomAccess, readExactly } from './random-access.ts';

/** One entry as the central directory tells it. */
export interface ZipEntry {
  readonly name: string;
  /** 0 stored, 8 deflated; others are refused where they are read. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly compressedBytes: number;
  readonly inflatedBytes: number;
  readonly crc32: number;
  /** Byte of its local header. */
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

/** A field of 32 or 16 bits that holds this stands in the 64-bit form. */
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
  /** Byte of the record that ends it. */
  readonly end: number;
}

/** All entries, in the directory's order. Throws Failed. */
export function readCentralDirectory(file: RandomAccess): ZipEntry[] {
  const directory = findDirectory(file);
  const { end } = directory;
  if (directory.entries > ENTRIES_MAX) {
    throw malformedArchive(`it says that it has ${directory.entries} entries, of ${ENTRIES_MAX} at most`, end);
  }
  if (directory.bytes > DIRECTORY_BYTES_MAX) {
    throw malformedArchive(`its list of entries has ${directory.bytes} bytes, of ${DIRECTORY_BYTES_MAX} at most`, end);
  }
  // Bytes before the archive shift it: what the directory calls byte 0 is then further on.
  const shift = directory.end - directory.bytes - directory.position;
  if (shift < 0) {
    const list = `${directory.bytes} bytes from byte ${directory.position} on`;
    throw malformedArchive(`its list of entries is said to have ${list}, and reaches behind its end`, end);
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
      throw malformedArchive(`${entry} is said to have ${next - at} bytes, ${bytes.length - at} are there`, start + at);
    }
    entries.push(readEntry(bytes.subarray(at, next), start + at, shift));
    at = next;
  }
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
      throw malformedArchive('it is one part of several', end.end);
    }
    const is64 = end.entries === IN_64_BITS_SHORT || end.bytes === IN_64_BITS || end.position === IN_64_BITS;
    return is64 ? (findDirectory64(file, end.end) ?? end) : end;
  }
  throw malformedArchive('the list of entries that ends it is missing, as in a file that is cut off', file.sizeBytes);
}

/** Null when there is none: then the numbers of the short form are meant as they stand. */
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

/** @param listedAt byte of the file at which the bytes stand */
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
  // The 64-bit fields stand in this order, each only where its short form says so.
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

/** An entry that lies within another makes few bytes inflate to many (David Fifield, "A better zip bomb", 2019). */
function refuseOverlaps(entries: readonly ZipEntry[], directoryAt: number): void {
  const sorted = [...entries].sort((a, b) => a.position - b.position);
  for (const [index, { position, compressedBytes }] of sorted.entries()) {
    const limit = sorted[index + 1]?.position ?? directoryAt;
    if (position + LOCAL_HEADER_BYTES + compressedBytes > limit) {
      throw malformedArchive(
        `an entry of ${compressedBytes} bytes is listed where it does not fit before byte ${limit}`,
        position,
      );
    }
  }
}

/** @param position byte of the file, for the failure */
function readSafe(bytes: Buffer, at: number, position: number): number {
  const value = Number(bytes.readBigUInt64LE(at));
  if (!Number.isSafeInteger(value)) throw malformedArchive(`a size of ${value} bytes is beyond all files`, position);
  return value;
}
