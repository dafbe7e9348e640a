// How many rows the next batch of a Run may have. A Template may spend much on a row (a pattern on long cells), and the
// thread's other Runs and a cancellation wait for a batch's end: one that took long makes the next ones smaller.

/** A batch that took longer is too large: five times the breath of a Run (see run.ts). */
const SLOW_BATCH_MILLISECONDS = 40;

/** Batches become so many times smaller; and larger again, when that leaves them below the limit. */
const STEP = 4;

export class BatchPace {
  /** Of the next batch, at most. */
  rows: number;
  readonly #rowsMax: number;

  constructor(rowsMax: number) {
    this.rows = rowsMax;
    this.#rowsMax = rowsMax;
  }

  /** A batch of so many rows took so long. */
  took(rows: number, milliseconds: number): void {
    if (milliseconds > SLOW_BATCH_MILLISECONDS) this.rows = Math.max(1, Math.floor(rows / STEP));
    else if (milliseconds * STEP < SLOW_BATCH_MILLISECONDS) this.rows = Math.min(this.#rowsMax, this.rows * STEP);
  }
}
