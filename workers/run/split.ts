// Decides whether several threads can process a Run in parts, and how large the parts are. run-share.ts processes them.
// README.md lists what an operation has to declare. Operations that declare nothing need all rows in one thread.
//
// Each thread reads small reference tables into its own memory. If a table does not fit there, or is large, one thread
// processes the file as a whole.
//
// A part of a Parquet file consists of the row groups that begin in it. Parts of a text are separated at line breaks. If
// such a line break is inside a quoted cell, the part before it ends in an open quote; the whole file is then read again
// from its beginning, as after every other failure of a part.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { BATCH_ROWS_MAX } from '../batch/batch.ts';
import { emptyKeys } from '../batch/ordered-parts.ts';
import { formatNamed } from '../input/open-rows.ts';
import type { FileHead } from '../input/reader.ts';
import { compressionOf } from '../input/source/compression.ts';
import type { StoredSource } from '../input/source/source.ts';
import { isZip } from '../input/zip/is-zip.ts';
import { exchangeStep, keyedStep, mergesGroups, type RunPlan } from '../plan/plan.ts';
import type { PreparedTemplate } from '../plan/template-cache.ts';
import type { KeysMemory } from '../protocol/frame.ts';
import type { RunTask, TaskTable } from '../protocol/messages.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { rejectingSteps } from './rejected-rows.ts';
import { type Beginning, beginningOf } from './run.ts';
import type { RunJob } from './run-job.ts';

/** Number of leading bytes that identify a compressed file or an archive. */
const TYPE_BYTES = 4;

/**
 * Maximum size of all reference tables of a Run that several threads process: about 10,000 rows. Each thread reads the
 * tables into its own memory and keeps them from one share to the next (TableCache), but each share indexes them again,
 * which takes 5 ms for this size. With 3 MB, two threads were as fast as one on a file of 200 MB.
 */
const TABLE_BYTES_MAX = 256 * 1024;

/** Beginnings of files that are probably JSON, which is split only if it consists of lines. */
const JSON_STARTS = ['{', '['].map((start) => Buffer.from(start));

/** Number of leading bytes from which the size of a row is estimated. */
const SAMPLE_BYTES = 65_536;

const LF = 10;

/** Sizes of parts that pass a step in their order. The largest part fits into the window of a reader. */
const ORDERED_BYTES_MIN = 32 * 1024;
const ORDERED_BYTES_MAX = 384 * 1024;

/** Number of cells that the reader of a text file indexes at once. */
const BATCH_CELLS_MAX = 60_000;

/** Part of the rows of a full batch that a part should have, because rows later in the file may be shorter. */
const BATCH_PART = 0.8;

const LINES_PATH = /\.(?:ndjson|jsonl)$/i;

/**
 * True if a local Run will probably be processed in parts: its Template allows it, and its file is large and looks like
 * rows of text or Parquet. This costs almost nothing, so that other threads can start while the header is read.
 */
export function seemsSplittable(
  { source }: Pick<RunTask, 'source'>,
  sizeBytes: number,
  { mayShare }: Pick<PreparedTemplate, 'mayShare'>,
  fileBytesMin: number,
): boolean {
  if (source.kind !== 'file' || sizeBytes < fileBytesMin || !mayShare) return false;
  const bytes = leadingBytes(source.path);
  if (LINES_PATH.test(source.path)) return !isPacked(bytes);
  return !isPacked(bytes) && !JSON_STARTS.some((start) => bytes.subarray(0, start.length).equals(start));
}

/**
 * Reads the beginning of a file that may be processed in parts, and rewinds the source. Returns null if the Run has to
 * be processed as a whole, also if it fails: the Run itself then reports the problem. Throws Cancelled.
 */
export function* headForParts(job: RunJob): Coroutine<PartsBeginning | null> {
  const mayBeSplit = job.prepared.mayShare && tableBytes(job) <= TABLE_BYTES_MAX;
  const head = mayBeSplit ? yield* splittableHead(job) : null;
  job.source.rewind();
  return head;
}

