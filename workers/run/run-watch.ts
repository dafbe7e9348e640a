// The contract of who watches a Run: what comes to it behind each operation. A Run without a watcher is built without these
// stages, so that it pays nothing for them; one with a watcher makes the same bytes.
import type { Batch } from '../batch/batch.ts';
import type { Next, RowErrorAction, RowErrorRule, RowErrors } from '../operations/operation.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { RowErrorCode, RunReport } from './report.ts';
import { DONE, type Slices } from './time-slices.ts';

export interface RunWatch {
  /** A row that would end the Run is left out, and the reading goes on: the outcome then says nothing of the Run. */
  readonly gathers: boolean;
  /** Rows of the file that are read at most. Asked before each batch: who has seen enough lowers it. */
  readonly rowsMax: number;
  /** Source rows, ascending, that are run alone; others are dropped right behind the reader, so that these keep their numbers. */
  readonly pickedRows: readonly number[] | null;
  /** Comes before the first row, and again when the Run begins again: what was seen before does not count. */
  begin(plan: RunPlan, report: RunReport): void;
  /**
   * The live rows behind so many operations; 0: as they come to the first. The batch is the watcher's own: it may make views
   * of its columns, and takes back the room that it needed.
   */
  rows(step: number, batch: Batch): void;
  /** What the last batch behind so many operations became has passed too; until then its cells stay where they are. */
  passed(step: number): void;
  /** A row in trouble at an operation, with the batch that it was reported with. */
  trouble(step: number, trouble: RowTrouble): void;
}

export interface RowTrouble {
  readonly batch: Batch;
  readonly physicalRow: number;
  readonly column: string | null;
  readonly code: RowErrorCode;
}

/** Shows rows to a watcher on their way to `next`; without one that is `next` itself. */
export function watched(watch: RunWatch | null, step: number, next: Next): Next {
  if (watch === null) return next;
  return (batch) => {
    const mark = batch.arena.next;
    // A copy: views that are made of the columns of this one would be written in the place of the file's own bytes.
    if (batch.live > 0) watch.rows(step, batch.withColumns(batch.columns));
    batch.arena.release(mark);
    const passed = (): void => {
      const behind = batch.arena.next;
      watch.passed(step);
      batch.arena.release(behind);
    };
    const slices = next(batch);
    if (slices !== DONE) return andThen(slices, passed);
    passed();
    return DONE;
  };
}

function* andThen(slices: Slices, act: () => void): Slices {
  yield* slices;
  act();
}

/** Tells a watcher of the rows in trouble at one operation. */
export function watchedErrors(watch: RunWatch, step: number, errors: RowErrors): RowErrors {
  return {
    report(
      batch: Batch,
      physicalRow: number,
      column: string | null,
      code: RowErrorCode,
      rule?: RowErrorRule,
    ): RowErrorAction {
      watch.trouble(step, { batch, physicalRow, column, code });
      return errors.report(batch, physicalRow, column, code, rule);
    },
    failCheck: (message) => errors.failCheck(message),
    counts: errors.counts,
  };
}
