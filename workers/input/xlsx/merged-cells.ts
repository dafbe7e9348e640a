// Merged cells: only the first cell of a merged range has its value. For Templates that want it in all of them, the ranges
// are read from the end of the sheet, and the value is told again where the range covers other cells of rows that are there.
import type { Coroutine } from '../../thread/coroutine.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { type CellRange, parseRange } from './cell-range.ts';
import type { CellSink, LostCell } from './cell-sink.ts';
import { MERGED_BYTES_MAX, MERGED_RANGES_MAX } from './limits.ts';
import { malformedWorkbook } from './malformed-workbook.ts';
import type { GiveWay } from './shared-strings.ts';
import type { WindowRoom } from './window-room.ts';
import { EMPTY, END, MORE, OPEN, XmlTokens } from './xml-tokens.ts';
import { XmlWindow } from './xml-window.ts';

/** The ranges of a sheet, by their first row. Throws Failed. */
export function* readMergedRanges(source: PieceSource, room: WindowRoom, giveWay: GiveWay): Coroutine<CellRange[]> {
  const tokens = new XmlTokens(new XmlWindow(source, room));
  const ranges: CellRange[] = [];
  try {
    for (;;) {
      const token = tokens.next();
      if (token === END) return ranges.sort((a, b) => a.firstRow - b.firstRow);
      if (token === MORE) {
        for (let from = tokens.at; !tokens.refill(from); from = 0) yield tokens.window.wait();
        const rest = giveWay();
        if (rest !== null) yield rest;
      } else if ((token === OPEN || token === EMPTY) && tokens.is('mergeCell')) {
        const range = rangeOf(tokens);
        if (range === null) continue;
        if (ranges.length >= MERGED_RANGES_MAX)
          throw malformedWorkbook(`a sheet has more than ${MERGED_RANGES_MAX} merged cells`);
        ranges.push(range);
      }
    }
  } finally {
    source.close();
  }
}

function rangeOf(tokens: XmlTokens): CellRange | null {
  while (tokens.nextAttribute()) {
    if (tokens.attributeIs('ref'))
      return parseRange(tokens.bytes.toString('latin1', tokens.valueStart, tokens.valueEnd));
  }
  return null;
}

interface Merged {
  readonly range: CellRange;
  /** Columns as they are told. */
  readonly firstColumn: number;
  readonly columns: readonly number[];
  kind: number;
  bytes: Uint8Array | null;
}

export class MergedSink implements CellSink {
  readonly #inner: CellSink;
  readonly #ranges: readonly CellRange[];
  readonly #columnOf: (column: number) => number;
  readonly #countRepeated: (bytes: number) => void;
  #next = 0;
  /** Ranges that the row at hand lies in. */
  #active: Merged[] = [];
  #activeBytes = 0;
  #row = 0;

  /**
   * @param ranges by their first row
   * @param columnOf see SheetReader
   * @param countRepeated is told of the bytes that are told again; throws Failed when they are too many
   */
  constructor(
    inner: CellSink,
    ranges: readonly CellRange[],
    columnOf: (column: number) => number,
    countRepeated: (bytes: number) => void,
  ) {
    this.#inner = inner;
    this.#ranges = ranges;
    this.#columnOf = columnOf;
    this.#countRepeated = countRepeated;
  }

  get isFull(): boolean {
    return this.#inner.isFull === true;
  }

  beginRow(row: number): void {
    this.#row = row;
    if (this.#active.some(({ range }) => range.lastRow < row)) {
      this.#active = this.#active.filter(({ range }) => range.lastRow >= row);
      this.#activeBytes = this.#active.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
    }
    for (; this.#next < this.#ranges.length && this.#ranges[this.#next]!.firstRow <= row; this.#next++) {
      const range = this.#ranges[this.#next]!;
      if (range.lastRow >= row) this.#begin(range);
    }
    this.#inner.beginRow(row);
  }

  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number, stays?: boolean): void {
    for (const merged of this.#active) {
      if (merged.range.firstRow === this.#row && merged.firstColumn === column) {
        merged.kind = kind;
        merged.bytes = bytes.slice(start, end);
        this.#activeBytes += end - start;
        if (this.#activeBytes > MERGED_BYTES_MAX) throw malformedWorkbook('its merged cells are too long');
      } else if (this.#covers(merged, column)) return;
    }
    this.#inner.cell(column, kind, bytes, start, end, stays);
  }

  lost(column: number, why: LostCell, bytes: Uint8Array, start: number, end: number): void {
    if (!this.#active.some((merged) => merged.bytes !== null && this.#covers(merged, column))) {
      this.#inner.lost(column, why, bytes, start, end);
    }
  }

  endRow(): void {
    let repeatedBytes = 0;
    for (const { range, firstColumn, columns, kind, bytes } of this.#active) {
      if (bytes === null) continue;
      repeatedBytes += bytes.length * columns.length;
      if (repeatedBytes > ROW_BYTES_MAX) throw malformedWorkbook('a row is too long');
      for (const column of columns) {
        if (column !== firstColumn || range.firstRow !== this.#row)
          this.#inner.cell(column, kind, bytes, 0, bytes.length);
      }
    }
    if (repeatedBytes > 0) this.#countRepeated(repeatedBytes);
    this.#inner.endRow();
  }

  #begin(range: CellRange): void {
    const columns: number[] = [];
    for (let column = range.firstColumn; column <= range.lastColumn; column++) {
      const told = this.#columnOf(column);
      if (told >= 0) columns.push(told);
    }
    this.#active.push({ range, firstColumn: this.#columnOf(range.firstColumn), columns, kind: 0, bytes: null });
  }

  /** A cell that a merged one covers may still have something in it, which nobody sees. */
  #covers(merged: Merged, column: number): boolean {
    const { columns } = merged;
    return merged.bytes !== null && column >= columns[0]! && column <= columns.at(-1)!;
  }
}
