// How many rows a step of the chain takes at once. A Template may spend much on a row (a pattern on long cells), and the
// thread's other Runs and a cancellation wait until a step pauses: one that took long gets fewer rows the next time.
import { BATCH_ROWS_MAX, type Batch } from '../batch/batch.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Next } from '../operations/operation.ts';
import { SLICE_MILLISECONDS, type SliceClock } from './slice-clock.ts';
import { DONE, PAUSE, type Slices } from './time-slices.ts';

/** Rows of the first slice, whose cost nobody knows. */
const FIRST_ROWS = 64;

/** Bytes of the first slice, about: what a kernel does in 10 µs, and a slow pattern in 30 ms. */
const FIRST_BYTES = 16_384;

/** So many times more rows at once, when they were quick. */
const STEP = 4;

export class BatchPace {
  /** Of the next slice, at most. */
  rows: number;
  readonly #rowsMax: number;

  constructor(rowsFirst: number, rowsMax: number = BATCH_ROWS_MAX) {
    this.rows = Math.min(rowsFirst, rowsMax);
    this.#rowsMax = rowsMax;
  }

  /** So many rows held the thread for so long. */
  took(rows: number, milliseconds: number): void {
    if (milliseconds * STEP < SLICE_MILLISECONDS) {
      this.rows = Math.min(this.#rowsMax, Math.max(this.rows, rows * STEP));
    } else {
      const bearable = Math.floor((rows * SLICE_MILLISECONDS) / milliseconds);
      this.rows = Math.max(1, Math.min(this.#rowsMax, bearable));
    }
  }
}

/** Hands batches on in slices of as many rows as hold the thread for one time slice, and pauses between them. */
export function paced(clock: SliceClock, next: Next): Next {
  let pace: BatchPace | null = null;
  return (batch) => {
    if (batch.live === 0) return DONE;
    // What a small file is: the clock and the slices would cost more than the work, which looks at the clock itself.
    if (pace === null && batch.live <= FIRST_ROWS && batch.live <= firstRows(batch)) return next(batch);
    pace ??= new BatchPace(firstRows(batch));
    return inSteps(batch, pace, clock, next);
  };
}

function* inSteps(batch: Batch, pace: BatchPace, clock: SliceClock, next: Next): Slices {
  const { arena, live } = batch;
  const mark = arena.next;
  for (let from = 0; from < live; ) {
    const to = Math.min(live, from + pace.rows);
    const entered = clock.enter();
    yield* next(batch.slice(from, to));
    pace.took(to - from, clock.leave(entered));
    if (clock.isDue()) yield PAUSE;
    if (to < live) arena.release(mark);
    from = to;
  }
}

/** How many rows hold about as much as the first slice may. */
function firstRows(batch: Batch): number {
  const bytes = rawBytes(batch) / batch.live + madeBytes(batch);
  return Math.max(1, Math.min(FIRST_ROWS, Math.floor(FIRST_BYTES / bytes)));
}

/** Bytes of the file's rows. */
function rawBytes(batch: Batch): number {
  const { raw, heap } = batch;
  if (raw === null) return 0;
  const entry = (position: number): number => (raw.at >>> 2) + batch.physicalRow(position) * raw.stride;
  const [first, last] = [entry(0), entry(batch.live - 1)];
  return Math.max(0, heap.u32[last + raw.stride - 1]! - heap.u32[first]!);
}

/** Bytes of the cells of a row that do not stand in the file. */
function madeBytes(batch: Batch): number {
  const { u32 } = batch.heap;
  const row = batch.physicalRow(0);
  let bytes = 0;
  for (const column of batch.columns) {
    if (column.kind === 'views' && u32[(column.at + row * VIEW_BYTES) >>> 2] !== 0) {
      bytes += u32[((column.at + row * VIEW_BYTES) >>> 2) + 1]!;
    }
  }
  return bytes;
}
