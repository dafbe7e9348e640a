// What takes the cells of a sheet. Cells come as bytes and a kind: no object is made for any of them.
import type { KernelRows } from './sheet-kernel.ts';

/** Why a cell that has something in the sheet is null. */
export type LostCell = 'XLSX_ERROR' | 'NO_CACHED_VALUE';

export interface CellSink {
  /** @param row from 1, as the sheet counts; rows that the sheet leaves out are not told */
  beginRow(row: number): void;
  /**
   * A cell's canonical text in UTF-8, valid during the call, and its native kind (kernel/layout/native-kinds.ts). Columns
   * count from 0 and mostly ascend; of two cells in one place the later counts. Cells without content are not told.
   * @param stays the bytes lie in the Run's memory and stay there as long as the workbook is open
   */
  cell(column: number, kind: number, bytes: Uint8Array, start: number, end: number, stays?: boolean): void;
  /** The bytes are what stands in place of a value, such as `#N/A`. */
  lost(column: number, why: LostCell, bytes: Uint8Array, start: number, end: number): void;
  endRow(): void;
  /** Where a kernel may put rows without telling them here. */
  readonly kernelRows?: KernelRows;
  /** No more rows are wanted for now. */
  readonly isFull?: boolean;
}
