// The metadata at the end of a Parquet file, and the header of each page.

import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import type { WholeSource } from '../source/source.ts';
import {
  FOOTER_BYTES_MAX,
  malformedParquet,
  PAGE_HEADER_BYTES,
  PAGE_HEADER_BYTES_MAX,
  unsupportedParquet,
} from './limits.ts';
import { allocateFor } from './page-memory.ts';
import { readSchema, type SchemaNode } from './schema.ts';
import { isTrue, ThriftCut, ThriftReader } from './thrift.ts';

// Reads the header of one page. Its length is not known beforehand.

export type PageKind = 'data' | 'data_v2' | 'dictionary' | 'other';

export interface PageHeader {
  readonly kind: PageKind;
  /** Size of the page after the header, decompressed and as stored. */
  readonly bytes: number;
  readonly storedBytes: number;
  /** Number of values, including nulls. */
  readonly values: number;
  readonly encoding: number;
  /** Size of the levels before the values, in pages of version 2. */
  readonly definitionBytes: number;
  readonly repetitionBytes: number;
  /** True if the values are compressed. Pages of version 2 may set a codec without using it. */
  readonly isCompressed: boolean;
  /** Encodings of the levels in pages of version 1. */
  readonly levelEncodings: readonly [definition: number, repetition: number];
  /** Length of the header itself. */
  readonly headerBytes: number;
}

const KINDS: readonly PageKind[] = ['data', 'other', 'dictionary', 'data_v2'];

/** Reads the header at `position`, which must end before `end`. Throws Failed. */
export function readPageHeader(source: WholeSource, position: number, end: number): PageHeader {
  for (let size = PAGE_HEADER_BYTES; ; size *= 64) {
    const bytes = new Uint8Array(Math.min(size, PAGE_HEADER_BYTES_MAX, end - position));
    source.readAt(bytes, position);
    const thrift = new ThriftReader(bytes, 0, bytes.length, position);
    try {
      return checked(readHeader(thrift), thrift);
    } catch (error) {
      if (!(error instanceof ThriftCut)) throw error;
      if (bytes.length < size) throw malformedParquet('a page header that is cut off', position);
    }
  }
}

interface Fields {
  numbers: Map<number, number>;
  page: Map<number, number>;
  isCompressed: boolean;
}

function readHeader(thrift: ThriftReader): Fields {
  const fields: Fields = { numbers: new Map(), page: new Map(), isCompressed: true };
  thrift.struct((id) => {
    if (id <= 3) {
      fields.numbers.set(id, thrift.integer());
      return true;
    }
    if (id !== 5 && id !== 7 && id !== 8) return false;
    fields.page.clear();
    thrift.struct((pageId, type) => readPageField(thrift, fields, id === 8, pageId, type));
    return true;
  });
  return fields;
}

function readPageField(thrift: ThriftReader, fields: Fields, isV2: boolean, id: number, type: number): boolean {
  if (isV2 && id === 7) fields.isCompressed = isTrue(type);
  // The third field of a dictionary page only says whether it is sorted.
  if (id > (isV2 ? 6 : 4) || (type <= 2 && id >= 3)) return false;
  fields.page.set(id, thrift.integer());
  return true;
}

function checked({ numbers, page, isCompressed }: Fields, thrift: ThriftReader): PageHeader {
  const kind = KINDS[numbers.get(1) ?? -1] ?? 'other';
  const isV2 = kind === 'data_v2';
  const header: PageHeader = {
    kind,
    bytes: numbers.get(2) ?? -1,
    storedBytes: numbers.get(3) ?? -1,
    values: kind === 'other' ? 0 : (page.get(1) ?? -1),
    encoding: page.get(isV2 ? 4 : 2) ?? -1,
    definitionBytes: isV2 ? (page.get(5) ?? -1) : 0,
    repetitionBytes: isV2 ? (page.get(6) ?? -1) : 0,
    isCompressed,
    levelEncodings: [page.get(3) ?? -1, page.get(4) ?? -1],
    headerBytes: thrift.at,
  };
  const { bytes, storedBytes, values, definitionBytes, repetitionBytes } = header;
  const levelBytes = definitionBytes + repetitionBytes;
  const isValid =
    [bytes, storedBytes, values, definitionBytes, repetitionBytes].every((one) => one >= 0 && one < 2 ** 31) &&
    levelBytes <= Math.min(bytes, storedBytes);
  if (!isValid) {
    const lengths = `${bytes} bytes, ${storedBytes} of them stored, ${levelBytes} of levels, ${values} values`;
    throw thrift.fail(`a page header with impossible lengths (${lengths})`);
  }
  return header;
}

