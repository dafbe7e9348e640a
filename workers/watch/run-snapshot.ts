// Data kept from a watched Run: copies of rows after each operation, row errors, and the profile of the columns after
// one operation.
import type { Batch } from '../batch/batch.ts';
import { type Schema, storedType } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/value-cells.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import type { SheetRow } from '../input/reader.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { RunReport } from '../protocol/report.ts';
import type { RowError, RunWatch } from '../run/run-job.ts';
import { ColumnProfile, type Profile } from './column-profile.ts';
import { CellAllowance, type KeptRow } from './kept-rows.ts';
import { type StepRows, StepWatch } from './step-watch.ts';

/** Maximum number of first rows copied after each operation. */
export const ROWS_KEPT_MAX = 2_000;

/**
 * Maximum number of cells copied from the first rows, over all operations. A file with 500 columns and many
 * operations gets fewer rows.
 */
const CELLS_KEPT_MAX = 4_000_000;

/** Maximum number of cells copied from rows that were changed or have errors, over all operations. */
const CELLS_OF_INTEREST_MAX = 4_000_000;

/** Maximum number of row errors noted for each operation. */
const ERRORS_KEPT_MAX = 20_000;

export interface SnapshotSettings {
  readonly continuesAfterFailure: boolean;
  /** Null: all rows. */
  readonly rowsMax: number | null;
  /** Source rows to process, ascending; null: all rows. */
  readonly pickedRows: readonly number[] | null;
  /** Number of operations after which the columns are profiled. */
  readonly profiledStep: number;
}

export interface KeptError {
  readonly row: number;
  readonly column: string | null;
  readonly code: string;
}

export class RunSnapshot implements RunWatch {
  readonly continuesAfterFailure: boolean;
  readonly rowsMax: number;
  readonly pickedRows: readonly number[] | null;
  readonly #profiledStep: number;
  #plan: RunPlan | null = null;
  #report: RunReport | null = null;
  #steps: StepWatch[] = [];
  #profiles: readonly ColumnProfile[] = [];
  #profileReaders: readonly CellReader[] = [];
  #errors = new Map<number, KeptError[]>();
  #rowsSeen = 0;
  #sheetRows: readonly number[] | null = null;

  constructor({ continuesAfterFailure, rowsMax, pickedRows, profiledStep }: SnapshotSettings) {
    this.continuesAfterFailure = continuesAfterFailure;
    // Nothing needs to be read after the last picked row.
    this.rowsMax = rowsMax ?? pickedRows?.at(-1) ?? Number.POSITIVE_INFINITY;
    this.pickedRows = pickedRows;
    this.#profiledStep = profiledStep;
  }

