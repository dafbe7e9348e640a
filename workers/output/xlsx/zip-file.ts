// Writes a ZIP archive as its bytes come (PKWARE APPNOTE 6.3.10), the same bytes whenever it is written: entries that are
// whole with their sizes before them, entries that grow with their sizes behind. Its own state: what the directory will say.
import type { OutputSink } from '../sink/output-sink.ts';
import type { Deflater } from './deflater.ts';

interface Entry {
  readonly name: string;
  readonly offset: number;
  readonly flags: number;
  readonly crc: number;
  readonly deflatedBytes: number;
  readonly plainBytes: number;
}

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;

/** Sizes stand behind the entry. */
const SIZES_BEHIND = 8;
const DEFLATED = 8;
/** What a reader must know: deflate and folders; with sizes of 64 bits. */
const VERSION = 20;
const VERSION_64 = 45;
/** 1980-01-01, midnight: the first moment that there is. */
const DATE = 0x21;
const EXTRA_64 = 1;

/** From here on a number of 32 bits stands for "see the extra field". */
const LARGE = 0xffff_ffff;
const MANY = 0xffff;

export class ZipFile {
  readonly #sink: OutputSink;
  readonly #deflater: Deflater;
  readonly #large: number;
  readonly #entries: Entry[] = [];
  readonly #start: number;
  #open: { readonly name: string; readonly offset: number } | null = null;

  /** @param large sizes and places from here on are written with 64 bits; LARGE unless a test wants it earlier */
  constructor(sink: OutputSink, deflater: Deflater, large: number = LARGE) {
    this.#sink = sink;
    this.#deflater = deflater;
    this.#large = large;
    this.#start = sink.sizeBytes;
  }

  /** A whole entry. */
  add(name: string, content: Uint8Array): void {
    const offset = this.#offset;
    const pieces: Uint8Array[] = [];
    this.#deflater.begin((bytes) => void pieces.push(bytes));
    this.#deflater.write(content);
    const sums = this.#deflater.end();
    const entry = { name, offset, flags: 0, ...sums };
    this.#sink.write(localHeader(entry));
    for (const piece of pieces) this.#sink.write(piece);
    this.#entries.push(entry);
  }

  /** Begins an entry that grows by `write` until `end`. */
  begin(name: string): void {
    this.#open = { name, offset: this.#offset };
    this.#sink.write(localHeader({ ...this.#open, flags: SIZES_BEHIND, crc: 0, deflatedBytes: 0, plainBytes: 0 }));
    this.#deflater.begin((bytes) => this.#sink.write(bytes));
  }

  write(bytes: Uint8Array): void {
    this.#deflater.write(bytes);
  }

  end(): void {
    if (this.#open === null) throw new Error('no entry of the archive is open');
    const entry = { ...this.#open, flags: SIZES_BEHIND, ...this.#deflater.end() };
    this.#open = null;
    const isLarge = this.#isLarge(entry);
    const fields: Field[] = [
      [4, DESCRIPTOR],
      [4, entry.crc],
      [isLarge ? 8 : 4, entry.deflatedBytes],
      [isLarge ? 8 : 4, entry.plainBytes],
    ];
    this.#sink.write(record(fields));
    this.#entries.push(entry);
  }

  /** Writes the directory. */
  finish(): void {
    const offset = this.#offset;
    for (const entry of this.#entries) this.#sink.write(this.#centralHeader(entry));
    const count = this.#entries.length;
    const bytes = this.#offset - offset;
    const isLarge = count >= MANY || offset >= this.#large || bytes >= this.#large;
    if (isLarge) this.#sink.write(end64(count, bytes, offset));
    const shown = isLarge ? { count: MANY, bytes: LARGE, offset: LARGE } : { count, bytes, offset };
    const disks: Field[] = [
      [2, 0],
      [2, 0],
    ];
    this.#sink.write(
      record([[4, END], ...disks, [2, shown.count], [2, shown.count], [4, shown.bytes], [4, shown.offset], [2, 0]]),
    );
  }

  get #offset(): number {
    return this.#sink.sizeBytes - this.#start;
  }

  #isLarge({ deflatedBytes, plainBytes }: Entry): boolean {
    return deflatedBytes >= this.#large || plainBytes >= this.#large;
  }

  #centralHeader(entry: Entry): Uint8Array {
    const { name, offset, flags, crc, deflatedBytes, plainBytes } = entry;
    const isLarge = this.#isLarge(entry) || offset >= this.#large;
    const extra = isLarge
      ? record([
          [2, EXTRA_64],
          [2, 24],
          [8, plainBytes],
          [8, deflatedBytes],
          [8, offset],
        ])
      : new Uint8Array(0);
    const version = isLarge ? VERSION_64 : VERSION;
    const head = record([
      [4, CENTRAL],
      [2, version],
      [2, version],
      [2, flags],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
      [4, crc],
      [4, isLarge ? LARGE : deflatedBytes],
      [4, isLarge ? LARGE : plainBytes],
      [2, name.length],
      [2, extra.length],
      // No comment, first disk, no attributes.
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, isLarge ? LARGE : offset],
    ]);
    return Buffer.concat([head, Buffer.from(name, 'latin1'), extra]);
  }
}

/** Sizes of a whole entry are far below 4 GiB. */
function localHeader({ name, flags, crc, deflatedBytes, plainBytes }: Entry): Uint8Array {
  const head = record([
    [4, LOCAL],
    [2, VERSION],
    [2, flags],
    [2, DEFLATED],
    [2, 0],
    [2, DATE],
    [4, crc],
    [4, deflatedBytes],
    [4, plainBytes],
    [2, name.length],
    [2, 0],
  ]);
  return Buffer.concat([head, Buffer.from(name, 'latin1')]);
}

function end64(count: number, bytes: number, offset: number): Uint8Array {
  return record([
    [4, END_64],
    // Bytes of this record behind this number.
    [8, 44],
    [2, VERSION_64],
    [2, VERSION_64],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, bytes],
    [8, offset],
    [4, LOCATOR_64],
    [4, 0],
    [8, offset + bytes],
    [4, 1],
  ]);
}

/** How many bytes a number takes, and the number. */
type Field = readonly [2 | 4 | 8, number];

function record(fields: readonly Field[]): Uint8Array {
  const bytes = Buffer.alloc(fields.reduce((sum, [size]) => sum + size, 0));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, size);
    at += size;
  }
  return bytes;
}
