// Finds the cells of a batch that had another text before an operation, while the batch that came to it is still there. Cells
// that the operation left where they were are told by their places, and nothing of them is read.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { type Schema, storedType } from '../batch/schema.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { cellText } from './cell-text.ts';
import type { ChangedCell } from './kept-rows.ts';

const ROW_NUMBER_BYTES = 4;

/** A batch that comes to an operation. */
export interface ComingBatch {
  readonly batch: Batch;
  /** Of its first row among those of the same source row, of which batches before may have had some. */
  readonly firstRepeat: number;
}

export class ChangeFinder {
  readonly #pairs: readonly CellPair[];
  /** Those that this batch may have changed. */
  #looked: readonly CellPair[] = [];
  /** Physical rows of the batch before, by position in the one behind; -1: it did not come with that batch. */
  #rowsBefore: readonly number[] = [];
  /** Positions in a batch before, by source row: made when rows do not stand where they stood. */
  #positions: { readonly batch: Batch; readonly bySourceRow: ReadonlyMap<number, number> } | null = null;

  constructor(before: Schema, after: Schema) {
    const columns = new Map(before.map(({ id }, column) => [id, column]));
    this.#pairs = after.flatMap(({ id, type }, column) => {
      const place = columns.get(id);
      if (place === undefined) return [];
      return [new CellPair({ type: before[place]!.type, column: place }, { type, column })];
    });
  }

  /**
   * @param coming its batch is left as it is
   * @param after the caller's own
   * @param repeats of each row of `after` among those of the same source row
   */
  bind(coming: ComingBatch, after: Batch, repeats: readonly number[]): void {
    const { batch: before } = coming;
    const pairs = this.#pairs.filter((pair) => pair.canDiffer(before, after));
    this.#rowsBefore = repeats.map((repeat, position) => this.#rowBefore(coming, after, position, repeat));
    this.#looked = pairs;
    if (pairs.length === 0) return;
    // Of a large batch the operation may hand on a few rows at a time: no more than these are made texts of.
    const came = withRows(
      before,
      this.#rowsBefore.filter((row) => row >= 0),
    );
    for (const pair of pairs) pair.bind(came, after);
  }

  /** No cell of these batches can differ. */
  get isSame(): boolean {
    return this.#looked.length === 0;
  }

  /** @param row physical, of the batch behind the operation. Null: it did not come with the batch before. */
  changes(position: number, row: number): readonly ChangedCell[] | null {
    const rowBefore = this.#rowsBefore[position]!;
    if (rowBefore < 0) return null;
    const changed: ChangedCell[] = [];
    for (const pair of this.#looked) {
      if (pair.differs(rowBefore, row)) changed.push({ column: pair.column, text: pair.textBefore(rowBefore) });
    }
    return changed;
  }

  /** Most operations leave rows where they are; of those that make rows, the first of each is compared with that it came from. */
  #rowBefore({ batch: before, firstRepeat }: ComingBatch, after: Batch, position: number, repeat: number): number {
    const row = after.physicalRow(position);
    const sourceRow = after.sourceRow(row);
    if (before.rows === after.rows && before.sourceRow(row) === sourceRow) return row;
    const first = this.#positionsOf(before).get(sourceRow);
    if (first === undefined) return -1;
    const place = first + repeat - (first === 0 ? firstRepeat : 0);
    if (place < first || place >= before.live) return -1;
    const found = before.physicalRow(place);
    return before.sourceRow(found) === sourceRow ? found : -1;
  }

  #positionsOf(batch: Batch): ReadonlyMap<number, number> {
    if (this.#positions?.batch === batch) return this.#positions.bySourceRow;
    const bySourceRow = new Map<number, number>();
    for (let position = batch.live - 1; position >= 0; position--) {
      bySourceRow.set(batch.sourceRow(batch.physicalRow(position)), position);
    }
    this.#positions = { batch, bySourceRow };
    return bySourceRow;
  }
}

function withRows(batch: Batch, rows: readonly number[]): Batch {
  const at = batch.arena.take(rows.length * ROW_NUMBER_BYTES);
  batch.heap.u32.set(rows, at >>> 2);
  return batch.withSelection(at, rows.length);
}

interface CellPlace {
  readonly type: Schema[number]['type'];
  readonly column: number;
}

/** A column before and behind the operation. */
class CellPair {
  readonly column: number;
  readonly #columnBefore: number;
  readonly #before: CellReader;
  readonly #after: CellReader;
  #batch!: Batch;
  /** u32 indexes of the views; -1: one of them has none. */
  #viewsBefore = -1;
  #viewsAfter = -1;

  constructor(before: CellPlace, after: CellPlace) {
    this.column = after.column;
    this.#columnBefore = before.column;
    this.#before = new CellReader(storedType({ type: before.type }), before.column);
    this.#after = new CellReader(storedType({ type: after.type }), after.column);
  }

  /** False: all cells are where they were. */
  canDiffer(before: Batch, after: Batch): boolean {
    const columns = [before.columns[this.#columnBefore]!, after.columns[this.column]!] as const;
    return before.rows !== after.rows || !isSame(...columns);
  }

  bind(before: Batch, after: Batch): void {
    this.#before.bind(before);
    this.#after.bind(after);
    this.#batch = after;
    const columns = [before.columns[this.#columnBefore]!, after.columns[this.column]!] as const;
    const areViews = columns[0].kind === 'views' && columns[1].kind === 'views';
    this.#viewsBefore = areViews ? columns[0].at >>> 2 : -1;
    this.#viewsAfter = areViews ? columns[1].at >>> 2 : -1;
  }

  differs(rowBefore: number, rowAfter: number): boolean {
    if (this.#viewsBefore < 0) return this.textBefore(rowBefore) !== cellText(this.#after.read(rowAfter));
    const { u8, u32 } = this.#batch.heap;
    const before = this.#viewsBefore + rowBefore * (VIEW_BYTES / 4);
    const after = this.#viewsAfter + rowAfter * (VIEW_BYTES / 4);
    const [start, startAfter] = [u32[before]!, u32[after]!];
    // The place 0 is that of a null, whose length means nothing.
    if (start === 0 || startAfter === 0) return start !== startAfter;
    const length = u32[before + 1]!;
    if (length !== u32[after + 1]!) return true;
    if (start === startAfter) return false;
    for (let index = 0; index < length; index++) if (u8[start + index] !== u8[startAfter + index]) return true;
    return false;
  }

  textBefore(row: number): string | null {
    return cellText(this.#before.read(row));
  }
}

function isSame(before: ColumnData, after: ColumnData): boolean {
  if (before.kind === 'typed') return after.kind === 'typed' && before.at === after.at;
  if (after.kind === 'typed') return false;
  // The texts of a field of the file, whether they were made texts or not.
  if (before.field !== undefined || after.field !== undefined) return before.field === after.field;
  return before.kind === 'views' && after.kind === 'views' && before.at === after.at;
}
