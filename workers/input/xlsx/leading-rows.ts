// Collects the first rows of a sheet as texts, for the detection of the header row.

import { COLUMNS_MAX } from '../ceilings.ts';
import { SAMPLE_RECORDS_MAX } from '../detect/sample.ts';
import { START_BYTES } from '../file-start.ts';
import type { CellSink } from './cell-sink.ts';
import { SAMPLE_CELLS_MAX } from './limits.ts';

export class LeadingRows implements CellSink {
  /** Rows from the first non-empty row on. Rows that the sheet omits in between are empty. */
  readonly rows: string[][] = [];
  /** Row number of the first collected row in the sheet, or 0 if the sheet has no cells. */
  firstRow = 0;
  isFull = false;
  /** Indexes of the rows that have a filled cell twice. The later cell is kept. */
  readonly rowsWithTwoCells = new Set<number>();
  readonly #from: number;
  readonly #rowsMax: number;
  #textBytes = 0;
  #cells = 0;
  #row = 0;
  #texts: string[] = [];
  #hasTwoCells = false;

  /** @param from first row of the sheet that is collected */
  constructor(from = 1, rowsMax = SAMPLE_RECORDS_MAX) {
    this.#from = from;
    this.#rowsMax = rowsMax;
  }

  beginRow(row: number): void {
    this.#row = row;
    this.#texts = [];
    this.#hasTwoCells = false;
  }

  cell(column: number, _kind: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#row < this.#from || this.isFull || end === start) return;
    while (this.#texts.length < column) this.#texts.push('');
    if ((this.#texts[column] ?? '') !== '') this.#hasTwoCells = true;
    this.#texts[column] = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
    this.#textBytes += end - start;
  }

  lost(column: number): void {
    if (this.#row < this.#from || this.isFull) return;
    while (this.#texts.length <= column) this.#texts.push('');
  }

  endRow(): void {
    if (this.#texts.length === 0 || this.isFull) return;
    if (this.firstRow === 0) this.firstRow = this.#row;
    const place = this.#row - this.firstRow;
    this.isFull = place >= this.#rowsMax;
    if (this.isFull) return;
    while (this.rows.length < place) this.rows.push([]);
    this.rows.push(this.#texts);
    if (this.#hasTwoCells) this.rowsWithTwoCells.add(place);
    this.#cells += this.#texts.length;
    this.isFull =
      place + 1 === this.#rowsMax || this.#textBytes > START_BYTES || this.#cells > SAMPLE_CELLS_MAX - COLUMNS_MAX;
  }
}
