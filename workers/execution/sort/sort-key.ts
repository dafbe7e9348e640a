// Sort keys: bytes whose order is the order of the rows. Each column gives one byte for null or not, then its value: texts
// end with 0 0 (a 0 inside is 0 255), integers say how many bytes they need, doubles are big-endian with their sign turned,
// decimals have their exponent and two digits in a byte; descending columns are inverted. Keys are short, since their first
// eight bytes decide most comparisons. The kernel (kernel/assembly/sort-keys.ts) writes the same.
import type { ColumnType } from '../../batch/schema.ts';
import { EXPONENT_BIAS, NULL_FIRST, NULL_LAST, VALUE, ZERO } from '../../kernel/layout/sort-keys.ts';
import { CalendarDate } from '../../values/calendar.ts';
import { Decimal } from '../../values/decimal.ts';
import { foldCase } from '../../values/text-edits.ts';
import { Timestamp } from '../../values/timestamp.ts';

export type Comparison = 'typed' | 'natural' | 'case_insensitive';

export interface SortColumn {
  readonly type: ColumnType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  readonly compare: Comparison;
}

const SIGN = 0x80;

const NANOS_PER_MICRO = 1000;
const MICROS_PER_SECOND = 1_000_000n;

/** Room that a writer keeps between keys, in bytes: a longer key's room goes with it. */
const KEPT_BYTES_MAX = 4096;

/** A text of fewer UTF-16 units is not measured first: in UTF-8 it has at most three bytes for each. */
const MEASURED_UNITS_MIN = 1024;

export class SortKeyWriter {
  readonly #columns: readonly SortColumn[];
  #bytes = Buffer.allocUnsafe(KEPT_BYTES_MAX);
  #length = 0;

  constructor(columns: readonly SortColumn[]) {
    this.#columns = columns;
  }

  /** The key of a row's values; valid until the next call. */
  key(values: readonly unknown[]): Uint8Array {
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = Buffer.allocUnsafe(KEPT_BYTES_MAX);
    for (const [index, column] of this.#columns.entries()) {
      const value = values[index];
      if (value === null) {
        this.#byte(column.nullsFirst ? NULL_FIRST : NULL_LAST);
        continue;
      }
      this.#byte(VALUE);
      const from = this.#length;
      this.#value(value, column);
      if (column.descending) this.#invert(from);
    }
    return this.#bytes.subarray(0, this.#length);
  }

  #value(value: unknown, { type, compare }: SortColumn): void {
    if (typeof value === 'string') this.#text(compare === 'typed' ? value : foldCase(value), compare === 'natural');
    else if (typeof value === 'boolean') this.#byte(value ? 1 : 0);
    else if (value instanceof Decimal) this.#decimal(value);
    else if (value instanceof CalendarDate) this.#integer(BigInt(value.days));
    else if (value instanceof Timestamp) this.#integer(microsOf(value));
    else if (typeof value === 'number' && type === 'number') this.#double(value);
    else if (typeof value === 'number' || typeof value === 'bigint') this.#integer(BigInt(value));
    else throw new Error('a value without an order');
  }

  #double(value: number): void {
    this.#reserve(8);
    // One zero, and one NaN, whatever its sign is.
    this.#bytes.writeDoubleBE(value === 0 ? 0 : Number.isNaN(value) ? Number.NaN : value, this.#length);
    const negative = this.#bytes[this.#length]! >= SIGN;
    for (let at = 0; at < 8; at++) {
      const byte = this.#bytes[this.#length + at]!;
      this.#bytes[this.#length + at] = negative ? ~byte : at === 0 ? byte | SIGN : byte;
    }
    this.#length += 8;
  }

  #text(text: string, natural: boolean): void {
    if (natural) for (const [part] of text.matchAll(/[0-9]+|[^0-9]+/g)) this.#naturalPart(part);
    else this.#escaped(text);
    this.#byte(0);
    this.#byte(0);
  }

  /** A run of digits is its number: `0`, how many digits, the digits; so it comes before any letter. */
  #naturalPart(part: string): void {
    if (part.charCodeAt(0) < 48 || part.charCodeAt(0) > 57) {
      this.#escaped(part);
      return;
    }
    const digits = part.replace(/^0+(?=[0-9])/, '');
    this.#byte(48);
    this.#byte(1 + Math.min(digits.length >>> 8, 253));
    this.#byte(1 + Math.min(digits.length & 255, 254));
    this.#escaped(digits);
  }

  #escaped(text: string): void {
    this.#reserve(text.length < MEASURED_UNITS_MIN ? text.length * 3 : Buffer.byteLength(text));
    const from = this.#length;
    this.#length += this.#bytes.write(text, from, 'utf8');
    if (!text.includes('\0')) return;
    const bytes = Buffer.from(text, 'utf8');
    this.#length = from;
    for (const byte of bytes) {
      this.#byte(byte);
      if (byte === 0) this.#byte(255);
    }
  }

  #integer(value: bigint): void {
    const magnitude = value < 0n ? ~value : value;
    let bytes = 1;
    while (bytes < 8 && magnitude >> BigInt(bytes * 8) !== 0n) bytes++;
    this.#byte(value < 0n ? SIGN - bytes : SIGN + bytes);
    for (let at = bytes - 1; at >= 0; at--) this.#byte(Number((value >> BigInt(at * 8)) & 255n));
  }

  /** Sign and exponent, digits without zeros at their end, 0; below zero all is inverted. */
  #decimal({ digits, scale }: Decimal): void {
    const text = String(digits).replace('-', '');
    const negative = digits < 0;
    const exponent = text === '0' ? 0 : text.length - scale + EXPONENT_BIAS;
    const place = negative ? ZERO - exponent : ZERO + exponent;
    this.#byte(place >>> 8);
    this.#byte(place & 255);
    if (exponent === 0) return;
    const from = this.#length;
    const kept = text.replace(/0+$/, '');
    for (let at = 0; at < kept.length; at += 2) this.#byte(Number(kept.slice(at, at + 2).padEnd(2, '0')) + 1);
    this.#byte(0);
    if (negative) this.#invert(from);
  }

  #invert(from: number): void {
    for (let at = from; at < this.#length; at++) this.#bytes[at] = ~this.#bytes[at]!;
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#length + bytes, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function microsOf({ seconds, nanos }: Timestamp): bigint {
  return BigInt(seconds) * MICROS_PER_SECOND + BigInt(Math.trunc(nanos / NANOS_PER_MICRO));
}
