// Rows that an operation holds back, first in, first out, in spill files: however many they are they take no memory.

import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';
import type { Slices } from '../../run/time-slices.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';

/** A file from which rows are taken is as long as this at most, and a batch: its space comes back as a whole. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** Rows of a batch, and where in a file they begin; the first `taken` of them are gone. */
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
  /** To which rows are written. */
  #file: SpillFile | null = null;
  #held: HeldRows[] = [];
  #rows = 0;

  constructor(context: OperatorContext) {
    const { arena, kernel, input } = context;
    this.#context = context;
    this.#codec = new RowCodec(arena.heap, kernel, storedTypes(input));
    this.#reader = new SpillReader(arena, this.#codec, BATCH_ROOM);
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

  /** Hands the first `count` rows on, in batches that are valid until `next` is done with them. */
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
