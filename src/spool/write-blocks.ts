// Blocks of memory in which uploads are gathered for the disk, used again and again: fresh ones for every chunk would be
// garbage by the hundred MB a second, which the process holds until a collection. They are counted in the budget.
import type { MemoryBudget } from '../admission/memory-budget.ts';

/** One write to a spool file. */
export const BLOCK_BYTES = 128 * 1024;

/** All uploads together may hold one part in so many of the budget, and at most so many bytes. */
const BUDGET_SHARE = 8;
const BYTES_MAX = 64 * 1024 * 1024;

/** Idle blocks that are kept for the next burst. */
const IDLE_BLOCKS_MAX = 128;

export class WriteBlocks {
  #budget: MemoryBudget;
  #idle: Buffer[] = [];
  #taken = 0;
  #takenMax: number;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    this.#takenMax = Math.floor(Math.min(budget.limitBytes / BUDGET_SHARE, BYTES_MAX) / BLOCK_BYTES);
  }

  /** Uploads hold more than they should: blocks are to be written at once. */
  get crowded(): boolean {
    return this.#taken > this.#takenMax;
  }

  take(): Buffer {
    this.#taken += 1;
    this.#budget.charge(BLOCK_BYTES, 'bodies');
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** The giver must not touch the block any more. */
  give(block: Buffer): void {
    this.#taken -= 1;
    this.#budget.release(BLOCK_BYTES, 'bodies');
    if (this.#idle.length < IDLE_BLOCKS_MAX) this.#idle.push(block);
  }
}
