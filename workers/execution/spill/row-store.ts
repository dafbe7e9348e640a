// Stores rows while an operation waits: in order, or as a stack that returns the last rows first. Earlier rows move to
// a file if memory is exhausted.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { RowCodec, type RowTarget, targetBatch } from './row-codec.ts';
import { BATCH_READER_SIZE, type RowBytes, SpillReader } from './row-files.ts';

// A range of rows of a decoded batch, as a separate batch.

/** Returns rows `from` to `to` of a batch of decoded rows. */
export function rowsBetween(batch: Batch, from: number, to: number): Batch {
  const columns = batch.columns.map((column): ColumnData => {
    if (column.kind === 'raw') throw new Error('rows that were read back have no raw columns');
    const at = column.at + from * VIEW_BYTES;
    if (column.kind === 'views') {
      return { ...column, at, ...(column.kinds === undefined ? {} : { kinds: column.kinds + from }) };
    }
    return { ...column, at, meta: column.meta + from, big: bigBetween(column.big, from, to) };
  });
  const { arena, selection, sourceRows } = batch;
  if (!('at' in sourceRows)) throw new Error('rows that were read back have their own source rows');
  return targetBatch({ arena, columns, rows: to - from, selection, sources: sourceRows.at + from * 8 });
}

/** The copy contains only these rows, because writers iterate over the whole map. */
function bigBetween(big: TypedColumn['big'], from: number, to: number): TypedColumn['big'] {
  if (big === null) return null;
  const within = [...big].filter(([row]) => row >= from && row < to);
  return new Map(within.map(([row, value]) => [row - from, value]));
}

// Stores rows and returns them in order: in memory while the budget allows, earlier ones in a file. States: written →
// read, once.

/** Sizes of blocks of records. The first block is small, for small files. Later blocks grow with the existing ones. */
const BLOCK_BYTES_FIRST = 262_144;
const BLOCK_BYTES_MOST = 16 * 1024 * 1024;
const BLOCK_BYTES_LEAST = 1024 * 1024;
const BLOCK_PART = 4;

