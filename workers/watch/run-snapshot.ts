// What a watched Run left behind: copies of the first rows behind each operation, the rows in trouble, and the profile of the
// columns behind one operation. Row by row and column by column it can be asked what changed.
import type { Batch } from '../batch/batch.ts';
import { CellReader } from '../batch/cell-values.ts';
import { type Column, type Schema, storedType } from '../batch/schema.ts';
import { textOfValue } from '../execution/cells/text-of-value.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { RunReport } from '../run/report.ts';
import type { RowTrouble, RunWatch } from '../run/run-watch.ts';
import { ColumnProfile, type Profile } from './column-profile.ts';
import { StepRows } from './step-rows.ts';

/** Rows that are copied behind each operation. */
export const ROWS_KEPT_MAX = 2_000;

/** Cells that are copied in all: of a file of 500 columns and many operations fewer rows are. */
const CELLS_KEPT_MAX = 4_000_000;

/** Rows in trouble that are kept for each operation. */
export const TROUBLES_KEPT_MAX = 2_000;

export interface SnapshotSettings {
  readonly gathers: boolean;
  readonly rowsMax: number;
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
  readonly #profiledStep: number;
  #plan: RunPlan | null = null;
  #report: RunReport | null = null;
  #steps: StepRows[] = [];
  #readers: (readonly CellReader[])[] = [];
  #profiles: readonly ColumnProfile[] = [];
  #profileReaders: readonly CellReader[] = [];
  #troubles = new Map<number, Trouble[]>();
  #rowsSeen = 0;

  constructor({ gathers, rowsMax, profiledStep }: SnapshotSettings) {
    this.gathers = gathers;
    this.rowsMax = rowsMax;
    this.#profiledStep = profiledStep;
  }

  begin(plan: RunPlan, report: RunReport): void {
    const schemas = [plan.schema, ...plan.steps.map(({ output }) => output)];
    const columns = schemas.reduce((sum, schema) => sum + schema.length, 0);
    const rowsMax = Math.max(1, Math.min(ROWS_KEPT_MAX, Math.floor(CELLS_KEPT_MAX / Math.max(1, columns))));
    this.#plan = plan;
    this.#report = report;
    this.#steps = schemas.map((schema) => new StepRows(schema, rowsMax));
    this.#readers = schemas.map(readersOf);
    const profiled = schemas[this.#profiledStep] ?? [];
    this.#profiles = profiled.map(({ type }) => new ColumnProfile(type));
    this.#profileReaders = readersOf(profiled);
    this.#troubles = new Map();
    this.#rowsSeen = 0;
  }

  rows(step: number, batch: Batch): void {
    if (step === 0) this.#rowsSeen += batch.live;
    const rows = this.#steps[step]!;
    const count = Math.min(batch.live, rows.room);
    if (count > 0) {
      const first = rows.add(count, (position) => batch.sourceRow(batch.physicalRow(position)));
      for (const [column, reader] of this.#readers[step]!.entries()) {
        reader.bind(batch);
        for (let position = 0; position < count; position++) {
          rows.set(first + position, column, textOf(reader.read(batch.physicalRow(position))));
        }
      }
    }
    if (step === this.#profiledStep) this.#profileRows(batch);
  }

  trouble(step: number, { batch, physicalRow, column, code }: RowTrouble): void {
    const troubles = this.#troubles.get(step) ?? [];
    if (troubles.length < TROUBLES_KEPT_MAX) troubles.push({ row: batch.sourceRow(physicalRow), column, code });
    this.#troubles.set(step, troubles);
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
    return this.#steps[step] ?? null;
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
        profile.add(textOf(value), value);
      }
    }
  }
}

function readersOf(schema: Schema): readonly CellReader[] {
  return schema.map((column: Column, index) => new CellReader(storedType({ type: column.type }), index));
}

function textOf(value: unknown): string | null {
  return value === null ? null : textOfValue(value);
}
