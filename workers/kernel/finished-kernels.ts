// Signatures of the kernels over finished rows; what they do is told where they are written (assembly/finished-rows.ts,
// finished-runs.ts and finished-order.ts). All values are addresses or counts.

/** Bytes of an entry, of the counters that sorting needs, and of the state of who packs or lists a run. */
export const ENTRY_BYTES = 16;
export const SORT_COUNTS_BYTES = 8192;
export const RUN_STATE_BYTES = 16;

export interface FinishedKernels {
  finishRows: FinishRows;
  gatherFinished: GatherFinished;
  listEntries: ListRun;
  listFinished: ListRun;
  mergeFinished: MergeFinished;
  packedBytes(entry: number): number;
  packEntries: PackRun;
  packFinished: PackRun;
  sortFinished(entries: number, spare: number, count: number, counts: number): void;
}

type MergeFinished = (
  runs: number,
  runCount: number,
  tree: number,
  out: number,
  most: number,
  entering: number,
) => number;

type ListRun = (from: number, end: number, entries: number, most: number, state: number) => number;

type PackRun = (entries: number, from: number, to: number, out: number, limit: number, state: number) => number;

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
