// The metadata at the end of a Parquet file: it stays as bytes in the Run's memory, and row groups are read from it one by one.

import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import type { WholeSource } from '../source/source.ts';
import { FOOTER_BYTES_MAX } from './limits.ts';
import { malformedParquet, unsupportedParquet } from './malformed-parquet.ts';
import { allocateFor } from './page-memory.ts';
import { readSchema, type SchemaNode } from './schema.ts';
import { ThriftCut, ThriftReader } from './thrift.ts';

/** `PAR1`, and where the metadata itself is encrypted `PARE`. */
export const MAGIC = 'PAR1';
/** See MAGIC. */
export const ENCRYPTED_MAGIC = 'PARE';

const MAGIC_BYTES = 4;
/** Of the metadata's length and the magic bytes behind it. */
const TAIL_BYTES = 8;

/** One column of one row group, as the metadata tells of it: nothing of it is sure. */
export interface ColumnChunk {
  /** [start, end): its pages in the file. */
  readonly start: number;
  readonly end: number;
  readonly codec: number;
  /** Values with nulls. */
  readonly values: number;
}

export interface RowGroup {
  /** From 1. */
  readonly number: number;
  readonly rows: number;
  /** By the number of the leaf; null for those that nobody wants. */
  readonly chunks: readonly (ColumnChunk | null)[];
}

export class Footer {
  readonly columns: readonly SchemaNode[];
  /** Byte of the file at which the metadata begins. */
  readonly start: number;
  readonly #heap: Heap;
  readonly #region: number;
  readonly #bytes: number;
  /** Of the next row group, from the metadata's beginning. */
  #next = 0;
  #groups = 0;
  #groupsRead = 0;

  /** Throws Failed. */
  constructor(source: WholeSource, heap: Heap) {
    const { sizeBytes } = source;
    const tail = Buffer.alloc(TAIL_BYTES);
    if (sizeBytes < MAGIC_BYTES + TAIL_BYTES) throw malformedParquet('it is cut off behind its first bytes', sizeBytes);
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
      const what = `its metadata is said to have ${this.#bytes} bytes, of ${there} that are there`;
      throw malformedParquet(what, sizeBytes - TAIL_BYTES);
    }
    if (this.#bytes > FOOTER_BYTES_MAX)
      throw new Failed('FILE_TOO_LARGE', `The Parquet file has more than ${FOOTER_BYTES_MAX} bytes of metadata.`);
    this.#heap = heap;
    this.#region = allocateFor(heap, this.#bytes, 'metadata');
    source.readAt(heap.u8.subarray(this.#region, this.#region + this.#bytes), this.start);
    this.columns = whole(this.#reader(0), (thrift) => this.#readFile(thrift));
  }

  /** The next row group, with the chunks of those leaves that are wanted; null behind the last. Throws Failed. */
  nextGroup(isWanted: (leaf: number) => boolean): RowGroup | null {
    if (this.#groupsRead === this.#groups) return null;
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

  #readFile(thrift: ThriftReader): readonly SchemaNode[] {
    let columns: readonly SchemaNode[] = [];
    thrift.struct((id) => {
      if (id === 8) throw encrypted();
      if (id === 2) columns = readSchema(thrift);
      else if (id === 4) {
        thrift.list((index) => {
          if (index === 0) this.#next = thrift.filePosition - this.start;
          thrift.skipStruct();
          this.#groups++;
        });
      } else return false;
      return true;
    });
    if (columns.length === 0) throw thrift.fail('no schema in its metadata');
    return columns;
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
    if (data < 0 || values < 0) throw thrift.fail('a column without a place or a number of values');
    if (start < MAGIC_BYTES || end < start || end > this.start) {
      const what = `a column that is said to have ${end - start} bytes from byte ${start} on`;
      throw thrift.fail(`${what}, where columns end before byte ${this.start}`);
    }
    return { start, end, codec, values };
  }
}

/** The integers of a struct by their fields. */
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

/** 415: nobody has told us the keys. */
export function encrypted(): Failed {
  return new Failed('UNSUPPORTED_FILE_TYPE', 'The file is encrypted Parquet; save it without encryption.');
}
