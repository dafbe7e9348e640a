// The kernel instances of one thread: one per Run at work, reset and used again. A memory never shrinks, so an instance
// that grew large is dropped; its bytes stay on the budget until they are collected, which is not left to chance.
import { instantiateKernel, type Kernel } from '../kernel/bindings/kernel.ts';
import type { BudgetShare } from './budget.ts';
import { RUN_RESERVATION_BYTES } from './budget.ts';
import type { Collector } from './collector.ts';
import { MemoryViews } from './heap.ts';

/** Idle instances kept per thread: enough for the small Runs that interleave, 32 MiB at most. */
const IDLE_KERNELS_MAX = 8;

/** Idle instances that nobody needed for so many milliseconds are dropped: after a burst they would hold memory for ever. */
const UNUSED_MILLISECONDS = 1000;

/** ... but for so many: the next Runs after a rest start with them. */
const IDLE_KERNELS_MIN = 2;

/** The kernels' static data and rounding on top of a reservation. */
const SLACK_BYTES = 1024 * 1024;

/** What a Run holds for as long as its memory is not free. */
export interface HeldForMemory {
  release(): void;
  /** Others may wait for it. */
  readonly hasLent: boolean;
}

interface Dropped {
  readonly memoryBytes: number;
  readonly borrowedBytes: number;
  readonly held: HeldForMemory | null;
  readonly isAwaited: boolean;
}

export class KernelPool {
  readonly #module: WebAssembly.Module;
  readonly #budget: BudgetShare;
  readonly #collector: Collector;
  /** The last one is used next. */
  readonly #idle: Kernel[] = [];
  /** Of those that have been used: to make them anew would cost a small Run as much as one of its stages. */
  readonly #views = new WeakMap<Kernel, MemoryViews>();
  /** The fewest that were idle since the last look: so many were not needed. */
  #unused = 0;
  #look: NodeJS.Timeout | null = null;
  readonly #freed = new FinalizationRegistry<Dropped>((dropped) => this.#free(dropped));

  constructor(module: WebAssembly.Module, budget: BudgetShare, collector: Collector) {
    this.#module = module;
    this.#budget = budget;
    this.#collector = collector;
  }

  /** See Collector. */
  madeTexts(bytes: number): void {
    this.#collector.madeTexts(bytes);
  }

  borrow(): Kernel {
    const kernel = this.#idle.pop() ?? instantiateKernel(this.#module);
    this.#unused = Math.min(this.#unused, this.#idle.length);
    return kernel;
  }

  /** Of a borrowed kernel's memory as it is now. */
  viewsOf(kernel: Kernel): MemoryViews {
    const { buffer } = kernel.memory;
    const known = this.#views.get(kernel);
    if (known?.buffer === buffer) return known;
    const views = new MemoryViews(buffer);
    this.#views.set(kernel, views);
    return views;
  }

  /**
   * @param borrowedBytes what the Run's heap took from the budget beyond its reservation: given back when it is free
   * @param held released when it is free; must not refer to the kernel
   */
  giveBack(kernel: Kernel, borrowedBytes: number, held: HeldForMemory | null = null): void {
    const memoryBytes = kernel.memory.buffer.byteLength;
    if (memoryBytes <= RUN_RESERVATION_BYTES + SLACK_BYTES && this.#idle.length < IDLE_KERNELS_MAX) {
      this.#idle.push(kernel);
      if (this.#idle.length > IDLE_KERNELS_MIN) this.#lookLater();
      this.#free({ memoryBytes: 0, borrowedBytes, held, isAwaited: false });
      return;
    }
    this.#drop(kernel, borrowedBytes, held);
  }

  #drop(kernel: Kernel, borrowedBytes: number, held: HeldForMemory | null): void {
    const memoryBytes = kernel.memory.buffer.byteLength;
    const isAwaited = held?.hasLent === true;
    this.#freed.register(kernel.memory, { memoryBytes, borrowedBytes, held, isAwaited });
    this.#collector.dropped(memoryBytes, isAwaited);
  }

  #lookLater(): void {
    if (this.#look !== null) return;
    this.#unused = this.#idle.length;
    this.#look = setTimeout(() => {
      this.#look = null;
      const unused = this.#idle.splice(0, Math.min(this.#unused, this.#idle.length - IDLE_KERNELS_MIN));
      for (const kernel of unused) this.#drop(kernel, 0, null);
      if (this.#idle.length > IDLE_KERNELS_MIN) this.#lookLater();
    }, UNUSED_MILLISECONDS).unref();
  }

  #free({ memoryBytes, borrowedBytes, held, isAwaited }: Dropped): void {
    if (borrowedBytes > 0) this.#budget.give(borrowedBytes);
    held?.release();
    this.#collector.collected(memoryBytes, isAwaited);
  }
}
