// When and how V8 collects: how far a heap may grow before all of it is looked through, and that what is young is collected
// by its own thread alone. It collects nothing itself.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * V8 collects again when a heap has grown by this many percent; by itself it waits for up to four times, which with many
 * kept Runs was 150 MB of garbage that the memory budget does not know of.
 */
const GROWTH_PERCENT = 30;

/**
 * A small heap may grow by this much all the same. Bodies, messages and blocks count as growth, so that at 30 percent a
 * heap of 26 MB was collected after each thousand small Runs, for a third of what the process then cost; with half of this
 * their p99 is 18 ms instead of 16.
 */
const GROWTH_BYTES = 64 * 1024 * 1024;

/**
 * ... or, where the node has little memory, by one part in so many of its budget: each thread may have as much garbage beside what
 * the budget counts, and with an eighth of 128 MiB three threads had 40 MiB of it.
 */
const BUDGET_SHARE = 16;

/** How often the percentage is fitted to the heap: it takes seconds to grow by as much as would matter. */
const FIT_MILLISECONDS = 1_000;

/** Paces the collections of this process from now on, those of its threads with it. */
export function paceCollections(memoryBudgetBytes: number): void {
  const growthBytes = Math.min(GROWTH_BYTES, memoryBudgetBytes / BUDGET_SHARE);
  const fit = (): void => {
    const percent = growthPercent(getHeapStatistics().used_heap_size, growthBytes);
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  // What outlives a collection of the young is 1 MB: to wake other threads for it, and to wait for them where all cores are
  // at work, takes longer than to copy it. Small Runs take 4 % less processor time so on two busy cores; with idle ones
  // nothing is lost but their help with a millisecond.
  setFlagsFromString('--no-parallel-scavenge');
  fit();
  setInterval(fit, FIT_MILLISECONDS).unref();
}

function growthPercent(heapBytes: number, growthBytes: number): number {
  return Math.max(GROWTH_PERCENT, Math.ceil((100 * growthBytes) / heapBytes));
}
