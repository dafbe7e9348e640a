// Whether a Run can be done in parts, each by a thread of its own: when what becomes of a row depends on that row alone,
// and the bytes of the file are its text. Then each part is a small file with the header of the whole. Where a part begins
// is found by line breaks; one inside a quoted cell shows when the part before ends in an open quote, and the whole file is
// then read from its beginning, as it is after every other failure.
import { closeSync, openSync, readSync } from 'node:fs';
import { SpillFolder } from '../execution/spill/spill-folder.ts';
import { formatNamed } from '../input/choose-format.ts';
import type { InputFormat, SplittableInput } from '../input/format.ts';
import { openRows } from '../input/open-rows.ts';
import type { FileHead } from '../input/reader.ts';
import { compressionOf } from '../input/source/compression.ts';
import { FileSource } from '../input/source/file-source.ts';
import { isZip } from '../input/zip/is-zip.ts';
import { instantiateKernel } from '../kernel/bindings/kernel.ts';
import { Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { PreparedTemplate } from '../plan/prepared-template.ts';
import { Failed } from '../protocol/failure.ts';
import type { RunTask, TaskPart } from '../protocol/messages.ts';
import { runCoroutine } from '../thread/coroutine.ts';
import { rejectingSteps } from './rejected-rows.ts';
import { done } from './time-slices.ts';

export interface PartSizes {
  /** Smaller files are done as a whole. */
  readonly fileBytesMin: number;
  /** Of one part, about. */
  readonly partBytes: number;
}

const MIB = 1024 * 1024;

/**
 * To have a second thread costs the work on about 100 MB in processor time, most of it to start it and to compile what it
 * runs. A part costs up to 3 ms to begin, and its output is kept in memory until its place is known.
 */
export const PART_SIZES: PartSizes = { fileBytesMin: 256 * MIB, partBytes: 8 * MIB };

/** A line break is looked for in so many bytes; a file of longer lines is not split. */
const LINE_BYTES_MAX = 65_536;

/** What tells a compressed file, or an archive. */
const TYPE_BYTES = 4;

export interface WholeRun {
  readonly task: RunTask;
  /** Of the file. */
  readonly sizeBytes: number;
  readonly prepared: PreparedTemplate;
  readonly kernels: WebAssembly.Module;
  /** Of the input. */
  readonly formats: readonly InputFormat[];
}

/** The parts of a local Run in the order of the file, or null where it has to be done as a whole. */
export async function partsOf(
  run: WholeRun,
  { fileBytesMin, partBytes }: PartSizes = PART_SIZES,
): Promise<readonly TaskPart[] | null> {
  const { sizeBytes, prepared } = run;
  const { source } = run.task;
  if (source.kind !== 'file' || sizeBytes < fileBytesMin || !canSplit(prepared)) return null;
  const { path } = source;
  const begun = await beginningOf(run, path);
  if (begun === null) return null;
  const { head } = begun;
  const starts = partStarts(path, sizeBytes, partBytes, begun);
  return starts?.map((from, number) => ({ number, from, to: starts[number + 1] ?? sizeBytes, head })) ?? null;
}

/** As far as the Template alone tells: errors are counted, and tables held, over the whole file. */
function canSplit({ template }: PreparedTemplate): boolean {
  const { defaults, usesTables } = template;
  return !usesTables && defaults.maxErrors === null && defaults.maxErrorRatio === null;
}

function canSplitPlan({ steps, usesRunRow, output }: RunPlan): boolean {
  return output.planned.file.splittable && !usesRunRow && steps.every(({ rowLocal }) => rowLocal);
}

/** What the beginning of a file tells that is read in parts. */
interface Beginning {
  readonly head: FileHead;
  readonly splittable: SplittableInput;
}

/** Null where the file or its plan cannot be split, or is not sound: then the Run itself tells what is wrong. */
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
    // The file of rejected rows is one.
    const isWhole = rejectingSteps(plan, prepared.template.defaults).size > 0;
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

/** Byte of each part's first record, one every so many bytes. Null: a place has no line break near it. */
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
      // Behind the last line break of the file there is nothing.
      if (start > starts.at(-1)! && start < sizeBytes) starts.push(start);
    }
    return starts.length > 1 ? starts : null;
  });
}

/** Gives `work` a way to bytes of a file: at most so many from a place on, until it is called again. */
function withBytes<Result>(
  path: string,
  length: number,
  work: (bytesAt: (place: number) => Uint8Array) => Result,
): Result {
  const bytes = new Uint8Array(length);
  const descriptor = openSync(path, 'r');
  try {
    return work((place) => bytes.subarray(0, readSync(descriptor, bytes, 0, length, place)));
  } finally {
    closeSync(descriptor);
  }
}
