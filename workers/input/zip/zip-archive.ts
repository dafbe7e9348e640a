// A ZIP archive with its entries by name, and the one account of all bytes that come out of it.
import { Failed } from '../../protocol/failure.ts';
import { readCentralDirectory, type ZipEntry } from './central-directory.ts';
import { EntryReader } from './entry-reader.ts';
import { INFLATED_BYTES_MAX, INFLATION_RATIO_MAX, RATIO_FREE_BYTES } from './limits.ts';
import { encryptedEntry, malformedArchive } from './malformed-archive.ts';
import { type RandomAccess, readExactly } from './random-access.ts';

const LOCAL_HEADER_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;

const STORED = 0;
const DEFLATED = 8;

export class ZipArchive {
  readonly #file: RandomAccess;
  readonly #entries = new Map<string, ZipEntry>();
  readonly #inflatedBytesMax: number;
  /** Lets others go on, in the middle of a part: null where nobody waits. */
  readonly giveWay: () => Promise<void> | null;
  #inflatedBytes = 0;
  #repeatedBytes = 0;

  /**
   * Reads the list of entries. Throws Failed.
   * @param inflatedBytesMax ceiling of what comes out of all entries together, in bytes; null = INFLATED_BYTES_MAX
   */
  constructor(file: RandomAccess, inflatedBytesMax: number | null, giveWay: () => Promise<void> | null) {
    this.#file = file;
    this.#inflatedBytesMax = inflatedBytesMax ?? INFLATED_BYTES_MAX;
    this.giveWay = giveWay;
    for (const entry of readCentralDirectory(file)) {
      const key = entryKey(entry.name);
      if (this.#entries.has(key)) throw malformedArchive('a second entry has the name of another', entry.position);
      this.#entries.set(key, entry);
    }
  }

  /** Names as they are looked up. */
  get names(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Whatever the case, with or without a leading slash, with either slash. */
  has(name: string): boolean {
    return this.#entries.has(entryKey(name));
  }

  /** The bytes of an entry, or null when there is none of this name. Throws Failed. */
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
      throw malformedArchive(`an entry of ${entry.compressedBytes} bytes is cut off, ${there} are there`, start);
    }
    return new EntryReader(this.#file, entry, start, entry.method === STORED, (bytes) => this.#count(bytes));
  }

  /** Counts bytes that came out before and are used once more: they are as good a bomb. Throws Failed. */
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

/** Programs differ in case and slashes between a part's name and the references to it. */
function entryKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();
}
