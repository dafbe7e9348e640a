// Rows that wait in order until they are processed: all rows of an operation, or a queue in files.
import type { Batch } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import { HeapBytes, SpillFile } from '../../memory/spill-file.ts';
import type { Slices, Steps } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_READER_SIZE, SpillReader, SpillWriter } from '../spill/row-files.ts';

// Keeps all rows of an operation in order until the last one has arrived: in memory while the budget allows, otherwise
// in a file.

export class RowBuffer {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #bytes: HeapBytes;
  readonly #writer: SpillWriter;

  /** @param types column types of the batches that will be added */
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
    // The rows are read in the order in which they are written, so their order numbers do not matter.
    const orders = arena.take(batch.live * 8);
    this.#writer.write(batch, { rows: batch.selection, count: batch.live, orders });
    arena.release(mark);
  }

  /**
   * Emits the rows in batches that are valid until `next` has finished with them, and yields after each. May be called
   * repeatedly.
   */
  *emit(next: Next): Steps {
    const { arena } = this.#context;
    this.#writer.flush();
    const reader = new SpillReader(arena, this.#codec, BATCH_READER_SIZE);
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

// A FIFO queue of rows in spill files, for operations that hold rows back. Its rows are not in memory, whatever their
// number.

/** Maximum size of a file, exceeded by at most one batch. The space of a file is released as a whole. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** Rows of a batch and their offset in a file. The first `taken` of them have been removed. */
interface HeldRows {
  readonly file: SpillFile;
  readonly from: number;
  readonly rows: number;
  taken: number;
}

export class SpillQueue {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #reader: SpillReader;
  #writer: SpillWriter | null = null;
  /** The file to which rows are written. */
  #file: SpillFile | null = null;
  #held: HeldRows[] = [];
  #rows = 0;

  constructor(context: OperatorContext) {
    const { arena, kernel, input } = context;
    this.#context = context;
    this.#codec = new RowCodec(arena.heap, kernel, storedTypes(input));
    this.#reader = new SpillReader(arena, this.#codec, BATCH_READER_SIZE);
  }

  get rows(): number {
    return this.#rows;
  }

  add(batch: Batch): void {
    const { arena } = this.#context;
    const { file, writer } = this.#target();
    const from = file.sizeBytes;
    this.#codec.prepare(batch);
    const mark = arena.next;
    const orders = arena.take(batch.live * 8);
    writer.write(batch, { rows: batch.selection, count: batch.live, orders });
    writer.flush();
    arena.release(mark);
    this.#held.push({ file, from, rows: batch.live, taken: 0 });
    this.#rows += batch.live;
  }

  #target(): { readonly file: SpillFile; readonly writer: SpillWriter } {
    if (this.#file === null || this.#file.sizeBytes >= FILE_BYTES_MAX) {
      this.#file = new SpillFile(this.#context.spill);
      this.#writer?.turnTo(this.#file);
    }
    this.#writer ??= new SpillWriter(this.#context.arena.heap, this.#codec, this.#file);
    return { file: this.#file, writer: this.#writer };
  }

  /** Emits the first `count` rows, in batches that are valid until `next` has finished with them. */
  *release(count: number, next: Next): Slices {
    const { arena } = this.#context;
    this.#rows -= count;
    for (let left = count; left > 0; ) {
      const held = this.#held[0]!;
      this.#reader.open(held.file, held.from);
      const upTo = Math.min(held.rows, held.taken + left);
      for (let at = 0; at < upTo; ) {
        const rows = this.#reader.advance();
        if (rows === 0) throw new Error('held rows are missing');
        const batch = this.#reader.batch();
        const mark = arena.next;
        const from = Math.max(0, held.taken - at);
        if (from < rows) yield* next(batch.slice(from, Math.min(rows, upTo - at)));
        arena.release(mark);
        at += rows;
      }
      left -= upTo - held.taken;
      held.taken = upTo;
      if (held.taken < held.rows) continue;
      this.#held.shift();
      if (this.#held[0]?.file !== held.file) this.#dropFile(held.file);
    }
  }

  drop(): void {
    for (const { file } of this.#held) this.#dropFile(file);
    this.#held = [];
    this.#rows = 0;
  }

  #dropFile(file: SpillFile): void {
    file.drop();
    if (this.#file === file) this.#file = null;
  }
}
