// Describes a workbook for people before they write a Template: all sheets with their sizes, and why one of them is
// read. Reads every sheet to its end, so no Run uses it.
import { NATIVE_KINDS } from '../../kernel/layout/cells.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { explainHeader } from '../detect/explain-form.ts';
import { listed } from '../detect/records.ts';
import { type Choice, certain, type FileExplanation, rounded, type SheetSize } from '../explanation.ts';
import type { CellSink } from './cell-sink.ts';
import { LeadingRows } from './leading-rows.ts';
import type { ChosenSheet, OpenWorkbook, SheetChoice } from './open-workbook.ts';
import type { GiveWay } from './shared-strings.ts';
import { type ReadSheet, readUntilFull, SheetPass } from './workbook-reader.ts';

/** @param read the sheets that a Run would read */
export function* measureSheets(
  workbook: OpenWorkbook,
  read: readonly ReadSheet[],
  giveWay: GiveWay,
): Coroutine<SheetSize[]> {
  const isRead = new Set(read.map(({ chosen }) => chosen.number));
  const sizes: SheetSize[] = [];
  for (const [index, sheet] of workbook.sheets.entries()) {
    const { name, visibility, part } = sheet;
    const number = index + 1;
    const size = new SizeSink();
    let problem: Failed | null = null;
    try {
      if (part !== null) yield* readAll(workbook, { sheet, number, range: null, hasHeader: true }, size, giveWay);
    } catch (error) {
      // A sheet that is not read may be broken. The other sheets are still reported.
      if (!(error instanceof Failed)) throw error;
      problem = error;
    }
    const { rows, kinds } = size;
    sizes.push({ number, name, visibility, isRead: isRead.has(number), rows, columns: kinds.length, kinds, problem });
  }
  return sizes;
}

/** Explains the choice of the sheet and of the header row. */
export function* explainWorkbook(
  workbook: OpenWorkbook,
  { form }: SheetChoice,
  { chosen, header }: ReadSheet,
  { sizes, giveWay }: { readonly sizes: readonly SheetSize[]; readonly giveWay: GiveWay },
): Coroutine<FileExplanation> {
  const sheet = form === 'first' ? firstSheet(sizes) : certain('what to read of the workbook is declared');
  if (chosen.range !== null) return { sheet, headerRow: certain('the table says whether its first row is a header') };
  const leading = new LeadingRows();
  yield* readAll(workbook, chosen, leading, giveWay);
  const headerRow = header.row === null ? null : header.row + 1 - leading.firstRow;
  const choice = explainHeader(listed(leading.rows), { headerRow, headerLines: header.lines });
  const runnerUp = choice.runnerUp === null ? null : choice.runnerUp + leading.firstRow - 1;
  return { sheet, headerRow: { ...choice, runnerUp } };
}

function readAll(workbook: OpenWorkbook, chosen: ChosenSheet, sink: CellSink, giveWay: GiveWay): Coroutine<void> {
  return readUntilFull(new SheetPass(workbook, chosen, { skipHidden: false, merged: [], sink }), sink, giveWay);
}

/** A small sheet before a large one may be a cover sheet. */
function firstSheet(sizes: readonly SheetSize[]): Choice<number> {
  const own = cellsOf(sizes.find(({ isRead }) => isRead)!);
  const others = sizes.filter((size) => !size.isRead && size.visibility === 'visible' && cellsOf(size) > 0);
  const next = others.toSorted((left, right) => cellsOf(right) - cellsOf(left))[0];
  const first = 'it is the first visible sheet with cells';
  if (next === undefined) return { confidence: 1, runnerUp: null, reason: `${first}, and the only one` };
  const reason = `${first}, ${own} of them; sheet ${next.number} has ${cellsOf(next)}`;
  return { confidence: rounded(own / (own + cellsOf(next))), runnerUp: next.number, reason };
}

function cellsOf({ kinds }: SheetSize): number {
  return kinds.reduce((sum, counts) => sum + counts.reduce((cells, count) => cells + count, 0), 0);
}

class SizeSink implements CellSink {
  /** Last row with a non-empty cell, as numbered in the sheet, from 1. */
  rows = 0;
  readonly kinds: Float64Array[] = [];
  #row = 0;

  beginRow(row: number): void {
    this.#row = row;
  }

  cell(column: number, kind: number, _bytes: Uint8Array, start: number, end: number): void {
    if (end === start) return;
    this.#reach(column);
    this.kinds[column]![kind]!++;
  }

  lost(column: number): void {
    this.#reach(column);
  }

  endRow(): void {}

  #reach(column: number): void {
    this.rows = this.#row;
    while (this.kinds.length <= column) this.kinds.push(new Float64Array(NATIVE_KINDS));
  }
}
