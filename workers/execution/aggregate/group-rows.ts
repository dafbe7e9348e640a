// The first row of each group, as records in the Run's memory in the order in which the groups came.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Slices, Steps } from '../../run/time-slices.ts';
import { RowCodec, type RowTarget, targetBatch } from '../spill/row-codec.ts';
import type { RowList } from '../spill/spill-writer.ts';

/** Records lie in blocks: the first is small for small files, later ones cost few requests of the budget. */
const BLOCK_BYTES_FIRST = 65_536;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

/** Groups of a batch that comes out. */
const GROUPS_READ = 2048;

interface Block {
  readonly at: number;
  readonly bytes: number;
  /** Behind the last record. */
  end: number;
}

export class GroupRows {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #blocks: Block[] = [];
  #block = 0;
  #target: RowTarget | null = null;
  #selection = 0;

  constructor(context: OperatorContext, types: readonly StoredType[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#codec = new RowCodec(heap, context.kernel, types);
    const at = heap.allocate(BLOCK_BYTES_FIRST);
    this.#blocks.push({ at, bytes: BLOCK_BYTES_FIRST, end: at });
  }

  /** Takes rows of a batch that has the group columns. False when the budget refused more room: it has then been taken all the same. */
  add(batch: Batch, list: RowList): boolean {
    let granted = true;
    for (let from = 0; from < list.count; ) {
      const block = this.#blocks[this.#block]!;
      const { next, reached } = this.#codec.encode(batch, { ...list, from }, block.end, block.at + block.bytes);
      block.end = next;
      from = reached;
      if (from < list.count) granted = this.#nextBlock() && granted;
    }
    return granted;
  }

  /** Hands the groups on: their rows as a batch with the orders (f64 by row) under which they were added. Valid until it goes on. */
  *read(next: (batch: Batch, from: number, orders: number) => Slices): Steps {
    const { arena } = this.#context;
    const target = this.#readTarget();
    let from = 0;
    for (const { at, end } of this.#blocks.slice(0, this.#block + 1)) {
      for (let position = at; position < end; ) {
        const { rows, reached } = this.#codec.decode(target, position, end);
        position = reached;
        const columns: ColumnData[] = this.#codec.columns(target, rows);
        const mark = arena.next;
        yield* next(
          targetBatch({ arena, columns, rows, selection: this.#selection, sources: target.sources }),
          from,
          target.orders,
        );
        arena.release(mark);
        from += rows;
        yield;
      }
    }
  }

  clear(): void {
    for (const block of this.#blocks) block.end = block.at;
    this.#block = 0;
  }

  #nextBlock(): boolean {
    const { heap } = this.#context.arena;
    const last = this.#blocks[this.#block]!;
    const isEmpty = last.end === last.at;
    if (!isEmpty && this.#block + 1 < this.#blocks.length) {
      this.#block++;
      return true;
    }
    const bytes = isEmpty ? last.bytes * 2 : Math.min(BLOCK_BYTES_MOST, last.bytes * 2);
    let at = heap.tryAllocate(bytes, isEmpty);
    const granted = at !== 0;
    if (!granted) at = heap.allocate(bytes);
    if (isEmpty) this.#blocks[this.#block] = { at, bytes, end: at };
    else this.#block = this.#blocks.push({ at, bytes, end: at }) - 1;
    return granted;
  }

  #readTarget(): RowTarget {
    if (this.#target !== null) return this.#target;
    const { heap } = this.#context.arena;
    const rowsMax = this.#codec.rowsWithin(GROUPS_READ);
    this.#target = this.#codec.target(rowsMax);
    this.#selection = heap.allocate(rowsMax * 4);
    for (let row = 0; row < rowsMax; row++) heap.u32[(this.#selection >>> 2) + row] = row;
    return this.#target;
  }
}
