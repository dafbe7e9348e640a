// Keys by which rows are sorted: the parameter `by`, and the bytes that sort in the order of the rows.

import type { Batch } from '../../batch/batch.ts';
import { type Column, type ColumnType, storedTypes } from '../../batch/schema.ts';
import { type Static, Type } from '../../bundled/type-box.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  BOOLEAN,
  DECIMAL,
  EXPONENT_BIAS,
  INTEGER,
  NULL_FIRST,
  NULL_LAST,
  NUMBER,
  TERM_BYTES,
  TERM_DESCENDING,
  TERM_KIND,
  TERM_META,
  TERM_NULLS_FIRST,
  TERM_VALUES,
  TEXT,
  VALUE,
  ZERO,
} from '../../kernel/layout/keys.ts';
import type { Arena } from '../../memory/arena.ts';
import { PAUSE, type Pauses, type Sliced, type Slices } from '../../scheduling/time-slices.ts';
import { columnName } from '../../template/base-parameters.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { Scope } from '../../template/scope.ts';
import { Decimal } from '../../values/decimal.ts';
import { foldCase, foldCaseInSlices, PIECE_UNITS } from '../../values/text-edits.ts';
import { CalendarDate, Timestamp } from '../../values/timestamp.ts';
import { chainScratchBytes, pausing, runTextChain, type TextStep } from '../cells/text-chain.ts';
import { caseStep } from '../cells/text-steps.ts';
import { type LongTexts, longRows, takeLongTexts } from '../keys/row-keys.ts';
import { type RowOrder, RowSorter } from './row-sorter.ts';
import { ALPHABET_NAMES, languageOrder, listOrder, type TextOrder } from './text-orders.ts';

// Sort keys: bytes that sort in the order of the rows. Each column contributes a byte for null or not null, then its
// value: texts end with 0 0 (a 0 inside is 0 255); integers begin with their length; doubles are big-endian with
// inverted sign; decimals have their exponent and two digits per byte. Bytes of descending columns are inverted. Keys
// are short, because their first eight bytes decide most comparisons. The kernel (kernel/assembly/sort.ts) writes
// the same bytes.

/** A TextOrder applies to texts; other values are compared by size. */
export type Comparison = 'typed' | 'natural' | 'case_insensitive' | TextOrder;

type View = readonly [start: number, length: number];

interface SortColumn {
  readonly type: ColumnType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  readonly compare: Comparison;
}

const SIGN = 0x80;
const DIGIT_0 = 48;
const DIGIT_9 = 57;

const NANOS_PER_MICRO = 1000;
const MICROS_PER_SECOND = 1_000_000n;

/** Maximum buffer that a writer keeps between keys, in bytes. A longer key gets a temporary buffer. */
const KEPT_BYTES_MAX = 4096;

/** A text with fewer UTF-16 units is not measured first: in UTF-8, it has at most three bytes per unit. */
const MEASURED_UNITS_MIN = 1024;

export class SortKeyWriter {
  readonly #columns: readonly SortColumn[];
  #bytes = Buffer.allocUnsafe(KEPT_BYTES_MAX);
  #length = 0;

  constructor(columns: readonly SortColumn[]) {
    this.#columns = columns;
  }

