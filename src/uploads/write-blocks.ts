// Reusable memory blocks in which uploads are collected before they are written to disk. Allocating a new buffer for
// each chunk would create hundreds of MB of garbage per second. The blocks are charged to the budget.
import type { MemoryBudget } from '../admission/memory-budget.ts';

/** Size of one write to a spool file. */
export const BLOCK_BYTES = 128 * 1024;

/**
 * Limits for the full blocks of all uploads together: this fraction (1/n) of the budget, and at most this many bytes.
 */
const BUDGET_SHARE = 4;
const BYTES_MAX = 64 * 1024 * 1024;

/** Fast uploads may continue only while the full blocks occupy at most this fraction (1/n) of that limit. */
const FAST_UPLOADS_SHARE = 4;

/** Maximum number of idle blocks kept for the next burst. */
const IDLE_BLOCKS_MAX = 256;

export class WriteBlocks {
  /** Called when there is space again. */
  onCapacity: () => void = () => {};
  #budget: MemoryBudget;
  #idle: Buffer[] = [];
  /** Number of blocks that wait to be written. */
  #full = 0;
  #fullMax: number;
  #fastFullMax: number;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    this.#fullMax = Math.floor(Math.min(budget.limitBytes / BUDGET_SHARE, BYTES_MAX) / BLOCK_BYTES);
    this.#fastFullMax = Math.floor(this.#fullMax / FAST_UPLOADS_SHARE);
  }

  /** True if uploads hold too many blocks, so that blocks must be written immediately. */
  get crowded(): boolean {
    return this.#full > this.#fullMax;
  }

  /** True if fast uploads may continue. Full blocks are always written eventually, so this becomes true again. */
  get hasCapacity(): boolean {
    return this.#full <= this.#fastFullMax;
  }

  take(): Buffer {
    this.#budget.charge(BLOCK_BYTES, 'bodies');
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Marks a block as full and waiting to be written. */
  fill(): void {
    this.#full += 1;
  }

  /** Releases a full block that was written or discarded. */
  giveFull(block: Buffer): void {
    this.#full -= 1;
    this.give(block);
    if (this.#full === this.#fastFullMax) this.onCapacity();
  }

  /** Releases a block that was never full. The caller must not use it any more. */
  give(block: Buffer): void {
    this.#budget.release(BLOCK_BYTES, 'bodies');
    if (this.#idle.length < IDLE_BLOCKS_MAX) this.#idle.push(block);
  }
}
