// Rows that come back last ones first, some at a time, each such piece in its own order: in memory while the budget allows, before
// that in a file.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { RowCodec, type RowTarget, targetBatch } from './row-codec.ts';
import { SpillFile } from './spill-file.ts';

/** Of a piece, unless one row is larger. */
const PIECE_ROWS = 2048;
const PIECE_BYTES = 262_144;

/** Where the records of a piece lie. */
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
  /** Those before it lie in the file. */
  #firstHeld = 0;
  #file: SpillFile | null = null;
  #target: RowTarget | null = null;
  #selection = 0;
  /** For pieces of the file. */
  #buffer = { at: 0, bytes: 0 };

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>, types: readonly StoredType[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#codec = new RowCodec(heap, context.kernel, types);
    this.#rowsMax = this.#codec.rowsWithin(PIECE_ROWS);
    this.#blocks = new GrowingBlocks(heap);
  }

  /** @param inOrder pieces into which the batch has to be cut come back first one first, before those of batches before it */
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

  /** The last piece that is left, valid until the next call; null when there is none. */
  pop(): Batch | null {
    const piece = this.#pieces.pop();
    if (piece === undefined) return null;
    this.#firstHeld = Math.min(this.#firstHeld, this.#pieces.length);
    const { arena } = this.#context;
    this.#target ??= this.#makeTarget();
    const at = piece.isFiled ? this.#fromFile(piece) : piece.at;
    const { rows, reached } = this.#codec.decode(this.#target, at, at + piece.bytes);
    if (reached !== at + piece.bytes) throw new Error('a piece has more rows than were put there');
    const columns = this.#codec.columns(this.#target, rows);
    return targetBatch({ arena, columns, rows, selection: this.#selection, sources: this.#target.sources });
  }

  /** Leaves its memory to others; nobody asks it any more. */
  drop(): void {
    this.#file?.drop();
    this.#blocks.giveBack();
    if (this.#buffer.at !== 0) this.#context.arena.heap.giveBack(this.#buffer.at, this.#buffer.bytes);
  }

  /** Writes all pieces behind those of the file. */
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
      if (this.#buffer.at !== 0) heap.giveBack(this.#buffer.at, this.#buffer.bytes);
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
