// Decides whether a Run can be processed in parts by several threads. This is possible if the result of a row depends
// on that row alone and the file is plain text. run-share.ts processes the parts.
//
// Parts are separated at line breaks. If such a line break is inside a quoted cell, the part before it ends in an
// open quote; the whole file is then read again from its beginning, as after every other failure of a part.
import { closeSync, openSync, readSync } from 'node:fs';
import type { InputFormat, SplittableInput } from '../input/format.ts';
import { formatNamed, openRows } from '../input/open-rows.ts';
import type { FileHead } from '../input/reader.ts';
import { compressionOf } from '../input/source/compression.ts';
import { FileSource } from '../input/source/file-source.ts';
import { isZip } from '../input/zip/is-zip.ts';
import { instantiateKernel } from '../kernel/bindings/kernel.ts';
import { Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { PreparedTemplate } from '../plan/template-cache.ts';
import { Failed } from '../protocol/failure.ts';
import type { FileParts, RunTask } from '../protocol/messages.ts';
import { runCoroutine } from '../scheduling/coroutine.ts';
import { done } from '../scheduling/time-slices.ts';
import { rejectingSteps } from './rejected-rows.ts';

export interface PartSizes {
  /** Smaller files are processed as a whole. */
  readonly fileBytesMin: number;
  /** Approximate size of one part. */
  readonly partBytes: number;
}

const MIB = 1024 * 1024;

/**
 * A second thread costs as much processor time as the work on 60 to 150 MB, for its start and for compiling its code. A
 * part takes 2 to 6 ms: its output is still in the cache when it is written, and threads rarely wait for each other.
 */
export const PART_SIZES: PartSizes = { fileBytesMin: 256 * MIB, partBytes: 2 * MIB };

/** Number of bytes in which a line break is searched. A file with longer lines is not split. */
const LINE_BYTES_MAX = 65_536;

/** Number of leading bytes that identify a compressed file or an archive. */
const TYPE_BYTES = 4;

/** Beginnings of files that are probably JSON or Parquet, which are not split. */
const OTHER_TYPES = ['{', '[', 'PAR1'].map((start) => Buffer.from(start));

export interface WholeRun {
  readonly task: RunTask;
  /** Size of the file. */
  readonly sizeBytes: number;
  readonly prepared: PreparedTemplate;
  readonly kernels: WebAssembly.Module;
  /** Supported input formats. */
  readonly formats: readonly InputFormat[];
}

/**
 * True if the Run will probably be processed in parts: its Template allows it, and its file is large and looks like
 * rows of text. This costs almost nothing, so that other threads can start while the header is read.
 */
export function seemsSplittable(run: WholeRun, { fileBytesMin }: PartSizes = PART_SIZES): boolean {
  const { source } = run.task;
  if (source.kind !== 'file' || run.sizeBytes < fileBytesMin || !canSplit(run.prepared)) return false;
  return withBytes(source.path, TYPE_BYTES, (bytesAt) => {
    const bytes = bytesAt(0);
    return !isPacked(bytes) && !OTHER_TYPES.some((start) => bytes.subarray(0, start.length).equals(start));
  });
}

/** The parts of a local Run, or null if the Run has to be processed as a whole. */
export async function partsOf(
  run: WholeRun,
  { fileBytesMin, partBytes }: PartSizes = PART_SIZES,
): Promise<FileParts | null> {
  const { sizeBytes, prepared } = run;
  const { source } = run.task;
  if (source.kind !== 'file' || sizeBytes < fileBytesMin || !canSplit(prepared)) return null;
  const { path } = source;
  const begun = await beginningOf(run, path);
  if (begun === null) return null;
  const { head } = begun;
  const starts = partStarts(path, sizeBytes, partBytes, begun);
  return starts && { starts, sizeBytes, head };
}

/** True if the Template allows parts. Error limits and tables need the whole file in one place. */
function canSplit({ template, isRowLocal }: PreparedTemplate): boolean {
  const { defaults, usesTables } = template;
  return isRowLocal && !usesTables && defaults.maxErrors === null && defaults.maxErrorRatio === null;
}

function canSplitPlan({ usesRunRow, output }: RunPlan): boolean {
  return output.planned.file.splittable && !usesRunRow;
}

/** Result of reading the beginning of a file that may be split. */
interface Beginning {
  readonly head: FileHead;
  readonly splittable: SplittableInput;
}

/**
 * Returns null if the file or its plan cannot be split, or if the file is invalid: the Run itself then reports the
 * problem.
 */
async function beginningOf(
  { task, sizeBytes, prepared, kernels, formats }: WholeRun,
  path: string,
): Promise<Beginning | null> {
  if (withBytes(path, TYPE_BYTES, (bytesAt) => isPacked(bytesAt(0)))) return null;
  const kernel = instantiateKernel(kernels);
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  const spill = new SpillFolder(task.spillDirectory);
  const source = new FileSource(path);
  source.grown(sizeBytes, true);
  try {
    const opening = openRows(source, {
      input: prepared.template.input,
      overrides: task.overrides,
      expected: prepared.expected,
      formats,
      ending: task.ending,
      inflatedBytesMax: null,
      spill,
      arena: new Arena(heap),
      kernel,
      largeRow: { acquire: async () => {} },
    });
    const { head } = await runCoroutine(opening);
    const { splittable } = formatNamed(formats, head.format);
    if (splittable?.canSplit(head) !== true) return null;
    const plan = done(prepared.plan(head.headers, {}));
    // The file of rejected rows cannot be written in parts.
    const isWhole = rejectingSteps(plan, prepared.template).size > 0;
    return canSplitPlan(plan) && !isWhole ? { head, splittable } : null;
  } catch (error) {
    if (error instanceof Failed) return null;
    throw error;
  } finally {
    source.close();
    spill.remove();
  }
}

function isPacked(bytes: Uint8Array): boolean {
  return compressionOf(bytes) !== null || isZip(bytes);
}

/**
 * Offset of each part's first record, one about every `partBytes` bytes. Null if no line break is found near an
 * offset.
 */
function partStarts(
  path: string,
  sizeBytes: number,
  partBytes: number,
  { head, splittable }: Beginning,
): readonly number[] | null {
  return withBytes(path, LINE_BYTES_MAX, (bytesAt) => {
    const starts = [0];
    for (let wanted = partBytes; wanted < sizeBytes; wanted += partBytes) {
      const start = wanted + splittable.recordStart(bytesAt(wanted), head);
      if (start === wanted) return null;
      // After the last line break of the file there is no further record.
      if (start > starts.at(-1)! && start < sizeBytes) starts.push(start);
    }
    return starts.length > 1 ? starts : null;
  });
}

/** Gives `work` access to the file: `bytesAt` returns up to `length` bytes at an offset, valid until the next call. */
function withBytes<Result>(path: string, length: number, work: (bytesAt: (place: number) => Buffer) => Result): Result {
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(path, 'r');
  try {
    return work((place) => bytes.subarray(0, readSync(descriptor, bytes, 0, length, place)));
  } finally {
    closeSync(descriptor);
  }
}
