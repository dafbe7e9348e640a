// Where tasks leave their outputs on this node: small ones in memory while all of these hold less than their share of the
// budget, others in files of the data directory.
import { rm } from 'node:fs/promises';
import { REJECTS_SUFFIX } from '../../workers/protocol/messages.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';

/** Up to this an output may stay in memory. */
export const MEMORY_OUTPUT_BYTES_MAX = 64 * 1024;

/** Outputs in memory may hold one part in so many of the budget. */
const BUDGET_SHARE = 4;

export class TaskOutputs {
  #directory: string;
  #budget: MemoryBudget;

  /** @param directory exists and is this process's own */
  constructor(directory: string, budget: MemoryBudget) {
    this.#directory = directory;
    this.#budget = budget;
  }

  /** Where a task may leave its output. */
  targetOf(task: number): { readonly path: string; readonly memoryBytesMax: number } {
    return {
      path: `${this.#directory}/${task}.out`,
      memoryBytesMax: outputsMayHoldMemory(this.#budget) ? MEMORY_OUTPUT_BYTES_MAX : 0,
    };
  }

  /** Removes what a task left there, if anything. */
  async discard(path: string): Promise<void> {
    await Promise.all([path, path + REJECTS_SUFFIX].map((one) => rm(one, { force: true })));
  }
}

export function outputsMayHoldMemory(budget: MemoryBudget): boolean {
  return budget.usedBytes('outputs') < budget.limitBytes / BUDGET_SHARE;
}