  /** Returns the key of a row's values. Valid until the next call. */
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
      if (column.descending) invert(this.#bytes, from, this.#length);
    }
    return this.#bytes.subarray(0, this.#length);
  }

  #value(value: unknown, { type, compare }: SortColumn): void {
    if (typeof value === 'string') this.#text(editedText(value, compare), compare === 'natural');
    else if (typeof value === 'boolean') this.#byte(value ? 1 : 0);
    else if (value instanceof Decimal) this.#decimal(value);
    else if (value instanceof CalendarDate) this.#integer(BigInt(value.days));
    else if (value instanceof Timestamp) this.#integer(microsOf(value));
    else if (typeof value === 'number' && type === 'number') this.#double(value);
    else if (typeof value === 'number' || typeof value === 'bigint') this.#integer(BigInt(value));
    else if (value instanceof Uint8Array) this.#edited(value, compare === 'natural');
    else throw new Error('a value without an order');
  }

  #double(value: number): void {
    this.#reserve(8);
    // There is only one zero and one NaN, whatever the sign.
    this.#bytes.writeDoubleBE(value === 0 ? 0 : Number.isNaN(value) ? Number.NaN : value, this.#length);
    const negative = this.#bytes[this.#length]! >= SIGN;
    for (let at = 0; at < 8; at++) {
      const byte = this.#bytes[this.#length + at]!;
      this.#bytes[this.#length + at] = negative ? ~byte : at === 0 ? byte | SIGN : byte;
    }
    this.#length += 8;
  }

  #text(text: string, natural: boolean): void {
    if (natural) this.#natural(text);
    else this.#escaped(text);
    this.#byte(0);
    this.#byte(0);
  }

  #natural(text: string): void {
    const bytes = Buffer.from(text, 'utf8');
    this.#reserve(bytes.length * NATURAL_FACTOR);
    this.#length = writeNatural(bytes, 0, bytes.length, this.#bytes, this.#length);
  }

  /** A text that SortKeys.editLong has edited. */
  #edited(bytes: Uint8Array, natural: boolean): void {
    if (natural || !bytes.includes(0)) {
      // With the two bytes at the end, for which the buffer would otherwise be doubled.
      this.#reserve(bytes.length + 2);
      this.#bytes.set(bytes, this.#length);
      this.#length += bytes.length;
    } else this.#escapedBytes(bytes);
    this.#byte(0);
    this.#byte(0);
  }

  #escaped(text: string): void {
    this.#reserve(text.length < MEASURED_UNITS_MIN ? text.length * 3 : Buffer.byteLength(text));
    const from = this.#length;
    this.#length += this.#bytes.write(text, from, 'utf8');
    if (!text.includes('\0')) return;
    this.#length = from;
    this.#escapedBytes(Buffer.from(text, 'utf8'));
  }

  #escapedBytes(bytes: Uint8Array): void {
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

  /** Sign and exponent, digits without trailing zeros, 0. All bytes are inverted for negative numbers. */
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
    if (negative) invert(this.#bytes, from, this.#length);
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

function invert(bytes: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at++) bytes[at] = ~bytes[at]!;
}

function editedText(text: string, compare: Comparison): string {
  if (compare === 'typed') return text;
  return typeof compare === 'string' ? foldCase(text) : compare.key(text);
}

/** Maximum length of a natural key relative to its text: three bytes are added to each run of digits. */
const NATURAL_FACTOR = 4;

/** Runs of digits of at least this many bytes are copied by the runtime. */
const LONG_DIGITS = 32;

const UTF8_BYTES_OF_UNIT_MAX = 3;

/**
 * Writes the bytes of a folded text from `from` up to `to`, neither of which is within a run of digits. A run of digits
 * sorts as a number before any letter: `0`, the number of digits, the digits. Returns the position after the last byte.
 */
function writeNatural(bytes: Uint8Array, from: number, to: number, made: Uint8Array, start: number): number {
  let next = start;
  for (let at = from; at < to; ) {
    const byte = bytes[at]!;
    if (!isDigit(byte)) {
      made[next++] = byte;
      if (byte === 0) made[next++] = 255;
      at++;
      continue;
    }
    let end = at + 1;
    while (end < to && isDigit(bytes[end]!)) end++;
    while (at < end - 1 && bytes[at] === DIGIT_0) at++;
    const digits = end - at;
    made[next++] = DIGIT_0;
    made[next++] = 1 + Math.min(digits >>> 8, 253);
    made[next++] = 1 + Math.min(digits & 255, 254);
    if (digits >= LONG_DIGITS) {
      made.set(bytes.subarray(at, end), next);
      next += digits;
      at = end;
    } else while (at < end) made[next++] = bytes[at++]!;
  }
  return next;
}

/**
 * Writes the natural form of a long folded text directly to the place where it is kept. Pieces in buffers of their own
 * would take three times as much memory until the next garbage collection. One byte before the form and two bytes after
 * it stay free: they turn the form into a key. Yields `undefined` wherever the caller may pause.
 */
function* writeNaturalInSlices(text: string, arena: Arena): Generator<undefined, View, undefined> {
  let bytesMax = 0;
  for (const bytes of digitPieces(text)) {
    bytesMax += naturalBytesMax(bytes);
    yield;
  }
  const start = arena.take(1 + bytesMax + 2) + 1;
  let end = start;
  for (const bytes of digitPieces(text)) {
    // The heap has a new view after its memory has grown.
    end = writeNatural(bytes, 0, bytes.length, arena.heap.u8, end);
    yield;
  }
  arena.next = end + 2;
  return [start, end - start];
}

