// Rows that are put aside and come back in their order: in memory while the budget allows, before that in a file.
// States: written → read, once.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Arena } from '../../memory/arena.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { RowCodec } from './row-codec.ts';
import { rowsBetween } from './rows-between.ts';
import { SpillFile } from './spill-file.ts';
import { BATCH_ROOM, type RowBytes, SpillReader } from './spill-reader.ts';

/** Records lie in blocks: the first is small for small files, later ones are a part of what is there already. */
const BLOCK_BYTES_FIRST = 262_144;
const BLOCK_BYTES_MOST = 16 * 1024 * 1024;
const BLOCK_BYTES_LEAST = 1024 * 1024;
const BLOCK_PART = 4;

interface Block {
  readonly at: number;
  readonly bytes: number;
  /** Behind the last record. */
  end: number;
}

export class RowStore {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>;
  readonly #arena: Arena;
  readonly #codec: RowCodec;
  #blocks: Block[] = [];
  #heldBytes = 0;
  #file: SpillFile | null = null;
  #reader: SpillReader | null = null;
  #parts: RowBytes[] = [];
  /** The rows at hand, of which those from `from` were given last, and the first `taken` are gone. */
  #batch: Batch | null = null;
  #from = 0;
  #taken = 0;

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>, types: readonly StoredType[]) {
    this.#context = context;
    this.#arena = context.arena;
    this.#codec = new RowCodec(context.arena.heap, context.kernel, types);
    this.#push(BLOCK_BYTES_FIRST, context.arena.heap.allocate(BLOCK_BYTES_FIRST));
  }

  /** @param orders numbers that come back with the rows (f64 by position), 0 for none */
  add(batch: Batch, orders = 0): void {
    this.#codec.prepare(batch);
    const mark = this.#arena.next;
    const numbers = orders === 0 ? this.#arena.take(batch.live * 8) : orders;
    for (let from = 0; from < batch.live; ) {
      const block = this.#blocks.at(-1)!;
      const list = { rows: batch.selection, from, count: batch.live, orders: numbers };
      const { next, reached } = this.#codec.encode(batch, list, block.end, block.at + block.bytes);
      block.end = next;
      from = reached;
      if (from < batch.live) this.#nextBlock();
    }
    this.#arena.release(mark);
  }

  /** All rows have come: they are read from the first on. */
  begin(): void {
    this.#reader = new SpillReader(this.#arena, this.#codec, BATCH_ROOM);
    this.#parts = [...(this.#file === null ? [] : [this.#file]), ...this.#blocks.map((block) => this.#bytesOf(block))];
    this.#reader.open(this.#parts.shift()!);
  }

  /** The next rows, `most` at most, of which there have to be some; valid until the next call. */
  next(most: number): Batch {
    if (this.#batch === null || this.#taken === this.#batch.live) {
      const reader = this.#reader!;
      while (reader.advance() === 0) {
        const part = this.#parts.shift();
        if (part === undefined) throw new Error('rows that were put aside are missing');
        reader.open(part);
      }
      this.#batch = reader.batch();
      this.#taken = 0;
    }
    this.#from = this.#taken;
    this.#taken = Math.min(this.#batch.live, this.#from + most);
    return rowsBetween(this.#batch, this.#from, this.#taken);
  }

  /** Address of the numbers of the rows that `next` gave, until its next call. */
  get orders(): number {
    return this.#reader!.orders + this.#from * 8;
  }

  /** Leaves its memory to others: all rows lie in the file. */
  putAside(): void {
    if (this.#blocks.length > 1) this.#spill();
  }

  drop(): void {
    this.#file?.drop();
    for (const { at, bytes } of this.#blocks) this.#arena.heap.giveBack(at, bytes);
    this.#blocks = [];
  }

  #nextBlock(): void {
    const { heap } = this.#arena;
    const last = this.#blocks.at(-1)!;
    if (last.end === last.at) {
      // A record that is larger than the block.
      this.#blocks.pop();
      heap.giveBack(last.at, last.bytes);
      this.#push(last.bytes * 2, heap.allocate(last.bytes * 2));
      return;
    }
    const most = Math.min(BLOCK_BYTES_MOST, Math.max(BLOCK_BYTES_LEAST, Math.floor(this.#heldBytes / BLOCK_PART)));
    for (let bytes = most; bytes >= BLOCK_BYTES_LEAST; bytes = Math.floor(bytes / 2)) {
      const at = heap.tryAllocate(bytes);
      if (at === 0) continue;
      this.#push(bytes, at);
      return;
    }
    this.#spill();
  }

  /** Writes all records behind those of the file: the first block goes on, the others are free. */
  #spill(): void {
    const { heap } = this.#arena;
    this.#file ??= new SpillFile(this.#context.spill);
    for (const { at, end } of this.#blocks) this.#file.append(heap.u8.subarray(at, end));
    const [first, ...others] = this.#blocks;
    for (const { at, bytes } of others) heap.giveBack(at, bytes);
    first!.end = first!.at;
    this.#blocks = [first!];
  }

  #push(bytes: number, at: number): void {
    this.#blocks.push({ at, bytes, end: at });
    this.#heldBytes += bytes;
  }

  /** A block as bytes of a file. */
  #bytesOf({ at, end }: Block): RowBytes {
    const { heap } = this.#arena;
    return {
      sizeBytes: end - at,
      read(target, position) {
        const bytes = Math.min(target.length, end - at - position);
        target.set(heap.u8.subarray(at + position, at + position + bytes));
        return bytes;
      },
    };
  }
}
