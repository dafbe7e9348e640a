// Inspects one local file as the reader would read it, and counts the native kinds of its cells.

import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { BATCH_ROWS_MAX, type Batch } from '../batch/batch.ts';
import { LateQuote } from '../input/csv/late-quote.ts';
import {
  AUTO,
  canTryAgain,
  type EncodingTries,
  encodingName,
  NOTHING_TRIED,
  refuseCutOff,
  SUGGESTED_NAMES,
} from '../input/encoding/encoding.ts';
import { withEncodingAdvice } from '../input/encoding/encoding-advice.ts';
import type { NonAsciiSample } from '../input/encoding/non-ascii-lines.ts';
import { LateUtf8, Undecodable } from '../input/encoding/undecodable.ts';
import { ExpectedHeaders } from '../input/expected-headers.ts';
import type { FileExplanation, SheetSize } from '../input/explanation.ts';
import type { InputFormat } from '../input/format.ts';
import { openRows } from '../input/open-rows.ts';
import type { FileHead, RowReader } from '../input/reader.ts';
import { nonAsciiLinesOfFile } from '../input/scan-encoding.ts';
import { FileSource } from '../input/source/file-source.ts';
import { compileKernels, instantiateKernel } from '../kernel/bindings/kernel.ts';
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
  NATIVE_KINDS,
} from '../kernel/layout/cells.ts';
import { Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import { Failed } from '../protocol/failure.ts';
import { runCoroutine } from '../scheduling/coroutine.ts';
import { inputOf } from '../template/sections.ts';
import type { Template, TemplateInput } from '../template/template.ts';
import { suggestion } from '../values/suggestion.ts';

// Counts the cells of each native kind in each column, for people who inspect a file before they write a Template.

const NAMES = new Map([
  [KIND_TEXT, 'text'],
  [KIND_NUMBER, 'number'],
  [KIND_BOOLEAN, 'boolean'],
  [KIND_DATE, 'date'],
  [KIND_DATETIME, 'datetime'],
  [KIND_TIME, 'time'],
  [KIND_JSON, 'json'],
]);

/** Counts by the name of the kind. Contains only kinds that occur; missing cells are not counted. */
type KindCounts = Readonly<Record<string, number>>;

class KindCounter {
  readonly #counts: readonly Float64Array[];

  constructor(columns: number) {
    this.#counts = Array.from({ length: columns }, () => new Float64Array(NATIVE_KINDS));
  }

  add(batch: Batch): void {
    for (const [index, counts] of this.#counts.entries()) {
      const views = batch.views(index) >>> 2;
      const column = batch.columns[index]!;
      const kinds = column.kind === 'views' ? column.kinds : undefined;
      const { u8, u32 } = batch.heap;
      for (let position = 0; position < batch.live; position++) {
        const row = batch.physicalRow(position);
        if (u32[views + row * 2] === 0) continue;
        const kind = kinds === undefined ? KIND_TEXT : u8[kinds + row]!;
        counts[kind]!++;
      }
    }
  }

  /** Counts by column. */
  get counts(): KindCounts[] {
    return this.#counts.map(byName);
  }
}

/** @param counts counts by kind number */
function byName(counts: Float64Array): KindCounts {
  return Object.fromEntries([...NAMES].flatMap(([kind, name]) => (counts[kind]! > 0 ? [[name, counts[kind]!]] : [])));
}

// Inspects one local file as the reader would read it: type, encoding, dialect, header row, columns, and number of
// rows.

export interface Inspection {
  readonly head: FileHead;
  /** Number of data rows. */
  readonly rows: number;
  /** Number of cells of each native kind, by column. Null if the file format has no kinds. */
  readonly kinds: readonly KindCounts[] | null;
  /** Reason why a Run would refuse to read the file as detected; null if it would read it. */
  readonly doubt: string | null;
  /** Explains how the file was detected; null unless requested. */
  readonly explanation: FileExplanation | null;
  /** Null if the file is not a workbook. */
  readonly sheets: readonly InspectedSheet[] | null;
}

export interface InspectedSheet extends Omit<SheetSize, 'kinds'> {
  readonly kinds: readonly KindCounts[];
}

export interface InspectOptions {
  /** Supported input formats. */
  readonly formats: readonly InputFormat[];
  /** Kernels that the caller has already compiled, for inspecting many files. */
  readonly kernels?: WebAssembly.Module;
  readonly explains?: boolean;
  /** Read the file as a Run of this Template would; without a Template, by the most likely interpretation. */
  readonly template?: Template;
  /** Overrides the encoding of the Template or the detected one. */
  readonly encoding?: string;
  readonly delimiter?: string;
  /** Sheet of a workbook. Overrides the Template's sheet, or the first sheet with cells. */
  readonly sheet?: string | number;
  /** True: the rows are neither read nor counted. A list names the formats to which this applies. */
  readonly headOnly?: boolean | readonly string[];
  /** False: `sheets` is null, and a workbook has no explanation. Both need every sheet to be read to its end. */
  readonly describesSheets?: boolean;
}

/**
 * Reads the whole file, unless only its head is wanted. Throws Failed (see failure.ts), or a system error if the file
 * cannot be read.
 */
export async function inspectFile(path: string, options: InspectOptions): Promise<Inspection> {
  let tries: EncodingTries = NOTHING_TRIED;
  for (;;) {
    try {
      return await inspectOnce(path, options, tries);
    } catch (error) {
      if (error instanceof LateQuote && tries.quotesAfterSpace !== true) {
        tries = { ...tries, quotesAfterSpace: true };
        continue;
      }
      if (error instanceof LateUtf8 && tries.nonAsciiLines === null) {
        const nonAsciiLines = await nonAsciiLinesAt(path);
        if (nonAsciiLines === null) throw error;
        tries = { ...tries, nonAsciiLines };
        continue;
      }
      if (!(error instanceof Undecodable)) throw error;
      const failed = [...tries.failed, error.encoding];
      const nonAsciiLines = tries.nonAsciiLines ?? (await nonAsciiLinesAt(path));
      if (!canTryAgain(inputFor(options).csv.encoding, failed) || tries.failed.includes(error.encoding)) {
        if (nonAsciiLines !== null && error.encoding === 'utf-8') refuseCutOff(nonAsciiLines);
        throw new Failed(error.failure.code, withEncodingAdvice(error.failure.message, nonAsciiLines, failed));
      }
      tries = { ...tries, failed, nonAsciiLines };
    }
  }
}

/** @param tries what earlier attempts found out about the file */
async function inspectOnce(path: string, options: InspectOptions, tries: EncodingTries): Promise<Inspection> {
  const source = wholeFile(path);
  const kernel = instantiateKernel(options.kernels ?? compileKernels());
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
  const arena = new Arena(heap);
  const spill = new SpillFolder(join(tmpdir(), `template-run-${randomUUID()}`));
  let reader: RowReader | null = null;
  let doubt: string | null = null;
  let explanation: FileExplanation | null = null;
  let sheets: InspectedSheet[] | null = null;
  const explain = (found: FileExplanation): void => {
    explanation = found;
  };
  const onSheets = (sizes: readonly SheetSize[]): void => {
    sheets = sizes.map((size) => ({ ...size, kinds: size.kinds.map(byName) }));
  };
  try {
    const opening = openRows(source, {
      input: inputFor(options),
      overrides: { delimiter: options.delimiter ?? null, headerRow: null },
      expected: options.template === undefined ? null : ExpectedHeaders.of(options.template),
      formats: options.formats,
      ending: extname(path).slice(1).toLowerCase(),
      encodingTries: tries,
      inflatedBytesMax: null,
      spill,
      arena,
      kernel,
      largeRow: { acquire: async () => {} },
      onDoubt: ({ failure }) => {
        doubt ??= failure.message;
      },
      ...(options.describesSheets === false ? {} : { onSheets }),
      ...(options.explains === true ? { onExplained: explain } : {}),
    });
    reader = await runCoroutine(opening);
    const { head } = reader;
    const counter = head.hasKinds === undefined ? null : new KindCounter(head.headers.length);
    // Without kinds, the rows are only counted and no cell is examined.
    const rowsMax = counter === null ? 0 : BATCH_ROWS_MAX;
    const isHeadOnly = isHeadOnlyOf(options, head);
    const next = (): ReturnType<RowReader['next']> => (isHeadOnly ? 'end' : reader!.next(rowsMax));
    for (let state = next(); state !== 'end'; state = next()) {
      if (state === 'wait') await reader.wait();
      else counter?.add(state);
      arena.clear();
    }
    return { head, rows: reader.rowsRead, kinds: counter?.counts ?? null, doubt, explanation, sheets };
  } finally {
    reader?.close();
    source.close();
    spill.remove();
  }
}

function isHeadOnlyOf({ headOnly = false }: InspectOptions, { format }: FileHead): boolean {
  return typeof headOnly === 'boolean' ? headOnly : headOnly.includes(format);
}

/** Returns what is wrong with an encoding name for InspectOptions.encoding; null if it is valid. */
export function encodingProblem(label: string): string | null {
  if (label === AUTO || encodingName(label) !== null) return null;
  return `takes a name such as utf-8 or windows-1252.${suggestion(label, SUGGESTED_NAMES)}`;
}

function inputFor({ template, encoding, sheet }: InspectOptions): TemplateInput {
  const given = template?.input ?? inputOf({ csv: { encoding: AUTO } });
  const input = sheet === undefined ? given : { ...given, sheet, table: null };
  return encoding === undefined ? input : { ...input, csv: { ...input.csv, encoding } };
}

async function nonAsciiLinesAt(path: string): Promise<NonAsciiSample | null> {
  const tools = { clock: { isDue: () => false }, giveWay: async () => {} };
  return await runCoroutine(nonAsciiLinesOfFile(wholeFile(path), null, tools));
}

function wholeFile(path: string): FileSource {
  const { size } = statSync(path);
  const source = new FileSource(path);
  source.grown(size, true);
  return source;
}
