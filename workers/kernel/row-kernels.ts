// Signatures of the kernels over keys and rows whose parameters do not fit one line; what they do is told where they are
// written (assembly/hash.ts, hash-table.ts, rows.ts). All values are addresses or counts.

export type ComposeKeys = (
  columns: number,
  columnCount: number,
  rows: number,
  count: number,
  keys: number,
  next: number,
  limit: number,
) => number;

export type InsertKeys = (
  table: number,
  views: number,
  rows: number,
  from: number,
  count: number,
  hashes: number,
  ids: number,
) => number;

export type FindKeys = (
  table: number,
  views: number,
  rows: number,
  from: number,
  count: number,
  hashes: number,
  ids: number,
) => void;

export type SplitByNew = (
  rows: number,
  from: number,
  count: number,
  ids: number,
  known: number,
  fresh: number,
  seen: number,
) => number;

export type EncodeRows = (
  columns: number,
  columnCount: number,
  rows: number,
  from: number,
  count: number,
  orders: number,
  sources: number,
  sourceFirst: number,
  next: number,
  limit: number,
  reached: number,
) => number;

export type DecodeRows = (
  columns: number,
  columnCount: number,
  from: number,
  end: number,
  most: number,
  orders: number,
  sources: number,
  reached: number,
) => number;

export type DecodeEntries = (
  columns: number,
  columnCount: number,
  entries: number,
  count: number,
  orders: number,
  sources: number,
) => number;

export type SortKeys = (
  terms: number,
  termCount: number,
  rows: number,
  count: number,
  keys: number,
  next: number,
  limit: number,
) => number;

export type TypedKeys = (
  at: number,
  meta: number,
  rows: number,
  count: number,
  kind: number,
  views: number,
  next: number,
  limit: number,
  todo: number,
) => number;

/** The table of short keys (assembly/short-keys.ts): its head and 4,096 slots, of which half are used at most. */
export const SHORT_KEYS_BYTES = 16 + 4096 * 32;
export const SHORT_KEYS_MAX = 2048;

export type FindShortKeys = (
  table: number,
  columns: number,
  columnCount: number,
  rows: number,
  count: number,
  numbers: number,
  missedRows: number,
  missedAt: number,
) => number;

export type AddShortKeys = (
  table: number,
  columns: number,
  columnCount: number,
  rows: number,
  count: number,
  numbers: number,
) => void;
