// Keys for sorting rows of batches by some of their columns.
import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  BOOLEAN,
  DECIMAL,
  INTEGER,
  NUMBER,
  TERM_BYTES,
  TERM_FALLS,
  TERM_KIND,
  TERM_META,
  TERM_NULLS_FIRST,
  TERM_VALUES,
  TEXT,
} from '../../kernel/layout/sort-keys.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { chainScratchBytes, runTextChain, type TextStep } from '../cells/text-chain.ts';
import { caseStep } from '../cells/text-steps.ts';
import type { RowOrder } from './row-sorter.ts';
import { type SortColumn, SortKeyWriter } from './sort-key.ts';

/** A column to sort by, and its index in the batches. */
export interface SortTerm extends SortColumn {
  readonly index: number;
}

/** Kinds of terms of the kernel sortKeys. */
const KINDS = {
  text: TEXT,
  json: TEXT,
  integer: INTEGER,
  date: INTEGER,
  datetime: INTEGER,
  decimal: DECIMAL,
  number: NUMBER,
  boolean: BOOLEAN,
} as const;

export class SortKeys implements RowOrder {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #terms: readonly SortTerm[];
  readonly #readers: readonly CellReader[];
  readonly #writer: SortKeyWriter;
  /** Texts are folded before they are compared. */
  readonly #fold: readonly TextStep[];
  readonly #description: number;

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel'>, terms: readonly SortTerm[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#terms = terms;
    this.#readers = terms.map(({ type, index }) => new CellReader(type, index));
    this.#writer = new SortKeyWriter(terms);
    const folds = terms.some(({ compare }) => compare === 'case_insensitive');
    this.#fold = folds ? [caseStep(heap, 'fold')] : [];
    this.#description = heap.allocate(terms.length * TERM_BYTES);
  }

  prepare(): void {}

  make(batch: Batch): number {
    const { arena, kernel } = this.#context;
    const keys = arena.tryTake(batch.rows * VIEW_BYTES);
    if (keys === 0) return 0;
    const described = this.#describe(batch);
    if (described === 'full') return 0;
    if (described === 'not_here') return this.#makeByCell(batch, keys) ? keys : 0;
    const { selection, live } = batch;
    const { next, limit } = arena;
    const end =
      kernel.exports.sortKeys(this.#description, this.#terms.length, selection, live, keys, next, limit) >>> 0;
    if (end === 0) return 0;
    arena.next = end;
    return keys;
  }

  /** Tells the kernel where the columns are; `not_here` when it does not know one of them. */
  #describe(batch: Batch): 'done' | 'full' | 'not_here' {
    let term = this.#description;
    for (const { type, index, compare, descending, nullsFirst } of this.#terms) {
      const column = batch.columns[index]!;
      if (column.kind === 'raw') throw new Error('views of sorted columns are made before');
      const isText = column.kind === 'views';
      if (isText !== (KINDS[type] === TEXT)) return 'not_here';
      if (isText ? compare === 'natural' : column.big !== null && column.big.size > 0) return 'not_here';
      const values = isText && compare === 'case_insensitive' ? this.#folded(batch, column.at) : column.at;
      if (values === 0) return 'full';
      const meta = isText ? 0 : column.meta;
      const { u32 } = batch.heap;
      u32[(term + TERM_KIND) >>> 2] = KINDS[type];
      u32[(term + TERM_VALUES) >>> 2] = values;
      u32[(term + TERM_META) >>> 2] = meta;
      u32[(term + TERM_FALLS) >>> 2] = descending ? 1 : 0;
      u32[(term + TERM_NULLS_FIRST) >>> 2] = nullsFirst ? 1 : 0;
      term += TERM_BYTES;
    }
    return 'done';
  }

  #folded(batch: Batch, at: number): number {
    const { arena, kernel } = this.#context;
    const { rows, selection, live } = batch;
    const views = arena.tryTake(rows * VIEW_BYTES);
    const list = arena.tryTake(chainScratchBytes(live));
    if (views === 0 || list === 0) return 0;
    arena.heap.u8.copyWithin(views, at, at + rows * VIEW_BYTES);
    arena.heap.u8.copyWithin(list, selection, selection + live * 4);
    return runTextChain(this.#fold, kernel, arena, { views, rows: list, count: live }) ? views : 0;
  }

  #makeByCell(batch: Batch, views: number): boolean {
    const { arena } = batch;
    for (const reader of this.#readers) reader.bind(batch);
    const { u8, u32 } = arena.heap;
    const values: unknown[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = u32[(batch.selection >>> 2) + position]!;
      for (const [index, reader] of this.#readers.entries()) values[index] = reader.read(row);
      const key = this.#writer.key(values);
      if (arena.freeBytes < key.length) return false;
      u8.set(key, arena.next);
      u32[(views >>> 2) + row * 2] = arena.next;
      u32[(views >>> 2) + row * 2 + 1] = key.length;
      arena.next += key.length;
    }
    return true;
  }
}

/** A sorted batch without its key. */
export function withoutKey(batch: Batch): Batch {
  return batch.withColumns(batch.columns.slice(1));
}
