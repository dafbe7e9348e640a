// The gate to the memory that a row needs which outgrew its Run's window: it is taken from the budget, or it is the node's
// one arena for such rows (see LARGE_ROW_ARENA_BYTES), which waits for no budget. A Run keeps what it got until its memory
// is free again, for memory never shrinks: so the Runs at large rows are bounded, however slowly their files arrive.
import { Failed } from '../protocol/failure.ts';
import { type BudgetShare, LARGE_ROW_ARENA_BYTES } from './budget.ts';
import { type Heap, type HeapLender, OUTGROWN } from './heap.ts';

/** A row as it is read, decoded, and written. */
const ROW_COPIES = 3;

/**
 * Of the arena what stays for the texts that the runtime makes of a row's cells while they are computed: those of a cell of
 * 4 MiB, four times over (Collector.madeTexts).
 */
const TEXT_BYTES = 16 * 1024 * 1024;

/** Milliseconds between two looks at the gate: large rows are rare and last tens of milliseconds. */
const LOOK_MILLISECONDS = 5;

export interface GatedRun {
  cancelled(): boolean;
  /** Whether all of its file is there. */
  arrived(): boolean;
}

/** Lets a Run read a row that does not fit its window. */
export interface LargeRowAccess {
  acquire(heap: Heap, regionBytes: number): Promise<void>;
}

export class LargeRowGate implements HeapLender {
  readonly #flag: Int32Array;
  readonly #owner: number;
  readonly #budget: BudgetShare;
  readonly #run: GatedRun;
  /** What was lent so far, in bytes. */
  #lentBytes = 0;
  #hasArena = false;
  /** As much as the arena was taken from the budget. */
  #hasLoan = false;
  #coversTexts = false;

  /**
   * @param flag one shared Int32: 0 = the arena is free, else the owner
   * @param owner see largeRowOwner
   * @param run looked at between tries; the wait ends when it is cancelled
   */
  constructor(flag: Int32Array, owner: number, budget: BudgetShare, run: GatedRun) {
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
      // As tryLend: the file goes on arriving meanwhile.
      if (!this.#run.arrived() || !this.#tryArena(heap)) await this.#look();
    }
  }

  /** Waits for the arena, or for as much from the budget. */
  async acquireArena(heap: Heap): Promise<void> {
    while (!this.hasLent && !this.#run.cancelled()) {
      this.#hasLoan = this.#budget.take(LARGE_ROW_ARENA_BYTES);
      if (this.#hasLoan) heap.lend(LARGE_ROW_ARENA_BYTES, LARGE_ROW_ARENA_BYTES);
      else if (!this.tryLend(heap)) await this.#look();
    }
  }

  /** Nothing is lent to a Run whose file still arrives: it could keep it from others for as long as its client likes. */
  tryLend(heap: Heap): boolean {
    return !this.hasLent && this.#run.arrived() && this.#tryArena(heap);
  }

  get hasLent(): boolean {
    return this.#hasArena || this.#hasLoan;
  }

  /**
   * The runtime makes long texts of a row's cells, beside the heap: what is lent is for them too.
   * @throws Failed RUN_RESOURCE_LIMIT
   */
  coverTexts(heap: Heap): void {
    if (!this.hasLent || this.#coversTexts) return;
    if (!heap.takeLent(TEXT_BYTES)) throw new Failed('RUN_RESOURCE_LIMIT', OUTGROWN);
    this.#coversTexts = true;
  }

  /** The memory that grew at it is free. */
  release(): void {
    if (this.#hasArena) Atomics.compareExchange(this.#flag, 0, this.#owner, 0);
    this.#hasArena = false;
  }

  #tryArena(heap: Heap): boolean {
    this.#hasArena = Atomics.compareExchange(this.#flag, 0, 0, this.#owner) === 0;
    if (this.#hasArena) heap.lend(LARGE_ROW_ARENA_BYTES, 0);
    return this.#hasArena;
  }

  #look(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
  }
}
