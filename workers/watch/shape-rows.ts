// Finds rows with cells of a shape that is new in their column.
import { utf8Text } from '../batch/ascii-text.ts';
import type { Batch } from '../batch/batch.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { RunWatch } from '../run/run-job.ts';
import { ASCII_SHAPES, RUNS, SHAPE_CHARACTERS_MAX, shapeOf } from './column-profile.ts';

// Hash of the shape of a cell, computed from its bytes. Fast enough to search millions of cells in seconds.

/**
 * FNV-1a with 32 bits. A column has at most a few thousand shapes, so collisions are rare; a collision only hides one
 * row.
 */
const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

const PLUS = 0x2b;

/** @returns a hash of the shape (see shapeOf) of a UTF-8 text */
export function shapeHash(u8: Uint8Array, start: number, length: number): number {
  let hash = FNV_OFFSET;
  let last = 0;
  let run = 0;
  const end = start + Math.min(length, SHAPE_CHARACTERS_MAX);
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if (byte >= ASCII_SHAPES.length) return hashOf(shapeOf(utf8Text(u8, start, length)));
    const shape = ASCII_SHAPES[byte]!;
    run = shape === last && RUNS.has(shape) ? run + 1 : 1;
    last = shape;
    if (run <= 2) hash = Math.imul(hash ^ (run === 2 ? PLUS : shape), FNV_PRIME);
  }
  return hash;
}

function hashOf(shape: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < shape.length; index++) hash = Math.imul(hash ^ shape.charCodeAt(index), FNV_PRIME);
  return hash;
}

// The observer of a Run. In a file of millions of rows, unusual values are among the rows with new shapes.

/** Maximum number of rows noted. Each of them is processed again at every change of a Template. */
const ROWS_MAX = 1_000;

/**
 * Maximum number of new shapes noted per column. Free text has endless shapes and must not use up the capacity of
 * other columns.
 */
const SHAPES_OF_COLUMN_MAX = 100;

/** Maximum number of columns examined. Each remembers a few thousand shapes. */
const COLUMNS_MAX = 1_000;

/** Shape of a null. A text has this hash only by chance. */
const NULL_SHAPE = 0;

export class ShapeRows implements RunWatch {
  readonly gathers = false;
  readonly pickedRows = null;
  readonly #firstRows: number;
  #columns: ShapeColumn[] = [];
  #found: number[] = [];
  #rowsSeen = 0;

  /** @param firstRows number of leading rows: they are never noted, and later rows with their shapes are not new */
  constructor(firstRows: number) {
    this.#firstRows = firstRows;
  }

  /** Returns 0 if no further row would be noted. */
  get rowsMax(): number {
    const isFull = this.#found.length === ROWS_MAX || (this.#rowsSeen > 0 && this.#columns.length === 0);
    return isFull ? 0 : Number.POSITIVE_INFINITY;
  }

  begin(): void {
    this.#columns = [];
    this.#found = [];
    this.#rowsSeen = 0;
  }

  rows(step: number, batch: Batch): void {
    if (step > 0) return;
    if (this.#rowsSeen === 0)
      this.#columns = batch.columns.slice(0, COLUMNS_MAX).map((_, index) => new ShapeColumn(index));
    for (const column of this.#columns) column.bind(batch);
    for (let position = 0; position < batch.live && this.#found.length < ROWS_MAX; position++) {
      this.#rowsSeen++;
      const row = batch.physicalRow(position);
      const isNoted = this.#rowsSeen > this.#firstRows;
      let isNew = false;
      for (const column of this.#columns) if (column.add(row, isNoted)) isNew = true;
      if (isNew) this.#found.push(batch.sourceRow(row));
    }
    this.#columns = this.#columns.filter(({ isFull }) => !isFull);
  }

  passed(): void {}

  trouble(): void {}

  /** The Run has ended: drops all references to its memory. */
  close(): void {
    this.#columns = [];
  }

  get rowsSeen(): number {
    return this.#rowsSeen;
  }

  /** Source rows, ascending. */
  get found(): readonly number[] {
    return this.#found;
  }
}

class ShapeColumn {
  readonly #index: number;
  readonly #known = new Set<number>();
  #noted = 0;
  #batch!: Batch;
  #views = 0;

  constructor(index: number) {
    this.#index = index;
  }

  get isFull(): boolean {
    return this.#noted === SHAPES_OF_COLUMN_MAX;
  }

  /** @param batch owned by the observer */
  bind(batch: Batch): void {
    this.#views = batch.views(this.#index) >>> 2;
    this.#batch = batch;
  }

  /** @returns true if the row has a new shape that is to be noted */
  add(row: number, isNoted: boolean): boolean {
    const { u8, u32 } = this.#batch.heap;
    const at = this.#views + row * (VIEW_BYTES / 4);
    const start = u32[at]!;
    const shape = start === 0 ? NULL_SHAPE : shapeHash(u8, start, u32[at + 1]!);
    if (this.isFull || this.#known.has(shape)) return false;
    this.#known.add(shape);
    if (isNoted) this.#noted++;
    return isNoted;
  }
}
