// Makes of each row one for each of some columns: the columns that stay, the names of those, and their cells.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Column, StoredType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import type { Slices } from '../../run/time-slices.ts';
import { arrange } from './arrange.ts';
import { copiedRowsMax, copyRows, placeNumbers } from './copied-rows.ts';
import { PlacedColumn } from './placed-columns.ts';
import type { SplitNames } from './split-names.ts';

export interface UnpivotPlan {
  /** By name column, then by place. */
  readonly names: SplitNames<Column>['names'];
  readonly values: readonly { readonly columns: readonly (Column | null)[]; readonly type: StoredType }[];
  readonly dropEmpty: boolean;
}

/** What cells of all these columns are in one: texts where the types differ. */
export function commonType(columns: readonly Column[]): Pick<Column, 'type' | 'hasKinds'> {
  const types = new Set(columns.map(({ type }) => type));
  const type = types.size === 1 ? [...types][0]! : 'text';
  return type === 'text' && columns.some(({ hasKinds }) => hasKinds === true) ? { type, hasKinds: true } : { type };
}

export class UnpivotedRows implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: UnpivotPlan;
  readonly #places: number;
  readonly #values: readonly PlacedColumn[];
  readonly #kept: readonly number[];
  /** Of each name column the views of its texts. */
  readonly #names: readonly number[];

  constructor(plan: UnpivotPlan, context: OperatorContext) {
    this.#context = context;
    this.#plan = plan;
    this.#places = plan.values[0]?.columns.length ?? 0;
    this.rowsMost = Math.max(1, this.#places);
    this.#values = plan.values.map(({ columns, type }) => new PlacedColumn(columns, type, context));
    this.#kept = context.layout.filter((index) => index >= 0);
    this.#names = plan.names.map((names) => this.#placed(names));
  }

  *push(batch: Batch): Slices {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    for (const values of this.#values) values.bind(batch);
    const rowsMax = copiedRowsMax(this.#kept.length + this.#names.length + this.#values.length);
    let rows: number[] = [];
    let places: number[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      for (let place = 0; place < this.#places; place++) {
        if (this.#plan.dropEmpty && this.#values.every((values) => values.isEmpty(place, row))) continue;
        rows.push(row);
        places.push(place);
        if (rows.length < rowsMax) continue;
        yield* this.#emit(batch, rows, places);
        rows = [];
        places = [];
      }
    }
    if (rows.length > 0) yield* this.#emit(batch, rows, places);
  }

  *#emit(batch: Batch, rows: readonly number[], places: readonly number[]): Slices {
    const { arena, kernel, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(this.#context, batch, { at: placeNumbers(arena, rows), count: rows.length }, this.#kept);
    const list = placeNumbers(arena, places);
    const names = this.#names.map((from): ColumnData => {
      const at = arena.take(rows.length * VIEW_BYTES);
      kernel.exports.copyCells(from, 0, list, rows.length, at, 0);
      return { kind: 'views', at };
    });
    const values = this.#values.map((column) => column.cells(batch, rows, places, list));
    let kept = 0;
    const order = layout.map((index) => (index < 0 ? -1 : kept++));
    yield* next(arrange(copied, order, [...names, ...values]));
    arena.release(mark);
  }

  /** Views of texts. */
  #placed(texts: readonly (string | null)[]): number {
    const { heap } = this.#context.arena;
    const views = heap.allocate(texts.length * VIEW_BYTES);
    for (const [place, text] of texts.entries()) {
      const bytes = Buffer.from(text ?? '');
      const at = text === null ? 0 : heap.allocate(bytes.length);
      heap.u8.set(bytes, at);
      heap.u32.set([at, bytes.length], (views >>> 2) + place * 2);
    }
    return views;
  }
}
