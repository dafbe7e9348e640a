// One row that waits for the next batch, as bytes outside the batches.
import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { RowCodec } from '../spill/row-codec.ts';
import type { SpillBytes } from '../spill/spill-file.ts';
import { type ReaderRoom, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';

/** Rows of ordinary length are read at once; a longer one gets more room. */
const ROW_ROOM: ReaderRoom = { rowsMax: 1, bufferBytes: 16_384 };

export class HeldRow {
  readonly #context: Pick<OperatorContext, 'arena'>;
  readonly #codec: RowCodec;
  readonly #writer: SpillWriter;
  readonly #reader: SpillReader;
  readonly #bytes = new RowBytes();

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel' | 'input'>) {
    const { arena, kernel, input } = context;
    this.#context = context;
    this.#codec = new RowCodec(arena.heap, kernel, storedTypes(input));
    this.#writer = new SpillWriter(arena.heap, this.#codec, this.#bytes);
    this.#reader = new SpillReader(arena, this.#codec, ROW_ROOM);
  }

  get isEmpty(): boolean {
    return this.#bytes.sizeBytes === 0;
  }

  /** Takes the place of the row that was held. */
  hold(batch: Batch, position: number): void {
    const { arena } = this.#context;
    this.#bytes.drop();
    const one = batch.slice(position, position + 1);
    this.#codec.prepare(one);
    const mark = arena.next;
    const orders = arena.take(8);
    this.#writer.write(one, { rows: one.selection, count: 1, orders });
    this.#writer.flush();
    arena.release(mark);
  }

  /** The row as a batch, valid until `hold` or `take` comes again; then nothing is held. */
  take(): Batch {
    this.#reader.open(this.#bytes);
    if (this.#reader.advance() !== 1) throw new Error('a held row is missing');
    const batch = this.#reader.batch();
    this.#bytes.drop();
    return batch;
  }
}

class RowBytes implements SpillBytes {
  #bytes = Buffer.alloc(0);

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  append(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  read(target: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  }

  drop(): void {
    this.#bytes = Buffer.alloc(0);
  }
}
