// Reads all cells of one sheet of a local workbook as texts, for scores and tests of the workbook reader.
import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CellSink, LostCell } from '../workers/input/xlsx/cell-sink.ts';
import { type OpenWorkbook, openWorkbook } from '../workers/input/xlsx/open-workbook.ts';
import { XmlStretch } from '../workers/input/xlsx/xml-stretch.ts';
import { WindowMemory } from '../workers/input/xlsx/xml-window.ts';
import type { RandomAccess } from '../workers/input/zip/random-access.ts';
import { ZipArchive } from '../workers/input/zip/zip-archive.ts';
import { compileKernels, instantiateKernel } from '../workers/kernel/bindings/kernel.ts';
import { type BudgetShare, RUN_RESERVATION_BYTES, unlimitedShare } from '../workers/memory/budget.ts';
import { Heap } from '../workers/memory/heap.ts';
import { SpillFolder } from '../workers/memory/spill-file.ts';
import { runCoroutine } from '../workers/scheduling/coroutine.ts';
import { done } from '../workers/scheduling/time-slices.ts';

/** Kind of a cell whose value is lost. */
const KIND_LOST = -1;

export interface ReadCell {
  /** null if the cell lost its value. */
  readonly text: string | null;
  readonly kind: number;
  /** Text in place of the lost value. */
  readonly shown?: string;
}

/** Rows by their number in the sheet, from 1. */
export type ReadSheet = Map<number, (ReadCell | undefined)[]>;

class CollectingSink implements CellSink {
  readonly rows: ReadSheet = new Map();
  readonly lostCells: LostCell[] = [];
  #row: (ReadCell | undefined)[] = [];

  beginRow(row: number): void {
    this.#row = [];
    this.rows.set(row, this.#row);
  }

  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number): void {
    this.#row[column] = { text: Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(), kind };
  }

  lost(column: number, why: LostCell, bytes: Uint8Array, start: number, end: number): void {
    this.#row[column] = { text: null, kind: KIND_LOST, shown: Buffer.from(bytes.subarray(start, end)).toString() };

    this.lostCells.push(why);
  }

  endRow(): void {}
}

export interface ReadWorkbookSheet {
  readonly names: readonly string[];
  readonly rows: ReadSheet;
  readonly lost: readonly LostCell[];
}

/** @param choose selects the sheet by its name and position */
export async function readSheetOf(
  file: RandomAccess,
  choose: (name: string, index: number) => boolean,
  settings: { readonly skipHidden: boolean } = { skipHidden: false },
): Promise<ReadWorkbookSheet> {
  const { workbook, close } = await openFile(file);
  const sheet = workbook.sheets.find(({ name }, index) => choose(name, index));
  const names = workbook.sheets.map(({ name }) => name);
  const sink = new CollectingSink();
  if (sheet === undefined || sheet.part === null) {
    close();
    return { names, rows: sink.rows, lost: [] };
  }
  const reader = workbook.read(sheet, { ...settings, range: null, order: null });
  try {
    for (;;) {
      const state = reader.read(sink, 1_000);
      if (state === 'end') return { names, rows: sink.rows, lost: sink.lostCells };
      if (state === 'wait') await reader.wait();
    }
  } finally {
    reader.close();
    close();
  }
}

/**
 * Opens a workbook with separate memory.
 * @param memory budget for the shared strings
 */
export async function openFile(
  file: RandomAccess,
  memory: BudgetShare = unlimitedShare(),
): Promise<{ readonly workbook: OpenWorkbook; readonly close: () => void }> {
  const kernel = instantiateKernel(compileKernels());
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), memory, RUN_RESERVATION_BYTES);
  const spill = new SpillFolder(join(tmpdir(), `template-run-${randomUUID()}`));
  const giveWay = (): null => null;
  const windowMemory = new WindowMemory(heap, { acquire: async () => {} });
  const stretch = new XmlStretch(kernel.exports, heap);
  try {
    const archive = done(ZipArchive.read(file, null, giveWay));
    const workbook = await runCoroutine(openWorkbook(archive, { heap, spill, windowMemory, giveWay, stretch }));
    return { workbook, close: () => spill.remove() };
  } catch (error) {
    spill.remove();
    throw error;
  }
}

/** Opens a local file, calls `work`, and closes the file. */
export async function withFile<T>(path: string, work: (file: RandomAccess) => Promise<T>): Promise<T> {
  const descriptor = openSync(path, 'r');
  try {
    return await work({
      sizeBytes: fstatSync(descriptor).size,
      readAt: (target, position) => readSync(descriptor, target, 0, target.length, position),
    });
  } finally {
    closeSync(descriptor);
  }
}
