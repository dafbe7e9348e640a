// The memory of one Run: a bump allocator over one WebAssembly memory. Regions live until `reset`, or until large ones
// are released for reuse. Data of a single batch is in the Arena instead. A memory never shrinks, so each growth needs
// the budget's consent.
import { MEMORY_BYTES_MAX, PAGE_BYTES } from '../kernel/bindings/kernel.ts';
import { Failed, MemoryWanted } from '../protocol/failure.ts';
import type { BudgetShare } from './budget.ts';

/** Padding after every region: SIMD kernels read up to 64 bytes after a region's end and copy in steps of 16 bytes. */
export const REGION_PADDING_BYTES = 64;

/**
 * Growing state must stay below this address. The last 256 MiB are for regions that a Run cannot do without (spilling,
 * a large row and a copy of it, output). The budget may be larger than this limit.
 */
export const STATE_ADDRESS_MAX = MEMORY_BYTES_MAX - 256 * 1024 * 1024;

/**
 * Each growth makes the runtime search for garbage: with growth in exact steps, that took a tenth of the time of a
 * dedupe of 200 MB. From this size on, a memory grows by an additional quarter of its size, up to 32 MiB. Such memories
 * are not reused by other Runs. Untouched pages cost nothing, and are charged to the budget when they are handed out.
 */
const SPARE_FROM_BYTES = 16 * 1024 * 1024;
const SPARE_PART = 4;
const SPARE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Address 0 means null in views, so the first 1 KiB is never handed out. It also contains AssemblyScript's own data.
 */
const HEAP_START_MINIMUM = 1024;

/** Message for a Run that needs more than the largest loan. */
export const OUTGROWN =
  'A row, with everything that the operations add to it, needs more memory than the service has free. Use fewer or shorter columns.';

/** The free range [at, end). All of it may be handed out, including the padding of the regions placed in it. */
interface Region {
  readonly at: number;
  readonly end: number;
}

/** Lends memory that a Run cannot do without when the budget is exhausted (see LargeRowGate). */
export interface HeapLender {
  /** Lends the node's large-row arena if it is free. */
  tryLend(heap: Heap): boolean;
  /** True after memory was lent. */
  readonly hasLent: boolean;
}

/** Typed-array views of a whole memory, valid until it grows. */
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
  /** Views of the whole memory. Growth replaces them, so fetch them again after any call that may allocate. */
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
  /**
   * End of the memory that is charged to the budget or was part of the initial memory. Memory after it has not been
   * touched.
   */
  #coveredEnd: number;
  readonly #lender: HeapLender | null;
  /** Released regions, sorted by address. Adjacent ones are merged. */
  #free: Region[] = [];
  /** See noteRegions. */
  #noted: Map<number, number> | null = null;

  /**
   * @param start first free address, after the kernels' own data (`__heap_base`)
   * @param paidBytes bytes already covered by the Run's reservation; growth beyond it asks the budget
   * @param asideBytes also covered, but only for regions that the Run cannot do without, never for growing state
   * @param lender null: such regions are taken from the budget even if that overdraws it
   * @param views existing views of the memory, if available
   * @param coveredBytesMax a larger memory is charged to the budget beyond this size
   */
  constructor(
    memory: WebAssembly.Memory,
    start: number,
    budget: BudgetShare,
    paidBytes: number,
    asideBytes = 0,
    lender: HeapLender | null = null,
    views: MemoryViews | null = null,
    coveredBytesMax = Number.POSITIVE_INFINITY,
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
    this.#coveredEnd = Math.min(u8.length, coveredBytesMax);
    this.u8 = u8;
    this.u32 = u32;
    this.f64 = f64;
    this.i64 = i64;
  }

  /** Address after all memory handed out so far. */
  get end(): number {
    return this.#next;
  }

  /** Number of bytes handed out so far. */
  get usedBytes(): number {
    return this.#next - this.#start;
  }

  /** Bytes taken from the budget beyond the reservation. The owner releases them when it drops the memory. */
  get borrowedBytes(): number {
    return this.#borrowedBytes;
  }

  /**
   * Covers growth for regions that the Run cannot do without.
   * @param borrowedBytes how many of these bytes were taken from the budget
   */
  lend(bytes: number, borrowedBytes: number): void {
    this.#asideBytes += bytes;
    this.#lentBytes += bytes;
    this.#borrowedBytes += borrowedBytes;
  }

  /** Uses part of a loan for something outside this memory. Returns false if the loan is too small. */
  takeLent(bytes: number): boolean {
    if (Math.min(this.#lentBytes, this.#asideBytes) < bytes) return false;
    this.#lentBytes -= bytes;
    this.#asideBytes -= bytes;
    return true;
  }

  /**
   * Allocates a region that the Run cannot do without. If the budget is exhausted, the region comes from the loan.
   * @throws MemoryWanted if nothing is lent; Failed RUN_RESOURCE_LIMIT if the loan is too small
   */
  allocate(bytes: number): number {
    const address = this.tryAllocate(bytes, true);
    if (address === 0) throw new Failed('RUN_RESOURCE_LIMIT', 'The Run needs more memory than one Run may address.');
    return address;
  }

  /**
   * Allocates a region for growing state. Returns 0 if the budget refuses or the addresses for state are used up. The
   * caller then spills.
   */
  tryAllocate(bytes: number, forced = false): number {
    const address = this.#take(bytes, forced);
    if (address !== 0) this.#noted?.set(address, bytes);
    return address;
  }

  /**
   * Until the next call, notes the regions that are allocated, with their sizes, and forgets those that are released.
   * The caller can then release what remains.
   * @returns the former notes
   */
  noteRegions(notes: Map<number, number> | null): Map<number, number> | null {
    const former = this.#noted;
    this.#noted = notes;
    return former;
  }

  #take(bytes: number, forced: boolean): number {
    const free = this.#takeFree(bytes);
    if (free !== 0) return free;
    const next = align(this.#next + bytes + REGION_PADDING_BYTES);
    if (next > (forced ? MEMORY_BYTES_MAX : STATE_ADDRESS_MAX)) return 0;
    if (next > this.#coveredEnd && !this.#cover(next, forced)) return 0;
    const address = this.#next;
    this.#next = next;
    return address;
  }

  /**
   * Releases a region for reuse, for example after its rows were spilled. `bytes` must be the size that was allocated.
   */
  release(at: number, bytes: number): void {
    this.#noted?.delete(at);
    const region = { at, end: align(at + bytes + REGION_PADDING_BYTES) };
    const all = [...this.#free, region].sort((a, b) => a.at - b.at);
    const joined: Region[] = [];
    for (const one of all) {
      const last = joined.at(-1);
      if (last !== undefined && last.end > one.at) throw new Error('a region was released twice');
      if (last?.end === one.at) joined[joined.length - 1] = { at: last.at, end: one.end };
      else joined.push(one);
    }
    this.#free = joined;
  }

  /** Frees all regions. The memory keeps its size. */
  reset(): void {
    this.#next = this.#start;
    this.#free = [];
  }

  /** Start of the first released region with `bytes` free bytes, or 0. */
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

  /** Charges the memory up to an address to the budget and makes it available. */
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

  /** Grows the memory, by more than necessary if it is already large. */
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
