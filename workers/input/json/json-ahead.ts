// The records of a JSON file as a read-ahead thread reads them for its reader: what it is told, and what is taken of what it brings.
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { AT, LINE_START, PHASE, ROWS, STATE_BYTES } from '../../kernel/layout/json.ts';
import type { JsonWork } from '../read-ahead/json-work.ts';
import type { Chunk } from '../read-ahead/read-ahead-memory.ts';
import type { RowsAhead } from '../read-ahead/read-ahead-rows.ts';
import type { JsonText } from './json-text.ts';
import type { KeyTable } from './key-table.ts';

/** Where a reader has the cells of a batch. */
export interface JsonCells {
  /** Those that are read. */
  columns: readonly { readonly at: number; readonly kinds: number }[];
  /** Of a batch, as the reader was asked for it last. */
  rowsMax: number;
  /** A byte for each column of the file. */
  readonly unsettled: number;
  readonly columnCount: number;
}

export class JsonAhead implements RowsAhead {
  readonly end: number;
  readonly #text: JsonText;
  readonly #keys: KeyTable;
  readonly #cells: JsonCells;

  /** Made when the reader has taken all memory that it needs. */
  constructor(text: JsonText, keys: KeyTable, cells: JsonCells) {
    this.#text = text;
    this.#keys = keys;
    this.#cells = cells;
    this.end = text.heap.end;
  }

  get rowStart(): number {
    return this.#text.get(AT);
  }

  work(): JsonWork {
    const { state, heap } = this.#text;
    const { columns, rowsMax, unsettled, columnCount } = this.#cells;
    const images = [
      { at: state, bytes: heap.u8.slice(state, state + STATE_BYTES) },
      { at: unsettled, bytes: new Uint8Array(columnCount) },
      ...this.#keys.images(),
    ];
    return { format: 'json', state, images, views: columns.map(({ at }) => at), rowsMax };
  }

  put(slot: Uint8Array, { bytes, entries: rows, lines }: Chunk, base: number): void {
    const text = this.#text;
    const { u8 } = text.heap;
    const copy = (at: number, length: number): void => u8.set(slot.subarray(at, at + length), at);
    const { columns, unsettled, columnCount } = this.#cells;
    for (const { at, kinds } of columns) {
      copy(at, rows * VIEW_BYTES);
      copy(kinds, rows);
    }
    copy(unsettled, columnCount);
    slot.fill(0, unsettled, unsettled + columnCount);
    const words = new Uint32Array(slot.buffer, text.state, STATE_BYTES >>> 2);
    text.moveTo(base);
    text.passed(bytes, lines, words[LINE_START >>> 2]!);
    text.set(PHASE, words[PHASE >>> 2]!);
    text.set(ROWS, rows);
  }

  restart(start: number): void {
    this.#text.moveTo(start);
  }
}
