// The ranges of a reference table: read, checked and sorted before the first row, then asked for the one that holds a value.
// Ends are compared as sort keys are; an end that is null lies before, or behind, all values.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { VALUE } from '../../kernel/layout/sort-keys.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { Failed } from '../../protocol/failure.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import { constantValue } from '../cells/constant-value.ts';
import { inSlices } from '../cells/slices.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import type { TableRows } from '../tables/table-rows.ts';
import { type FoundRange, type RangeEnds, RangePages } from './range-pages.ts';

export interface RangeColumns {
  /** How the Template calls the table. */
  readonly name: string;
  /** Columns of the table: the ends, and those whose cells are wanted. */
  readonly from: string;
  readonly to: string;
  readonly payload: readonly string[];
  readonly ends: RangeEnds;
  /** Type of the values that are looked for. */
  readonly type: ColumnType;
}

interface LastRange {
  readonly to: Uint8Array;
  readonly row: number;
}

/** Columns of the rows that are sorted, behind their key. */
const SORTED_FROM = 0;
const SORTED_TO = 1;
const SORTED_CELLS = 2;

export class RangeTable {
  readonly #context: OperatorContext;
  readonly #table: TableRows;
  readonly #columns: RangeColumns;
  readonly #type: ColumnType;
  readonly #pages: RangePages;
  /** Makes the keys of the values that are looked for. */
  readonly #keys: SortKeys;

  constructor(context: OperatorContext, table: TableRows, columns: RangeColumns) {
    this.#context = context;
    this.#table = table;
    this.#columns = columns;
    this.#type = comparedType(columns.type);
    this.#pages = new RangePages(context, columns.ends);
    this.#keys = new SortKeys(context, [term(this.#type, 0, true)]);
  }

  /** Before the first row. Throws Failed TEMPLATE_CHECK_FAILED for what is no range, and for ranges that overlap. */
  *build(): Steps {
    const { arena, kernel } = this.#context;
    const types = [this.#type, this.#type, ...this.#columns.payload.map(() => 'text' as const)];
    const froms = new SortKeys(this.#context, [term(this.#type, SORTED_FROM, true)]);
    const sorter = new RowSorter(this.#context, types, froms);
    const codec = new RowCodec(arena.heap, kernel, new Array<ColumnType>(this.#table.columns.length).fill('text'));
    const reader = new SpillReader(arena, codec, BATCH_ROOM);
    reader.open(this.#table);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      inSlices(batch, (from, to) => this.#sort(batch.slice(from, to), sorter));
      yield;
    }
    const tos = new SortKeys(this.#context, [term(this.#type, SORTED_TO + 1, false)]);
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

  /** Views by physical row of the keys of a batch's values, for `find`; 0 when the arena is full. */
  keysOf(batch: Batch, column: number): number {
    if (batch.columns[column]!.kind === 'raw') batch.views(column);
    const values = batch.columns[column]!;
    // A whole number is a decimal without digits behind the point, so that it is compared with ends that have some.
    const isWhole = values.kind === 'typed' && values.type === 'integer';
    return this.#keys.make(batch.withColumns([isWhole ? { ...values, type: 'decimal' } : values]));
  }

  /** The range that holds the value of a key of `keysOf`; null when none does, and for null. */
  find(keys: number, row: number): FoundRange | null {
    const { u8, u32 } = this.#context.arena.heap;
    const at = u32[(keys >>> 2) + row * 2]!;
    if (u8[at] !== VALUE) return null;
    return this.#pages.find({ u8, at, length: u32[(keys >>> 2) + row * 2 + 1]! });
  }

  /** False when the arena is full. */
  #sort(batch: Batch, sorter: RowSorter): boolean {
    const { name, from, to, payload } = this.#columns;
    const index = (column: string): number => this.#table.columns.indexOf(column);
    const ends: ColumnData[] = [];
    for (const column of [from, to]) {
      const made = endsOf(batch, index(column), this.#type, (row, problem) => {
        const where = `row ${batch.sourceRow(row)} of the reference table ${JSON.stringify(name)}`;
        return new Failed('TEMPLATE_CHECK_FAILED', `The column ${JSON.stringify(column)} of ${where} ${problem}`);
      });
      if (made === null) return false;
      ends.push(made);
    }
    sorter.add(batch.withColumns([...ends, ...payload.map((column) => batch.columns[index(column)]!)]));
    return true;
  }

  /** Takes sorted rows, whose first column is the key of their lower end; gives the last, or null when the arena is full. */
  #add(batch: Batch, tos: SortKeys, before: LastRange | null): LastRange | null {
    const keys = tos.make(batch);
    if (keys === 0) return null;
    const { hasFrom, hasTo } = this.#columns.ends;
    const hasBoth = hasFrom && hasTo;
    let last = before;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const from = textBytes(batch, 0, row)!;
      const to = bytesAt(batch, keys, row)!;
      const number = batch.sourceRow(row);
      // An open end says with its first byte that it is beyond all values.
      const order = Buffer.compare(from, to);
      if (order > 0) throw this.#failed(`Row ${number}`, 'ends before it begins.');
      if (order === 0 && !hasBoth) throw this.#failed(`Row ${number}`, 'holds no value: both ends are the same.');
      const touches = last === null ? 1 : Buffer.compare(from, last.to);
      if (last !== null && (touches < 0 || (touches === 0 && hasBoth))) {
        const [one, other] = [Math.min(last.row, number), Math.max(last.row, number)];
        const problem = `overlap: a value may be in one range only${hasBoth ? ', and both ends belong to a range' : ''}.`;
        throw this.#failed(`Rows ${one} and ${other}`, problem);
      }
      const cells = this.#columns.payload.map((_, index) => textBytes(batch, SORTED_CELLS + 1 + index, row));
      this.#pages.add(from, to, cells);
      last = { to, row: number };
    }
    return last === null ? null : { to: last.to.slice(), row: last.row };
  }

  #failed(rows: string, problem: string): Failed {
    const table = `the ranges of the reference table ${JSON.stringify(this.#columns.name)}`;
    return new Failed('TEMPLATE_CHECK_FAILED', `${rows} of ${table} ${problem} The row below the header is row 1.`);
  }
}

/** Whole numbers are compared as decimals: the ends of their ranges may have digits behind the point. */
function comparedType(type: ColumnType): ColumnType {
  return type === 'integer' ? 'decimal' : type;
}

function term(type: ColumnType, index: number, nullsFirst: boolean) {
  return { type, index, nullsFirst, descending: false, compare: 'typed' as const };
}

/** One end of each range as a value; null when the arena is full. */
function endsOf(
  batch: Batch,
  index: number,
  type: ColumnType,
  failed: (row: number, problem: string) => Failed,
): ColumnData | null {
  const column = batch.columns[index]!;
  if (column.kind !== 'views') throw new Error('tables are text');
  if (type === 'text') return column;
  const builder = new ColumnBuilder(batch.arena, type);
  if (!builder.begin(batch.rows)) return null;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const value = constantValue(batch.text(column, row), type);
    if ('problem' in value) throw failed(row, `is no ${type}, as the values are that are looked for.`);
    builder.set(row, value.value);
  }
  return builder.column;
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