function* splittableHead(job: RunJob): Coroutine<PartsBeginning | null> {
  const { source, formats, prepared } = job;
  if (yield* isPackedSource(source)) return null;
  source.rewind();
  const begun = yield* beginningOf(job);
  if (begun === null) return null;
  const { splittable } = formatNamed(formats, begun.head.format);
  if (splittable?.canSplit(begun.head) !== true) return null;
  // A row group has many batches, so threads that pass a step in order, or exchange rows, would wait for all of it.
  const { plan } = begun;
  const waits = sortsParts(plan) || orderedSteps(plan).length > 0 || keyedStep(plan) !== null;
  if (splittable.recordStart === undefined && waits) return null;
  // The file of rejected rows cannot be written in parts.
  const isWhole = rejectingSteps(begun.plan, prepared.template).size > 0;
  return canSplitPlan(begun.plan) && !isWhole ? partsBeginning(job, begun) : null;
}

/** Decisions of the first share, for all shares of the Run. */
interface PartsBeginning {
  readonly head: FileHead;
  /** Memory for the keys or the sorted rows of all threads, or null if no step needs it. */
  readonly keys: KeysMemory | null;
  /** Maximum size of a part. */
  readonly partBytes: number;
  /** True if the rows of the first part decide whether other threads take part. */
  readonly opensLate: boolean;
}

/**
 * The rows of a part should be one batch if the parts pass a step in their order: a thread that has to wait before its
 * first batch cannot read its second one.
 */
function partsBeginning({ task }: RunJob, { head, plan }: Beginning): PartsBeginning {
  const ordered = orderedSteps(plan);
  const exchange = plan.steps[exchangeStep(plan)];
  const opensLate = exchange !== undefined && mergesGroups(exchange);
  const keys = ordered.includes('keys') || sortsParts(plan) ? emptyKeys(task.parts?.keys ?? null) : null;
  if (ordered.length === 0) return { head, keys, partBytes: Number.POSITIVE_INFINITY, opensLate };
  const rowsMax = Math.min(BATCH_ROWS_MAX, Math.floor(BATCH_CELLS_MAX / (head.headers.length + 1)));
  const partBytes = Math.floor(rowsMax * rowBytes(task) * BATCH_PART);
  return {
    head,
    opensLate,
    keys,
    partBytes: Math.max(ORDERED_BYTES_MIN, Math.min(ORDERED_BYTES_MAX, partBytes)),
  };
}

/** For each step that the parts pass in their order, whether it remembers keys or ends the rows. */
function orderedSteps(plan: RunPlan) {
  const merging = exchangeStep(plan);
  const steps = merging < 0 ? plan.steps : plan.steps.slice(0, merging);
  return steps.flatMap(({ definition, operation }) => definition.inOrder?.(operation.parameters) ?? []);
}

function sortsParts(plan: RunPlan): boolean {
  return plan.steps[exchangeStep(plan)]?.definition.sortsParts === true;
}

/** Approximate size of a row at the beginning of the file. */
function rowBytes({ source }: RunTask): number {
  if (source.kind !== 'file') return 1;
  const bytes = leadingBytes(source.path, SAMPLE_BYTES);
  let rows = 1;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) rows++;
  return bytes.length / rows;
}

/**
 * Total size of the reference tables that a Run reads. If a table is missing, returns 0: the Run then fails before its
 * first row.
 */
export function tableBytes({ prepared: { template }, task }: Pick<RunJob, 'prepared' | 'task'>): number {
  const refs = new Set(Object.values(template.tables).map(({ ref }) => ref));
  const sizes = [...refs].map((ref) => (Object.hasOwn(task.tables, ref) ? sizeOf(task.tables[ref]!) : 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function sizeOf({ path }: TaskTable): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function canSplitPlan(plan: RunPlan): boolean {
  const { steps, output, usesRunRow } = plan;
  const step = steps[exchangeStep(plan)];
  if (usesRunRow) return false;
  if (step === undefined) return output.planned.file.splittable;
  if (step.definition.sortsParts === true)
    return step === steps.at(-1) && output.planned.file.splittable && output.splitBy.length === 0;
  return mergesGroups(step) || keyedStep(plan) !== null;
}

function* isPackedSource(source: StoredSource): Coroutine<boolean> {
  const bytes = new Uint8Array(TYPE_BYTES);
  for (let read = 0; read < TYPE_BYTES && !source.ended; ) {
    const count = source.read(bytes.subarray(read));
    read += count;
    if (count === 0) yield source.wait();
  }
  return isPacked(bytes);
}

function isPacked(bytes: Uint8Array): boolean {
  return compressionOf(bytes) !== null || isZip(bytes);
}

function leadingBytes(path: string, count = TYPE_BYTES): Buffer {
  const bytes = Buffer.alloc(count);
  const descriptor = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, count, 0));
  } finally {
    closeSync(descriptor);
  }
}
