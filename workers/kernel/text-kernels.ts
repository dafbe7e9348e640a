// Signatures of the kernels over text cells whose parameters do not fit one line; what they do is told where they are
// written (assembly/). All values are addresses or counts; results of kernels that write cells: next free address or 0.

export type ChangeCase = (
  views: number,
  rows: number,
  count: number,
  firstLetter: number,
  table: number,
  next: number,
  limit: number,
  todo: number,
) => number;

export type Capitalise = (
  views: number,
  rows: number,
  count: number,
  sentences: number,
  next: number,
  limit: number,
  todo: number,
) => number;

export type KeepBytes = (
  views: number,
  rows: number,
  count: number,
  table: number,
  next: number,
  limit: number,
  todo: number,
) => number;

export type PutAround = (
  views: number,
  rows: number,
  count: number,
  before: number,
  beforeBytes: number,
  after: number,
  afterBytes: number,
  next: number,
  limit: number,
) => number;

export type PadCells = (
  views: number,
  rows: number,
  count: number,
  length: number,
  fill: number,
  fillBytes: number,
  left: number,
  next: number,
  limit: number,
) => number;

export type ReplaceText = (
  views: number,
  rows: number,
  count: number,
  find: number,
  findBytes: number,
  put: number,
  putBytes: number,
  times: number,
  cellBytesMax: number,
  next: number,
  limit: number,
) => number;

export type ReplaceWhole = (
  views: number,
  rows: number,
  count: number,
  find: number,
  findBytes: number,
  put: number,
  putBytes: number,
) => number;

export type SettleViews = (
  before: number,
  after: number,
  rows: number,
  count: number,
  emptyToNull: number,
  cellBytesMax: number,
  todo: number,
) => number;

export type ReadNumbers = (
  views: number,
  rows: number,
  count: number,
  format: number,
  at: number,
  meta: number,
  todo: number,
) => number;

export type ReplacePattern = (
  views: number,
  rows: number,
  count: number,
  program: number,
  cellBytesMax: number,
  next: number,
  limit: number,
  todo: number,
) => number;

export type ReadDates = (
  views: number,
  rows: number,
  count: number,
  program: number,
  withTime: number,
  at: number,
  meta: number,
  todo: number,
) => number;

export type WriteDates = (
  at: number,
  meta: number,
  rows: number,
  count: number,
  program: number,
  views: number,
  next: number,
  limit: number,
) => number;

export type RoundDecimals = (
  at: number,
  meta: number,
  rows: number,
  count: number,
  scale: number,
  rounding: number,
  made: number,
  madeMeta: number,
  changes: number,
) => number;

export type RoundDoubles = (
  at: number,
  meta: number,
  rows: number,
  count: number,
  scale: number,
  rounding: number,
  made: number,
  madeMeta: number,
  changes: number,
  todo: number,
) => number;

export type WriteNumbers = (
  at: number,
  meta: number,
  rows: number,
  count: number,
  integers: number,
  program: number,
  views: number,
  next: number,
  limit: number,
) => number;

export type FindPattern = (
  views: number,
  rows: number,
  count: number,
  program: number,
  from: number,
  to: number,
  missesBack: number,
  found: number,
  todo: number,
) => void;
