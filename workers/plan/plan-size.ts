// How large the plan of a Run may become, and what it weighs. It grows with the columns that a file brings times the
// operations on them, so that a header of 80 KB could ask for gigabytes: it is counted step by step, as it is made.
import { Failed } from '../protocol/failure.ts';

/**
 * Columns of all steps together: 32 operations on the widest file, 1,000 on one of 524 columns. That is some 200 MB of the
 * budget and seconds of work; files have some dozen columns, Templates some dozen operations.
 */
export const PLAN_COLUMNS_MAX = 524_288;

/**
 * What a column of one step weighs in the plan, in the operators and in the batch that goes through them: 25 to 120 measured
 * where an operation treats all columns alike, 250 to 1,000 where each has its own reader and builder.
 */
const COLUMN_BYTES = 400;

/** ... of the file itself: its header, its names, its place in input and output (670 measured). */
const FILE_COLUMN_BYTES = 800;

/** So many bytes a plan may weigh without being asked for: those of 32 columns through 32 operations. */
const PLAN_BYTES_FREE = 512 * 1024;

/** Asked for at once: the budget is shared with other threads. */
const STEP_BYTES = 256 * 1024;

/** Has `bytes` more taken for the plan, or throws what ends the plan. */
export type TakeForPlan = (bytes: number) => void;

export class PlanSize {
  readonly #take: TakeForPlan;
  #columns = 0;
  #bytes = 0;
  #takenBytes = PLAN_BYTES_FREE;

  constructor(take: TakeForPlan) {
    this.#take = take;
  }

  /** Before anything is made of the file's columns. */
  addFile(columns: number): void {
    this.#add(columns * FILE_COLUMN_BYTES);
  }

  /**
   * Before what a step makes of so many columns is kept.
   * @throws Failed RUN_RESOURCE_LIMIT
   */
  addStep(columns: number): void {
    this.#columns += columns;
    if (this.#columns > PLAN_COLUMNS_MAX) throw new Failed('RUN_RESOURCE_LIMIT', TOO_LARGE);
    this.#add(columns * COLUMN_BYTES);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#takenBytes) {
      this.#take(STEP_BYTES);
      this.#takenBytes += STEP_BYTES;
    }
  }
}

const TOO_LARGE =
  `The file has too many columns for so many operations: over all operations a Run has at most ${PLAN_COLUMNS_MAX} columns. ` +
  'Leave columns out first, with other_columns: drop or select.';
