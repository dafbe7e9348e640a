// Looks the rows of a batch up in an index: the rows with the cells of the table behind their own, and how each went.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { META_BIG, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Slices } from '../../run/time-slices.ts';
import { copiedRowsMax } from '../cells/copied-rows.ts';
import { type BatchPiece, piecesOf } from '../cells/slices.ts';
import { KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import type { MatchLevel } from '../keys/match-level.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { targetBatch } from '../spill/row-codec.ts';
import { forgetNulls, ROW_NONE, type TableContext, type TableIndex } from './table-index.ts';

/** How a row went, in the last column: the meta byte of a boolean, so that it passes through spill files. */
const FOUND = 0;
export const MISSING = 1;
export const MANY = 2;
export const OUTCOME_TYPE: ColumnType = 'boolean';

export interface ProbeKeys {
  /** Indexes in the batches. */
  readonly columns: readonly number[];
  readonly levels: readonly MatchLevel[];
}

/** `first`: the first row of the table; `all`: one row for each; `fail`: the first, and the outcome MANY. */
export type Multiple = 'first' | 'all' | 'fail';

/** `positions`: for each live row of the batch its position among the live rows that were looked up (u32). */
export type Probed = (batch: Batch, positions: number) => Slices;

/** Rows with their keys. */
interface KeyedPiece {
  readonly piece: BatchPiece;
  readonly list: KeyList;
}

export class TableProbe {
  readonly #context: TableContext;
  readonly #columns: readonly number[];
  readonly #keys: RowKeys;
  readonly #payload: readonly number[];
  readonly #multiple: Multiple;

  /** @param payload columns of the table whose cells are added */
  constructor(context: TableContext, { columns, levels }: ProbeKeys, payload: readonly number[], multiple: Multiple) {
    this.#context = context;
    this.#columns = columns;
    this.#keys = new RowKeys(context, columns, levels);
    this.#payload = payload;
    this.#multiple = multiple;
  }

  /** As piecesOf, with views of the keys of the rows and room for hashes and ids. */
  *keyedPieces(batch: Batch): Generator<KeyedPiece, void, undefined> {
    const { arena } = this.#context;
    this.#keys.prepare(batch);
    for (const piece of piecesOf(batch)) {
      const { from, to } = piece;
      const rows = batch.selection + from * 4;
      const views = this.#keys.make(batch, rows, to - from);
      const hashes = arena.tryTake((to - from) * 8);
      const ids = arena.tryTake((to - from) * 4);
      piece.isTooLarge = views === 0 || hashes === 0 || ids === 0;
      if (!piece.isTooLarge) yield { piece, list: { views, rows, count: to - from, hashes, ids } };
    }
  }

  *push(index: TableIndex, batch: Batch, next: Probed): Slices {
    const { arena } = this.#context;
    const multiplies = this.#multiple === 'all' && this.#payload.length > 0;
    if (multiplies) for (const [at, column] of batch.columns.entries()) if (column.kind === 'raw') batch.views(at);
    for (const { piece, list } of this.keyedPieces(batch)) {
      const room = batch.rows * (this.#payload.length * VIEW_BYTES + 1) + list.count * 4;
      piece.isTooLarge = arena.freeBytes < room + (this.#payload.length + 2) * 8;
      if (piece.isTooLarge) continue;
      index.hash(list);
      index.find(list);
      forgetNulls(batch, this.#columns, list);
      const { from } = piece;
      if (multiplies && this.#hasMany(index, list)) yield* this.#multiplied(index, batch, list, from, next);
      else yield* this.#single(index, batch, list, from, next);
    }
  }

  #hasMany(index: TableIndex, { count, ids }: KeyList): boolean {
    const { u32 } = this.#context.arena.heap;
    for (let i = 0; i < count; i++) {
      const id = u32[(ids >>> 2) + i]!;
      if (id !== KEY_ABSENT && index.next(index.first(id)) !== ROW_NONE) return true;
    }
    return false;
  }

  #single(index: TableIndex, batch: Batch, list: KeyList, from: number, next: Probed): Slices {
    const { arena } = this.#context;
    const outcomes = arena.take(batch.rows);
    const targets = this.#payload.map(() => arena.take(batch.rows * VIEW_BYTES));
    const positions = arena.take(list.count * 4);
    const sources = this.#payload.map((column) => index.views(column));
    const { u8, u32 } = arena.heap;
    for (let i = 0; i < list.count; i++) {
      const row = u32[(list.rows >>> 2) + i]!;
      const id = u32[(list.ids >>> 2) + i]!;
      const found = id === KEY_ABSENT ? ROW_NONE : index.first(id);
      u32[(positions >>> 2) + i] = from + i;
      u8[outcomes + row] =
        found === ROW_NONE ? MISSING : this.#multiple === 'fail' && index.next(found) !== ROW_NONE ? MANY : FOUND;
      for (let column = 0; column < targets.length; column++) {
        const to = (targets[column]! >>> 2) + row * 2;
        const source = (sources[column]! >>> 2) + found * 2;
        u32[to] = found === ROW_NONE ? 0 : u32[source]!;
        u32[to + 1] = found === ROW_NONE ? 0 : u32[source + 1]!;
      }
    }
    const made = targets.map((at): ColumnData => ({ kind: 'views', at }));
    const rows = batch.withSelection(list.rows, list.count);
    return next(rows.withColumns([...batch.columns, ...made, outcomeColumn(list.rows, outcomes)]), positions);
  }

  /** Each row as often as it is found, in new batches. */
  *#multiplied(index: TableIndex, batch: Batch, { rows, count, ids }: KeyList, from: number, next: Probed): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    let made = new MultipliedRows(this.#context, batch, this.#payload.length);
    const sources = this.#payload.map((column) => index.views(column));
    for (let i = 0; i < count; i++) {
      const row = arena.heap.u32[(rows >>> 2) + i]!;
      const id = arena.heap.u32[(ids >>> 2) + i]!;
      let found = id === KEY_ABSENT ? ROW_NONE : index.first(id);
      do {
        if (made.count === made.rowsMax) {
          yield* next(made.batch(), made.positions);
          arena.release(mark);
          made = new MultipliedRows(this.#context, batch, this.#payload.length);
        }
        made.add(row, from + i, found, sources);
        if (found !== ROW_NONE) found = index.next(found);
      } while (found !== ROW_NONE);
    }
    if (made.count > 0) yield* next(made.batch(), made.positions);
  }
}

/** Copies of rows of one batch, each with cells of a row of the table. */
class MultipliedRows {
  readonly #context: TableContext;
  readonly #from: Batch;
  readonly #columns: readonly ColumnData[];
  readonly #payload: readonly number[];
  readonly #outcomes: number;
  readonly #sources: number;
  readonly #selection: number;
  readonly positions: number;
  readonly rowsMax: number;
  count = 0;

  constructor(context: TableContext, from: Batch, payload: number) {
    const { arena } = context;
    this.#context = context;
    this.#from = from;
    this.rowsMax = copiedRowsMax(from.columns.length + payload);
    this.#columns = from.columns.map((column): ColumnData => {
      const at = arena.take(this.rowsMax * VIEW_BYTES);
      if (column.kind === 'views' && column.kinds !== undefined) {
        return { kind: 'views', at, kinds: arena.take(this.rowsMax) };
      }
      if (column.kind !== 'typed') return { kind: 'views', at };
      const big = column.big === null ? null : new Map();
      return { kind: 'typed', type: column.type, at, meta: arena.take(this.rowsMax), big };
    });
    this.#payload = Array.from({ length: payload }, () => arena.take(this.rowsMax * VIEW_BYTES));
    this.#outcomes = arena.take(this.rowsMax);
    this.#sources = arena.take(this.rowsMax * 8);
    this.#selection = arena.take(this.rowsMax * 4);
    this.positions = arena.take(this.rowsMax * 4);
  }

  add(row: number, position: number, found: number, tables: readonly number[]): void {
    const { u8, u32, f64 } = this.#context.arena.heap;
    const to = this.count++;
    for (const [index, column] of this.#from.columns.entries()) {
      const target = this.#columns[index]!;
      if (column.kind === 'raw' || target.kind === 'raw') throw new Error('rows to copy have no raw columns');
      copyWords(u32, target.at + to * VIEW_BYTES, column.at + row * VIEW_BYTES);
      if (column.kind === 'typed' && target.kind === 'typed') copyMeta(u8, target, to, column, row);
      else if (column.kind === 'views' && target.kind === 'views' && column.kinds !== undefined) {
        u8[target.kinds! + to] = u8[column.kinds + row]!;
      }
    }
    for (const [index, at] of this.#payload.entries()) {
      if (found === ROW_NONE) u32.fill(0, (at >>> 2) + to * 2, (at >>> 2) + to * 2 + 2);
      else copyWords(u32, at + to * VIEW_BYTES, tables[index]! + found * VIEW_BYTES);
    }
    u8[this.#outcomes + to] = found === ROW_NONE ? MISSING : FOUND;
    f64[(this.#sources >>> 3) + to] = this.#from.sourceRow(row);
    u32[(this.#selection >>> 2) + to] = to;
    u32[(this.positions >>> 2) + to] = position;
  }

  batch(): Batch {
    const { arena } = this.#context;
    const payload = this.#payload.map((at): ColumnData => ({ kind: 'views', at }));
    const columns = [...this.#columns, ...payload, outcomeColumn(this.#sources, this.#outcomes)];
    return targetBatch({ arena, columns, rows: this.count, selection: this.#selection, sources: this.#sources });
  }
}

/** @param at some readable memory: the 8 bytes of booleans mean nothing */
function outcomeColumn(at: number, meta: number): ColumnData {
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}

function copyWords(u32: Uint32Array, to: number, from: number): void {
  u32[to >>> 2] = u32[from >>> 2]!;
  u32[(to >>> 2) + 1] = u32[(from >>> 2) + 1]!;
}

function copyMeta(u8: Uint8Array, target: TypedColumn, to: number, column: TypedColumn, row: number): void {
  const meta = u8[column.meta + row]!;
  u8[target.meta + to] = meta;
  if (meta === META_BIG) target.big?.set(to, column.big!.get(row)!);
}
