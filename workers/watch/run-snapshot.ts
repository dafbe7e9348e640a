// What a watched Run left behind: copies of rows behind each operation, what was in trouble, and the profile of the columns
// behind one operation.
import type { Batch } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { type Schema, storedType } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/text-of-value.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { RunReport } from '../run/report.ts';
import type { RowTrouble, RunWatch } from '../run/run-watch.ts';
import { ColumnProfile, type Profile } from './column-profile.ts';
import { CellAllowance, type KeptRow } from './kept-rows.ts';
import type { StepRows } from './step-rows.ts';
import { StepWatch } from './step-watch.ts';

/** Rows that are copied behind each operation. */
export const ROWS_KEPT_MAX = 2_000;

/** Cells that are copied in all of the first rows: of a file of 500 columns and many operations fewer rows are. */
const CELLS_KEPT_MAX = 4_000_000;

/** Cells that are copied in all of rows that were changed or in trouble. */
const CELLS_OF_INTEREST_MAX = 4_000_000;

/** Cells in trouble that are noted for each operation. */
const TROUBLES_KEPT_MAX = 20_000;

export interface SnapshotSettings {
  readonly gathers: boolean;
  /** Null: all. */
  readonly rowsMax: number | null;
  /** Source rows, ascending, that are run alone; null: all. */
  readonly pickedRows: readonly number[] | null;
  /** Operations behind which the columns are profiled. */
  readonly profiledStep: number;
}

export interface Trouble {
  readonly row: number;
  readonly column: string | null;
  readonly code: string;
}

export class RunSnapshot implements RunWatch {
  readonly gathers: boolean;
  readonly rowsMax: number;
  readonly pickedRows: readonly number[] | null;
  readonly #profiledStep: number;
  #plan: RunPlan | null = null;
  #report: RunReport | null = null;
  #steps: StepWatch[] = [];
  #profiles: readonly ColumnProfile[] = [];
  #profileReaders: readonly CellReader[] = [];
  #troubles = new Map<number, Trouble[]>();
  #rowsSeen = 0;

  constructor({ gathers, rowsMax, pickedRows, profiledStep }: SnapshotSettings) {
    this.gathers = gathers;
    // Behind the last of them there is nothing to be read for.
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
    this.#troubles = new Map();
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

  trouble(step: number, { batch, physicalRow, column, code }: RowTrouble): void {
    const troubles = this.#troubles.get(step) ?? [];
    const row = batch.sourceRow(physicalRow);
    if (troubles.length === TROUBLES_KEPT_MAX) return;
    troubles.push({ row, column, code });
    this.#troubles.set(step, troubles);
    this.#steps[step]!.trouble(row);
  }

  /**
   * The Run has ended. Who keeps what is left would keep its memory too, which the thread's collector then tries to have back
   * several times a second.
   */
  close(): void {
    this.#profileReaders = [];
    for (const step of this.#steps) step.close();
  }

  /** Null: the Run did not come to its first row. */
  get plan(): RunPlan | null {
    return this.#plan;
  }

  /** Of the file, so far. */
  get rowsSeen(): number {
    return this.#rowsSeen;
  }

  get report(): RunReport | null {
    return this.#report;
  }

  /** The rows behind so many operations. */
  step(step: number): StepRows | null {
    return this.#steps[step]?.rows ?? null;
  }

  /** Of the rows behind so many operations, those that the last of these changed. */
  changed(step: number): readonly KeptRow[] {
    return this.#steps[step]?.changed.rows ?? [];
  }

  /** Whether that may be fewer than were changed. */
  hasMoreChanged(step: number): boolean {
    return this.#steps[step]?.changed.isFull === true;
  }

  /** The rows in trouble behind so many operations, as they came to the next; without those that it had held back. */
  troubled(step: number): readonly KeptRow[] {
    return this.#steps[step]?.troubled.rows ?? [];
  }

  /** A row behind so many operations, with what the last of these changed; null: it was not kept. */
  row(step: number, sourceRow: number, repeat: number): KeptRow | null {
    const watch = this.#steps[step];
    if (watch === undefined) return null;
    const changed = watch.changed.find(sourceRow, repeat);
    if (changed !== null) return changed;
    const place = watch.rows.find(sourceRow, repeat);
    if (place >= 0) return { sourceRow, repeat, cells: watch.rows.cells(place), changed: [] };
    return watch.troubled.find(sourceRow, repeat);
  }

  /** In the order in which they were met. */
  troubles(operation: number): readonly Trouble[] {
    return this.#troubles.get(operation) ?? [];
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