interface Block {
  readonly at: number;
  readonly bytes: number;
  /** Address after the last record. */
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
  /**
   * The decoded rows. The last call returned the rows from `from` on, and the first `taken` rows have been consumed.
   */
  #batch: Batch | null = null;
  #from = 0;
  #taken = 0;

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>, types: readonly StoredType[]) {
    this.#context = context;
    this.#arena = context.arena;
    this.#codec = new RowCodec(context.arena.heap, context.kernel, types);
    this.#push(BLOCK_BYTES_FIRST, context.arena.heap.allocate(BLOCK_BYTES_FIRST));
  }

  /** @param orders address of numbers that are returned with the rows (f64 by position), or 0 */
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

  /** Called after the last row. Reading starts with the first row. */
  begin(): void {
    this.#reader = new SpillReader(this.#arena, this.#codec, BATCH_READER_SIZE);
    this.#parts = [...(this.#file === null ? [] : [this.#file]), ...this.#blocks.map((block) => this.#bytesOf(block))];
    this.#reader.open(this.#parts.shift()!);
  }

  /** Returns the next rows, at most `most`. There must be more rows. Valid until the next call. */
  next(most: number): Batch {
    if (this.#batch === null || this.#taken === this.#batch.live) {
      const reader = this.#reader!;
      while (reader.advance() === 0) {
        const part = this.#parts.shift();
        if (part === undefined) throw new Error('stored rows are missing');
        reader.open(part);
      }
      this.#batch = reader.batch();
      this.#taken = 0;
    }
    this.#from = this.#taken;
    this.#taken = Math.min(this.#batch.live, this.#from + most);
    return rowsBetween(this.#batch, this.#from, this.#taken);
  }

  /** Address of the numbers of the rows that `next` returned. Valid until its next call. */
  get orders(): number {
    return this.#reader!.orders + this.#from * 8;
  }

  /** Moves all rows to the file and releases their memory. */
  putAside(): void {
    if (this.#blocks.length > 1) this.#spill();
  }

  drop(): void {
    this.#file?.drop();
    for (const { at, bytes } of this.#blocks) this.#arena.heap.release(at, bytes);
    this.#blocks = [];
  }

  #nextBlock(): void {
    const { heap } = this.#arena;
    const last = this.#blocks.at(-1)!;
    if (last.end === last.at) {
      // The record is larger than the block.
      this.#blocks.pop();
      heap.release(last.at, last.bytes);
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

  /** Appends all records in memory to the file. Keeps the first block and releases the others. */
  #spill(): void {
    const { heap } = this.#arena;
    this.#file ??= new SpillFile(this.#context.spill);
    for (const { at, end } of this.#blocks) this.#file.append(heap.u8.subarray(at, end));
    const [first, ...others] = this.#blocks;
    for (const { at, bytes } of others) heap.release(at, bytes);
    first!.end = first!.at;
    this.#blocks = [first!];
  }

  #push(bytes: number, at: number): void {
    this.#blocks.push({ at, bytes, end: at });
    this.#heldBytes += bytes;
  }

  /** A block as readable bytes. */
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

// A stack of rows that returns the last rows first, in pieces whose rows keep their order: in memory while the budget
// allows, earlier ones in a file.

/** Maximum size of a piece, unless a single row is larger. */
const PIECE_ROWS = 2048;
const PIECE_BYTES = 262_144;

/** Location of the records of a piece. */
interface Piece {
  readonly at: number;
  readonly bytes: number;
  readonly isFiled: boolean;
}

export class RowStack {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>;
  readonly #codec: RowCodec;
  readonly #rowsMax: number;
  readonly #blocks: GrowingBlocks;
  readonly #pieces: Piece[] = [];
  /** Pieces before this one are in the file. */
  #firstHeld = 0;
  #file: SpillFile | null = null;
  #target: RowTarget | null = null;
  #selection = 0;
  /** Buffer for pieces from the file. */
  #buffer = { at: 0, bytes: 0 };

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>, types: readonly StoredType[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#codec = new RowCodec(heap, context.kernel, types);
    this.#rowsMax = this.#codec.rowsWithin(PIECE_ROWS);
    this.#blocks = new GrowingBlocks(heap);
  }

  /**
   * @param inOrder if the batch must be divided into pieces, whether they are returned first piece first, before those
   * of earlier batches
   */
  push(batch: Batch, inOrder = false): void {
    const first = this.#pieces.length;
    const { arena } = this.#context;
    const blocks = this.#blocks;
    this.#codec.prepare(batch);
    const mark = arena.next;
    const orders = arena.take(batch.live * 8);
    for (let from = 0; from < batch.live; ) {
      const count = Math.min(batch.live, from + this.#rowsMax);
      const list = { rows: batch.selection, from, count, orders };
      const start = blocks.next;
      const limit = Math.min(blocks.limit, start + PIECE_BYTES);
      let { next, reached } = this.#codec.encode(batch, list, start, limit);
      if (reached === from && limit < blocks.limit) {
        ({ next, reached } = this.#codec.encode(batch, { ...list, count: from + 1 }, start, blocks.limit));
      }
      if (reached > from) {
        this.#pieces.push({ at: start, bytes: next - start, isFiled: false });
        blocks.next = next;
        from = reached;
      } else if (!blocks.advance()) this.#spill();
    }
    arena.release(mark);
    if (!inOrder || this.#pieces.length - first <= 1) return;
    this.#pieces.push(...this.#pieces.splice(first).reverse());
    this.#firstHeld = Math.min(this.#firstHeld, first);
  }

  /** Returns the last remaining piece, valid until the next call, or null. */
  pop(): Batch | null {
    const piece = this.#pieces.pop();
    if (piece === undefined) return null;
    this.#firstHeld = Math.min(this.#firstHeld, this.#pieces.length);
    const { arena } = this.#context;
    this.#target ??= this.#makeTarget();
    const at = piece.isFiled ? this.#fromFile(piece) : piece.at;
    const { rows, reached } = this.#codec.decode(this.#target, at, at + piece.bytes);
    if (reached !== at + piece.bytes) throw new Error('a piece has more rows than were written');
    const columns = this.#codec.columns(this.#target, rows);
    return targetBatch({ arena, columns, rows, selection: this.#selection, sources: this.#target.sources });
  }

  /** Releases its memory. The stack cannot be used afterwards. */
  drop(): void {
    this.#file?.drop();
    this.#blocks.release();
    if (this.#buffer.at !== 0) this.#context.arena.heap.release(this.#buffer.at, this.#buffer.bytes);
  }

  /** Appends all pieces in memory to the file. */
  #spill(): void {
    const { arena, spill } = this.#context;
    this.#file ??= new SpillFile(spill);
    for (; this.#firstHeld < this.#pieces.length; this.#firstHeld++) {
      const { at, bytes, isFiled } = this.#pieces[this.#firstHeld]!;
      if (isFiled) continue;
      this.#pieces[this.#firstHeld] = { at: this.#file.sizeBytes, bytes, isFiled: true };
      this.#file.append(arena.heap.u8.subarray(at, at + bytes));
    }
    this.#blocks.restart();
  }

  #fromFile({ at, bytes }: Piece): number {
    const { heap } = this.#context.arena;
    if (this.#buffer.bytes < bytes) {
      if (this.#buffer.at !== 0) heap.release(this.#buffer.at, this.#buffer.bytes);
      const most = Math.max(PIECE_BYTES, bytes);
      this.#buffer = { at: heap.allocate(most), bytes: most };
    }
    const { at: start } = this.#buffer;
    this.#file!.read(heap.u8.subarray(start, start + bytes), at);
    return start;
  }

  #makeTarget(): RowTarget {
    const { heap } = this.#context.arena;
    this.#selection = heap.allocate(this.#rowsMax * 4);
    for (let row = 0; row < this.#rowsMax; row++) heap.u32[(this.#selection >>> 2) + row] = row;
    return this.#codec.target(this.#rowsMax);
  }
}
