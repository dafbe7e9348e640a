// A Run whose arena is small and whose memory moves at every allocation: growth takes the buffer away from all views. Who
// reads or writes on through an old view does so in nothing, and results differ from those of a memory that stays.
import { Arena } from '../../../workers/memory/arena.ts';
import { Heap } from '../../../workers/memory/heap.ts';

/** Of one Run: later ones move it no more, or a loop over cells would end at the last address. */
const MOVES_MAX = 2000;

/** Applies `work`, one at a time, while arenas begin each batch with so many bytes and every memory moves. */
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
