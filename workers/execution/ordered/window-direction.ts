// Calls the functions of `window` in one direction, row by row, and makes columns of what they give.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { setCell } from '../cells/set-cell.ts';
import type { WindowColumn } from './window-step.ts';

export class WindowDirection {
  readonly #context: OperatorContext;
  readonly #columns: readonly WindowColumn[];
  readonly #direction: 'forward' | 'backward';
  readonly #readers: readonly (CellReader | null)[];

  constructor(context: OperatorContext, columns: readonly WindowColumn[], direction: 'forward' | 'backward') {
    this.#context = context;
    this.#columns = columns;
    this.#direction = direction;
    this.#readers = columns.map(({ column, columnType }) => (column < 0 ? null : new CellReader(columnType, column)));
  }

  /** @param hidden index of the first column of the other direction, -1 for none */
  *columns(batch: Batch, starts: Uint8Array, ties: Uint8Array, hidden: number): Sliced<ColumnData[]> {
    const made: ColumnData[] = [];
    for (const index of this.#columns.keys()) {
      made.push(this.#column(index, batch, { starts, ties, hidden }));
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    return made;
  }

  #column(
    index: number,
    batch: Batch,
    { starts, ties, hidden }: { readonly starts: Uint8Array; readonly ties: Uint8Array; readonly hidden: number },
  ): ColumnData {
    const column = this.#columns[index]!;
    const { type, hiddenType } = column.function;
    const step = column.function[this.#direction];
    const made = this.#direction === 'forward' ? (hiddenType ?? type) : type;
    if (step === null && this.#direction === 'backward') return batch.columns[hidden + index]!;
    if (step === null) return this.#build(batch, made, []);
    const before = hidden < 0 || hiddenType === null ? null : new CellReader(hiddenType, hidden + index);
    before?.bind(batch);
    const reader = this.#readers[index] ?? null;
    reader?.bind(batch);
    const conditions = column.condition < 0 ? -1 : conditionAt(batch, column.condition);
    const values: unknown[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (starts[position] === 1) step.begin();
      const counts = conditions < 0 || batch.heap.u8[conditions + row] === 1;
      // A function without a column counts rows.
      const value = !counts ? null : reader === null ? true : reader.read(row);
      values.push(step.next(value, before?.read(row) ?? null, ties[position] === 1));
    }
    return this.#build(batch, made, values);
  }

  /** Values by position; null where there are none. */
  #build(batch: Batch, type: StoredType, values: readonly unknown[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      let isFull = !builder.begin(batch.rows);
      for (let position = 0; position < values.length && !isFull; position++) {
        isFull = !setCell(builder, batch.physicalRow(position), values[position]);
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

/** Where the booleans of a condition are, by physical row. */
function conditionAt(batch: Batch, index: number): number {
  const column = batch.columns[index]!;
  if (column.kind !== 'typed') throw new Error('conditions are booleans');
  return column.meta;
}
