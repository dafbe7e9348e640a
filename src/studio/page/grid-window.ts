// Computes which rows and columns of the grid are visible, their positions, and how to scroll to a cell.
import { HEADER_ROW, type Place } from './grid-keys.ts';

export const ROW_HEIGHT = 26;
export const HEAD_HEIGHT = 70;
export const COLUMN_WIDTH = 150;
export const NUMBER_WIDTH = 64;

/** Rows and columns rendered beyond the visible ones. */
const OVERSCAN = 6;

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

export function shownOf({ top, left, width, height }: View, rows: number, columns: number): Shown {
  return {
    firstRow: Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN),
    lastRow: Math.min(rows - 1, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN),
    firstColumn: Math.max(0, Math.floor(left / COLUMN_WIDTH) - OVERSCAN),
    lastColumn: Math.min(columns - 1, Math.ceil((left + width) / COLUMN_WIDTH) + OVERSCAN),
  };
}

/** Number of rows visible at once, for the Page Up and Page Down keys. */
export function pageRows({ height }: View): number {
  return Math.max(1, Math.floor((height - HEAD_HEIGHT) / ROW_HEIGHT) - 1);
}

export function viewOf({ scrollTop, scrollLeft, clientWidth, clientHeight }: HTMLElement): View {
  return { top: scrollTop, left: scrollLeft, width: clientWidth, height: clientHeight };
}

export function scrollTo(box: HTMLElement, { row, column }: Place): void {
  const left = column * COLUMN_WIDTH;
  if (left < box.scrollLeft) box.scrollLeft = left;
  const right = left + COLUMN_WIDTH + NUMBER_WIDTH - box.clientWidth;
  if (right > box.scrollLeft) box.scrollLeft = right;
  if (row === HEADER_ROW) return;
  const top = row * ROW_HEIGHT;
  if (top < box.scrollTop) box.scrollTop = top;
  const bottom = top + ROW_HEIGHT + HEAD_HEIGHT - box.clientHeight;
  if (bottom > box.scrollTop) box.scrollTop = bottom;
}
