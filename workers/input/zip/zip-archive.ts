// A ZIP archive: its entries by name, and the total of all bytes decompressed from it.
import { Failed } from '../../protocol/failure.ts';
import { PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import { readCentralDirectory, type ZipEntry } from './central-directory.ts';
import { EntryReader } from './entry-reader.ts';
import {
  encryptedEntry,
  INFLATED_BYTES_MAX,
  INFLATION_RATIO_MAX,
  isTurn,
  malformedArchive,
  RATIO_FREE_BYTES,
} from './limits.ts';
import { type RandomAccess, readExactly } from './random-access.ts';

const LOCAL_HEADER_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;

const STORED = 0;
const DEFLATED = 8;

export class ZipArchive {
  readonly #file: RandomAccess;
  readonly #entries = new Map<string, ZipEntry>();
  readonly #inflatedBytesMax: number;
  /** Yields to other Runs in the middle of a part. Returns null if no other Run waits. */
  readonly giveWay: () => Promise<void> | null;
  #inflatedBytes = 0;
  #repeatedBytes = 0;

  /**
   * Reads the central directory of an archive. Throws Failed.
   * @param inflatedBytesMax maximum decompressed size of all entries together, in bytes; null for INFLATED_BYTES_MAX
   */
  static *read(
    file: RandomAccess,
    inflatedBytesMax: number | null,
    giveWay: () => Promise<void> | null,
  ): Sliced<ZipArchive> {
    const archive = new ZipArchive(file, inflatedBytesMax, giveWay);
    const entries = yield* readCentralDirectory(file);
    for (const [index, entry] of entries.entries()) {
      const key = entryKey(entry.name);
      if (archive.#entries.has(key)) throw malformedArchive('a second entry has the name of another', entry.position);
      archive.#entries.set(key, entry);
      if (isTurn(index)) yield PAUSE;
    }
    return archive;
  }

  private constructor(file: RandomAccess, inflatedBytesMax: number | null, giveWay: () => Promise<void> | null) {
    this.#file = file;
    this.#inflatedBytesMax = inflatedBytesMax ?? INFLATED_BYTES_MAX;
    this.giveWay = giveWay;
  }

  /** Normalised names, as used for lookups. */
  get names(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Ignores case, a leading slash, and the kind of slash. */
  has(name: string): boolean {
    return this.#entries.has(entryKey(name));
  }

  /** Name of an entry as the archive has it, with slashes. */
  nameOf(name: string): string {
    return this.#entries.get(entryKey(name))!.name.replaceAll('\\', '/');
  }

  /** Returns the bytes of an entry, or null if there is no entry of this name. Throws Failed. */
  open(name: string): EntryReader | null {
    const entry = this.#entries.get(entryKey(name));
    if (entry === undefined) return null;
    if (entry.isEncrypted) throw encryptedEntry();
    if (entry.method !== STORED && entry.method !== DEFLATED) {
      throw new Failed('UNSUPPORTED_FILE_TYPE', 'The ZIP archive is compressed by a method other than deflate.');
    }
    const header = readExactly(this.#file, entry.position, LOCAL_HEADER_BYTES);
    if (header.readUInt32LE(0) !== LOCAL_SIGNATURE) {
      throw malformedArchive('an entry is expected here by the list of entries', entry.position);
    }
    const start = entry.position + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    const there = this.#file.sizeBytes - start;
    if (entry.compressedBytes > there) {
      throw malformedArchive(
        `an entry of ${entry.compressedBytes} bytes is cut off: only ${there} bytes are left`,
        start,
      );
    }
    return new EntryReader(this.#file, entry, start, entry.method === STORED, (bytes) => this.#count(bytes));
  }

  /** Counts decompressed bytes that are used again, because repeating them could also be a bomb. Throws Failed. */
  countRepeated(bytes: number): void {
    this.#repeatedBytes += bytes;
    if (this.#repeatedBytes <= Math.max(RATIO_FREE_BYTES, this.#file.sizeBytes * INFLATION_RATIO_MAX)) return;
    throw new Failed('FILE_TOO_LARGE', `The file's cells hold more than ${INFLATION_RATIO_MAX} times its size.`);
  }

  #count(bytes: number): void {
    this.#inflatedBytes += bytes;
    if (this.#inflatedBytes <= this.#inflatedBytesMax) return;
    throw new Failed('FILE_TOO_LARGE', `The file inflates to more than ${this.#inflatedBytesMax} bytes.`);
  }
}

/** Programs write the name of a part and its references with different case and slashes. */
function entryKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();
}
