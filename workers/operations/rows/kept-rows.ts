// All rows of an operation in their order, kept until it has seen the last one: in memory while the budget allows, else in
// a file.
import type { Batch } from '../../batch.ts';
import type { ColumnType } from '../../schema.ts';
import { HeapBytes } from '../../spill/heap-bytes.ts';
import { RowCodec } from '../../spill/row-codec.ts';
import { BATCH_ROOM, RowReader } from '../../spill/row-reader.ts';
import { RowWriter } from '../../spill/row-writer.ts';
import type { OperatorContext } from '../operation.ts';

export class KeptRows {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #bytes: HeapBytes;
  readonly #writer: RowWriter;

  /** @param types of the columns of the batches that will be added */
  constructor(context: OperatorContext, types: readonly ColumnType[]) {
    const { arena, kernel, spill } = context;
    this.#context = context;
    this.#codec = new RowCodec(arena.heap, kernel, types);
    this.#bytes = new HeapBytes(arena.heap, spill);
    this.#writer = new RowWriter(arena.heap, this.#codec, this.#bytes);
  }

  add(batch: Batch): void {
    const { arena } = this.#context;
    this.#codec.prepare(batch);
    const mark = arena.next;
    // The rows are read in the order in which they are written: their numbers do not matter.
    const orders = arena.take(batch.live * 8);
    this.#writer.write(batch, { rows: batch.selection, count: batch.live, orders });
    arena.release(mark);
  }

  /** Hands the rows on in batches that are valid until `next` returns; yields after each. May be called again. */
  *handOn(next: (batch: Batch) => void): Iterable<void> {
    const { arena } = this.#context;
    this.#writer.flush();
    const reader = new RowReader(arena, this.#codec, BATCH_ROOM);
    reader.open(this.#bytes);
    while (reader.advance() > 0) {
      const mark = arena.next;
      next(reader.batch());
      arena.release(mark);
      yield;
    }
  }

  drop(): void {
    this.#bytes.drop();
  }
}
