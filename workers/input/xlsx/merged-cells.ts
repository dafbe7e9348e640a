// Merged cells: a sheet stores the value in the first cell of a merged range only. For Templates that want the value in
// all cells, the ranges are read from the end of the sheet, and the value is repeated in the cells of existing rows
// that the range covers.
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { ROW_BYTES_MAX } from '../ceilings.ts';
import type { PieceSource } from '../zip/entry-reader.ts';
import { type CellRange, parseRange } from './cell-range.ts';
import type { CellSink, LostCell } from './cell-sink.ts';
import { MERGED_BYTES_MAX, MERGED_RANGES_MAX, malformedWorkbook } from './limits.ts';
import type { GiveWay } from './shared-strings.ts';
import { EMPTY, END, MORE, OPEN, XmlTokens } from './xml-tokens.ts';
import { type WindowMemory, XmlWindow } from './xml-window.ts';

/** Returns the ranges of a sheet, ordered by first row. Throws Failed. */
export function* readMergedRanges(
  source: PieceSource,
  windowMemory: WindowMemory,
  giveWay: GiveWay,
): Coroutine<CellRange[]> {
  const tokens = new XmlTokens(new XmlWindow(source, windowMemory));
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

/** Maximum number of range visits before a batch ends, so that other Runs continue: about 5 ms of work. */
const STEPS_MAX = 500_000;

/** A range that covers the current row. */
interface Merged {
  readonly range: CellRange;
  /** Output column for the value of the range. -1 if the column is skipped, so that the range has no value. */
  readonly valueColumn: number;
  /** First and last output column of the range, both included. */
  readonly first: number;
  readonly last: number;
  kind: number;
  bytes: Uint8Array | null;
}

export class MergedSink implements CellSink {
  readonly #inner: CellSink;
  readonly #ranges: readonly CellRange[];
  readonly #columnOf: (column: number) => number;
  readonly #countRepeated: (bytes: number) => void;
  #next = 0;
  /**
   * Ranges that cover the current row, ordered by column. They do not overlap, so the range of a cell is found by
   * binary search.
   */
  #active: Merged[] = [];
  /** Ranges of `#active` that have a value. */
  #valued: Merged[] = [];
  #activeBytes = 0;
  /** First row after the end of a range of `#active`. */
  #endsAtRow = Number.POSITIVE_INFINITY;
  #row = 0;
  /** Number of range visits since this sink was last full. */
  #steps = 0;

  /**
   * @param ranges ranges ordered by first row. A range that overlaps an earlier one is ignored.
   * @param columnOf see SheetReader
   * @param countRepeated receives the number of bytes of repeated values; throws Failed if there are too many
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
    if (this.#steps < STEPS_MAX) return this.#inner.isFull === true;
    this.#steps = 0;
    return true;
  }

  beginRow(row: number): void {
    this.#reach(row);
    this.#inner.beginRow(row);
  }

  /** If the first cell of a range is hidden, its value is repeated in the visible cells of the range. */
  readonly hidden = {
    beginRow: (row: number): void => this.#reach(row),
    cell: (column: number, kind: number, bytes: Uint8Array, start: number, end: number): void => {
      const merged = this.#active[this.#placeBy(column, firstColumnOf) - 1];
      if (merged?.range.firstRow === this.#row && merged.range.firstColumn === column)
        this.#setValue(merged, kind, bytes.slice(start, end));
    },
    lost: (): void => {},
  };

  /** Removes the ranges that end above the row, and adds those that cover it. */
  #reach(row: number): void {
    this.#row = row;
    if (row >= this.#endsAtRow) this.#dropEnded();
    for (; this.#next < this.#ranges.length && this.#ranges[this.#next]!.firstRow <= row; this.#next++) {
      const range = this.#ranges[this.#next]!;
      if (range.lastRow >= row) this.#begin(range);
    }
  }

  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number, stays?: boolean): void {
    const merged = this.#rangeAt(column);
    if (merged !== null && merged.range.firstRow === this.#row && merged.valueColumn === column) {
      this.#setValue(merged, kind, bytes.slice(start, end));
    } else if (merged !== null && merged.bytes !== null) return;
    this.#inner.cell(column, kind, bytes, start, end, stays);
  }

  /** A covered cell may still have content. Spreadsheet programs do not show it. */
  lost(column: number, why: LostCell, bytes: Uint8Array, start: number, end: number): void {
    const merged = this.#rangeAt(column);
    if (merged === null || merged.bytes === null) this.#inner.lost(column, why, bytes, start, end);
  }

  endRow(): void {
    let repeatedBytes = 0;
    this.#steps += this.#valued.length;
    for (const { range, valueColumn, first, last, kind, bytes } of this.#valued) {
      repeatedBytes += bytes!.length * (last - first + 1);
      if (repeatedBytes > ROW_BYTES_MAX) throw malformedWorkbook('a row is too long');
      for (let column = first; column <= last; column++) {
        if (column !== valueColumn || range.firstRow !== this.#row)
          this.#inner.cell(column, kind, bytes!, 0, bytes!.length);
      }
    }
    if (repeatedBytes > 0) this.#countRepeated(repeatedBytes);
    this.#inner.endRow();
  }

  #setValue(merged: Merged, kind: number, bytes: Uint8Array): void {
    if (merged.bytes === null) this.#valued.push(merged);
    this.#activeBytes += bytes.length - (merged.bytes?.length ?? 0);
    merged.kind = kind;
    merged.bytes = bytes;
    if (this.#activeBytes > MERGED_BYTES_MAX) throw malformedWorkbook('its merged cells are too long');
  }

  #dropEnded(): void {
    const row = this.#row;
    this.#active = this.#active.filter(({ range }) => range.lastRow >= row);
    this.#valued = this.#valued.filter(({ range }) => range.lastRow >= row);
    this.#activeBytes = this.#valued.reduce((sum, { bytes }) => sum + bytes!.length, 0);
    this.#steps += this.#active.length;
    this.#endsAtRow = Number.POSITIVE_INFINITY;
    for (const { range } of this.#active) this.#endsAtRow = Math.min(this.#endsAtRow, range.lastRow + 1);
  }

  /** Does nothing if all columns of the range are skipped, or if the range overlaps an earlier one. */
  #begin(range: CellRange): void {
    let { firstColumn, lastColumn } = range;
    while (firstColumn <= lastColumn && this.#columnOf(firstColumn) < 0) firstColumn++;
    while (lastColumn > firstColumn && this.#columnOf(lastColumn) < 0) lastColumn--;
    this.#steps += 1 + (range.lastColumn - range.firstColumn) - (lastColumn - firstColumn);
    if (firstColumn > lastColumn) return;
    const [first, last] = [this.#columnOf(firstColumn), this.#columnOf(lastColumn)];
    const place = this.#placeOf(first);
    if (place > 0 && this.#active[place - 1]!.last >= first) return;
    if (place < this.#active.length && this.#active[place]!.first <= last) return;
    const valueColumn = this.#columnOf(range.firstColumn);
    this.#active.splice(place, 0, { range, valueColumn, first, last, kind: 0, bytes: null });
    this.#endsAtRow = Math.min(this.#endsAtRow, range.lastRow + 1);
  }

  #rangeAt(column: number): Merged | null {
    const merged = this.#active[this.#placeOf(column) - 1];
    return merged !== undefined && column <= merged.last ? merged : null;
  }

  #placeOf(column: number): number {
    return this.#placeBy(column, reportedColumnOf);
  }

  /** Number of active ranges that begin at or before this column. Output columns have the same order as the sheet. */
  #placeBy(column: number, startOf: (merged: Merged) => number): number {
    let low = 0;
    let high = this.#active.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (startOf(this.#active[middle]!) <= column) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function firstColumnOf({ range }: Merged): number {
  return range.firstColumn;
}

function reportedColumnOf({ first }: Merged): number {
  return first;
}
