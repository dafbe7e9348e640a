// Provides memory for a row that has outgrown its Run's window: from the budget, or the node's single arena for such
// rows (see LARGE_ROW_ARENA_BYTES), which does not depend on the budget. A Run keeps this memory until its whole memory
// is free again, because a memory never shrinks. So the number of Runs with large rows is bounded, however slowly their
// files arrive.
import { Failed, MemoryWanted } from '../protocol/failure.ts';
import { type BudgetShare, LARGE_ROW_ARENA_BYTES } from './budget.ts';
import { type Heap, type HeapLender, OUTGROWN } from './heap.ts';

/** Copies of a row: as read, decoded, and written. */
const ROW_COPIES = 3;

/**
 * Part of the arena reserved for the texts that the runtime makes while computing a row's cells: four texts for a cell
 * of 4 MiB (Collector.madeTexts).
 */
const TEXT_BYTES = 16 * 1024 * 1024;

/**
 * Bytes charged for each byte of a cell that is decoded as a text: the text and the result of an edit, each with two
 * bytes per character, and the same amount again for garbage that has not been collected yet.
 */
const TEXT_COPIES = 8;

/** Interval between two attempts, in milliseconds: large rows are rare and take tens of milliseconds. */
const LOOK_MILLISECONDS = 5;

export interface GatedRun {
  cancelled(): boolean;
  /** True when the whole file has arrived. */
  arrived(): boolean;
}

/** Allows a Run to read a row that does not fit its window. */
export interface LargeRowAccess {
  acquire(heap: Heap, regionBytes: number): Promise<void>;
}

export class LargeRowGate implements HeapLender {
  readonly #flag: Int32Array;
  readonly #owner: number;
  readonly #budget: BudgetShare;
  readonly #run: GatedRun;
  /** Bytes lent so far. */
  #lentBytes = 0;
  #hasArena = false;
  /** True if bytes in the size of the arena were taken from the budget instead of the arena. */
  #hasLoan = false;
  /** Bytes charged for texts, to the budget or to the loan. */
  #textBytes = 0;
  #hasLentTexts = false;

  /**
   * @param flag one shared Int32: 0 = the arena is free, otherwise its owner
   * @param owner see largeRowOwner
   * @param run checked between attempts; the wait ends when it is cancelled
   */
  constructor(flag: Int32Array, owner: number, budget: BudgetShare, run: GatedRun) {
    this.#flag = flag;
    this.#owner = owner;
    this.#budget = budget;
    this.#run = run;
  }

  /**
   * Waits until the heap may allocate a region of `regionBytes` for a row, and the memory for decoding and writing that
   * row.
   */
  async acquire(heap: Heap, regionBytes: number): Promise<void> {
    const bytes = regionBytes * ROW_COPIES - this.#lentBytes;
    while (bytes > 0 && !this.#hasArena && !this.#run.cancelled()) {
      if (this.#budget.take(bytes)) {
        heap.lend(bytes, bytes);
        this.#lentBytes += bytes;
        return;
      }
      // Uses the arena only after the whole file has arrived, for the same reason as tryLend. The file continues to
      // arrive during the wait.
      if (!this.#run.arrived() || !this.#tryArena(heap)) await this.#look();
    }
  }

  /** Waits for the arena, or for as many bytes from the budget. */
  async acquireArena(heap: Heap): Promise<void> {
    while (!this.hasLent && !this.#run.cancelled()) {
      this.#hasLoan = this.#budget.take(LARGE_ROW_ARENA_BYTES);
      if (this.#hasLoan) heap.lend(LARGE_ROW_ARENA_BYTES, LARGE_ROW_ARENA_BYTES);
      else if (!this.tryLend(heap)) await this.#look();
    }
  }

  /**
   * Refuses a Run whose file is still arriving: a slow client could otherwise block the arena for other Runs
   * indefinitely.
   */
  tryLend(heap: Heap): boolean {
    return !this.hasLent && this.#run.arrived() && this.#tryArena(heap);
  }

  get hasLent(): boolean {
    return this.#hasArena || this.#hasLoan;
  }

  /**
   * Charges the long texts that the runtime makes from a row's cells, outside the heap. They are charged to the budget
   * or to the loan until `giveTexts` is called.
   * @param cellBytes length of the cell that is decoded
   * @throws MemoryWanted, and Failed RUN_RESOURCE_LIMIT
   */
  coverTexts(heap: Heap, cellBytes: number): void {
    const bytes = cellBytes * TEXT_COPIES;
    if (this.#hasLentTexts || bytes <= this.#textBytes) return;
    if (!this.hasLent) {
      if (this.#budget.take(bytes - this.#textBytes)) {
        this.#textBytes = bytes;
        return;
      }
      if (!this.tryLend(heap)) throw new MemoryWanted();
    }
    if (!heap.takeLent(TEXT_BYTES)) throw new Failed('RUN_RESOURCE_LIMIT', OUTGROWN);
    this.#hasLentTexts = true;
  }

  /** Releases the charge of coverTexts after the texts have become garbage. */
  giveTexts(): void {
    this.#budget.release(this.#textBytes);
    this.#textBytes = 0;
  }

  /** Called when the memory that grew with this loan is free. */
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
