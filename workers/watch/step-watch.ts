// What is kept of the rows between two operations: the first of all, the first that the operation before changed, and the first
// in trouble at the operation behind, as they came to it. All rows pass by; what is copied of them has its ceilings.
import type { Batch } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { type Schema, storedType } from '../batch/schema.ts';
import { cellText } from './cell-text.ts';
import { ChangeFinder } from './change-finder.ts';
import { type CellAllowance, type ChangedCell, KeptRows } from './kept-rows.ts';
import { StepRows } from './step-rows.ts';

/** Rows that an operation changed, and rows in trouble at one, that are kept: as many as are shown of all. */
export const INTERESTING_ROWS_MAX = 2_000;

export interface StepWatchSettings {
  readonly schema: Schema;
  /** Null: these are the rows of the file. */
  readonly before: StepWatch | null;
  /** The operation before hands on each row at once. */
  readonly isRowLocal: boolean;
  readonly rowsMax: number;
  readonly allowance: CellAllowance;
}

export class StepWatch {
  readonly rows: StepRows;
  /** By the operation before. */
  readonly changed: KeptRows;
  /** At the operation behind. */
  readonly troubled: KeptRows;
  readonly #schema: Schema;
  readonly #before: StepWatch | null;
  readonly #isRowLocal: boolean;
  #readers: readonly CellReader[];
  #finder: ChangeFinder | null;
  /** The batch that is on its way through the operations behind: its cells are still there. */
  #passing: Batch | null = null;
  /** Source rows in trouble of that batch. */
  readonly #inTrouble = new Set<number>();
  /** The last row of the batches so far, and of the batch on its way the first: its place among those of its source row. */
  #lastSourceRow = 0;
  #lastRepeat = 0;
  #firstRepeat = 0;

  constructor({ schema, before, isRowLocal, rowsMax, allowance }: StepWatchSettings) {
    this.#schema = schema;
    this.#before = before;
    this.#isRowLocal = isRowLocal;
    this.rows = new StepRows(schema, rowsMax);
    this.changed = new KeptRows(INTERESTING_ROWS_MAX, allowance);
    this.troubled = new KeptRows(INTERESTING_ROWS_MAX, allowance);
    this.#readers = schema.map(({ type }, column) => new CellReader(storedType({ type }), column));
    this.#finder = before === null ? null : new ChangeFinder(before.#schema, schema);
  }

  /** @param batch the watcher's own */
  take(batch: Batch): void {
    // Without the views that are made below, whose room is given back.
    this.#passing = batch.withColumns(batch.columns);
    this.#follow(batch);
    this.#keepFirst(batch);
    if (!this.changed.isFull && this.#before !== null) this.#keepChanged(batch, this.#before);
  }

  /** A row of the batch that is on its way, or one that was held back before. */
  trouble(sourceRow: number): void {
    if (this.#passing !== null && !this.troubled.isFull) this.#inTrouble.add(sourceRow);
  }

  /** The batch has gone through all operations behind. */
  passed(): void {
    const passing = this.#passing;
    this.#passing = null;
    if (passing === null || this.#inTrouble.size === 0) return;
    const repeats = this.#repeatsOf(passing);
    let isBound = false;
    for (let position = 0; position < passing.live && !this.troubled.isFull; position++) {
      const row = passing.physicalRow(position);
      const sourceRow = passing.sourceRow(row);
      const repeat = repeats[position]!;
      if (!this.#inTrouble.has(sourceRow)) continue;
      if (!isBound) for (const reader of this.#readers) reader.bind(passing);
      isBound = true;
      this.troubled.add({ sourceRow, repeat, cells: this.#cells(row), changed: [] });
    }
    this.#inTrouble.clear();
  }

  /** The Run has ended: nothing here may refer to its memory any more. */
  close(): void {
    this.#passing = null;
    this.#readers = [];
    this.#finder = null;
  }

  #keepFirst(batch: Batch): void {
    const count = Math.min(batch.live, this.rows.room);
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

  /** Of each row among those of the same source row: they come one behind the other. */
  /** Of each row of the batch that is on its way, among those of the same source row. */
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

  /** The rows of one source row may come in several batches, and are counted through all of them. */
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

  /** Of a row that the operation held back: where it is one of the first, it is known how it was. */
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
