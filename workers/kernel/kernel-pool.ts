// The kernel instances of one thread: one per Run at work, reset and used again. A memory never shrinks, so an instance
// that grew large is dropped; its bytes stay on the budget until they are collected, which is not left to chance.
import type { BudgetShare } from '../budget.ts';
import { RUN_RESERVATION_BYTES } from '../budget.ts';
import type { Collector } from '../collector.ts';
import { instantiateKernel, type Kernel } from './kernel.ts';

/** Idle instances kept per thread: enough for the small Runs that interleave, 32 MiB at most. */
const IDLE_KERNELS_MAX = 8;

/** The kernels' static data and rounding on top of a reservation. */
const SLACK_BYTES = 1024 * 1024;

/** What a Run holds for as long as its memory is not free. */
export interface HeldForMemory {
  release(): void;
}

interface Dropped {
  readonly memoryBytes: number;
  readonly borrowedBytes: number;
  readonly held: HeldForMemory | null;
}

export class KernelPool {
  readonly #module: WebAssembly.Module;
  readonly #budget: BudgetShare;
  readonly #collector: Collector;
  readonly #idle: Kernel[] = [];
  readonly #freed = new FinalizationRegistry<Dropped>((dropped) => this.#free(dropped));

  constructor(module: WebAssembly.Module, budget: BudgetShare, collector: Collector) {
    this.#module = module;
    this.#budget = budget;
    this.#collector = collector;
  }

  borrow(): Kernel {
    return this.#idle.pop() ?? instantiateKernel(this.#module);
  }

  /**
   * @param borrowedBytes what the Run's heap took from the budget beyond its reservation: given back when it is free
   * @param held released when it is free; must not refer to the kernel
   */
  giveBack(kernel: Kernel, borrowedBytes: number, held: HeldForMemory | null = null): void {
    const memoryBytes = kernel.memory.buffer.byteLength;
    if (memoryBytes <= RUN_RESERVATION_BYTES + SLACK_BYTES && this.#idle.length < IDLE_KERNELS_MAX) {
      this.#idle.push(kernel);
      this.#free({ memoryBytes: 0, borrowedBytes, held });
      return;
    }
    this.#freed.register(kernel.memory, { memoryBytes, borrowedBytes, held });
    this.#collector.dropped(memoryBytes);
  }

  #free({ memoryBytes, borrowedBytes, held }: Dropped): void {
    if (borrowedBytes > 0) this.#budget.give(borrowedBytes);
    held?.release();
    this.#collector.collected(memoryBytes);
  }
}
