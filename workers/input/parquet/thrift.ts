// Reads Thrift's compact protocol, which Parquet uses for metadata and page headers. Creates nothing for skipped
// fields, and every element takes at least one byte, so work and memory are bounded by the input size. A reader reads at
// most METADATA_VALUES_MAX values, since it cannot pause.
import { Failed } from '../../protocol/failure.ts';
import { METADATA_VALUES_MAX, malformedParquet, THRIFT_DEPTH_MAX } from './limits.ts';

const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const MAP = 11;
const STRUCT = 12;

/** Maximum length of an encoded number. */
const VARINT_BYTES_MAX = 10;
const DOUBLE_BYTES = 8;

/** The bytes end inside a value. For a page header, the caller reads more bytes. */
export class ThriftCut extends Error {}

export class ThriftReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  /** Offset of `bytes` in the file. */
  readonly #base: number;
  at: number;
  #depth = 0;
  #valuesLeft = METADATA_VALUES_MAX;

  constructor(bytes: Uint8Array, at: number, end: number, filePosition: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.#base = filePosition - at;
    this.at = at;
  }

  /** Current offset in the file. */
  get filePosition(): number {
    return this.#base + this.at;
  }

  /**
   * Calls `field` for each field of a struct. Skips the field if it returns false, and stops if it returns 'stop'.
   *
   * @param after number of the field that was read before, if the struct is read from its middle
   */
  struct(field: (id: number, type: number) => boolean | 'stop', after = 0): void {
    this.#enter();
    let id = after;
    for (;;) {
      const head = this.#byte();
      if (head === 0) break;
      this.#count();
      const delta = head >>> 4;
      const type = head & 15;
      id = delta === 0 ? this.integer() : id + delta;
      const read = field(id, type);
      if (read === 'stop') break;
      if (!read) this.#skip(type);
    }
    this.#depth--;
  }

  /** Reads the head of a list and returns the number of its elements. */
  listSize(): number {
    return this.#listHead().size;
  }

  /** Calls `element` for each element of a list. Each call must read its element. */
  list(element: (index: number) => void): void {
    const { size } = this.#listHead();
    this.#enter();
    for (let index = 0; index < size; index++) {
      this.#count();
      element(index);
    }
    this.#depth--;
  }

  /** Not exact beyond 53 bits, but values out of range stay out of range. */
  integer(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A one-byte integer. */
  byte(): number {
    return (this.#byte() << 24) >> 24;
  }

  text(bytesMax: number): string {
    const length = this.#varint();
    if (length > bytesMax) throw this.fail(`a name of more than ${bytesMax} bytes`);
    this.#need(length);
    const bytes = this.#bytes.subarray(this.at, this.at + length);
    this.at += length;
    return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8');
  }

  skipStruct(): void {
    this.#skip(STRUCT);
  }

  fail(what: string): Failed {
    return malformedParquet(what, this.filePosition);
  }

  #skip(type: number): void {
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.#byte();
    else if (type <= I64) this.#varint();
    else if (type === DOUBLE) this.#pass(DOUBLE_BYTES);
    else if (type === BINARY) this.#pass(this.#varint());
    else if (type === LIST || type === SET) this.#skipList();
    else if (type === MAP) this.#skipMap();
    else if (type === STRUCT) this.struct(() => false);
    else throw this.fail('an unknown type in its metadata');
  }

  #skipList(): void {
    const { size, type } = this.#listHead();
    if (type === BYTE || type === TRUE || type === FALSE) this.#pass(size);
    else {
      this.#enter();
      for (let index = 0; index < size; index++) this.#skipElement(type);
      this.#depth--;
    }
  }

  #skipMap(): void {
    const size = this.#varint();
    if (size === 0) return;
    const types = this.#byte();
    this.#enter();
    for (let index = 0; index < size; index++) {
      this.#skipElement(types >>> 4);
      this.#skipElement(types & 15);
    }
    this.#depth--;
  }

  /** A boolean takes one byte in a list or map. */
  #skipElement(type: number): void {
    this.#count();
    if (type === TRUE || type === FALSE) this.#byte();
    else this.#skip(type);
  }

  #listHead(): { readonly size: number; readonly type: number } {
    const head = this.#byte();
    const size = head >>> 4;
    return { size: size === 15 ? this.#varint() : size, type: head & 15 };
  }

  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < VARINT_BYTES_MAX; count++) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw this.fail('a number without end in its metadata');
  }

  #byte(): number {
    if (this.at >= this.#end) throw new ThriftCut('cut');
    return this.#bytes[this.at++]!;
  }

  #pass(bytes: number): void {
    this.#need(bytes);
    this.at += bytes;
  }

  #need(bytes: number): void {
    if (bytes > this.#end - this.at) throw new ThriftCut('cut');
  }

  #count(): void {
    if (this.#valuesLeft-- > 0) return;
    const what = 'for its schema, for one row group or after its row groups';
    throw new Failed(
      'FILE_TOO_LARGE',
      `The metadata of the Parquet file has more than ${METADATA_VALUES_MAX} values ${what}. Write the file with fewer columns.`,
    );
  }

  #enter(): void {
    if (++this.#depth > THRIFT_DEPTH_MAX) throw this.fail('metadata nested too deep');
  }
}

/** True if the value of a field with this type is the boolean true. */
export function isTrue(type: number): boolean {
  return type === TRUE;
}
