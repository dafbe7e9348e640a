// Receivers of cells. Cells are passed as bytes and a kind, so that no object is created per cell.
import type { KernelRows } from './sheet-kernel.ts';

/** The reason why a cell that is not empty in the sheet becomes null. */
export type LostCell = 'XLSX_ERROR' | 'NO_CACHED_VALUE';

export interface CellSink {
  /** @param row row number in the sheet, from 1. Rows that the sheet omits are not reported. */
  beginRow(row: number): void;
  /**
   * Receives the canonical text of a cell in UTF-8, valid during the call, and its native kind
   * (kernel/layout/cells.ts). Columns are numbered from 0 and mostly ascend. If a column occurs twice, the sink
   * keeps the later cell. Cells without content are not reported.
   * @param stays whether the bytes are in the Run's memory and stay there while the workbook is open
   */
  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number, stays?: boolean): void;
  /** The bytes are the text in place of a value, such as `#N/A`. */
  lost(column: number, why: LostCell, bytes: Uint8Array, start: number, end: number): void;
  endRow(): void;
  /** Receives the cells that are skipped because they are hidden. Their columns are those of the sheet. */
  readonly hidden?: Pick<CellSink, 'beginRow' | 'cell' | 'lost'>;
  /** Memory into which a kernel may write rows without reporting each cell. */
  readonly kernelRows?: KernelRows;
  /** True if no more rows can be taken now. */
  readonly isFull?: boolean;
}