// The metadata at the end of a Parquet file. Its bytes stay in the Run's memory, and row groups are parsed from it one
// by one.

/** Magic bytes `PAR1`, or `PARE` if the metadata is encrypted. */
export const MAGIC = 'PAR1';
/** See MAGIC. */
export const ENCRYPTED_MAGIC = 'PARE';

const MAGIC_BYTES = 4;
/** Numbers of fields of FileMetaData in parquet.thrift. */
const ROW_GROUPS_FIELD = 4;
/** See ROW_GROUPS_FIELD. */
const ENCRYPTION_FIELD = 8;

/** Length of the metadata size and the magic bytes after it. */
const TAIL_BYTES = 8;

/** One column of one row group, as declared by the metadata, which is not trusted. */
export interface ColumnChunk {
  /** Offsets [start, end) of its pages in the file. */
  readonly start: number;
  readonly end: number;
  readonly codec: number;
  /** Number of values, including nulls. */
  readonly values: number;
}

export interface RowGroup {
  /** Number of the row group, from 1. */
  readonly number: number;
  readonly rows: number;
  /** Indexed by leaf. null for leaves that are not used. */
  readonly chunks: readonly (ColumnChunk | null)[];
}

export class Footer {
  readonly columns: readonly SchemaNode[];
  /** Offset in the file at which the metadata begins. */
  readonly start: number;
  readonly #heap: Heap;
  readonly #region: number;
  readonly #bytes: number;
  /** Offset of the next row group, from the beginning of the metadata. 0 if the file has no list of row groups. */
  #next = 0;
  #groups = 0;
  #groupsRead = 0;

