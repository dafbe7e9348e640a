// Looks at one local file as the reader would: type, encoding, dialect, header row, columns, and the number of its rows.
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { BATCH_ROWS_MAX } from '../batch/batch.ts';
import { SpillFolder } from '../execution/spill/spill-folder.ts';
import { canTryAgain, type EncodingTries, NOTHING_TRIED } from '../input/encoding/encoding.ts';
import { AUTO, encodingName, SUGGESTED_NAMES } from '../input/encoding/labels.ts';
import { likelyEncodings } from '../input/encoding/likely-encoding.ts';
import { Undecodable, withLikelyEncoding } from '../input/encoding/undecodable.ts';
import { ExpectedHeaders } from '../input/expected-headers.ts';
import type { FileExplanation, SheetSize } from '../input/explanation.ts';
import type { InputFormat } from '../input/format.ts';
import { highLinesOfFile } from '../input/look-through.ts';
import { openRows } from '../input/open-rows.ts';
import type { FileHead, RowReader } from '../input/reader.ts';
import { FileSource } from '../input/source/file-source.ts';
import { compileKernels, instantiateKernel } from '../kernel/bindings/kernel.ts';
import { Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { Failed } from '../protocol/failure.ts';
import { inputOf } from '../template/sections.ts';
import { suggestion } from '../template/suggestion.ts';
import type { Template, TemplateInput } from '../template/template.ts';
import { runCoroutine } from '../thread/coroutine.ts';
import { byName, KindCounter, type KindCounts } from './kind-counts.ts';

export interface Inspection {
  readonly head: FileHead;
  /** Data rows. */
  readonly rows: number;
  /** Cells of each native kind, by column; null where the file knows none. */
  readonly kinds: readonly KindCounts[] | null;
  /** Why a Run would refuse to read the file as it was detected; null where it would not. */
  readonly doubt: string | null;
  /** Why it is read as it is; null unless it was asked for. */
  readonly explanation: FileExplanation | null;
  /** Null for a file that is no workbook. */
  readonly sheets: readonly InspectedSheet[] | null;
}

export interface InspectedSheet extends Omit<SheetSize, 'kinds'> {
  readonly kinds: readonly KindCounts[];
}

export interface InspectOptions {
  /** Of the input. */
  readonly formats: readonly InputFormat[];
  /** Compiled before, for many files. */
  readonly kernels?: WebAssembly.Module;
  readonly explains?: boolean;
  /** As a Run of this Template would read the file; without it as is most likely. */
  readonly template?: Template;
  /** In place of the Template's, or of the most likely one. */
  readonly encoding?: string;
  readonly delimiter?: string;
  /** Of a workbook, in place of the Template's, or of the first one with cells. */
  readonly sheet?: string | number;
}

const NO_LINES = new Uint8Array(0);

/** Reads the whole file. Throws Failed (see failure.ts), or a system error when it cannot be read. */
export async function inspectFile(path: string, options: InspectOptions): Promise<Inspection> {
  let tries = NOTHING_TRIED;
  for (;;) {
    try {
      return await inspectOnce(path, options, tries);
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error;
      const failed = [...tries.failed, error.encoding];
      const highLines = tries.highLines ?? (await highLinesAt(path));
      if (!canTryAgain(inputFor(options).csv.encoding, failed) || tries.failed.includes(error.encoding)) {
        const likely = likelyEncodings(highLines ?? NO_LINES).find((name) => !failed.includes(name));
        if (likely === undefined) throw error;
        throw new Failed(error.failure.code, withLikelyEncoding(error.failure.message, likely));
      }
      tries = { failed, highLines };
    }
  }
}

/** @param tries what was learnt of the file when it was read before */
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
      onSheets: (sizes) => {
        sheets = sizes.map((size) => ({ ...size, kinds: size.kinds.map(byName) }));
      },
      ...(options.explains === true ? { onExplained: explain } : {}),
    });
    reader = await runCoroutine(opening);
    const { head } = reader;
    const counter = head.hasKinds === undefined ? null : new KindCounter(head.headers.length);
    // Of a file of texts alone the rows are counted, and no cell is looked at.
    const rowsMax = counter === null ? 0 : BATCH_ROWS_MAX;
    for (let state = reader.next(rowsMax); state !== 'end'; state = reader.next(rowsMax)) {
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

/** What is wrong with a name for InspectOptions.encoding; null: nothing. */
export function encodingProblem(label: string): string | null {
  if (label === AUTO || encodingName(label) !== null) return null;
  return `takes a name such as utf-8 or windows-1252.${suggestion(label, SUGGESTED_NAMES)}`;
}

function inputFor({ template, encoding, sheet }: InspectOptions): TemplateInput {
  const given = template?.input ?? inputOf({ csv: { encoding: AUTO } });
  const input = sheet === undefined ? given : { ...given, sheet, table: null };
  return encoding === undefined ? input : { ...input, csv: { ...input.csv, encoding } };
}

async function highLinesAt(path: string): Promise<Uint8Array | null> {
  const tools = { clock: { isDue: () => false }, giveWay: async () => {} };
  return await runCoroutine(highLinesOfFile(wholeFile(path), null, tools));
}

function wholeFile(path: string): FileSource {
  const { size } = statSync(path);
  const source = new FileSource(path);
  source.grown(size, true);
  return source;
}
