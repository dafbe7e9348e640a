// Computes which rows and columns of the grid are visible, their positions, and how to scroll to a cell.
import type { WatchedColumn } from '../../../workers/watch/watch-messages.ts';
import { HEADER_ROW, type Place } from './grid-keys.ts';

export const ROW_HEIGHT = 26;
export const HEAD_HEIGHT = 70;
const COLUMN_WIDTH_MIN = 48;
const COLUMN_WIDTH_MAX = 1_200;
export const NUMBER_WIDTH = 64;

/** Rows and columns rendered beyond the visible ones. */
const OVERSCAN = 6;

/** Positions of the columns from the left, in pixels, without the column of row numbers. */
export class ColumnLayout {
  /** Left edge of each column, and the right edge of the last one. */
  readonly #edges: readonly number[];

  constructor(widths: readonly number[]) {
    const edges = [0];
    for (const width of widths) edges.push(edges.at(-1)! + width);
    this.#edges = edges;
  }

  get columns(): number {
    return this.#edges.length - 1;
  }

  get total(): number {
    return this.#edges.at(-1)!;
  }

  left(column: number): number {
    return this.#edges[column] ?? this.total;
  }

  width(column: number): number {
    return (this.#edges[column + 1] ?? this.total) - this.left(column);
  }

  /** Index of the column at an offset, by bisection. */
  at(offset: number): number {
    let [low, high] = [0, this.columns];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.left(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Widths that fit most columns without a change by the user: the header has room for its profile. */
const FITTING_WIDTH = { least: 150, most: 360 } as const;

/** Width of a character in the fonts of the table, in pixels. */
const CHARACTER_WIDTH = 8;

/** Padding of a cell, in pixels, and the button of a header. */
const PADDING = 20;
const MENU_BUTTON = 28;

/** Width that shows the name of a column and its texts, in pixels. */
export function fittingWidth({ name, type }: WatchedColumn, texts: readonly string[]): number {
  const head = `${name}:${type}`.length * CHARACTER_WIDTH + MENU_BUTTON;
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  const wanted = Math.max(head, longest * CHARACTER_WIDTH) + PADDING;
  return Math.max(FITTING_WIDTH.least, Math.min(FITTING_WIDTH.most, wanted));
}

export function boundedWidth(width: number): number {
  return Math.max(COLUMN_WIDTH_MIN, Math.min(COLUMN_WIDTH_MAX, Math.round(width)));
}

export interface View {
  readonly top: number;
  readonly left: number;
  readonly width: number;
  readonly height: number;
}

/** First and last rendered row and column, inclusive. */
export interface Shown {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

export function shownOf({ top, left, width, height }: View, rows: number, layout: ColumnLayout): Shown {
  return {
    firstRow: Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN),
    lastRow: Math.min(rows - 1, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN),
    firstColumn: Math.max(0, layout.at(left) - OVERSCAN),
    lastColumn: Math.min(layout.columns - 1, layout.at(left + width) + OVERSCAN),
  };
}

/** Number of rows visible at once, for the Page Up and Page Down keys. */
export function pageRows({ height }: View): number {
  return Math.max(1, Math.floor((height - HEAD_HEIGHT) / ROW_HEIGHT) - 1);
}

export function viewOf({ scrollTop, scrollLeft, clientWidth, clientHeight }: HTMLElement): View {
  return { top: scrollTop, left: scrollLeft, width: clientWidth, height: clientHeight };
}

export function scrollTo(box: HTMLElement, { row, column }: Place, layout: ColumnLayout): void {
  const left = layout.left(column);
  if (left < box.scrollLeft) box.scrollLeft = left;
  const right = left + layout.width(column) + NUMBER_WIDTH - box.clientWidth;
  if (right > box.scrollLeft) box.scrollLeft = right;
  if (row === HEADER_ROW) return;
  const top = row * ROW_HEIGHT;
  if (top < box.scrollTop) box.scrollTop = top;
  const bottom = top + ROW_HEIGHT + HEAD_HEIGHT - box.clientHeight;
  if (bottom > box.scrollTop) box.scrollTop = bottom;
}
