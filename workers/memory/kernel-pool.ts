// Kernel instances of one thread: one per active Run, reset and reused. A memory never shrinks, so an instance that
// grew large is dropped. Its bytes stay charged to the budget until it is garbage-collected, which the Collector
// triggers.
import { instantiateKernel, type Kernel } from '../kernel/bindings/kernel.ts';
import type { BudgetShare } from './budget.ts';
import { RUN_RESERVATION_BYTES } from './budget.ts';
import type { Collector } from './collector.ts';
import { MemoryViews } from './heap.ts';

/** Maximum number of idle instances per thread: enough for small interleaved Runs, and at most 32 MiB. */
const IDLE_KERNELS_MAX = 8;

/** Interval after which unneeded idle instances are dropped. Otherwise they would hold memory forever after a burst. */
const UNUSED_MILLISECONDS = 1000;

/** Time for which the memory of a share is kept: until the next share of the same Run begins. */
const LARGE_MILLISECONDS = 100;

/** Number of idle instances to keep in any case, for the first Runs after a pause. */
const IDLE_KERNELS_MIN = 2;

/** Allowance on top of a reservation for the kernels' static data and rounding. */
const SLACK_BYTES = 1024 * 1024;

/** Memory of an idle instance, which no Run is charged for. */
export const IDLE_KERNEL_BYTES = RUN_RESERVATION_BYTES + SLACK_BYTES;

/** Maximum memory of an instance that is kept from one share of a large Run to the next. */
const SHARE_KERNEL_BYTES_MAX = 16 * 1024 * 1024;

/** A resource that a Run holds until its memory is free. */
export interface HeldForMemory {
  release(): void;
  /** True if other Runs may be waiting for it. */
  readonly hasLent: boolean;
}

export class KernelPool {
  readonly #module: WebAssembly.Module;
  readonly #budget: BudgetShare;
  readonly #collector: Collector;
  /** Used as a stack: the last instance is used next. */
  readonly #idle: Kernel[] = [];
  /** The last instance of a share. Its bytes stay charged to the budget. */
  #large: { readonly kernel: Kernel; readonly borrowedBytes: number } | null = null;
  /**
   * Views of instances that were used before. Creating new views would cost a small Run as much as one of its stages.
   */
  readonly #views = new WeakMap<Kernel, MemoryViews>();
  /** Minimum number of idle instances since the last check, which is the number of instances that were not needed. */
  #unused = 0;
  #look: NodeJS.Timeout | null = null;

  constructor(module: WebAssembly.Module, budget: BudgetShare, collector: Collector) {
    this.#module = module;
    this.#budget = budget;
    this.#collector = collector;
  }

  /** See Collector. */
  madeTexts(bytes: number): void {
    this.#collector.madeTexts(bytes);
  }

  /** See Collector. */
  get hasDropped(): boolean {
    return this.#collector.hasDropped;
  }

  /** @param isShare the Run is a share of a large one, which needs more memory than most Runs */
  borrow(isShare = false): Kernel {
    const large = isShare ? this.#large : null;
    if (large !== null) {
      this.#large = null;
      this.#free(large.borrowedBytes, null);
      return large.kernel;
    }
    const kernel = this.#idle.pop() ?? instantiateKernel(this.#module);
    this.#unused = Math.min(this.#unused, this.#idle.length);
    return kernel;
  }

  /** Views of a borrowed kernel's memory in its current size. */
  viewsOf(kernel: Kernel): MemoryViews {
    const { buffer } = kernel.memory;
    const known = this.#views.get(kernel);
    if (known?.buffer === buffer) return known;
    const views = new MemoryViews(buffer);
    this.#views.set(kernel, views);
    return views;
  }

  /**
   * @param borrowedBytes bytes that the Run's heap took from the budget beyond its reservation, released when the
   * memory is free
   * @param held released when the memory is free; must not refer to the kernel
   * @param isShare as for `borrow`
   */
  release(kernel: Kernel, borrowedBytes: number, held: HeldForMemory | null = null, isShare = false): void {
    const memoryBytes = kernel.memory.buffer.byteLength;
    if (memoryBytes <= IDLE_KERNEL_BYTES && this.#idle.length < IDLE_KERNELS_MAX) {
      this.#idle.push(kernel);
      if (this.#idle.length > IDLE_KERNELS_MIN) this.#lookLater();
      this.#free(borrowedBytes, held);
      return;
    }
    if (isShare && memoryBytes <= SHARE_KERNEL_BYTES_MAX && this.#large === null && held?.hasLent !== true) {
      this.#large = { kernel, borrowedBytes };
      held?.release();
      this.#dropLargeLater();
      return;
    }
    this.#drop(kernel, borrowedBytes, held);
  }

  #dropLargeLater(): void {
    const kept = this.#large!;
    setTimeout(() => {
      if (this.#large !== kept) return;
      this.#large = null;
      this.#drop(kept.kernel, kept.borrowedBytes, null);
    }, LARGE_MILLISECONDS).unref();
  }

  #drop({ memory }: Kernel, borrowedBytes: number, held: HeldForMemory | null): void {
    const isAwaited = held?.hasLent === true;
    const freed = this.#freeing(borrowedBytes, held);
    this.#collector.dropped(memory, { bytes: memory.buffer.byteLength, isAwaited, freed });
  }

  /** A separate method, because a closure may refer to all parameters of the function that creates it. */
  #freeing(borrowedBytes: number, held: HeldForMemory | null): () => void {
    return () => this.#free(borrowedBytes, held);
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

  #free(borrowedBytes: number, held: HeldForMemory | null): void {
    if (borrowedBytes > 0) this.#budget.release(borrowedBytes);
    held?.release();
  }
}
