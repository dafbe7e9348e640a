// Blocks of memory in which uploads are gathered for the disk, used again and again: fresh ones for every chunk would be
// garbage by the hundred MB a second, which the process holds until a collection. They are counted in the budget.
import type { MemoryBudget } from '../admission/memory-budget.ts';

/** One write to a spool file. */
export const BLOCK_BYTES = 128 * 1024;

/** Full blocks of all uploads together may be one part in so many of the budget, and at most so many bytes. */
const BUDGET_SHARE = 4;
const BYTES_MAX = 64 * 1024 * 1024;

/** More is asked for only while the full blocks are at most one part in so many of that. */
const ROOM_SHARE = 4;

/** Idle blocks that are kept for the next burst. */
const IDLE_BLOCKS_MAX = 256;

export class WriteBlocks {
  /** Called when there is room again. */
  onRoom: () => void = () => {};
  #budget: MemoryBudget;
  #idle: Buffer[] = [];
  /** Blocks that wait for the disk. */
  #full = 0;
  #fullMax: number;
  #roomMax: number;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    this.#fullMax = Math.floor(Math.min(budget.limitBytes / BUDGET_SHARE, BYTES_MAX) / BLOCK_BYTES);
    this.#roomMax = Math.floor(this.#fullMax / ROOM_SHARE);
  }

  /** Uploads hold more than they should: blocks are to be written at once. */
  get crowded(): boolean {
    return this.#full > this.#fullMax;
  }

  /** Fast uploads may read on. Full blocks go away by themselves, so this comes back. */
  get room(): boolean {
    return this.#full <= this.#roomMax;
  }

  take(): Buffer {
    this.#budget.charge(BLOCK_BYTES, 'bodies');
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** A taken block is full and waits for the disk. */
  fill(): void {
    this.#full += 1;
  }

  /** A full block is written or thrown away. */
  giveFull(block: Buffer): void {
    this.#full -= 1;
    this.give(block);
    if (this.#full === this.#roomMax) this.onRoom();
  }

  /** Of a block that was never full. The giver must not touch it any more. */
  give(block: Buffer): void {
    this.#budget.release(BLOCK_BYTES, 'bodies');
    if (this.#idle.length < IDLE_BLOCKS_MAX) this.#idle.push(block);
  }
}
