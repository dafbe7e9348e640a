// The memory of one Run: a bump allocator over one WebAssembly memory. Regions live until `reset`, or until large ones are
// given back for others; what lives only for one batch is in the Arena. A memory never shrinks: the budget is asked before
// it grows.
import { Failed, MemoryWanted } from '../protocol/failure.ts';
import type { BudgetShare } from './budget.ts';

export const PAGE_BYTES = 65_536;

/** SIMD kernels read up to 64 bytes past a region's end and copy in steps of 16: every region is followed by this much. */
export const REGION_PADDING_BYTES = 64;

/**
 * A Run's memory ends here, in bytes. WebAssembly could address 4 GiB, but what kernels give back and JavaScript's integer
 * operators are signed numbers of 32 bits: from 2 GiB on they take an address for a negative one.
 */
export const MEMORY_BYTES_MAX = 2048 * 1024 * 1024;

/**
 * State that grows ends at this address, in bytes: the last 256 MiB are for regions that a Run needs in any case (spilling, a
 * large row and a copy of it, output). A budget may be larger than that.
 */
export const STATE_ADDRESS_MAX = MEMORY_BYTES_MAX - 256 * 1024 * 1024;

/**
 * Each growth makes the runtime look for garbage: in steps of what was asked for, that took a tenth of the time of a dedupe of
 * 200 MB. A memory from this size on, of which no Run inherits, grows by a fourth of itself more, up to 32 MiB: pages that are
 * not touched cost nothing, and are paid for when they are handed out.
 */
const SPARE_FROM_BYTES = 16 * 1024 * 1024;
const SPARE_PART = 4;
const SPARE_BYTES_MAX = 32 * 1024 * 1024;

/** Address 0 means null in views, so nothing is ever placed in the first 1 KiB (AssemblyScript's own data lies there too). */
const HEAP_START_MINIMUM = 1024;

/** Of a Run for which all that may be lent is too little. */
export const OUTGROWN =
  'A row, with all that the operations make of it, needs more memory than the service has free. Use fewer or shorter columns.';

/** [at, end): all of it may be handed out, with the padding of what is placed there. */
interface Region {
  readonly at: number;
  readonly end: number;
}

/** Who lends what a Run needs in any case when the budget has no more (see LargeRowGate). */
export interface HeapLender {
  /** Lends the node's arena, if it is free. */
  tryLend(heap: Heap): boolean;
  /** It has been lent already. */
  readonly hasLent: boolean;
}

/** Views of a whole memory, until it grows. */
export class MemoryViews {
  readonly buffer: ArrayBuffer;
  readonly u8: Uint8Array<ArrayBuffer>;
  readonly u32: Uint32Array<ArrayBuffer>;
  readonly f64: Float64Array<ArrayBuffer>;
  readonly i64: BigInt64Array<ArrayBuffer>;

  constructor(buffer: ArrayBuffer) {
    this.buffer = buffer;
    this.u8 = new Uint8Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.i64 = new BigInt64Array(buffer);
  }
}

export class Heap {
  readonly memory: WebAssembly.Memory;
  /** Views of the whole memory. Growth replaces them: fetch them anew after anything that may allocate. */
  u8: Uint8Array<ArrayBuffer>;
  u32: Uint32Array<ArrayBuffer>;
  f64: Float64Array<ArrayBuffer>;
  i64: BigInt64Array<ArrayBuffer>;
  #start: number;
  #next: number;
  #budget: BudgetShare;
  #paidBytes: number;
  #asideBytes: number;
  #lentBytes = 0;
  #borrowedBytes = 0;
  /** Up to here the memory is paid for, or was there from the beginning; what lies behind has not been touched. */
  #coveredEnd: number;
  readonly #lender: HeapLender | null;
  /** Regions that were given back, by address; none touches another. */
  #free: Region[] = [];

  /**
   * @param start first free address, behind the kernels' own data (`__heap_base`)
   * @param paidBytes what the Run's reservation already covers; growth beyond it asks the budget
   * @param asideBytes also covered, but only for regions that the Run needs in any case, never for state that grows
   * @param lender null: such regions are taken from the budget whatever it has
   * @param views of the memory, where somebody has kept them
   */
  constructor(
    memory: WebAssembly.Memory,
    start: number,
    budget: BudgetShare,
    paidBytes: number,
    asideBytes = 0,
    lender: HeapLender | null = null,
    views: MemoryViews | null = null,
  ) {
    this.#lender = lender;
    this.memory = memory;
    this.#start = align(Math.max(start, HEAP_START_MINIMUM));
    this.#next = this.#start;
    this.#budget = budget;
    this.#paidBytes = paidBytes;
    this.#asideBytes = asideBytes;
    const { buffer } = memory;
    const { u8, u32, f64, i64 } = views?.buffer === buffer ? views : new MemoryViews(buffer);
    this.#coveredEnd = u8.length;
    this.u8 = u8;
    this.u32 = u32;
    this.f64 = f64;
    this.i64 = i64;
  }

  /** Address behind all that was handed out so far. */
  get end(): number {
    return this.#next;
  }

  /** Bytes handed out so far. */
  get usedBytes(): number {
    return this.#next - this.#start;
  }

  /** Bytes taken from the budget beyond the reservation; whoever drops the memory gives them back. */
  get borrowedBytes(): number {
    return this.#borrowedBytes;
  }

