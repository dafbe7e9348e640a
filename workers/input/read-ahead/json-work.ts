// Reads the records of a JSON file on the read-ahead thread, by running the kernel (kernel/assembly/read-json.ts) on
// the memory of a slot with a copy of the reader's key table. The results stay in the kernel's state in the slot, from
// where the Run takes them.
import { isUtf8 } from 'node:buffer';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  AT,
  EXTRA_COUNT,
  LEARNS,
  LINE_START,
  LINES,
  PHASE,
  ROWS,
  STATUS,
  STATUS_FULL,
  STATUS_MORE,
} from '../../kernel/layout/json.ts';
import type { FilledSlot, FoundRows } from './decoded-file.ts';

export interface JsonWork {
  readonly format: 'json';
  /** Address of the kernel's state. */
  readonly state: number;
  /** Copies of the Run's memory before the first record: the state and the key table. */
  readonly images: readonly MemoryImage[];
  /** Addresses of the views of the used columns. */
  readonly views: readonly number[];
  /** Maximum number of rows in a chunk. */
  readonly rowsMax: number;
}

/** A copy of a part of the Run's memory, and its address. */
export interface MemoryImage {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export class JsonRowFinder {
  readonly #work: JsonWork;
  /** Phase of the kernel at the end of the previous text. */
  #phase: number | null = null;

  constructor(work: JsonWork) {
    this.#work = work;
  }

  prepare(u8: Uint8Array): void {
    for (const { at, bytes } of this.#work.images) u8.set(bytes, at);
    // Only the owner of the key table may add keys.
    new Uint32Array(u8.buffer, this.#work.state + LEARNS, 1)[0] = 0;
  }

  find({ u8, u32, kernels, base, filled, isAtEnd }: FilledSlot): FoundRows | null {
    const { state, views, rowsMax } = this.#work;
    const word = (offset: number): number => (state + offset) >>> 2;
    u32[word(AT)] = base;
    u32[word(LINES)] = 0;
    u32[word(LINE_START)] = 0;
    u32[word(EXTRA_COUNT)] = 0;
    if (this.#phase !== null) u32[word(PHASE)] = this.#phase;
    // A member that a record lacks is null.
    for (const at of views) u8.fill(0, at, at + rowsMax * VIEW_BYTES);
    kernels.readJson(state, filled, rowsMax, isAtEnd ? 1 : 0);
    this.#phase = u32[word(PHASE)]!;
    const status = u32[word(STATUS)]!;
    const rows = u32[word(ROWS)]!;
    const end = u32[word(AT)]!;
    if (rows === 0 || (status !== STATUS_MORE && status !== STATUS_FULL)) return null;
    if (!isUtf8(u8.subarray(base, end))) return null;
    return { end, entries: rows, rowEnds: rows, lines: u32[word(LINES)]!, literal: false };
  }
}
