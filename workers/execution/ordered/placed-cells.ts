// New cells of rows that wait, each put where its row stands among all: the rows come in any order, and nothing is sorted to
// bring the cells back. For types of one width alone, and while the budget has room for all rows at once.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { META_BIG } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { placeColumn, placesOf } from '../sort/row-places.ts';
import { targetBatch } from '../spill/row-codec.ts';

const VALUE_BYTES = 8;

/** Decimals beyond 64 bits that are kept, in all columns: they lie outside of the Run's memory. */
const BIG_CELLS_MAX = 4096;

/** Rows handed to another way at once. */
const ROWS_AT_ONCE = 2048;

type FixedType = TypedColumn['type'];
type BigCells = NonNullable<TypedColumn['big']>;

interface PlacedColumn {
  readonly type: FixedType;
  readonly at: number;
  readonly meta: number;
  readonly big: BigCells;
}

export class PlacedCells {
  readonly #heap: Heap;
  readonly #rows: number;
  readonly #columns: readonly PlacedColumn[];
  readonly #region: { readonly at: number; readonly bytes: number };
  /** A byte for each row: 1 when it has come. */
  readonly #arrived: number;
  #bigCells = 0;

  private constructor(heap: Heap, types: readonly FixedType[], rows: number, at: number) {
    this.#heap = heap;
    this.#rows = rows;
    this.#region = { at, bytes: regionBytes(types, rows) };
    const metas = at + rows * VALUE_BYTES * types.length;
    this.#columns = types.map((type, index) => {
      return { type, at: at + index * rows * VALUE_BYTES, meta: metas + index * rows, big: new Map() };
    });
    this.#arrived = metas + rows * types.length;
    heap.u8.fill(0, this.#arrived, this.#arrived + rows);
  }

  /** @param rows how many there are. Null: cells of a type have no width, or the budget has no room. */
  static of(heap: Heap, types: readonly StoredType[], rows: number): PlacedCells | null {
    if (!types.every(isFixed)) return null;
    const at = heap.tryAllocate(regionBytes(types, rows));
    return at === 0 ? null : new PlacedCells(heap, types, rows, at);
  }

  /** @param batch columns of the types, and behind them the rows' places. False: it has too many big decimals, nothing is put. */
  put(batch: Batch): boolean {
    const made = batch.columns.slice(0, -1).map(typed);
    const bigCells = made.reduce((sum, { big }) => sum + (big?.size ?? 0), this.#bigCells);
    if (bigCells > BIG_CELLS_MAX) return false;
    this.#bigCells = bigCells;
    const places = placesOf(batch, batch.columns.at(-1)!);
    const { u8, u32 } = this.#heap;
    for (const [index, { at, meta, big }] of made.entries()) {
      const to = this.#columns[index]!;
      for (let position = 0; position < batch.live; position++) {
        const row = batch.physicalRow(position);
        const place = places[position]!;
        // As two words: as a double, an integer that looks like no number could lose bits.
        const [source, target] = [(at >>> 2) + row * 2, (to.at >>> 2) + place * 2];
        u32[target] = u32[source]!;
        u32[target + 1] = u32[source + 1]!;
        u8[to.meta + place] = u8[meta + row]!;
        if (big?.has(row)) to.big.set(place, big.get(row)!);
      }
    }
    for (let position = 0; position < batch.live; position++) u8[this.#arrived + places[position]!] = 1;
    return true;
  }

  /** The cells of rows that stand one behind the other, by physical row from 0 on; valid until `drop`. */
  columns(from: number, rows: number): ColumnData[] {
    return this.#columns.map(({ type, at, meta, big }): ColumnData => {
      const cells = { at: at + from * VALUE_BYTES, meta: meta + from };
      return { kind: 'typed', type, ...cells, big: this.#bigAmong(big, cells.meta, from, rows) };
    });
  }

  /** The rows that have come, in their order, as they were put: for another way to go on with. */
  *batches(arena: Arena): Generator<Batch, void, undefined> {
    for (let from = 0; from < this.#rows; from += ROWS_AT_ONCE) {
      const rows = Math.min(ROWS_AT_ONCE, this.#rows - from);
      const mark = arena.next;
      const selection = arena.take(rows * 4);
      const sources = arena.take(rows * VALUE_BYTES);
      const { u8, u32 } = arena.heap;
      for (let row = 0; row < rows; row++) u32[(selection >>> 2) + row] = row;
      const all = targetBatch({ arena, columns: this.columns(from, rows), rows, selection, sources });
      const placed = all.withColumns([...all.columns, placeColumn(arena, all, from, false)]);
      let live = 0;
      for (let row = 0; row < rows; row++) {
        if (u8[this.#arrived + from + row] === 1) u32[(selection >>> 2) + live++] = row;
      }
      if (live > 0) yield placed.withSelection(selection, live);
      arena.release(mark);
    }
  }

  /** Leaves its memory to others. */
  drop(): void {
    this.#heap.giveBack(this.#region.at, this.#region.bytes);
  }

  #bigAmong(big: BigCells, meta: number, from: number, rows: number): BigCells | null {
    if (big.size === 0) return null;
    const found: BigCells = new Map();
    for (let row = 0; row < rows; row++) {
      if (this.#heap.u8[meta + row] === META_BIG && big.has(from + row)) found.set(row, big.get(from + row)!);
    }
    return found.size === 0 ? null : found;
  }
}

function isFixed(type: StoredType): type is FixedType {
  return type !== 'text' && type !== 'json' && type !== 'text_with_kind';
}

/** A value and its meta byte in each column, and whether the row has come. */
function regionBytes(types: readonly FixedType[], rows: number): number {
  return rows * ((VALUE_BYTES + 1) * types.length + 1);
}

function typed(column: ColumnData): TypedColumn {
  if (column.kind !== 'typed') throw new Error('cells of one width are typed');
  return column;
}
