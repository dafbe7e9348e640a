// A column whose cells come from several columns of a batch, for each row from another one: what `unpivot` makes of them.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { NativeText } from '../../batch/native-text.ts';
import { type Column, columnTypeOf, type StoredType, storedType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { placeNumbers } from './copied-rows.ts';
import { textOfValue } from './text-of-value.ts';

export class PlacedColumn {
  readonly #context: OperatorContext;
  readonly #type: StoredType;
  /** By place: indexes in a batch and their readers; null where nothing is. */
  readonly #columns: readonly (number | null)[];
  readonly #readers: readonly (CellReader | null)[];
  /** Where the columns lie: an address and that of the meta for each. */
  readonly #sources: number;
  readonly #isMixed: boolean;

  /**
   * @param columns by place; null gives nulls
   * @param type of the cells; columns of another one become texts
   */
  constructor(columns: readonly (Column | null)[], type: StoredType, context: OperatorContext) {
    this.#context = context;
    this.#type = type;
    this.#columns = columns.map((column) => (column === null ? null : context.indexOf(column)));
    this.#readers = columns.map((column) =>
      column === null ? null : new CellReader(storedType(column), context.indexOf(column)),
    );
    this.#isMixed = columns.some((column) => column !== null && column.type !== columnTypeOf(type));
    this.#sources = context.arena.heap.allocate(columns.length * 8);
  }

  bind(batch: Batch): void {
    for (const reader of this.#readers) reader?.bind(batch);
  }

  /** Null or the empty text. */
  isEmpty(place: number, row: number): boolean {
    const value = this.#readers[place]?.read(row) ?? null;
    return value === null || value === '';
  }

  /**
   * @param rows physical rows, one for each cell
   * @param places of which column each cell is; the same list stands at `list`
   */
  cells(batch: Batch, rows: readonly number[], places: readonly number[], list: number): ColumnData {
    return this.#copied(batch, rows, list) ?? this.#values(batch, rows, places);
  }

  /** The cells as they lie; null where they have to be made anew. */
  #copied(batch: Batch, rows: readonly number[], places: number): ColumnData | null {
    const { arena, kernel } = this.#context;
    const type = this.#type;
    const isText = type === 'text' || type === 'json' || type === 'text_with_kind';
    const columns = this.#columns.map((index) => (index === null ? null : batch.columns[index]!));
    if (this.#isMixed || columns.some((column) => column?.kind === 'typed' && column.big !== null)) return null;
    for (const [place, column] of columns.entries()) {
      if (column?.kind === 'raw') throw new Error('views of the columns are made before');
      // A column of nulls may have another form than its type.
      const isThere = column?.kind === (isText ? 'views' : 'typed');
      const meta = column?.kind === 'typed' ? column.meta : (column?.kinds ?? 0);
      const at = column !== null && isThere ? column.at : 0;
      arena.heap.u32.set([at, meta], (this.#sources >>> 2) + place * 2);
    }
    const at = arena.take(rows.length * VIEW_BYTES);
    const meta = type === 'text' || type === 'json' ? 0 : arena.take(rows.length);
    kernel.exports.copyPlaced(this.#sources, places, placeNumbers(arena, rows), rows.length, at, meta);
    if (isText) return meta === 0 ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
    return { kind: 'typed', type, at, meta, big: null };
  }

  #values(batch: Batch, rows: readonly number[], places: readonly number[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, this.#type);
    for (;;) {
      const mark = arena.next;
      this.bind(batch);
      let isFull = !builder.begin(rows.length);
      for (let to = 0; to < rows.length && !isFull; to++) {
        const value = this.#readers[places[to]!]?.read(rows[to]!) ?? null;
        const isOther = this.#isMixed && value !== null && !(value instanceof NativeText);
        isFull = builder.set(to, isOther ? textOfValue(value) : value) === 'full';
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}
