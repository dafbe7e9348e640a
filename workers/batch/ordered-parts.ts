// Steps that need the rows of a file in order, in a Run whose parts several threads process (run/run-share.ts). The
// threads read and convert their parts at the same time. Only the decision that depends on earlier rows is made in the
// order of the parts: a thread waits until all earlier parts have passed the step, decides, lets the next part pass, and
// continues with its rows. If the rows of a part arrive in several batches, the next part passes after the last one.
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { READ_AHEAD_KERNEL_FILE } from '../built-files.ts';
import type { ReadAheadExports } from '../kernel/bindings/exports.ts';
import { type Kernel, MEMORY_BYTES_MAX, PAGE_BYTES } from '../kernel/bindings/kernel.ts';
import {
  PRINT_BYTES,
  PRINT_SLOT_BYTES,
  REST_BYTES,
  TABLE_BYTES,
  TABLE_HELD,
  TABLE_HELD_MAX,
  TABLE_LIMIT,
  TABLE_MASK,
  TABLE_NEXT,
  TABLE_SLOTS,
} from '../kernel/layout/keys.ts';
import type { Arena } from '../memory/arena.ts';
import type { BudgetShare } from '../memory/budget.ts';
import { Failed } from '../protocol/failure.ts';
import { KEYS_WORDS_AT, type KeysMemory, NEXT_PAGE, PAID_PAGES, type SharedMemory } from '../protocol/frame.ts';
import { ORDERED_STEPS_MAX, type PartTurns } from '../protocol/part-turns.ts';
import { PAUSE, type SliceClock, type Slices } from '../scheduling/time-slices.ts';
import { BATCH_ROWS_MAX } from './batch.ts';

/** The parts that one thread processes. */
export interface PartsInOrder {
  readonly turns: PartTurns;
  /** Memory for the keys of all threads. Null if no step has keys. */
  readonly keys: KeysMemory | null;
  /** Number of the part that is being read. */
  readonly part: number;
}

/** Memory and clock of the Run of one thread. */
interface OrderedMemory {
  readonly clock: SliceClock;
  readonly arena: Arena;
  readonly budget: BudgetShare;
}

/** The properties of a step that decide when the next part may pass. */
interface ChainStep {
  readonly operator: { readonly rowsMost?: number };
  readonly rowLocal: boolean;
}

/** All ordered steps of one thread. */
export class OrderedParts {
  /** True while the last batch of a part is processed. */
  isLastBatch = false;
  readonly parts: PartsInOrder;
  readonly clock: SliceClock;
  /** For each step of the chain, whether the parts pass it in their order. */
  readonly #isOrdered: readonly boolean[];
  readonly #arena: Arena;
  readonly #keys: SharedKeys | null;
  readonly #steps: OrderedStep[] = [];
  /** True if a step makes several batches of one: then it is not known which of them is the last one. */
  #multiplies = false;

  constructor(parts: PartsInOrder, isOrdered: readonly boolean[], memory: OrderedMemory) {
    this.parts = parts;
    this.clock = memory.clock;
    this.#isOrdered = isOrdered;
    this.#arena = memory.arena;
    this.#keys = parts.keys === null ? null : new SharedKeys(parts.keys, memory.budget);
  }

