// Finds the exact end of a Run's rows if an operator may end them anywhere in a batch (slice, stop_when) and all
// steps before it are row-local. Each batch passes through whole. Only the batch that contains the end is counted a
// second time, without the rows after the end, so that the counts of earlier operations do not include these rows.
import type { Batch } from '../batch/batch.ts';
import type { CodeCounts, OperationReport } from '../protocol/report.ts';
import type { Slices } from '../scheduling/time-slices.ts';
import type { Operator } from '../template/operation.ts';
import { INPUT_STEP } from './rejected-rows.ts';
import type { RunErrors } from './row-errors.ts';

/** The properties of a step that this count needs. */
export interface CountedStep {
  readonly operator: Operator;
  readonly report: OperationReport;
  readonly rowLocal: boolean;
}

interface StepCounts {
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly cellsChanged: number;
  readonly errors: CodeCounts;
  readonly state: ReturnType<RunErrors['state']>;
}

export class ExactEnd {
  /** Index of the operator that may end the rows. */
  readonly index: number;
  readonly #steps: readonly CountedStep[];
  readonly #errors: RunErrors;

  /** Returns null if the first operator that may end the rows does not support this. */
  static of(steps: readonly CountedStep[], errors: RunErrors): ExactEnd | null {
    const index = steps.findIndex(({ operator }) => operator.rowsWanted !== undefined);
    if (index < 0 || steps[index]!.operator.lastRow === undefined) return null;
    return steps.slice(0, index).every(({ rowLocal }) => rowLocal) ? new ExactEnd(index, steps, errors) : null;
  }

  constructor(index: number, steps: readonly CountedStep[], errors: RunErrors) {
    this.index = index;
    this.#steps = steps.slice(0, index + 1);
    this.#errors = errors;
  }

  /** Pushes a batch so that no row after the last one is counted. `muted`: the operator must not receive the rows. */
  *push(batch: Batch, push: (batch: Batch, muted: boolean) => Slices): Slices {
    const { operator } = this.#steps[this.index]!;
    if (operator.lastRow!() !== null) return;
    const { rejected } = this.#errors;
    if (rejected !== null) rejected.isHeld = true;
    const ragged = rejected?.mark(INPUT_STEP) ?? 0;
    const before = this.#steps.map((step, index) => this.#countsOf(step, index));
    yield* push(batch, false);
    const last = operator.lastRow!();
    if (last !== null) {
      for (const [index, counts] of before.entries()) this.#restore(index, counts);
      rejected?.restore(INPUT_STEP, ragged);
      let rows = 0;
      while (rows < batch.live && batch.sourceRow(batch.physicalRow(rows)) <= last) rows++;
      yield* push(batch.slice(0, rows), true);
    }
    if (rejected !== null) rejected.isHeld = false;
  }

  #countsOf({ report }: CountedStep, index: number): StepCounts {
    return {
      rowsIn: report.rows_in,
      rowsOut: report.rows_out,
      cellsChanged: report.cells_changed,
      errors: copyOf(report.errors),
      state: this.#errors.state(index),
    };
  }

  /** Restores the counts of a step. The operator that ends the rows has counted only rows_in beyond the end. */
  #restore(index: number, counts: StepCounts): void {
    const { report } = this.#steps[index]!;
    report.rows_in = counts.rowsIn;
    if (index === this.index) return;
    report.rows_out = counts.rowsOut;
    report.cells_changed = counts.cellsChanged;
    for (const code of Object.keys(report.errors)) delete report.errors[code as keyof CodeCounts];
    Object.assign(report.errors, counts.errors);
    this.#errors.restore(index, counts.state);
  }
}

/** Copies field by field, because structuredClone is many times slower and this runs for every batch. */
function copyOf(errors: CodeCounts): CodeCounts {
  const copy: CodeCounts = {};
  for (const [code, entry] of Object.entries(errors)) {
    copy[code as keyof CodeCounts] = { count: entry.count, rows: entry.rows.slice() };
  }
  return copy;
}
