// Reads Thrift's compact protocol, in which Parquet writes its metadata and page headers. Nothing is made of what nobody asks
// for, and every element takes a byte at least: work and memory are bounded by the bytes.
import type { Failed } from '../../protocol/failure.ts';
import { THRIFT_DEPTH_MAX } from './limits.ts';
import { malformedParquet } from './malformed-parquet.ts';

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

/** Bytes of the longest number. */
const VARINT_BYTES_MAX = 10;
const DOUBLE_BYTES = 8;

/** The bytes end before what was begun does: of a page header more may be read. */
export class ThriftCut extends Error {}

export class ThriftReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  /** Byte of the file minus its place in `bytes`. */
  readonly #base: number;
  at: number;
  #depth = 0;

  constructor(bytes: Uint8Array, at: number, end: number, filePosition: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.#base = filePosition - at;
    this.at = at;
  }

  /** Where in the file it reads. */
  get filePosition(): number {
    return this.#base + this.at;
  }

  /** Calls `field` for each field of a struct; what it gives false for is skipped. */
  struct(field: (id: number, type: number) => boolean): void {
    this.#enter();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) break;
      const delta = head >>> 4;
      const type = head & 15;
      id = delta === 0 ? this.integer() : id + delta;
      if (!field(id, type)) this.#skip(type);
    }
    this.#depth--;
  }

  /** Calls `element` for each element of a list; each has to read its own. */
  list(element: (index: number) => void): void {
    const { size } = this.#listHead();
    this.#enter();
    for (let index = 0; index < size; index++) element(index);
    this.#depth--;
  }

  /** Beyond 53 bits it is not exact; what is out of all bounds stays so. */
  integer(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** An integer of one byte. */
  byte(): number {
    return (this.#byte() << 24) >> 24;
  }

  text(): string {
    const length = this.#varint();
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
    this.#enter();
    for (let index = 0; index < size; index++) this.#skipElement(type);
    this.#depth--;
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

  /** In a list a boolean takes a byte. */
  #skipElement(type: number): void {
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

  #enter(): void {
    if (++this.#depth > THRIFT_DEPTH_MAX) throw this.fail('metadata nested too deep');
  }
}

/** Whether the value of a field of this type is the boolean true. */
export function isTrue(type: number): boolean {
  return type === TRUE;
}