/** The UTF-8 bytes of a text in pieces that do not end within a run of digits. Each is valid until the next one. */
function* digitPieces(text: string): Generator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafe(PIECE_UNITS * UTF8_BYTES_OF_UNIT_MAX);
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE_UNITS, text.length);
    while (to < text.length && isWithin(text, to)) to++;
    const piece = text.slice(from, to);
    yield piece.length > PIECE_UNITS ? Buffer.from(piece, 'utf8') : buffer.subarray(0, buffer.write(piece, 'utf8'));
    from = to;
  }
}

/** True if a position is within a run of digits or a pair of surrogates. */
function isWithin(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit & 0xfc00) === 0xdc00 || (isDigit(unit) && isDigit(text.charCodeAt(at - 1)));
}

/** Length of the natural form if no run of digits begins with zeros. */
function naturalBytesMax(bytes: Uint8Array): number {
  let length = bytes.length;
  let wasDigit = false;
  for (const byte of bytes) {
    const digit = isDigit(byte);
    if (digit && !wasDigit) length += 3;
    else if (byte === 0) length++;
    wasDigit = digit;
  }
  return length;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

function microsOf({ seconds, nanos }: Timestamp): bigint {
  return BigInt(seconds) * MICROS_PER_SECOND + BigInt(Math.trunc(nanos / NANOS_PER_MICRO));
}

// Keys for sorting rows of batches by some of their columns.

/** A column to sort by, and its index in the batches. */
export interface SortTerm extends SortColumn {
  readonly index: number;
}

/** Kinds of terms in the kernel sortKeys. */
const KINDS = {
  text: TEXT,
  json: TEXT,
  integer: INTEGER,
  date: INTEGER,
  datetime: INTEGER,
  decimal: DECIMAL,
  number: NUMBER,
  boolean: BOOLEAN,
} as const;

export class SortKeys implements RowOrder {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #terms: readonly SortTerm[];
  readonly #readers: readonly CellReader[];
  readonly #writer: SortKeyWriter;
  /** Steps that fold texts before they are compared. */
  readonly #fold: readonly TextStep[];
  readonly #description: number;
  /** Natural keys or folded texts of the batch for which `editLong` was last called, by the position of their term. */
  #long: ReadonlyMap<number, LongTexts> = new Map();
  /** True if `#long` has whole keys, so that they are not copied: those of a single term with natural comparison. */
  readonly #areLongKeys: boolean;

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel'>, terms: readonly SortTerm[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#terms = terms;
    this.#readers = terms.map(({ type, index }) => new CellReader(type, index));
    this.#writer = new SortKeyWriter(terms);
    this.#areLongKeys = terms.length === 1 && terms[0]!.compare === 'natural';
    const folds = terms.some(({ compare }) => compare === 'case_insensitive');
    this.#fold = folds ? [caseStep(heap, 'fold')] : [];
    this.#description = heap.allocate(terms.length * TERM_BYTES);
  }

  prepare(): void {}

  *editLong(batch: Batch, clock: Pauses): Slices {
    const long = new Map<number, LongTexts>();
    this.#long = long;
    for (const [at, { index, compare }] of this.#terms.entries()) {
      const column = batch.columns[index]!;
      if (compare === 'typed' || column.kind !== 'views') continue;
      const rows = longRows(batch, column.at, PIECE_UNITS);
      if (rows.length > 0) long.set(at, yield* this.#edited(batch, column.at, rows, compare, clock));
    }
  }

  *#edited(batch: Batch, at: number, rows: readonly number[], compare: Comparison, clock: Pauses): Sliced<LongTexts> {
    const { arena } = batch;
    const views = arena.take(batch.rows * VIEW_BYTES);
    for (const row of rows) {
      const [start, length] = viewAt(batch, at, row);
      const text = arena.decode(start, length);
      const edit = typeof compare === 'string' ? foldCaseInSlices(text) : compare.keyInSlices(text);
      const edited = yield* pausing(edit, clock);
      if (edited !== text) arena.reportText(edited);
      const made = compare === 'natural' ? yield* this.#naturalIn(arena, edited, clock) : arena.viewOf(edited);
      arena.heap.u32.set(made, (views + row * VIEW_BYTES) >>> 2);
      if (clock.isDue()) yield PAUSE;
    }
    return { views, rows: new Set(rows) };
  }

  /** Writes a folded text: its whole key if no other term is part of it, or its natural form. */
  *#naturalIn(arena: Arena, folded: string, clock: Pauses): Sliced<View> {
    const [start, length] = yield* pausing(writeNaturalInSlices(folded, arena), clock);
    if (!this.#areLongKeys) return [start, length];
    const { u8 } = arena.heap;
    u8[start - 1] = VALUE;
    u8.fill(0, start + length, start + length + 2);
    if (this.#terms[0]!.descending) invert(u8, start, start + length + 2);
    return [start - 1, length + 3];
  }

  make(batch: Batch): number {
    const { arena, kernel } = this.#context;
    const keys = arena.tryTake(batch.rows * VIEW_BYTES);
    if (keys === 0) return 0;
    const described = this.#describe(batch);
    if (described === 'full') return 0;
    if (described === 'not_here') return this.#makeByCell(batch, keys) ? keys : 0;
    const { selection, live } = batch;
    const { next, limit } = arena;
    const end =
      kernel.exports.sortKeys(this.#description, this.#terms.length, selection, live, keys, next, limit) >>> 0;
    if (end === 0) return 0;
    arena.next = end;
    return keys;
  }

  /** Writes the addresses of the columns for the kernel. Returns `not_here` if it does not support one of them. */
  #describe(batch: Batch): 'done' | 'full' | 'not_here' {
    let term = this.#description;
    for (const [position, { type, index, compare, descending, nullsFirst }] of this.#terms.entries()) {
      const column = batch.columns[index]!;
      if (column.kind === 'raw') throw new Error('views of sorted columns are made before');
      const isText = column.kind === 'views';
      if (isText !== (KINDS[type] === TEXT)) return 'not_here';
      if (isText ? compare === 'natural' || typeof compare === 'object' : column.big !== null && column.big.size > 0)
        return 'not_here';
      const values = isText && compare === 'case_insensitive' ? this.#folded(batch, column.at, position) : column.at;
      if (values === 0) return 'full';
      const meta = isText ? 0 : column.meta;
      const { u32 } = batch.heap;
      u32[(term + TERM_KIND) >>> 2] = KINDS[type];
      u32[(term + TERM_VALUES) >>> 2] = values;
      u32[(term + TERM_META) >>> 2] = meta;
      u32[(term + TERM_DESCENDING) >>> 2] = descending ? 1 : 0;
      u32[(term + TERM_NULLS_FIRST) >>> 2] = nullsFirst ? 1 : 0;
      term += TERM_BYTES;
    }
    return 'done';
  }

  #folded(batch: Batch, at: number, position: number): number {
    const { arena, kernel } = this.#context;
    const { rows, selection, live } = batch;
    const views = arena.tryTake(rows * VIEW_BYTES);
    const list = arena.tryTake(chainScratchBytes(live));
    if (views === 0 || list === 0) return 0;
    arena.heap.u8.copyWithin(views, at, at + rows * VIEW_BYTES);
    arena.heap.u8.copyWithin(list, selection, selection + live * 4);
    const long = this.#long.get(position);
    const count = long === undefined ? live : takeLongTexts(batch, long, views, list, live);
    return runTextChain(this.#fold, kernel, arena, { views, rows: list, count }) ? views : 0;
  }

  #makeByCell(batch: Batch, views: number): boolean {
    const { arena } = batch;
    for (const reader of this.#readers) reader.bind(batch);
    const { u8, u32 } = arena.heap;
    const values: unknown[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]!;
      const long = this.#areLongKeys ? this.#longView(batch, 0, row) : null;
      if (long !== null) {
        u32.set(long, (views >>> 2) + row * 2);
        continue;
      }
      // Keys of long texts take long to make, so the space for them is checked first.
      if (arena.freeBytes < this.#textBytes(batch, row)) return false;
      for (const [term, reader] of this.#readers.entries()) {
        values[term] = this.#editedText(batch, term, row) ?? reader.read(row);
      }
      const key = this.#writer.key(values);
      if (arena.freeBytes < key.length) return false;
      u8.set(key, arena.next);
      u32[(views >>> 2) + row * 2] = arena.next;
      u32[(views >>> 2) + row * 2 + 1] = key.length;
      arena.next += key.length;
    }
    return true;
  }

  #editedText(batch: Batch, term: number, row: number): Uint8Array | null {
    const view = this.#longView(batch, term, row);
    return view === null ? null : batch.heap.u8.subarray(view[0], view[0] + view[1]);
  }

  #longView(batch: Batch, term: number, row: number): View | null {
    const long = this.#long.get(term);
    return long === undefined || !long.rows.has(row) ? null : viewAt(batch, long.views, row);
  }

  /** Total length of the texts from which the key of a row is made. */
  #textBytes(batch: Batch, row: number): number {
    let bytes = 0;
    for (const [term, { index }] of this.#terms.entries()) {
      const column = batch.columns[index]!;
      const long = this.#longView(batch, term, row);
      if (long !== null) bytes += long[1];
      else if (column.kind === 'views') bytes += batch.heap.u32[((column.at + row * VIEW_BYTES) >>> 2) + 1]!;
    }
    return bytes;
  }
}

