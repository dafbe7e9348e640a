// The kernel instances of one thread: one per Run at work, reset and used again. A memory never shrinks, so an instance
// that grew large is dropped; its bytes stay on the budget until the garbage collector has freed them.
import type { BudgetShare } from '../budget.ts';
import { RUN_RESERVATION_BYTES } from '../budget.ts';
import { instantiateKernel, type Kernel } from './kernel.ts';

/** Idle instances kept per thread: enough for the small Runs that interleave, 32 MiB at most. */
const IDLE_KERNELS_MAX = 8;

export class KernelPool {
  readonly #module: WebAssembly.Module;
  readonly #budget: BudgetShare;
  readonly #idle: Kernel[] = [];
  readonly #freed = new FinalizationRegistry<number>((bytes) => this.#budget.give(bytes));

  constructor(module: WebAssembly.Module, budget: BudgetShare) {
    this.#module = module;
    this.#budget = budget;
  }

  borrow(): Kernel {
    return this.#idle.pop() ?? instantiateKernel(this.#module);
  }

  /** @param borrowedBytes what the Run's heap took from the budget beyond its reservation: given back when it is free */
  giveBack(kernel: Kernel, borrowedBytes: number): void {
    const bytes = kernel.memory.buffer.byteLength;
    if (bytes <= RUN_RESERVATION_BYTES + SLACK_BYTES && this.#idle.length < IDLE_KERNELS_MAX) {
      if (borrowedBytes > 0) this.#budget.give(borrowedBytes);
      this.#idle.push(kernel);
    } else if (borrowedBytes > 0) this.#freed.register(kernel.memory, borrowedBytes);
  }
}

/** The kernels' static data and rounding on top of a reservation. */
const SLACK_BYTES = 1024 * 1024;
