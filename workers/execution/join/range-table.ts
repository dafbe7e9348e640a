// The ranges of a reference table: read, checked and sorted into pages before the first row, then searched for the
// range that contains a value.

import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { inSlices } from '../cells/cell-operator.ts';
import { constantValue } from '../cells/constant-value.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys, type SortTerm } from '../sort/sort-keys.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_READER_SIZE, SpillReader } from '../spill/row-files.ts';
import { TableRows } from '../tables/run-tables.ts';

// The ranges of a reference table in order, in pages: in memory while the budget allows, otherwise in a file of the
// Run. A directory contains the first range of each page, and the most recently read pages are cached.

/**
 * A page ends with the entry that reaches this many bytes. It contains a few dozen ranges, so a search within it is
 * short.
 */
const PAGE_BYTES = 4096;

/** Number of cached pages, by the low bits of their number: 1 MiB. A larger page is read again each time. */
const PAGES_KEPT = 256;
const KEPT_PAGE_BYTES = PAGE_BYTES * 2;

/** Memory of a directory entry without the bytes of its first range: an object and two numbers. */
const DIRECTORY_ENTRY_BYTES = 128;

/** Length of an entry's header: lengths of the lower and upper bound. Each cell follows, preceded by its length. */
const ENTRY_HEADER_BYTES = 8;
const LENGTH_BYTES = 4;
const CELL_NULL = 0xffffffff;

/** Bytes in an array, from `at` on. */
export interface Bytes {
  readonly u8: Uint8Array;
  readonly at: number;
  readonly length: number;
}

interface Page {
  readonly number: number;
  readonly bytes: Buffer;
  /** Offsets of its entries. */
  readonly entries: readonly number[];
}

/** A range that was found: its page, and its offset in the page. */
interface FoundRange {
  readonly bytes: Buffer;
  readonly at: number;
}

/** The bounds that are part of a range. */
interface RangeEnds {
  readonly hasFrom: boolean;
  readonly hasTo: boolean;
}

class RangePages {
  readonly #budget: OperatorContext['budget'];
  readonly #ends: RangeEnds;
  readonly #pages: TableRows;
  readonly #firsts: Uint8Array[] = [];
  readonly #starts: number[] = [];
  readonly #kept: (Page | undefined)[] = [];
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor({ budget, spill }: Pick<OperatorContext, 'budget' | 'spill'>, ends: RangeEnds) {
    this.#budget = budget;
    this.#ends = ends;
    this.#pages = new TableRows([], budget, () => new SpillFile(spill));
  }

