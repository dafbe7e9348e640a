// The operation `slice`: keeps a range of rows.
import type { Batch } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { SpillQueue } from '../execution/ordered/row-queues.ts';
import { DONE, type Slices, type Steps } from '../scheduling/time-slices.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';

const count = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000_000, description }));

export const slice = defineOperation({
  name: 'slice',
  purpose: 'skips rows at the start and the end, and stops after `limit` rows',
  summary: 'Skips rows at the start and at the end, and stops after a number of rows.',
  knownAs: [
    { names: 'limit head first_rows take rows top_rows limit_rows', form: 'limit: 10' },
    { names: 'skip offset', form: 'skip: 10' },
  ],
  parameters: Type.Object(
    {
      skip: count('Number of rows to skip at the start.'),
      limit: count('Maximum number of rows. Later rows are not processed.'),
      skip_last: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description: 'Number of rows to skip at the end, such as a footer.',
        }),
      ),
    },
    { anyOf: [{ required: ['skip'] }, { required: ['limit'] }, { required: ['skip_last'] }] },
  ),
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'Without the first row and the footer',
      operation: { op: 'slice', skip: 1, skip_last: 2 },
      input: { columns: ['a'], rows: [['1'], ['2'], ['3'], [null], ['Total']] },
      output: { columns: ['a'], rows: [['2'], ['3']] },
    },
    {
      title: 'The first two',
      operation: { op: 'slice', limit: 2 },
      input: { columns: ['a'], rows: [['1'], ['2'], ['3']] },
      output: { columns: ['a'], rows: [['1'], ['2']] },
    },
  ],
  effect({ skip = 0, limit = Number.POSITIVE_INFINITY, skip_last = 0 }) {
    return { skip, limit, skipLast: skip_last };
  },
  start({ skip, limit, skipLast }, context) {
    return new Slice(skip, limit, skipLast, context);
  },
});

class Slice implements Operator {
  readonly #context: OperatorContext;
  readonly #held: SpillQueue | null;
  readonly #skipLast: number;
  #skip: number;
  #limit: number;
  #lastRow: number | null = null;

  constructor(skip: number, limit: number, skipLast: number, context: OperatorContext) {
    this.#context = context;
    this.#skip = skip;
    this.#limit = limit;
    this.#skipLast = skipLast;
    this.#held = skipLast === 0 ? null : new SpillQueue(context);
  }

  push(given: Batch): Slices {
    const wanted = this.rowsWanted();
    if (wanted === 0) return DONE;
    const batch = given.slice(0, Math.min(given.live, wanted));
    if (batch.live === wanted) this.#lastRow = batch.sourceRow(batch.physicalRow(wanted - 1));
    const from = Math.min(this.#skip, batch.live);
    this.#skip -= from;
    const rest = batch.slice(from, batch.live);
    if (rest.live === 0) return DONE;
    return this.#held === null ? this.#emit(rest) : this.#hold(rest, this.#held);
  }

  rowsWanted(): number {
    if (this.#limit === 0) return 0;
    return this.#skip + this.#limit + this.#skipLast - (this.#held?.rows ?? 0);
  }

  lastRow(): number | null {
    return this.#lastRow;
  }

  /** The rows that are still held are those to drop at the end, so nothing is emitted. */
  finish(): Steps {
    this.#held?.drop();
    return [];
  }

  #emit(batch: Batch): Slices {
    const some = batch.slice(0, Math.min(batch.live, this.#limit));
    this.#limit -= some.live;
    return some.live > 0 ? this.#context.next(some) : DONE;
  }

  *#hold(batch: Batch, held: SpillQueue): Slices {
    const surplus = held.rows + batch.live - this.#skipLast;
    const fromHeld = Math.max(0, Math.min(surplus, held.rows));
    const fromBatch = Math.max(0, surplus - fromHeld);
    if (fromHeld > 0) yield* held.release(fromHeld, (rows) => this.#emit(rows));
    if (fromBatch > 0) yield* this.#emit(batch.slice(0, fromBatch));
    if (fromBatch < batch.live) held.add(batch.slice(fromBatch, batch.live));
  }
}
