// The gate to the memory that a row needs which outgrew its Run's window: it is taken from the budget, or it is the node's
// one arena for such rows (see LARGE_ROW_ARENA_BYTES), which waits for no budget. A Run keeps what it got until its memory
// is free again, for memory never shrinks: so the Runs at large rows are bounded, however slowly their files arrive.
import { type BudgetShare, LARGE_ROW_ARENA_BYTES } from './budget.ts';
import type { Heap } from './heap.ts';

/** A row as it is read, decoded, and written. */
const ROW_COPIES = 3;

/** Milliseconds between two looks at the gate: large rows are rare and last tens of milliseconds. */
const LOOK_MILLISECONDS = 5;

export class LargeRowGate {
  readonly #flag: Int32Array;
  readonly #owner: number;
  readonly #budget: BudgetShare;
  readonly #run: { cancelled(): boolean };
  /** What was lent so far, in bytes. */
  #lentBytes = 0;
  #hasArena = false;

  /**
   * @param flag one shared Int32: 0 = the arena is free, else the owner
   * @param owner see largeRowOwner
   * @param run looked at between tries; the wait ends when it is cancelled
   */
  constructor(flag: Int32Array, owner: number, budget: BudgetShare, run: { cancelled(): boolean }) {
    this.#flag = flag;
    this.#owner = owner;
    this.#budget = budget;
    this.#run = run;
  }

  /** Waits until the heap may hold a region of `regionBytes` for a row, and what is made of that row. */
  async acquire(heap: Heap, regionBytes: number): Promise<void> {
    const bytes = regionBytes * ROW_COPIES - this.#lentBytes;
    while (bytes > 0 && !this.#hasArena && !this.#run.cancelled()) {
      if (this.#budget.take(bytes)) {
        heap.lend(bytes, bytes);
        this.#lentBytes += bytes;
        return;
      }
      this.#hasArena = Atomics.compareExchange(this.#flag, 0, 0, this.#owner) === 0;
      if (this.#hasArena) heap.lend(LARGE_ROW_ARENA_BYTES, 0);
      else await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
    }
  }

  /** The memory that grew at it is free. */
  release(): void {
    if (this.#hasArena) Atomics.compareExchange(this.#flag, 0, this.#owner, 0);
    this.#hasArena = false;
  }
}