  /** Adds a range. Ranges must be ordered and must not overlap. `complete` ends the table. */
  add(from: Uint8Array, to: Uint8Array, cells: readonly (Uint8Array | null)[]): void {
    if (this.#openBytes === 0) {
      this.#budget.force(from.length + DIRECTORY_ENTRY_BYTES);
      this.#firsts.push(from.slice());
      this.#starts.push(this.#pages.sizeBytes);
    }
    const entry = entryOf(from, to, cells);
    this.#open.push(entry);
    this.#openBytes += entry.length;
    if (this.#openBytes >= PAGE_BYTES) this.#endPage();
  }

  complete(): void {
    if (this.#openBytes > 0) this.#endPage();
    this.#pages.complete();
    this.#budget.force(Math.min(this.#starts.length, PAGES_KEPT) * PAGE_BYTES);
  }

  /** Returns the range that contains a key, or null. */
  find(key: Bytes): FoundRange | null {
    // An exclusive lower bound counts as greater than its own value.
    const { hasFrom, hasTo } = this.#ends;
    const above = (order: number): number => (order === 0 && !hasFrom ? 1 : order);
    const number = lastAtMost(this.#firsts.length, (page) =>
      above(compare(this.#firsts[page]!, 0, key, this.#firsts[page]!.length)),
    );
    if (number < 0) return null;
    const { bytes, entries } = this.#page(number);
    const entry = lastAtMost(entries.length, (index) => {
      const at = entries[index]!;
      return above(compare(bytes, at + ENTRY_HEADER_BYTES, key, bytes.readUInt32LE(at)));
    });
    const at = entries[entry]!;
    const from = bytes.readUInt32LE(at);
    const end = compare(bytes, at + ENTRY_HEADER_BYTES + from, key, bytes.readUInt32LE(at + 4));
    return end < 0 || (end === 0 && !hasTo) ? null : { bytes, at };
  }

  #endPage(): void {
    this.#pages.append(Buffer.concat(this.#open, this.#openBytes));
    this.#open = [];
    this.#openBytes = 0;
  }

  #page(number: number): Page {
    const known = this.#kept[number % PAGES_KEPT];
    if (known?.number === number) return known;
    const start = this.#starts[number]!;
    const bytes = Buffer.allocUnsafe((this.#starts[number + 1] ?? this.#pages.sizeBytes) - start);
    if (this.#pages.read(bytes, start) < bytes.length) throw new Error('a table of ranges ends early');
    const entries: number[] = [];
    for (let at = 0; at < bytes.length; at = entryEnd(bytes, at)) entries.push(at);
    const page = { number, bytes, entries };
    if (bytes.length <= KEPT_PAGE_BYTES) this.#kept[number % PAGES_KEPT] = page;
    return page;
  }
}

/** Iterates over the cells of a range in their original order. Valid as long as the page is. */
export function* cellsOf({ bytes, at }: FoundRange): Generator<Uint8Array | null, void, undefined> {
  const end = entryEnd(bytes, at);
  let next = at + ENTRY_HEADER_BYTES + LENGTH_BYTES + bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4);
  while (next < end) {
    const length = bytes.readUInt32LE(next);
    next += LENGTH_BYTES;
    yield length === CELL_NULL ? null : bytes.subarray(next, next + length);
    if (length !== CELL_NULL) next += length;
  }
}

/** Layout: lengths of both bounds, both bounds, total length of the cells, cells. */
function entryOf(from: Uint8Array, to: Uint8Array, cells: readonly (Uint8Array | null)[]): Buffer {
  const cellBytes = cells.reduce((sum, cell) => sum + LENGTH_BYTES + (cell?.length ?? 0), 0);
  const entry = Buffer.allocUnsafe(ENTRY_HEADER_BYTES + from.length + to.length + LENGTH_BYTES + cellBytes);
  entry.writeUInt32LE(from.length, 0);
  entry.writeUInt32LE(to.length, 4);
  entry.set(from, ENTRY_HEADER_BYTES);
  entry.set(to, ENTRY_HEADER_BYTES + from.length);
  let next = entry.writeUInt32LE(cellBytes, ENTRY_HEADER_BYTES + from.length + to.length);
  for (const cell of cells) {
    next = entry.writeUInt32LE(cell?.length ?? CELL_NULL, next);
    if (cell === null) continue;
    entry.set(cell, next);
    next += cell.length;
  }
  return entry;
}

function entryEnd(bytes: Buffer, at: number): number {
  const cells = at + ENTRY_HEADER_BYTES + bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4);
  return cells + LENGTH_BYTES + bytes.readUInt32LE(cells);
}

/** Binary search: the index of the last of `count` ascending items that is not greater than the key, or -1. */
function lastAtMost(count: number, comparedWithKey: (index: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparedWithKey(middle) <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Compares `length` bytes at `at` with the key. */
function compare(bytes: Uint8Array, at: number, key: Bytes, length: number): number {
  const common = Math.min(length, key.length);
  for (let i = 0; i < common; i++) {
    const difference = bytes[at + i]! - key.u8[key.at + i]!;
    if (difference !== 0) return difference;
  }
  return length - key.length;
}

// The ranges of a reference table: read, checked and sorted before the first row, then searched for the range that
// contains a value. Bounds are compared as sort keys. A null bound means that the range is unbounded on that side.

export interface RangeColumns {
  /** Name of the table in the Template. */
  readonly name: string;
  /** Columns of the table that must be equal to a row's key, with the types of the key. */
  readonly keys: readonly { readonly column: string; readonly type: ColumnType }[];
  /** Columns of the table: the bounds, and the columns whose cells are needed. */
  readonly from: string;
  /** null if a range ends where the next one of the same key begins. */
  readonly to: string | null;
  readonly payload: readonly string[];
  readonly ends: RangeEnds;
  /** Type of the values that are searched for. */
  readonly type: ColumnType;
}

interface LastRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly row: number;
}

// Columns of the sorted rows, after their sort key: the key columns, both bounds, and the cells.

export class RangeTable {
  readonly #context: OperatorContext;
  readonly #table: TableRows;
  readonly #columns: RangeColumns;
  /** Types of the key columns and of the bounds. */
  readonly #keyTypes: readonly ColumnType[];
  readonly #type: ColumnType;
  readonly #pages: RangePages;
  /** Creates the keys of the values that are searched for. */
  readonly #keys: SortKeys;
  /** The values of the last call of `keysOf`. */
  #values: ColumnData | null = null;

  constructor(context: OperatorContext, table: TableRows, columns: RangeColumns) {
    this.#context = context;
    this.#table = table;
    this.#columns = columns;
    this.#keyTypes = columns.keys.map(({ type }) => comparedType(type));
    this.#type = comparedType(columns.type);
    this.#pages = new RangePages(context, columns.ends);
    this.#keys = new SortKeys(context, this.#terms(columns.keys.length, 0, true));
  }

  /**
   * Must be called before the first row. Throws Failed TEMPLATE_CHECK_FAILED for invalid ranges and for overlapping
   * ranges.
   */
  *build(): Steps {
    const { arena, kernel } = this.#context;
    const bounds = [...this.#keyTypes, this.#type, this.#type];
    const types = [...bounds, ...this.#columns.payload.map(() => 'text' as const)];
    const froms = new SortKeys(this.#context, this.#terms(this.#keyTypes.length, 0, true));
    const sorter = new RowSorter(this.#context, types, froms);
    const codec = new RowCodec(arena.heap, kernel, new Array<ColumnType>(this.#table.columns.length).fill('text'));
    const reader = new SpillReader(arena, codec, BATCH_READER_SIZE);
    reader.open(this.#table);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      inSlices(batch, (from, to) => this.#sort(batch.slice(from, to), sorter));
      yield;
    }
    const tos = new SortKeys(this.#context, this.#terms(this.#keyTypes.length + 1, 1, false));
    let last: LastRange | null = null;
    const add = (batch: Batch): Slices => {
      inSlices(batch, (from, to) => {
        const added = this.#add(batch.slice(from, to), tos, last);
        if (added !== null) last = added;
        return added !== null;
      });
      return DONE;
    };
    yield* sorter.finish(add);
    this.#pages.complete();
  }

  /**
   * Returns views, by physical row, of the keys of a batch's values, for `find`; 0 if the arena is full.
   * @param columns indexes of the key columns, then of the values
   */
  keysOf(batch: Batch, columns: readonly number[]): number {
    const compared = columns.map((column) => {
      if (batch.columns[column]!.kind === 'raw') batch.views(column);
      const values = batch.columns[column]!;
      // A whole number is compared as a decimal, because bounds may have decimal places.
      const isWhole = values.kind === 'typed' && values.type === 'integer';
      return isWhole ? { ...values, type: 'decimal' as const } : values;
    });
    this.#values = compared.at(-1)!;
    return this.#keys.make(batch.withColumns(compared));
  }

  /** Returns the range that contains the value of a key from `keysOf`, or null. Returns null for a null value. */
  find(keys: number, row: number): FoundRange | null {
    const { u8, u32 } = this.#context.arena.heap;
    if (isNull(this.#values!, this.#context.arena.heap, row)) return null;
    const at = u32[(keys >>> 2) + row * 2]!;
    return this.#pages.find({ u8, at, length: u32[(keys >>> 2) + row * 2 + 1]! });
  }

  /** Terms of the key columns and of one bound. */
  #terms(bound: number, firstColumn: number, nullsFirst: boolean): SortTerm[] {
    const keys = this.#keyTypes.map((type, at) => term(type, at + firstColumn, true));
    return [...keys, term(this.#type, bound + firstColumn, nullsFirst)];
  }

  /** Returns false if the arena is full. Rows without a key equal nothing and are left out. */
  #sort(given: Batch, sorter: RowSorter): boolean {
    const { name, keys, from, to, payload } = this.#columns;
    const index = (column: string): number => this.#table.columns.indexOf(column);
    const batch = withKeys(
      given,
      keys.map(({ column }) => index(column)),
    );
    const ends: ColumnData[] = [];
    const parts = [
      ...keys.map(({ column }, at) => ({
        column,
        type: this.#keyTypes[at]!,
        role: 'the column in "on" that it is compared with',
      })),
      ...[from, to].map((column) => ({ column, type: this.#type, role: 'the values that are looked up' })),
    ];
    for (const { column, type, role } of parts) {
      if (column === null) {
        const none = new ColumnBuilder(batch.arena, type);
        if (!none.begin(batch.rows)) return false;
        ends.push(none.column);
        continue;
      }
      const made = endsOf(batch, index(column), type, (row) => {
        const where = `row ${batch.sourceRow(row)} of the reference table ${JSON.stringify(name)}`;
        const problem = `is not a valid ${type}, the type of ${role}.`;
        return new Failed('TEMPLATE_CHECK_FAILED', `The column ${JSON.stringify(column)} of ${where} ${problem}`);
      });
      if (made === null) return false;
      ends.push(made);
    }
    sorter.add(batch.withColumns([...ends, ...payload.map((column) => batch.columns[index(column)]!)]));
    return true;
  }

  /**
   * Adds sorted rows, whose first column is the key of their lower bound. Returns the last range, or null if the arena
   * is full.
   */
  #add(batch: Batch, tos: SortKeys, before: LastRange | null): LastRange | null {
    const keys = tos.make(batch);
    if (keys === 0) return null;
    const { hasFrom, hasTo } = this.#columns.ends;
    const hasBoth = hasFrom && hasTo;
    const hasEnds = this.#columns.to !== null;
    const cellsFrom = this.#keyTypes.length + 3;
    let last = before;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const from = textBytes(batch, 0, row)!;
      const to = bytesAt(batch, keys, row)!;
      const number = batch.sourceRow(row);
      // The first byte of an open bound places it beyond all values.
      const order = Buffer.compare(from, to);
      if (order > 0)
        throw this.#failed(`Row ${number}`, 'ends before it begins: the lower end is greater than the upper end.');
      if (order === 0 && !hasBoth) throw this.#failed(`Row ${number}`, 'contains no value: both ends are equal.');
      const touches = last === null ? 1 : Buffer.compare(from, hasEnds ? last.to : last.from);
      if (!hasEnds && touches === 0) {
        const rows = `Rows ${Math.min(last!.row, number)} and ${Math.max(last!.row, number)}`;
        throw this.#failed(rows, 'begin at the same value.');
      }
      if (last !== null && hasEnds && (touches < 0 || (touches === 0 && hasBoth))) {
        const [one, other] = [Math.min(last.row, number), Math.max(last.row, number)];
        const problem = `overlap: a value may be in one range only${hasBoth ? ', and both ends belong to a range' : ''}.`;
        throw this.#failed(`Rows ${one} and ${other}`, problem);
      }
      const cells = this.#columns.payload.map((_, index) => textBytes(batch, cellsFrom + index, row));
      this.#pages.add(from, to, cells);
      last = { from, to, row: number };
    }
    return last === null ? null : { from: last.from.slice(), to: last.to.slice(), row: last.row };
  }

  #failed(rows: string, problem: string): Failed {
    const table = `the ranges of the reference table ${JSON.stringify(this.#columns.name)}`;
    return new Failed('TEMPLATE_CHECK_FAILED', `${rows} of ${table} ${problem} The row below the header is row 1.`);
  }
}

/** Whole numbers are compared as decimals, because bounds may have decimal places. */
function comparedType(type: ColumnType): ColumnType {
  return type === 'integer' ? 'decimal' : type;
}

function term(type: ColumnType, index: number, nullsFirst: boolean) {
  return { type, index, nullsFirst, descending: false, compare: 'typed' as const };
}

/** Returns the rows whose key cells are not null. */
function withKeys(batch: Batch, keys: readonly number[]): Batch {
  if (keys.length === 0) return batch;
  const chosen = batch.arena.take(batch.live * 4);
  let live = 0;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const hasKey = keys.every((index) => textBytes(batch, index, row) !== null);
    if (hasKey) batch.heap.u32[(chosen >>> 2) + live++] = row;
  }
  return batch.withSelection(chosen, live);
}

/** Returns one bound of each range as a value, or null if the arena is full. */
function endsOf(batch: Batch, index: number, type: ColumnType, failed: (row: number) => Failed): ColumnData | null {
  const column = batch.columns[index]!;
  if (column.kind !== 'views') throw new Error('tables are text');
  if (type === 'text') return column;
  const builder = new ColumnBuilder(batch.arena, type);
  if (!builder.begin(batch.rows)) return null;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const value = constantValue(batch.text(column, row), type);
    if ('problem' in value) throw failed(row);
    builder.set(row, value.value);
  }
  return builder.column;
}

function isNull(column: ColumnData, { u8, u32 }: Heap, row: number): boolean {
  if (column.kind === 'raw') throw new Error('views of values are made before');
  return column.kind === 'typed' ? u8[column.meta + row] === META_NULL : u32[(column.at >>> 2) + row * 2] === 0;
}

function textBytes(batch: Batch, index: number, row: number): Uint8Array | null {
  const column = batch.columns[index]!;
  if (column.kind !== 'views') throw new Error('a column of texts is expected');
  return bytesAt(batch, column.at, row);
}

function bytesAt({ heap }: Batch, views: number, row: number): Uint8Array | null {
  const view = (views >>> 2) + row * 2;
  const at = heap.u32[view]!;
  return at === 0 ? null : heap.u8.subarray(at, at + heap.u32[view + 1]!);
}
