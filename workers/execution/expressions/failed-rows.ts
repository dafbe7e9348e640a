// Rows of one batch for which an expression of the step, not a cell, could not be computed.
import type { Batch } from '../../batch/batch.ts';
import type { RowErrorAction, RowErrors } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';

export class FailedRows {
  readonly #codes = new Map<number, RowErrorCode>();

  get size(): number {
    return this.#codes.size;
  }

  readonly add = (physicalRow: number, code: RowErrorCode): void => {
    this.#codes.set(physicalRow, code);
  };

  /** Reports those among the live rows of the batch, in their order; gives what is to become of each. */
  report(batch: Batch, column: string | null, errors: RowErrors): Map<number, RowErrorAction> {
    const actions = new Map<number, RowErrorAction>();
    if (this.#codes.size === 0) return actions;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const code = this.#codes.get(row);
      if (code !== undefined) actions.set(row, errors.report(batch, row, column, code));
    }
    return actions;
  }

  /** Reports as `report`; gives the rows to drop. */
  dropped(batch: Batch, column: string | null, errors: RowErrors): Set<number> {
    const actions = this.report(batch, column, errors);
    return new Set([...actions].filter(([, action]) => action === 'drop_row').map(([row]) => row));
  }
}
