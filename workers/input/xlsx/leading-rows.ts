// The first rows of a sheet as texts: what its header row is found by.

import { SAMPLE_RECORDS_MAX } from '../detect/sample.ts';
import { START_BYTES } from '../file-start.ts';
import type { CellSink } from './cell-sink.ts';

export class LeadingRows implements CellSink {
  /** From the first row with something in it on; those that the sheet leaves out between two are empty. */
  readonly rows: string[][] = [];
  /** The sheet's number of the first of them; 0: nothing was found. */
  firstRow = 0;
  isFull = false;
  readonly #from: number;
  readonly #rowsMax: number;
  #textBytes = 0;
  #row = 0;
  #texts: string[] = [];

  /** @param from rows of the sheet above this one are passed over */
  constructor(from = 1, rowsMax = SAMPLE_RECORDS_MAX) {
    this.#from = from;
    this.#rowsMax = rowsMax;
  }

  beginRow(row: number): void {
    this.#row = row;
    this.#texts = [];
  }

  cell(column: number, _kind: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#row < this.#from || this.isFull || end === start) return;
    while (this.#texts.length < column) this.#texts.push('');
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
    this.isFull = place + 1 === this.#rowsMax || this.#textBytes > START_BYTES;
  }
}