  /**
   * Covers growth for regions that the Run needs in any case.
   * @param borrowedBytes how many of them were taken from the budget for it
   */
  lend(bytes: number, borrowedBytes: number): void {
    this.#asideBytes += bytes;
    this.#lentBytes += bytes;
    this.#borrowedBytes += borrowedBytes;
  }

  /** Takes from what was lent for something that is not in this memory; false when that is not enough. */
  takeLent(bytes: number): boolean {
    if (Math.min(this.#lentBytes, this.#asideBytes) < bytes) return false;
    this.#lentBytes -= bytes;
    this.#asideBytes -= bytes;
    return true;
  }

  /**
   * A region that the Run needs in any case: when the budget is exhausted, of what is lent.
   * @throws MemoryWanted when nothing is lent; Failed RUN_RESOURCE_LIMIT when that is not enough
   */
  allocate(bytes: number): number {
    const address = this.tryAllocate(bytes, true);
    if (address === 0) throw new Failed('RUN_RESOURCE_LIMIT', 'The Run needs more memory than one Run may address.');
    return address;
  }

  /** A region for state that grows. 0 when the budget refuses or the addresses for state end: spill and go on. */
  tryAllocate(bytes: number, forced = false): number {
    const free = this.#takeFree(bytes);
    if (free !== 0) return free;
    const next = align(this.#next + bytes + REGION_PADDING_BYTES);
    if (next > (forced ? MEMORY_BYTES_MAX : STATE_ADDRESS_MAX)) return 0;
    if (next > this.#coveredEnd && !this.#cover(next, forced)) return 0;
    const address = this.#next;
    this.#next = next;
    return address;
  }

  /** A region, as large as it was asked for, may be handed out again: such as what held rows that now lie in files. */
  giveBack(at: number, bytes: number): void {
    const region = { at, end: align(at + bytes + REGION_PADDING_BYTES) };
    const all = [...this.#free, region].sort((a, b) => a.at - b.at);
    const joined: Region[] = [];
    for (const one of all) {
      const last = joined.at(-1);
      if (last !== undefined && last.end > one.at) throw new Error('a region was given back twice');
      if (last?.end === one.at) joined[joined.length - 1] = { at: last.at, end: one.end };
      else joined.push(one);
    }
    this.#free = joined;
  }

  /** Everything handed out is gone; the memory stays as large as it is. */
  reset(): void {
    this.#next = this.#start;
    this.#free = [];
  }

  /** The start of the first region with room for so many bytes; 0: none has. */
  #takeFree(bytes: number): number {
    if (this.#free.length === 0) return 0;
    const needed = align(bytes + REGION_PADDING_BYTES);
    const index = this.#free.findIndex(({ at, end }) => end - at >= needed);
    if (index < 0) return 0;
    const region = this.#free[index]!;
    const rest = { at: region.at + needed, end: region.end };
    this.#free.splice(index, 1, ...(rest.at < rest.end ? [rest] : []));
    return region.at;
  }

  #coverOnLoan(lender: HeapLender, next: number): boolean {
    if (lender.tryLend(this)) return this.#cover(next, true);
    if (!lender.hasLent) throw new MemoryWanted();
    throw new Failed('RUN_RESOURCE_LIMIT', OUTGROWN);
  }

  /** Pays for the memory up to an address, and has it. */
  #cover(next: number, forced: boolean): boolean {
    const unpaidBytes = Math.max(0, next - this.#start - this.#paidBytes);
    if (unpaidBytes > 0) {
      const asideBytes = forced ? Math.min(this.#asideBytes, unpaidBytes) : 0;
      const askedBytes = unpaidBytes - asideBytes;
      if (askedBytes > 0 && !this.#budget.take(askedBytes)) {
        if (!forced) return false;
        if (this.#lender === null) this.#budget.force(askedBytes);
        else return this.#coverOnLoan(this.#lender, next);
      }
      this.#asideBytes -= asideBytes;
      this.#paidBytes += unpaidBytes;
      this.#borrowedBytes += askedBytes;
    }
    if (next > this.u8.length && !this.#grow(next)) return false;
    this.#coveredEnd += Math.ceil((next - this.#coveredEnd) / PAGE_BYTES) * PAGE_BYTES;
    return true;
  }

  /** Further than it has to, where the memory is large already. */
  #grow(next: number): boolean {
    const length = this.u8.length;
    const spareBytes = length < SPARE_FROM_BYTES ? 0 : Math.min(SPARE_BYTES_MAX, length / SPARE_PART);
    const isGrown = this.#tryGrow(Math.min(MEMORY_BYTES_MAX, next + spareBytes)) || this.#tryGrow(next);
    if (!isGrown) return false;
    const { buffer } = this.memory;
    const { u8, u32, f64, i64 } = new MemoryViews(buffer);
    this.u8 = u8;
    this.u32 = u32;
    this.f64 = f64;
    this.i64 = i64;
    return true;
  }

  #tryGrow(end: number): boolean {
    try {
      this.memory.grow(Math.ceil((end - this.u8.length) / PAGE_BYTES));
      return true;
    } catch {
      return false;
    }
  }
}

function align(address: number): number {
  return Math.ceil(address / 64) * 64;
}
