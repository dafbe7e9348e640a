// Writer of Thrift's compact protocol, which Parquet uses for metadata and page headers.

const TRUE = 1;
const FALSE = 2;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
export const STRUCT = 12;
export const INTEGERS = I32;
export const TEXTS = BINARY;

/** Receives the bytes. */
export interface ByteTarget {
  appendByte(byte: number): void;
  append(bytes: Uint8Array): void;
}

const SHORT_LIST_MAX = 14;
const SHORT_STEP_MAX = 15;

export class ThriftWriter {
  readonly #bytes: ByteTarget;
  /** For each open struct, the number of the previous field. */
  #fields: number[] = [0];

  constructor(bytes: ByteTarget) {
    this.#bytes = bytes;
  }

  integer(field: number, value: number): void {
    this.#head(field, I32);
    this.#zigZag(value);
  }

  long(field: number, value: number): void {
    this.#head(field, I64);
    this.#zigZag(value);
  }

  boolean(field: number, value: boolean): void {
    this.#head(field, value ? TRUE : FALSE);
  }

  text(field: number, value: string): void {
    this.#head(field, BINARY);
    this.element(value);
  }

  struct(field: number, write: () => void): void {
    this.#head(field, STRUCT);
    this.body(write);
  }

  list(field: number, type: number, length: number): void {
    this.#head(field, LIST);
    if (length <= SHORT_LIST_MAX) this.#bytes.appendByte((length << 4) | type);
    else {
      this.#bytes.appendByte(0xf0 | type);
      this.#varint(length);
    }
  }

  /** An element of a list of texts or integers. */
  element(value: string | number): void {
    if (typeof value === 'number') {
      this.#zigZag(value);
      return;
    }
    const bytes = Buffer.from(value);
    this.#varint(bytes.length);
    this.#bytes.append(bytes);
  }

  /** The fields of a top-level struct, or of a struct in a list. */
  body(write: () => void): void {
    this.#fields.push(0);
    write();
    this.end();
    this.#fields.pop();
  }

  /** Ends a struct after its last field. */
  end(): void {
    this.#bytes.appendByte(0);
  }

  #head(field: number, type: number): void {
    const step = field - this.#fields.at(-1)!;
    this.#fields[this.#fields.length - 1] = field;
    if (step < 1 || step > SHORT_STEP_MAX) throw new Error('fields must be written in ascending order');
    this.#bytes.appendByte((step << 4) | type);
  }

  #zigZag(value: number): void {
    this.#varint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.#bytes.appendByte((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.#bytes.appendByte(rest);
  }
}
