// All rows of an operation in their order, kept until it has seen the last one: in memory while the budget allows, else in
// a file.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';
import type { Steps } from '../../run/time-slices.ts';
import { HeapBytes } from '../spill/heap-bytes.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';

export class RowBuffer {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #bytes: HeapBytes;
  readonly #writer: SpillWriter;

  /** @param types of the columns of the batches that will be added */
  constructor(context: OperatorContext, types: readonly StoredType[]) {
    const { arena, kernel, spill } = context;
    this.#context = context;
    this.#codec = new RowCodec(arena.heap, kernel, types);
    this.#bytes = new HeapBytes(arena.heap, spill);
    this.#writer = new SpillWriter(arena.heap, this.#codec, this.#bytes);
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

  /** Hands the rows on in batches that are valid until `next` is done with them; yields after each. May be called again. */
  *emit(next: Next): Steps {
    const { arena } = this.#context;
    this.#writer.flush();
    const reader = new SpillReader(arena, this.#codec, BATCH_ROOM);
    reader.open(this.#bytes);
    while (reader.advance() > 0) {
      const mark = arena.next;
      yield* next(reader.batch());
      arena.release(mark);
      yield;
    }
  }

  drop(): void {
    this.#bytes.drop();
  }
}
