// Whether a Run can be done in parts, each by a thread of its own: when what becomes of a row depends on that row alone,
// and the bytes of the file are its text. Then each part is a small file with the header of the whole. Where a part begins
// is found by line breaks; one inside a quoted cell shows when the part before ends in an open quote, and the whole file is
// then read from its beginning, as it is after every other failure.
import { closeSync, openSync, readSync } from 'node:fs';
import { Arena } from './arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from './budget.ts';
import { Failed } from './failure.ts';
import { Heap } from './heap.ts';
import { FileSource } from './input/file-source.ts';
import { contentTypeOf } from './input/file-type.ts';
import { openRows } from './input/open-rows.ts';
import type { FileHead } from './input/reader.ts';
import { canResume } from './input/resume-rows.ts';
import { instantiateKernel } from './kernel/kernel.ts';
import type { RunTask, TaskPart } from './messages.ts';
import type { PreparedTemplate } from './template/prepared-template.ts';
import { settle } from './waits.ts';

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

/** The longest sign of a type that is known (file-type.ts) ends before. */
const TYPE_BYTES = 512;

/** An expression that names the Run may ask for the row's number in the file. */
const NAMES_RUN = /\brun\b/;

const LF = 10;

export interface WholeRun {
  readonly task: RunTask;
  /** Of the file. */
  readonly sizeBytes: number;
  readonly prepared: PreparedTemplate;
  readonly kernels: WebAssembly.Module;
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
  const head = await headOf(run, path);
  if (head === null) return null;
  const starts = partStarts(path, sizeBytes, partBytes, head);
  return starts?.map((from, number) => ({ number, from, to: starts[number + 1] ?? sizeBytes, head })) ?? null;
}

/** As far as the Template alone tells. */
function canSplit({ template, hasNoTables }: PreparedTemplate): boolean {
  const { output, defaults, operations } = template;
  if (!hasNoTables || defaults.maxErrors !== null || defaults.maxErrorRatio !== null) return false;
  if (output.format === 'json' && output.json.layout === 'array') return false;
  return !NAMES_RUN.test(JSON.stringify(operations));
}

/** Null where the file or its plan cannot be split, or is not sound: then the Run itself tells what is wrong. */
async function headOf({ task, sizeBytes, prepared, kernels }: WholeRun, path: string): Promise<FileHead | null> {
  if (!isText(path)) return null;
  const kernel = instantiateKernel(kernels);
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  const source = new FileSource(path);
  source.grown(sizeBytes, true);
  try {
    const opening = openRows(source, {
      input: prepared.template.input,
      overrides: task.overrides,
      expected: prepared.expected,
      inflatedBytesMax: null,
      arena: new Arena(heap),
      kernel,
      largeRow: { acquire: async () => {} },
    });
    const { head } = await settle(opening);
    if (!canResume(head)) return null;
    return prepared.plan(head.headers, {}).steps.every(({ rowLocal }) => rowLocal) ? head : null;
  } catch (error) {
    if (error instanceof Failed) return null;
    throw error;
  } finally {
    source.close();
  }
}

function isText(path: string): boolean {
  return withBytes(path, TYPE_BYTES, (bytesAt) => contentTypeOf(bytesAt(0)) === 'text');
}

/** Byte of each part's first record, one every so many bytes. Null: a place has no line break near it. */
function partStarts(path: string, sizeBytes: number, partBytes: number, head: FileHead): readonly number[] | null {
  return withBytes(path, LINE_BYTES_MAX, (bytesAt) => {
    const starts = [0];
    for (let wanted = partBytes; wanted < sizeBytes; wanted += partBytes) {
      const start = wanted + recordStart(bytesAt(wanted), head);
      if (start === wanted) return null;
      // Behind the last line break of the file there is nothing.
      if (start > starts.at(-1)! && start < sizeBytes) starts.push(start);
    }
    return starts.length > 1 ? starts : null;
  });
}

/**
 * Where a record very likely begins: behind a line break from which on two records have as many fields as the header.
 * Without such a place behind the first line break; 0: there is none.
 */
function recordStart(bytes: Uint8Array, { delimiter, quote, headers }: FileHead): number {
  const dialect = { delimiter: delimiter!.charCodeAt(0), quote: quote === null ? -1 : quote.charCodeAt(0) };
  const first = bytes.indexOf(LF) + 1;
  for (let start = first; start > 0; start = bytes.indexOf(LF, start) + 1) {
    const one = recordAt(bytes, start, dialect);
    const two = one === null ? null : recordAt(bytes, one.end, dialect);
    if (two === null) return first;
    if (one?.fields === headers.length && two.fields === headers.length) return start;
  }
  return first;
}

/** The record that begins at a byte: its fields and the byte behind its line break. Null: it ends behind these bytes. */
function recordAt(
  bytes: Uint8Array,
  start: number,
  { delimiter, quote }: { readonly delimiter: number; readonly quote: number },
): { readonly fields: number; readonly end: number } | null {
  let fields = 1;
  let quoted = bytes[start] === quote;
  for (let at = start + (quoted ? 1 : 0); at < bytes.length; at++) {
    const byte = bytes[at];
    // Of a doubled quote the second opens again what the first has closed.
    if (byte === quote) quoted = quoted ? false : bytes[at - 1] === quote || bytes[at - 1] === delimiter;
    else if (quoted) continue;
    else if (byte === LF) return { fields, end: at + 1 };
    else if (byte === delimiter) fields++;
  }
  return null;
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
