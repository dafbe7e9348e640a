// Writes rows as CSV or NDJSON, for contenders whose library only reads.
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Cells } from '../workloads/javascript-program.ts';
import type { Job } from '../workloads/job.ts';

/** Number of characters collected before each write. */
const PIECE_CHARACTERS = 1_048_576;

export class TextWriter {
  readonly #file: number;
  readonly #line: (cells: Cells) => string;
  #text: string;

  constructor(path: string, columns: Cells, ending: Job['ending']) {
    this.#file = openSync(path, 'w');
    this.#line = ending === 'csv' ? csvLine : (cells) => jsonLine(columns, cells);
    this.#text = ending === 'csv' ? csvLine(columns) : '';
  }

  row(cells: Cells): void {
    this.#text += this.#line(cells);
    if (this.#text.length < PIECE_CHARACTERS) return;
    writeSync(this.#file, this.#text);
    this.#text = '';
  }

  close(): void {
    writeSync(this.#file, this.#text);
    closeSync(this.#file);
  }
}

export function csvLine(cells: Cells): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}

export function jsonLine(columns: Cells, cells: Cells): string {
  return `${JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, cells[index]])))}\n`;
}