function viewAt({ heap }: Batch, views: number, row: number): View {
  const view = (views + row * VIEW_BYTES) >>> 2;
  return [heap.u32[view]!, heap.u32[view + 1]!];
}

/** Returns a sorted batch without its key. */
export function withoutKey(batch: Batch): Batch {
  return batch.withColumns(batch.columns.slice(1));
}

// The parameter `by` of operations that sort: the columns and their order.

/** Maximum number of values in an order. More values should be a column of a reference table. */
const ORDER_VALUES_MAX = 1000;

const term = Type.Object(
  {
    column: columnName,
    order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'asc', description: 'Ascending or descending.' })),
    nulls: Type.Optional(
      Type.Enum(['first', 'last'], {
        default: 'last',
        description: 'Position of rows without a value, in either order.',
      }),
    ),
    compare: Type.Optional(
      Type.Union(
        [
          Type.Enum(['typed', 'natural', 'case_insensitive']),
          Type.Object({ locale: Type.Enum([...ALPHABET_NAMES]) }, { additionalProperties: false }),
          Type.Object(
            {
              order: Type.Array(Type.String({ minLength: 1 }), {
                minItems: 1,
                maxItems: ORDER_VALUES_MAX,
                uniqueItems: true,
              }),
            },
            { additionalProperties: false },
          ),
        ],
        {
          default: 'typed',
          description:
            '`typed`: texts by code points, other values by size; `natural`: numbers inside texts by size, regardless of case; `case_insensitive`: texts regardless of case; `{locale: de}`: texts by the alphabet of a language, accents and case only between equal letters, and only in the first 1,000 characters; `{order: [low, high]}`: the listed texts in this order, other texts after them.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

export const sortBy = Type.Union([columnName, term, Type.Array(Type.Union([columnName, term]), { minItems: 1 })], {
  description: 'A column or `{column, order, nulls, compare}`, or a list of these; the first has the highest priority.',
});

export interface PlannedTerm extends SortColumn {
  readonly column: Column;
}

export function planTerms(by: Static<typeof sortBy>, scope: Scope, pointer: string): PlannedTerm[] {
  const list = Array.isArray(by) ? by : [by];
  return list.flatMap((entry, index): PlannedTerm[] => {
    const given: Static<typeof term> = typeof entry === 'string' ? { column: entry } : entry;
    const item = Array.isArray(by) ? `${pointer}/${index}` : pointer;
    const place = typeof entry === 'string' ? item : `${item}/column`;
    const column = scope.read(given.column, place);
    if (column === null) return [];
    const { order = 'asc', nulls = 'last' } = given;
    const compare = planComparison(given.compare ?? 'typed', column, place.replace(/\/column$/, '/compare'), scope);
    return [{ column, type: column.type, descending: order === 'desc', nullsFirst: nulls === 'first', compare }];
  });
}

function planComparison(
  given: NonNullable<Static<typeof term>['compare']>,
  column: Column,
  pointer: string,
  scope: Scope,
): Comparison {
  if (typeof given === 'string') return given;
  if (column.type !== 'text') {
    const message = `The comparison is of texts, and the column is ${column.type} at this step: its values are sorted by size. Leave out compare.`;
    scope.problem(pointer, 'WRONG_TYPE', message);
  }
  return 'locale' in given ? languageOrder(given.locale) : listOrder(given.order);
}

/** Creates a sorter of the operation's rows. If `first` is given, only that many rows are needed. */
export function sorterOf(planned: readonly PlannedTerm[], context: OperatorContext, first?: number): RowSorter {
  const types = storedTypes(context.input);
  const wanted = first === undefined ? undefined : { first, groups: null };
  return new RowSorter(context, types, new SortKeys(context, sortTerms(planned, context)), wanted);
}

/** Returns the columns that are compared by the code points of their texts. */
export function columnsByText(planned: readonly PlannedTerm[]): Column[] {
  return planned.filter(({ compare }) => compare === 'typed').map(({ column }) => column);
}

/** Returns the planned terms with the indexes of their columns. */
export function sortTerms(planned: readonly PlannedTerm[], { indexOf }: Pick<OperatorContext, 'indexOf'>): SortTerm[] {
  return planned.map((entry) => ({ ...entry, index: indexOf(entry.column) }));
}