  begin(plan: RunPlan, report: RunReport): void {
    const schemas = [plan.schema, ...plan.steps.map(({ output }) => output)];
    const columns = schemas.reduce((sum, schema) => sum + schema.length, 0);
    const rowsMax = Math.max(1, Math.min(ROWS_KEPT_MAX, Math.floor(CELLS_KEPT_MAX / Math.max(1, columns))));
    this.#plan = plan;
    this.#report = report;
    const allowance = new CellAllowance(CELLS_OF_INTEREST_MAX);
    const watches: StepWatch[] = [];
    for (const [step, schema] of schemas.entries()) {
      const before = watches.at(-1) ?? null;
      const isRowLocal = plan.steps[step - 1]?.rowLocal ?? true;
      watches.push(new StepWatch({ schema, before, isRowLocal, rowsMax, allowance }));
    }
    this.#steps = watches;
    const profiled = schemas[this.#profiledStep] ?? [];
    this.#profiles = profiled.map(({ type }) => new ColumnProfile(type));
    this.#profileReaders = readersOf(profiled);
    this.#errors = new Map();
    this.#rowsSeen = 0;
  }

  rows(step: number, batch: Batch): void {
    if (step === 0) this.#rowsSeen += batch.live;
    this.#steps[step]!.take(batch);
    if (step === this.#profiledStep) this.#profileRows(batch);
  }

  passed(step: number): void {
    this.#steps[step]!.passed();
  }

  /** Keeps the positions in the sheet of the first data rows, up to the first row of another sheet. */
  placed(placeOf: (row: number) => SheetRow | null): void {
    const first = placeOf(1);
    const rows: number[] = [];
    for (let row = 1; row <= Math.min(this.#rowsSeen, ROWS_KEPT_MAX); row++) {
      const place = placeOf(row);
      if (place === null || place.sheet !== first?.sheet) break;
      rows.push(place.row - 1);
    }
    this.#sheetRows = rows;
  }

  /** See Watched.sheetRows. */
  get sheetRows(): readonly number[] | null {
    return this.#sheetRows;
  }

  rowError(step: number, { batch, physicalRow, column, code }: RowError): void {
    const errors = this.#errors.get(step) ?? [];
    const row = batch.sourceRow(physicalRow);
    if (errors.length === ERRORS_KEPT_MAX) return;
    errors.push({ row, column, code });
    this.#errors.set(step, errors);
    this.#steps[step]!.rowError(row);
  }

  /**
   * Ends the Run and releases its memory. Otherwise this object would keep that memory alive, and the thread's
   * garbage collector would try to free it several times a second.
   */
  close(): void {
    this.#profileReaders = [];
    for (const step of this.#steps) step.close();
  }

  /** Null if the Run did not reach its first row. */
  get plan(): RunPlan | null {
    return this.#plan;
  }

  /** Number of file rows read so far. */
  get rowsSeen(): number {
    return this.#rowsSeen;
  }

  get report(): RunReport | null {
    return this.#report;
  }

  /** The rows after the given number of operations. */
  step(step: number): StepRows | null {
    return this.#steps[step]?.rows ?? null;
  }

  /** Among the rows after the given number of operations, those that the last of these operations changed. */
  changed(step: number): readonly KeptRow[] {
    return this.#steps[step]?.changed.rows ?? [];
  }

  /** True if more rows may have been changed than were kept. */
  hasMoreChanged(step: number): boolean {
    return this.#steps[step]?.changed.isFull === true;
  }

  /**
   * The rows after the given number of operations that had errors at the next one, as they arrived there. Excludes
   * rows that the operation had held back.
   */
  rowsWithErrors(step: number): readonly KeptRow[] {
    return this.#steps[step]?.rowsWithErrors.rows ?? [];
  }

  /**
   * A row after the given number of operations, with the changes by the last of them. Null if the row was not kept.
   */
  row(step: number, sourceRow: number, repeat: number): KeptRow | null {
    const watch = this.#steps[step];
    if (watch === undefined) return null;
    const changed = watch.changed.find(sourceRow, repeat);
    if (changed !== null) return changed;
    const place = watch.rows.find(sourceRow, repeat);
    if (place >= 0) return { sourceRow, repeat, cells: watch.rows.cells(place), changed: [] };
    return watch.rowsWithErrors.find(sourceRow, repeat);
  }

  /** In the order of their occurrence. */
  errors(operation: number): readonly KeptError[] {
    return this.#errors.get(operation) ?? [];
  }

  get profiles(): readonly Profile[] {
    return this.#profiles.map(({ profile }) => profile);
  }

  #profileRows(batch: Batch): void {
    for (const [column, reader] of this.#profileReaders.entries()) {
      const profile = this.#profiles[column]!;
      reader.bind(batch);
      for (let position = 0; position < batch.live; position++) {
        const value = reader.read(batch.physicalRow(position));
        profile.add(value === null ? null : textOfValue(value), value);
      }
    }
  }
}

function readersOf(schema: Schema): readonly CellReader[] {
  return schema.map(({ type }, index) => new CellReader(storedType({ type }), index));
}
