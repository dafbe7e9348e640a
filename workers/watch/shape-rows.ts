// Watches the rows of a file for cells of shapes that were not there before in their columns, and notes the rows of these: what
// is odd about a file of millions of rows is among them.
import type { Batch } from '../batch/batch.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { RunWatch } from '../run/run-watch.ts';
import { shapeHash } from './shape-hash.ts';

/** Rows that are noted: each is run again at every change of a Template. */
const ROWS_MAX = 1_000;

/** New shapes of one column: those of free text have no end, and must not take the room of the others. */
const SHAPES_OF_COLUMN_MAX = 100;

/** Columns that are looked at: each remembers a few thousand shapes. */
const COLUMNS_MAX = 1_000;

/** A null has a shape of its own, which no text has by more than chance. */
const NULL_SHAPE = 0;

export class ShapeRows implements RunWatch {
  readonly gathers = false;
  readonly pickedRows = null;
  readonly #firstRows: number;
  #columns: ShapeColumn[] = [];
  #found: number[] = [];
  #rowsSeen = 0;

  /** @param firstRows of which the shapes are known, and none is noted */
  constructor(firstRows: number) {
    this.#firstRows = firstRows;
  }

  /** 0 when nothing more would be noted. */
  get rowsMax(): number {
    const isFull = this.#found.length === ROWS_MAX || (this.#rowsSeen > 0 && this.#columns.length === 0);
    return isFull ? 0 : Number.POSITIVE_INFINITY;
  }

  begin(): void {
    this.#columns = [];
    this.#found = [];
    this.#rowsSeen = 0;
  }

  rows(step: number, batch: Batch): void {
    if (step > 0) return;
    if (this.#rowsSeen === 0)
      this.#columns = batch.columns.slice(0, COLUMNS_MAX).map((_, index) => new ShapeColumn(index));
    for (const column of this.#columns) column.bind(batch);
    for (let position = 0; position < batch.live && this.#found.length < ROWS_MAX; position++) {
      this.#rowsSeen++;
      const row = batch.physicalRow(position);
      const isNoted = this.#rowsSeen > this.#firstRows;
      let isNew = false;
      for (const column of this.#columns) if (column.add(row, isNoted)) isNew = true;
      if (isNew) this.#found.push(batch.sourceRow(row));
    }
    this.#columns = this.#columns.filter(({ isFull }) => !isFull);
  }

  passed(): void {}

  trouble(): void {}

  /** The Run has ended: nothing here may refer to its memory any more. */
  close(): void {
    this.#columns = [];
  }

  get rowsSeen(): number {
    return this.#rowsSeen;
  }

  /** Source rows, ascending. */
  get found(): readonly number[] {
    return this.#found;
  }
}

class ShapeColumn {
  readonly #index: number;
  readonly #known = new Set<number>();
  #noted = 0;
  #batch!: Batch;
  #views = 0;

  constructor(index: number) {
    this.#index = index;
  }

  get isFull(): boolean {
    return this.#noted === SHAPES_OF_COLUMN_MAX;
  }

  /** @param batch the watcher's own */
  bind(batch: Batch): void {
    this.#views = batch.views(this.#index) >>> 2;
    this.#batch = batch;
  }

  /** @returns true for a shape that is noted */
  add(row: number, isNoted: boolean): boolean {
    const { u8, u32 } = this.#batch.heap;
    const at = this.#views + row * (VIEW_BYTES / 4);
    const start = u32[at]!;
    const shape = start === 0 ? NULL_SHAPE : shapeHash(u8, start, u32[at + 1]!);
    if (this.isFull || this.#known.has(shape)) return false;
    this.#known.add(shape);
    if (isNoted) this.#noted++;
    return isNoted;
  }
}
