// Rows that an operation holds back, first in, first out, in spill files: however many they are they take no memory.

import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';
import type { Slices } from '../../run/time-slices.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';

/** A file with its rows; the first `taken` of them are gone. */
interface HeldFile {
  readonly file: SpillFile;
  readonly rows: number;
  taken: number;
}

export class SpillQueue {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #reader: SpillReader;
  #writer: SpillWriter | null = null;
  #files: HeldFile[] = [];
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
    const { arena, spill } = this.#context;
    const file = new SpillFile(spill);
    if (this.#writer === null) this.#writer = new SpillWriter(arena.heap, this.#codec, file);
    else this.#writer.turnTo(file);
    this.#codec.prepare(batch);
    const mark = arena.next;
    const orders = arena.take(batch.live * 8);
    this.#writer.write(batch, { rows: batch.selection, count: batch.live, orders });
    this.#writer.flush();
    arena.release(mark);
    this.#files.push({ file, rows: batch.live, taken: 0 });
    this.#rows += batch.live;
  }

  /** Hands the first `count` rows on, in batches that are valid until `next` is done with them. */
  *release(count: number, next: Next): Slices {
    const { arena } = this.#context;
    this.#rows -= count;
    for (let left = count; left > 0; ) {
      const held = this.#files[0]!;
      this.#reader.open(held.file);
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
      held.file.drop();
      this.#files.shift();
    }
  }

  drop(): void {
    for (const { file } of this.#files) file.drop();
    this.#files = [];
    this.#rows = 0;
  }
}
