// Finds the exact end of a Run's rows at an operator that may have had enough anywhere in a batch (slice, stop_when) while
// everything before it is row-local: such a batch goes through whole, and only the one with the end in it is counted
// again without the rows behind, which so never reached the earlier operations.
import type { Batch } from '../batch/batch.ts';
import type { Operator } from '../operations/operation.ts';
import type { CodeCounts, OperationReport } from './report.ts';
import type { RunErrors } from './row-errors.ts';
import type { Slices } from './time-slices.ts';

/** A step as the counting needs it. */
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
  /** Index of the operator with the end. */
  readonly index: number;
  readonly #steps: readonly CountedStep[];
  readonly #errors: RunErrors;

  /** Null when the first operator that may have enough cannot be served so. */
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

  /** Pushes a batch so that in the end no row behind the last one is counted. `muted`: the operator must not see the rows. */
  *push(batch: Batch, push: (batch: Batch, muted: boolean) => Slices): Slices {
    const { operator } = this.#steps[this.index]!;
    if (operator.lastRow!() !== null) return;
    const { rejected } = this.#errors;
    if (rejected !== null) rejected.isHeld = true;
    const before = this.#steps.map((step, index) => this.#countsOf(step, index));
    yield* push(batch, false);
    const last = operator.lastRow!();
    if (last !== null) {
      for (const [index, counts] of before.entries()) this.#restore(index, counts);
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

  /** The operator with the end itself has counted no row behind it, but those that came in. */
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

/** Part by part: the runtime's own way to copy takes many times as long, and this is done for each batch. */
function copyOf(errors: CodeCounts): CodeCounts {
  const copy: CodeCounts = {};
  for (const [code, entry] of Object.entries(errors)) {
    copy[code as keyof CodeCounts] = { count: entry.count, rows: entry.rows.slice() };
  }
  return copy;
}