  /** @returns null if the step needs no order */
  step(index: number): OrderedStep | null {
    if (!this.#isOrdered[index]) return null;
    const number = this.#isOrdered.slice(0, index).filter((is) => is).length;
    const step = new OrderedStep(this, number, this.#keys);
    this.#steps.push(step);
    return step;
  }

  /** Called when the chain is complete. */
  begin(chain: readonly ChainStep[]): void {
    const before = chain.slice(0, this.#isOrdered.lastIndexOf(true));
    this.#multiplies = before.some(({ operator, rowLocal }, index) => {
      return operator.rowsMost !== undefined || !(rowLocal || this.#isOrdered[index]);
    });
  }

  /** True if no further rows of the part can arrive at a step that has just received some. */
  get isLastPiece(): boolean {
    return this.isLastBatch && !this.#multiplies && this.#arena.openBatches === 0;
  }

  /** Called at the end of a part: lets the next part pass the steps that did not see the last batch. */
  *endPart(): Slices {
    this.isLastBatch = false;
    for (const step of this.#steps) yield* step.endPart();
  }

  close(): void {
    this.#keys?.close();
  }
}

/** One step that the parts pass in their order. */
export class OrderedStep {
  /** Number among the ordered steps of the chain. */
  readonly number: number;
  /** Null if no step of the chain has keys. */
  readonly keys: SharedKeys | null;
  readonly #all: OrderedParts;

  constructor(all: OrderedParts, number: number, keys: SharedKeys | null) {
    this.number = number;
    this.keys = keys;
    this.#all = all;
  }

  /** Number of the part that is being read. */
  get part(): number {
    return this.#all.parts.part;
  }

  /**
   * Waits until all earlier parts have passed the step. Throws Failed if this part has passed it already, so that the
   * file is processed as a whole.
   */
  *enter(): Slices {
    const { parts, clock } = this.#all;
    for (let now = this.#now; now !== parts.part; now = this.#now) {
      if (now > parts.part) throw new Failed('RUN_RESOURCE_LIMIT', 'Rows of a part arrived after its turn.');
      // The wait is not work of the step, whose batches would otherwise become smaller.
      const entered = clock.enter();
      parts.turns.awaitStep(this.number, now);
      clock.leave(entered);
      if (this.#now !== parts.part) yield PAUSE;
    }
  }

  /** Called as soon as the decision about the rows is made: lets the next part pass if no row of this part follows. */
  leave(): void {
    if (this.#all.isLastPiece) this.#pass();
  }

  *endPart(): Slices {
    if (this.#now > this.part) return;
    yield* this.enter();
    this.#pass();
  }

  get rowsEnded(): boolean {
    return this.#all.parts.turns.rowsEnded;
  }

  /** Called between `enter` and `leave`: later parts have no rows for this step. */
  endRows(): void {
    this.#all.parts.turns.endRows();
  }

  get #now(): number {
    return this.#all.parts.turns.partAt(this.number);
  }

  #pass(): void {
    this.#all.parts.turns.passStep(this.number, this.part);
  }
}

// Sets of fingerprints (see FingerprintSet) in memory that the threads of a Run share, one for each ordered step. A
// thread changes a set only while it has the turn of the step. Layout, in pages: data of the kernels; the head; space in
// which each thread places the fingerprints of a batch; slots and blocks of the sets.

const HEAD_AT = PAGE_BYTES;

/** In the head, after the tables of all steps: the secret, and words. */
const SECRET_AT = HEAD_AT + 256;
const WORDS_AT = KEYS_WORDS_AT;
/** After NEXT_PAGE and PAID_PAGES: for each space whether a thread has it. */
const SPACES = 2;
const SPACES_MAX = 64;

const SPACES_AT = 2 * PAGE_BYTES;
const SPACE_BYTES = BATCH_ROWS_MAX * (PRINT_BYTES + 4);
const SPACES_PAGES = Math.ceil((SPACES_MAX * SPACE_BYTES) / PAGE_BYTES);
const FIRST_PAGE = 2 + SPACES_PAGES;

const MEMORY_PAGES_MAX = MEMORY_BYTES_MAX / PAGE_BYTES;

/** Initial number of slots of a set, and how much it grows: see TableStorage. */
const SLOTS_FIRST = 16_384;
const SLOTS_FOURFOLD_MAX = 1 << 18;
const LOAD_MOST = 0.5;
const BLOCK_PAGES_FIRST = 2;
const BLOCK_PAGES_MOST = 64;
const BLOCK_PART = 1 / 4;

const FIRST_SLOTS_PAGES = (SLOTS_FIRST * PRINT_SLOT_BYTES) / PAGE_BYTES;

/**
 * Returns empty memory for the keys of a Run.
 * @param spare memory of an earlier Run, whose pages are not new to the operating system; null if there is none
 */
export function emptyKeys(spare: KeysMemory | null): KeysMemory {
  const share = spare ?? newKeys();
  const { memory } = share;
  const u32 = new Uint32Array(memory.buffer);
  u32.fill(0, HEAD_AT / 4, SPACES_AT / 4);
  const secret = new Uint8Array(PRINT_BYTES);
  randomFillSync(secret);
  new Uint8Array(memory.buffer).set(secret, SECRET_AT);
  let page = FIRST_PAGE;
  for (let step = 0; step < ORDERED_STEPS_MAX; step++) {
    const table = tableOf(step) >>> 2;
    const block = page + FIRST_SLOTS_PAGES;
    // Larger arrays of slots are cleared when they are filled.
    u32.fill(0, (page * PAGE_BYTES) / 4, (block * PAGE_BYTES) / 4);
    u32[table + TABLE_SLOTS / 4] = page * PAGE_BYTES;
    u32[table + TABLE_MASK / 4] = SLOTS_FIRST - 1;
    u32[table + TABLE_HELD_MAX / 4] = SLOTS_FIRST * LOAD_MOST;
    page = block + BLOCK_PAGES_FIRST;
    u32[table + TABLE_NEXT / 4] = block * PAGE_BYTES;
    u32[table + TABLE_LIMIT / 4] = page * PAGE_BYTES;
  }
  u32[WORDS_AT / 4 + NEXT_PAGE] = page;
  // The main thread pays for all of the spare memory as long as a Run uses it.
  u32[WORDS_AT / 4 + PAID_PAGES] = spare === null ? FIRST_PAGE : memory.buffer.byteLength / PAGE_BYTES;
  return share;
}

function newKeys(): KeysMemory {
  const firstPages = ORDERED_STEPS_MAX * (FIRST_SLOTS_PAGES + BLOCK_PAGES_FIRST);
  const settings = { initial: FIRST_PAGE + firstPages, maximum: MEMORY_PAGES_MAX, shared: true };
  const memory = new WebAssembly.Memory<SharedArrayBuffer>(settings);
  return { memory, kernels: new WebAssembly.Module(readFileSync(READ_AHEAD_KERNEL_FILE)) };
}

function tableOf(step: number): number {
  return HEAD_AT + step * TABLE_BYTES;
}

function kernelsIn({ memory, kernels }: KeysMemory): ReadAheadExports {
  const abort = (): never => {
    throw new Error('kernel aborted');
  };
  return new WebAssembly.Instance(kernels, { env: { memory, abort } }).exports as ReadAheadExports;
}

/** The memory of one thread's Run. */
interface RunMemory {
  readonly arena: Arena;
  readonly kernel: Kernel;
}

/** The rows of a slice with their keys, in the memory of the Run's thread. */
export interface KeyedRows {
  /** Views of the keys by physical row. */
  readonly views: number;
  readonly rows: number;
  /** At most BATCH_ROWS_MAX. */
  readonly count: number;
  /** Space for fingerprints and ids, by position. */
  readonly prints: number;
  readonly ids: number;
}

/** The shared keys from the view of one thread. */
export class SharedKeys {
  readonly #memory: SharedMemory;
  readonly #budget: BudgetShare;
  readonly #kernels: ReadAheadExports;
  /** Views of the head and the spaces, which are part of the initial memory. */
  readonly #u8: Uint8Array<SharedArrayBuffer>;
  readonly #u32: Uint32Array<SharedArrayBuffer>;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #space: number;
  /** Pages that this thread has taken from the budget. */
  #paidPages = 0;
  /** Address of the secret in the memory of the Run's thread, 0 before it is copied. */
  #secret = 0;

  /** Throws Failed if too many threads share the Run. */
  constructor(share: KeysMemory, budget: BudgetShare) {
    const { memory } = share;
    this.#memory = memory;
    this.#budget = budget;
    this.#kernels = kernelsIn(share);
    const { buffer } = memory;
    this.#u8 = new Uint8Array(buffer);
    this.#u32 = new Uint32Array(buffer);
    this.#words = new Int32Array(buffer, WORDS_AT, SPACES + SPACES_MAX);
    let space = 0;
    while (space < SPACES_MAX && Atomics.compareExchange(this.#words, SPACES + space, 0, 1) !== 0) space++;
    if (space === SPACES_MAX) throw new Failed('RUN_RESOURCE_LIMIT', 'Too many threads share the keys of a Run.');
    this.#space = space;
  }

  /**
   * Makes the fingerprints of the rows, and brings their slots into the cache of the processor, so that `add` takes
   * little time. Needs no turn: another thread may change the set or move its slots meanwhile. All addresses that this
   * computes are in the memory, because new slots come after the old ones.
   */
  prepare(step: OrderedStep, { views, rows, count, prints }: KeyedRows, { arena, kernel }: RunMemory): void {
    const { heap } = arena;
    if (this.#secret === 0) {
      this.#secret = heap.allocate(PRINT_BYTES);
      heap.u8.set(this.#u8.subarray(SECRET_AT, SECRET_AT + PRINT_BYTES), this.#secret);
    }
    kernel.exports.fingerprintViews(views, rows, count, this.#secret, prints);
    this.#u8.set(heap.u8.subarray(prints, prints + count * PRINT_BYTES), this.#printsAt);
    this.#kernels.touchPrints(tableOf(step.number), this.#printsAt, count);
  }

  /**
   * Adds the prepared keys, and sets the ids of the rows. New keys have consecutive ids. Returns the id of the first one.
   * Only for a thread that has the turn of the step. Throws Failed if the budget refuses memory.
   */
  add(step: OrderedStep, count: number): number {
    this.#pay();
    const table = tableOf(step.number);
    const first = this.#u32[(table + TABLE_HELD) >>> 2]!;
    for (let at = 0; ; this.#grow(table)) {
      at = this.#kernels.addPrints(table, this.#printsAt, at, count, this.#idsAt);
      if (at === count) return first;
    }
  }

  /** Copies the ids of the rows to the memory of the Run's thread. */
  copyIds({ ids, count }: KeyedRows, { arena }: RunMemory): void {
    arena.heap.u8.set(this.#u8.subarray(this.#idsAt, this.#idsAt + count * 4), ids);
  }

  /** The other threads pay for the pages that this thread has paid. */
  close(): void {
    Atomics.sub(this.#words, PAID_PAGES, this.#paidPages);
    Atomics.store(this.#words, SPACES + this.#space, 0);
  }

  get #printsAt(): number {
    return SPACES_AT + this.#space * SPACE_BYTES;
  }

  get #idsAt(): number {
    return this.#printsAt + BATCH_ROWS_MAX * PRINT_BYTES;
  }

  /** Takes memory from the budget for pages that nobody pays, also because the thread that paid has left the Run. */
  #pay(): void {
    const paid = Atomics.load(this.#words, PAID_PAGES);
    const pages = Atomics.load(this.#words, NEXT_PAGE) - paid;
    if (pages <= 0 || Atomics.compareExchange(this.#words, PAID_PAGES, paid, paid + pages) !== paid) return;
    this.#paidPages += pages;
    if (!this.#budget.take(pages * PAGE_BYTES)) throw noMemory();
  }

  /** Makes space for at least one more key. */
  #grow(table: number): void {
    const u32 = this.#u32;
    const word = (offset: number): number => (table + offset) >>> 2;
    if (u32[word(TABLE_HELD)]! >= u32[word(TABLE_HELD_MAX)]!) {
      const slots = u32[word(TABLE_MASK)]! + 1;
      const more = slots * (slots <= SLOTS_FOURFOLD_MAX ? 4 : 2);
      // The old slots are not used again, because other threads may be looking up keys in them.
      this.#kernels.movePrints(table, this.#allocate((more * PRINT_SLOT_BYTES) / PAGE_BYTES), more);
      u32[word(TABLE_HELD_MAX)] = more * LOAD_MOST;
      return;
    }
    const usedPages = Math.ceil((u32[word(TABLE_HELD)]! * REST_BYTES) / PAGE_BYTES);
    const least = Math.min(BLOCK_PAGES_MOST, Math.max(BLOCK_PAGES_FIRST, usedPages));
    const pages = Math.max(least, Math.floor(usedPages * BLOCK_PART));
    const block = this.#allocate(pages);
    u32[word(TABLE_NEXT)] = block;
    u32[word(TABLE_LIMIT)] = block + pages * PAGE_BYTES;
  }

  /** Returns the address of pages that are not in use. */
  #allocate(pages: number): number {
    const page = Atomics.add(this.#words, NEXT_PAGE, pages);
    this.#pay();
    const end = page + pages;
    if (end > MEMORY_PAGES_MAX) throw noMemory();
    const missing = end - this.#memory.buffer.byteLength / PAGE_BYTES;
    if (missing > 0) this.#memory.grow(missing);
    return page * PAGE_BYTES;
  }
}

function noMemory(): Failed {
  return new Failed('RUN_RESOURCE_LIMIT', 'The memory budget has no memory for the keys of a Run.');
}

// Further pages of the same memory, which the threads of a Run take for something else.

/**
 * Part of the budget that stays free when a thread takes pages that it can do without: the memory that all threads of a
 * Run need to continue is smaller.
 */
const KEPT_FREE_BYTES = 64 * 1024 * 1024;

/** Addresses that stay free for pages that a thread cannot do without. */
const KEPT_FREE_PAGES = (256 * 1024 * 1024) / PAGE_BYTES;

/** Growth of the memory. The system provides a page only when it is used for the first time. */
const GROWTH_PAGES = (32 * 1024 * 1024) / PAGE_BYTES;

/** Pages of the shared memory from the view of one thread, for example for sorted rows. */
export class SharedPages {
  readonly kernels: ReadAheadExports;
  readonly #memory: SharedMemory;
  readonly #budget: BudgetShare;
  readonly #words: Int32Array<SharedArrayBuffer>;
  #paidPages = 0;
  /** Views of the whole memory. `take` replaces them. */
  u8: Uint8Array<SharedArrayBuffer>;
  u32: Uint32Array<SharedArrayBuffer>;

  /** Charges pages that no thread has charged to the budget. Throws Failed if the budget refuses them. */
  constructor(share: KeysMemory, budget: BudgetShare) {
    const { buffer } = share.memory;
    this.kernels = kernelsIn(share);
    this.#memory = share.memory;
    this.#budget = budget;
    this.#words = new Int32Array(buffer, WORDS_AT, SPACES);
    this.u8 = new Uint8Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.pay();
  }

  /** Charges the pages of a thread that has left the Run to the budget. Throws Failed if the budget refuses them. */
  pay(): void {
    const paid = Atomics.load(this.#words, PAID_PAGES);
    const pages = Atomics.load(this.#words, NEXT_PAGE) - paid;
    if (pages <= 0 || Atomics.compareExchange(this.#words, PAID_PAGES, paid, paid + pages) !== paid) return;
    this.#paidPages += pages;
    if (!this.#budget.take(pages * PAGE_BYTES)) throw noMemory();
  }

  /**
   * Returns the address of new pages, or 0 if there is no memory for them.
   * @param isNeeded false if the caller can do without them
   */
  take(pages: number, isNeeded: boolean): number {
    this.pay();
    const endMax = MEMORY_PAGES_MAX - (isNeeded ? 0 : KEPT_FREE_PAGES);
    for (;;) {
      const page = Atomics.load(this.#words, NEXT_PAGE);
      const end = page + pages;
      // Pages that cannot be used are left to a caller that needs fewer, or that may use more addresses.
      if (end > endMax || !this.#reach(end)) return 0;
      const missing = Math.min(pages, end - Atomics.load(this.#words, PAID_PAGES));
      // Charged first, so that no thread finds pages that are not charged.
      if (missing > 0 && !this.#payFor(missing, isNeeded ? 0 : KEPT_FREE_BYTES)) return 0;
      if (Atomics.compareExchange(this.#words, NEXT_PAGE, page, end) === page) return page * PAGE_BYTES;
    }
  }

  #payFor(pages: number, keptBytes: number): boolean {
    if (!this.#budget.take(pages * PAGE_BYTES + keptBytes)) return false;
    this.#budget.release(keptBytes);
    Atomics.add(this.#words, PAID_PAGES, pages);
    this.#paidPages += pages;
    return true;
  }

  /** The other threads pay for the pages that this thread has paid. */
  close(): void {
    Atomics.sub(this.#words, PAID_PAGES, this.#paidPages);
    this.#paidPages = 0;
  }

  /** Makes the memory and its views large enough. Returns false if the system has no memory. */
  #reach(end: number): boolean {
    if (end * PAGE_BYTES > this.#memory.buffer.byteLength) {
      try {
        const missing = end - this.#memory.buffer.byteLength / PAGE_BYTES;
        this.#memory.grow(Math.min(missing + GROWTH_PAGES, MEMORY_PAGES_MAX - end + missing));
      } catch {
        // Another thread has grown it up to its limit, or the system has no memory.
        if (end * PAGE_BYTES > this.#memory.buffer.byteLength) return false;
      }
    }
    const { buffer } = this.#memory;
    if (this.u8.buffer === buffer) return true;
    this.u8 = new Uint8Array(buffer);
    this.u32 = new Uint32Array(buffer);
    return true;
  }
}
