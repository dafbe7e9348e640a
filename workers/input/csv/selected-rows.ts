// Rules that readers of all formats share: the rows to read, and rows with too many or too few fields.
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import type { Heap } from '../../memory/heap.ts';
import type { CsvInput } from '../../template/template.ts';

// The selection of a reader's batches, which contains all rows. Row numbers are written only as far as batches need
// them, because most files are small.

export class RowNumbers {
  readonly #heap: Heap;
  readonly #at: number;
  #written = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#at = heap.allocate(BATCH_ROWS_MAX * 4);
  }

  /** Returns the address of the row numbers 0 to `rows` - 1. `rows` is at most BATCH_ROWS_MAX. */
  upTo(rows: number): number {
    const { u32 } = this.#heap;
    for (; this.#written < rows; this.#written++) u32[(this.#at >>> 2) + this.#written] = this.#written;
    return this.#at;
  }
}

// Rows of a batch with too few or too many fields, and which of them the Template rejects (input.csv.ragged).

export interface RaggedRow {
  /** Physical row of the batch. */
  readonly row: number;
  /** RAGGED_ROW: too many fields, the additional cells are dropped. SHORT_ROW: cells are missing. */
  readonly code: 'RAGGED_ROW' | 'SHORT_ROW';
  /**
   * Text of the additional cells, as written in the file (cells of a workbook are separated by tabs). Null if there are
   * no such cells, or if long rows are not rejected.
   */
  readonly extra: string | null;
}

export const NO_RAGGED_ROWS: readonly RaggedRow[] = [];

export function rejectedLengths(rows: readonly RaggedRow[], ragged: CsvInput['ragged']): readonly RaggedRow[] {
  if (rows.length === 0 || ragged === 'reject') return rows;
  return ragged === 'reject_long' ? rows.filter(({ code }) => code === 'RAGGED_ROW') : NO_RAGGED_ROWS;
}

/** True if long rows may be rejected because of their number of fields. */
export function rejectsRagged({ ragged }: Pick<CsvInput, 'ragged'>): boolean {
  return ragged === 'reject' || ragged === 'reject_long';
}
