// Rows kept at one position between two operations: the first rows, and rows that the operation changed.
import { type Batch, type ColumnData, textField } from '../batch/batch.ts';
import { type Schema, storedType } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { type CellAllowance, type ChangedCell, type IndexedRows, KeptRows, RowIndex } from './kept-rows.ts';

// Finds the cells whose text an operation changed, while the batch that it received is still in memory.

// Text of a cell as the watch thread stores and shows it.

/** Maximum number of characters kept of a cell: a screen shows no more. A longer text ends in "…". */
export const CELL_CHARACTERS_MAX = 2_000;

/** @param value as CellReader returns it */
function cellText(value: unknown): string | null {
  if (value === null) return null;
  const text = textOfValue(value);
  return text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}…` : text;
}

// Finds the cells whose text an operation changed, while the batch that it received is still in memory. Cells that
// the operation left in place are recognised by their address without being read.
//
// Several rows may have the same source row (an operation can make several rows of one). A row is therefore
// identified by its source row and its repeat: its index among the rows of that source row.

const ROW_NUMBER_BYTES = 4;

/** A batch that arrives at an operation. */
export interface ComingBatch {
  readonly batch: Batch;
  /** Repeat of the batch's first row: earlier batches may have contained rows of the same source row. */
  readonly firstRepeat: number;
}

class ChangeFinder {
  readonly #pairs: readonly CellPair[];
  /** The column pairs that this batch may have changed. */
  #compared: readonly CellPair[] = [];
  /**
   * For each position in the batch after the operation, the physical row in the batch before it; -1 if that row is
   * not in the batch.
   */
  #rowsBefore: readonly number[] = [];
  /** Positions in a batch before the operation, by source row. Made only if rows have moved. */
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
   * @param coming its batch is not modified
   * @param after owned by the caller
   * @param repeats for each row of `after`, its index among the rows of the same source row
   */
  bind(coming: ComingBatch, after: Batch, repeats: readonly number[]): void {
    const { batch: before } = coming;
    const pairs = this.#pairs.filter((pair) => pair.canDiffer(before, after));
    this.#rowsBefore = repeats.map((repeat, position) => this.#rowBefore(coming, after, position, repeat));
    this.#compared = pairs;
    if (pairs.length === 0) return;
    // The operation may emit a few rows of a large batch at a time, so only these rows are converted to text.
    const came = withRows(
      before,
      this.#rowsBefore.filter((row) => row >= 0),
    );
    for (const pair of pairs) pair.bind(came, after);
  }

  /** True if no cell of these batches can differ. */
  get isSame(): boolean {
    return this.#compared.length === 0;
  }

  /** @param row physical row of the batch after the operation. @returns null if the row was not in the batch before */
  changes(position: number, row: number): readonly ChangedCell[] | null {
    const rowBefore = this.#rowsBefore[position]!;
    if (rowBefore < 0) return null;
    const changed: ChangedCell[] = [];
    for (const pair of this.#compared) {
      if (pair.differs(rowBefore, row)) changed.push({ column: pair.column, text: pair.textBefore(rowBefore) });
    }
    return changed;
  }

  /**
   * Most operations leave rows in place. If an operation makes rows, each row is compared with the row that it came
   * from.
   */
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

/** A column before and after the operation. */
class CellPair {
  readonly column: number;
  readonly #columnBefore: number;
  readonly #before: CellReader;
  readonly #after: CellReader;
  #batch!: Batch;
  /** Indexes of the views in the u32 heap; -1 if either column has no views. */
  #viewsBefore = -1;
  #viewsAfter = -1;

  constructor(before: CellPlace, after: CellPlace) {
    this.column = after.column;
    this.#columnBefore = before.column;
    this.#before = new CellReader(storedType({ type: before.type }), before.column);
    this.#after = new CellReader(storedType({ type: after.type }), after.column);
  }

  /** Returns false if all cells are in the same place as before. */
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
    // Offset 0 means null; the length of a null is undefined.
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
  // Both columns refer to the same field of the file, whether or not its texts were converted.
  const [fieldBefore, fieldAfter] = [textField(before), textField(after)];
  if (fieldBefore !== undefined || fieldAfter !== undefined) return fieldBefore === fieldAfter;
  return before.kind === 'views' && after.kind === 'views' && before.at === after.at;
}

// Copies of the first rows after one operation. A row is identified by its source row and its index among the rows of
// that source row, so that the same row can be found after the next operation.

export class StepRows implements IndexedRows {
  readonly schema: Schema;
  readonly #rowsMax: number;
  readonly #sourceRows: number[] = [];
  /** Index among the rows of the same source row, starting at 0. */
  readonly #repeats: number[] = [];
  readonly #seen = new Map<number, number>();
  readonly #index = new RowIndex(this);
  readonly #cells: (string | null)[][] = [];
  readonly #columnsById: ReadonlyMap<number, number>;

  constructor(schema: Schema, rowsMax: number) {
    this.schema = schema;
    this.#rowsMax = rowsMax;
    this.#columnsById = new Map(schema.map(({ id }, index) => [id, index]));
  }

  /** Number of rows that can still be added. */
  get freeRows(): number {
    return this.#rowsMax - this.#cells.length;
  }

  get count(): number {
    return this.#cells.length;
  }

  /** @returns the index of the first added row */
  add(count: number, sourceRow: (position: number) => number): number {
    const first = this.#cells.length;
    for (let position = 0; position < count; position++) {
      const row = sourceRow(position);
      const repeat = this.#seen.get(row) ?? 0;
      this.#seen.set(row, repeat + 1);
      this.#sourceRows.push(row);
      this.#repeats.push(repeat);
      this.#cells.push(new Array<string | null>(this.schema.length).fill(null));
    }
    return first;
  }

  /** @param text as cellText returns it */
  set(row: number, column: number, text: string | null): void {
    this.#cells[row]![column] = text;
  }

  sourceRow(row: number): number {
    return this.#sourceRows[row]!;
  }

  repeat(row: number): number {
    return this.#repeats[row]!;
  }

  cells(row: number): readonly (string | null)[] {
    return this.#cells[row]!;
  }

  /** Returns -1 if the row is not stored. */
  find(sourceRow: number, repeat: number): number {
    return this.#index.find(sourceRow, repeat);
  }

  /** Returns -1 if the column does not exist. */
  columnOf(id: number): number {
    return this.#columnsById.get(id) ?? -1;
  }
}

// Rows kept at one position between two operations: the first rows, the first rows that the preceding operation
// changed, and the first rows with an error at the following operation, as they arrived there. Receives all rows, but
// copies a limited number.

/**
 * Maximum number of changed rows, and of rows with errors, that are kept: the same as the number of first rows shown.
 */
export const INTERESTING_ROWS_MAX = 2_000;

export interface StepWatchSettings {
  readonly schema: Schema;
  /** State before the preceding operation; null at the start, where the rows come from the file. */
  readonly before: StepWatch | null;
  /** True if the preceding operation emits each row at once. */
  readonly isRowLocal: boolean;
  readonly rowsMax: number;
  readonly allowance: CellAllowance;
}

export class StepWatch {
  readonly rows: StepRows;
  /** Rows changed by the preceding operation. */
  readonly changed: KeptRows;
  /** Rows with an error at the following operation. */
  readonly rowsWithErrors: KeptRows;
  readonly #schema: Schema;
  readonly #before: StepWatch | null;
  readonly #isRowLocal: boolean;
  #readers: readonly CellReader[];
  #finder: ChangeFinder | null;
  /** The batch that is passing through the following operations. Its cells are still in memory. */
  #passing: Batch | null = null;
  /** Source rows of that batch that have an error. */
  readonly #sourceRowsWithErrors = new Set<number>();
  /**
   * Source row and repeat (index among the rows of the same source row) of the last row so far, and repeat of the
   * first row of the passing batch.
   */
  #lastSourceRow = 0;
  #lastRepeat = 0;
  #firstRepeat = 0;

  constructor({ schema, before, isRowLocal, rowsMax, allowance }: StepWatchSettings) {
    this.#schema = schema;
    this.#before = before;
    this.#isRowLocal = isRowLocal;
    this.rows = new StepRows(schema, rowsMax);
    this.changed = new KeptRows(INTERESTING_ROWS_MAX, allowance);
    this.rowsWithErrors = new KeptRows(INTERESTING_ROWS_MAX, allowance);
    this.#readers = schema.map(({ type }, column) => new CellReader(storedType({ type }), column));
    this.#finder = before === null ? null : new ChangeFinder(before.#schema, schema);
  }

  /** @param batch owned by the observer */
  take(batch: Batch): void {
    // A copy without the views made below, whose memory is released.
    this.#passing = batch.withColumns(batch.columns);
    this.#follow(batch);
    this.#keepFirst(batch);
    if (!this.changed.isFull && this.#before !== null) this.#keepChanged(batch, this.#before);
  }

  /** Reports an error of a row in the passing batch, or of a row that was held back before. */
  rowError(sourceRow: number): void {
    if (this.#passing !== null && !this.rowsWithErrors.isFull) this.#sourceRowsWithErrors.add(sourceRow);
  }

  /** The batch has passed through all following operations. */
  passed(): void {
    const passing = this.#passing;
    this.#passing = null;
    if (passing === null || this.#sourceRowsWithErrors.size === 0) return;
    const repeats = this.#repeatsOf(passing);
    let isBound = false;
    for (let position = 0; position < passing.live && !this.rowsWithErrors.isFull; position++) {
      const row = passing.physicalRow(position);
      const sourceRow = passing.sourceRow(row);
      const repeat = repeats[position]!;
      if (!this.#sourceRowsWithErrors.has(sourceRow)) continue;
      if (!isBound) for (const reader of this.#readers) reader.bind(passing);
      isBound = true;
      this.rowsWithErrors.add({ sourceRow, repeat, cells: this.#cells(row), changed: [] });
    }
    this.#sourceRowsWithErrors.clear();
  }

  /** The Run has ended: drops all references to its memory. */
  close(): void {
    this.#passing = null;
    this.#readers = [];
    this.#finder = null;
  }

  #keepFirst(batch: Batch): void {
    const count = Math.min(batch.live, this.rows.freeRows);
    if (count === 0) return;
    const first = this.rows.add(count, (position) => batch.sourceRow(batch.physicalRow(position)));
    for (const [column, reader] of this.#readers.entries()) {
      reader.bind(batch);
      for (let position = 0; position < count; position++) {
        this.rows.set(first + position, column, cellText(reader.read(batch.physicalRow(position))));
      }
    }
  }

  #keepChanged(batch: Batch, before: StepWatch): void {
    const repeats = this.#repeatsOf(batch);
    const finder = before.#passing === null ? null : this.#finder!;
    finder?.bind({ batch: before.#passing!, firstRepeat: before.#firstRepeat }, batch, repeats);
    if (this.#isRowLocal && (finder === null || finder.isSame)) return;
    let isBound = false;
    for (let position = 0; position < batch.live && !this.changed.isFull; position++) {
      const row = batch.physicalRow(position);
      const sourceRow = batch.sourceRow(row);
      const repeat = repeats[position]!;
      const found = finder?.changes(position, row) ?? null;
      const place = found === null ? before.rows.find(sourceRow, repeat) : -1;
      if (place < 0 && (found === null || found.length === 0)) continue;
      if (!isBound) for (const reader of this.#readers) reader.bind(batch);
      isBound = true;
      const cells = this.#cells(row);
      const changed = found ?? this.#changesSince(before.rows, place, cells);
      if (changed.length > 0) this.changed.add({ sourceRow, repeat, cells, changed });
    }
  }

  /** For each row of the batch, its index among the rows of the same source row. Such rows are adjacent. */
  #repeatsOf(batch: Batch): readonly number[] {
    const repeats: number[] = [];
    let last = 0;
    for (let position = 0; position < batch.live; position++) {
      const sourceRow = batch.sourceRow(batch.physicalRow(position));
      const before = repeats.at(-1);
      if (before === undefined) repeats.push(this.#firstRepeat);
      else repeats.push(sourceRow === last ? before + 1 : 0);
      last = sourceRow;
    }
    return repeats;
  }

  /** Counts the rows of one source row across batches, because they may arrive in several batches. */
  #follow(batch: Batch): void {
    if (batch.live === 0) return;
    const sourceRow = (position: number): number => batch.sourceRow(batch.physicalRow(position));
    this.#firstRepeat = sourceRow(0) === this.#lastSourceRow ? this.#lastRepeat + 1 : 0;
    const last = batch.live - 1;
    let first = last;
    while (first > 0 && sourceRow(first - 1) === sourceRow(last)) first--;
    this.#lastRepeat = last - first + (first === 0 ? this.#firstRepeat : 0);
    this.#lastSourceRow = sourceRow(last);
  }

  /** Changes of a row that the operation held back. Its earlier cells are known if it is one of the first rows. */
  #changesSince(before: StepRows, place: number, cells: readonly (string | null)[]): readonly ChangedCell[] {
    const cellsBefore = before.cells(place);
    return this.#schema.flatMap(({ id }, column) => {
      const columnBefore = before.columnOf(id);
      if (columnBefore < 0 || cellsBefore[columnBefore] === cells[column]) return [];
      return [{ column, text: cellsBefore[columnBefore]! }];
    });
  }

  #cells(row: number): readonly (string | null)[] {
    return this.#readers.map((reader) => cellText(reader.read(row)));
  }
}
