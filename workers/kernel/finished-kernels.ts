// Signatures of the kernels over finished rows; what they do is told where they are written (assembly/finished-rows.ts and
// finished-order.ts). All values are addresses or counts.

/** Bytes of an entry, and of the counters that sorting needs. */
export const ENTRY_BYTES = 16;
export const SORT_COUNTS_BYTES = 8192;

export interface FinishedKernels {
  finishRows: FinishRows;
  gatherFinished: GatherFinished;
  listFinished(from: number, end: number, entries: number, most: number, reached: number): number;
  mergeFinished(runs: number, runCount: number, tree: number, out: number, most: number): number;
  packedBytes(entry: number): number;
  packFinished(entries: number, from: number, to: number, out: number, limit: number, reached: number): number;
  sortFinished(entries: number, spare: number, count: number, counts: number): void;
}

type GatherFinished = (
  program: number,
  entries: number,
  from: number,
  to: number,
  out: number,
  limit: number,
  reached: number,
) => number;

type FinishRows = (
  program: number,
  json: number,
  selection: number,
  from: number,
  count: number,
  keys: number,
  entries: number,
  entriesEnd: number,
  next: number,
  limit: number,
  reached: number,
) => number;