  /** Throws Failed. */
  constructor(source: WholeSource, heap: Heap) {
    const { sizeBytes } = source;
    const tail = Buffer.alloc(TAIL_BYTES);
    if (sizeBytes < MAGIC_BYTES + TAIL_BYTES) throw malformedParquet('it is cut off after its first bytes', sizeBytes);
    source.readAt(tail, sizeBytes - TAIL_BYTES);
    const magic = tail.toString('latin1', MAGIC_BYTES);
    if (magic === ENCRYPTED_MAGIC) throw encrypted();
    if (magic !== MAGIC) {
      throw malformedParquet('it does not end with PAR1, so it is cut off', sizeBytes - MAGIC_BYTES);
    }
    this.#bytes = tail.readUInt32LE(0);
    this.start = sizeBytes - TAIL_BYTES - this.#bytes;
    if (this.start < MAGIC_BYTES) {
      const there = sizeBytes - TAIL_BYTES - MAGIC_BYTES;
      const what = `its metadata should have ${this.#bytes} bytes, but the file has only ${there} bytes for it`;
      throw malformedParquet(what, sizeBytes - TAIL_BYTES);
    }
    if (this.#bytes > FOOTER_BYTES_MAX)
      throw new Failed('FILE_TOO_LARGE', `The Parquet file has more than ${FOOTER_BYTES_MAX} bytes of metadata.`);
    this.#heap = heap;
    this.#region = allocateFor(heap, this.#bytes, 'metadata');
    source.readAt(heap.u8.subarray(this.#region, this.#region + this.#bytes), this.start);
    this.columns = whole(this.#reader(0), (thrift) => this.#readFile(thrift));
  }

  /** Number of row groups. */
  get groups(): number {
    return this.#groups;
  }

  /**
   * Returns the next row group with the chunks of the leaves that are used, or null after the last row group. Throws
   * Failed.
   */
  nextGroup(isWanted: (leaf: number) => boolean): RowGroup | null {
    if (this.#groupsRead === this.#groups) {
      if (this.#next > 0) whole(this.#reader(this.#next), (thrift) => this.#readRest(thrift));
      return null;
    }
    this.#groupsRead++;
    return whole(this.#reader(this.#next), (thrift) => {
      const group = this.#readGroup(thrift, isWanted);
      this.#next = thrift.filePosition - this.start;
      return group;
    });
  }

  #reader(at: number): ThriftReader {
    const { u8 } = this.#heap;
    return new ThriftReader(u8, this.#region + at, this.#region + this.#bytes, this.start + at);
  }

  /** Reads the fields before the row groups, and the position of the row groups. */
  #readFile(thrift: ThriftReader): readonly SchemaNode[] {
    let columns: readonly SchemaNode[] = [];
    thrift.struct((id) => {
      if (id === ENCRYPTION_FIELD) throw encrypted();
      if (id === 2) columns = readSchema(thrift);
      else if (id === ROW_GROUPS_FIELD) {
        // Row groups are read one by one, since reading all of them may take seconds.
        this.#groups = thrift.listSize();
        this.#next = thrift.filePosition - this.start;
        return 'stop';
      } else return false;
      return true;
    });
    if (columns.length === 0) throw thrift.fail('no schema before its row groups');
    return columns;
  }

  /** Reads the fields after the row groups, of which only the encryption matters. */
  #readRest(thrift: ThriftReader): void {
    thrift.struct((id) => {
      if (id === ENCRYPTION_FIELD) throw encrypted();
      return false;
    }, ROW_GROUPS_FIELD);
  }

  #readGroup(thrift: ThriftReader, isWanted: (leaf: number) => boolean): RowGroup {
    const chunks: (ColumnChunk | null)[] = [];
    let rows = -1;
    thrift.struct((id) => {
      if (id === 1) {
        thrift.list((leaf) => {
          if (isWanted(leaf)) chunks[leaf] = this.#readChunk(thrift);
          else thrift.skipStruct();
        });
      } else if (id === 3) rows = thrift.integer();
      else return false;
      return true;
    });
    if (!Number.isSafeInteger(rows) || rows < 0) throw thrift.fail('a row group without a number of rows');
    return { number: this.#groupsRead, rows, chunks };
  }

  #readChunk(thrift: ThriftReader): ColumnChunk {
    let numbers: ReadonlyMap<number, number> = new Map();
    thrift.struct((id) => {
      if (id === 1) throw unsupportedParquet('columns in other files');
      if (id === 8) throw encrypted();
      if (id !== 3) return false;
      numbers = readNumbers(thrift);
      return true;
    });
    const data = numbers.get(9) ?? -1;
    const dictionary = numbers.get(11) ?? 0;
    const start = dictionary >= MAGIC_BYTES && dictionary < data ? dictionary : data;
    const end = start + (numbers.get(7) ?? -1);
    const values = numbers.get(5) ?? -1;
    const codec = numbers.get(4) ?? -1;
    // Writers set arbitrary offsets in a row group without rows, such as 0 or a dictionary that no page refers to.
    if (values === 0) return { start: MAGIC_BYTES, end: MAGIC_BYTES, codec, values };
    if (data < 0 || values < 0) throw thrift.fail('a column without a place or a number of values');
    if (start < MAGIC_BYTES || end < start || end > this.start) {
      const what = `a column that should have ${end - start} bytes from byte ${start} on`;
      throw thrift.fail(`${what}, where columns end before byte ${this.start}`);
    }
    return { start, end, codec, values };
  }
}

/** Reads the integers of a struct by field number. */
function readNumbers(thrift: ThriftReader): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  thrift.struct((id) => {
    if (id !== 1 && (id < 4 || id > 11 || id === 8)) return false;
    numbers.set(id, thrift.integer());
    return true;
  });
  return numbers;
}

function whole<T>(thrift: ThriftReader, read: (thrift: ThriftReader) => T): T {
  try {
    return read(thrift);
  } catch (error) {
    if (error instanceof ThriftCut) throw thrift.fail('its metadata is cut off');
    throw error;
  }
}

/** Reported as 415, because the keys are unknown. */
export function encrypted(): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', 'The file is encrypted Parquet; save it without encryption.');
}
