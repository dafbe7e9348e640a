// A Run with a small arena and a memory that moves at every allocation: growth detaches the buffer from all views. A read or
// write through an old view has no effect, so the results differ from those with a memory that does not move.
import { Arena } from '../../../workers/memory/arena.ts';
import { Heap } from '../../../workers/memory/heap.ts';

/** Maximum number of moves in one Run: without it, a loop over cells would reach the last address. */
const MOVES_MAX = 2000;

/** Applies `work`, one call at a time, while arenas begin each batch with `arenaBytes` bytes and every memory moves. */
export async function withMovingMemory<Result>(arenaBytes: number, work: () => Promise<Result>): Promise<Result> {
  const { clear } = Arena.prototype;
  const { tryAllocate } = Heap.prototype;
  const moves = new WeakMap<Heap, number>();
  Arena.prototype.clear = function (this: Arena) {
    clear.call(this);
    this.limit = Math.min(this.limit, this.next + arenaBytes);
  };
  Heap.prototype.tryAllocate = function (this: Heap, bytes, forced) {
    const made = moves.get(this) ?? 0;
    moves.set(this, made + 1);
    if (made < MOVES_MAX) tryAllocate.call(this, this.memory.buffer.byteLength - this.usedBytes, true);
    return tryAllocate.call(this, bytes, forced);
  };
  try {
    return await work();
  } finally {
    Object.assign(Arena.prototype, { clear });
    Object.assign(Heap.prototype, { tryAllocate });
  }
}
