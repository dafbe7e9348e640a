// The memory budget of this process: the memory that is available, and how it is divided.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import {
  accountSlot,
  accountUnits,
  BUDGET_KEPT,
  BUDGET_LIMIT,
  BUDGET_MAIN,
  BUDGET_UNIT_BYTES,
  budgetSlots,
  forgetThreadUnits,
  heldUnits,
  LARGE_ROW_ARENA_BYTES,
  RUN_RESERVATION_BYTES,
  tryHold,
  unitsOf,
} from '../../workers/memory/budget.ts';

// Memory available to this process: the cgroup limit if there is one, otherwise the memory of the machine.

/** Default share of the process memory for the budget. */
const BUDGET_SHARE = 0.6;

/** cgroup v1 writes "no limit" as a huge number: the largest multiple of a page in 63 bits. */
const NO_LIMIT_BYTES = 2 ** 60;

/** 60 % of the memory available to the process, in bytes. */
export function defaultMemoryBudgetBytes(root = '/'): number {
  return Math.floor(processMemoryBytes(root) * BUDGET_SHARE);
}

/**
 * Memory available to this process, in bytes. Reads cgroup v2 and v1 files below `root`, for the group of the process
 * and its ancestors. In a container, its own group is the visible root.
 */
export function processMemoryBytes(root = '/'): number {
  let bytes = totalmem();
  for (const path of limitFiles(root)) {
    const limit = readLimit(path);
    if (limit !== null && limit > 0 && limit < NO_LIMIT_BYTES) bytes = Math.min(bytes, limit);
  }
  return bytes;
}

function limitFiles(root: string): string[] {
  const files: string[] = [];
  for (const line of (readText(`${root}proc/self/cgroup`) ?? '0::/\n5:memory:/').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (controllers === '') files.push(...climb(`${root}sys/fs/cgroup`, path, 'memory.max'));
    if (controllers.split(',').includes('memory')) {
      files.push(...climb(`${root}sys/fs/cgroup/memory`, path, 'memory.limit_in_bytes'));
    }
  }
  return files;
}

function climb(base: string, path: string, file: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  const files: string[] = [];
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    files.push([base, ...parts.slice(0, depth), file].join('/'));
  }
  return files;
}

function readLimit(path: string): number | null {
  const text = readText(path)?.trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The file does not exist outside Linux or with the other cgroup version: it sets no limit.
    return undefined;
  }
}

// The node's memory budget from the view of the main thread: reservations of Runs, named charges for kept data, and
// memory borrowed by lost threads. The view of the worker threads and the shared layout are in
// workers/memory/budget.ts.

/** Names of the charges of the main thread. Each grows with load and has a metric. */
export const BUDGET_CHARGES = ['reservations', 'bodies', 'records', 'outputs', 'reports', 'answers'] as const;
export type BudgetCharge = (typeof BUDGET_CHARGES)[number];

/** Minimum budget for admitting any Run: one reservation and the large-row arena, in bytes. */
export const MEMORY_BUDGET_BYTES_MIN = RUN_RESERVATION_BYTES + LARGE_ROW_ARENA_BYTES;

/** The counters are Int32 values in KiB. */
export const MEMORY_BUDGET_BYTES_MAX = 0x7fffffff * BUDGET_UNIT_BYTES;

/**
 * Memory that the threads of a service must leave free for new Runs: this fraction (1/n) of the budget, but at most
 * enough for sixteen Runs, in bytes. With the minimum budget, this is enough for one Run with operations that spill.
 */
const KEPT_SHARE = 4;
const KEPT_BYTES_MAX = 16 * RUN_RESERVATION_BYTES;

/** Number of attempts after a refusal: two simultaneous requests may refuse each other once. */
const ATTEMPTS_MAX = 3;

/** A command admits all its Runs immediately, so it keeps no memory free for others. */
export type BudgetUse = 'service' | 'command';

export class MemoryBudget {
  /** For `ThreadStart.budget`: all worker threads share these counters. */
  readonly buffer: SharedArrayBuffer;
  readonly limitBytes: number;
  #counters: Int32Array;
  #charges: Record<BudgetCharge, number> = {
    reservations: 0,
    bodies: 0,
    records: 0,
    outputs: 0,
    reports: 0,
    answers: 0,
  };
  #heldBytes = 0;

  /**
   * @param limitBytes total budget; throws a RangeError outside MEMORY_BUDGET_BYTES_MIN to _MAX
   * @param threads number of worker threads, which are numbered from 0
   * @param use in a service, the threads must leave memory for admission
   */
  constructor(limitBytes: number, threads: number, use: BudgetUse = 'command') {
    if (!(limitBytes >= MEMORY_BUDGET_BYTES_MIN && limitBytes <= MEMORY_BUDGET_BYTES_MAX)) {
      throw new RangeError(
        `a memory budget of ${limitBytes} bytes is not between ${MEMORY_BUDGET_BYTES_MIN} and ${MEMORY_BUDGET_BYTES_MAX}`,
      );
    }
    this.limitBytes = limitBytes;
    this.buffer = new SharedArrayBuffer(budgetSlots(threads) * Int32Array.BYTES_PER_ELEMENT);
    this.#counters = new Int32Array(this.buffer);
    Atomics.store(this.#counters, BUDGET_LIMIT, Math.floor(limitBytes / BUDGET_UNIT_BYTES));
    const keptBytes = use === 'service' ? Math.min(Math.floor(limitBytes / KEPT_SHARE), KEPT_BYTES_MAX) : 0;
    Atomics.store(this.#counters, BUDGET_KEPT, unitsOf(keptBytes));
  }

  /**
   * Reserves the bytes if they are free. A Run is admitted with `tryReserve(RUN_RESERVATION_BYTES, 'reservations')`.
   */
  tryReserve(bytes: number, charge: BudgetCharge): boolean {
    const units = unitsOf(this.#heldBytes + bytes) - unitsOf(this.#heldBytes);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (!tryHold(this.#counters, BUDGET_MAIN, units)) continue;
      this.#note(bytes, charge);
      return true;
    }
    return false;
  }

  /**
   * Charges memory that cannot be refused, because it belongs to an admitted Run: its record, report, and output in
   * memory.
   */
  charge(bytes: number, charge: BudgetCharge): void {
    this.#hold(bytes);
    this.#note(bytes, charge);
  }

  /**
   * Releases what tryReserve or charge reserved under this name. Throws for more than that, which is a fault of the
   * service.
   */
  release(bytes: number, charge: BudgetCharge): void {
    if (bytes > this.usedBytes(charge)) throw new Error(`the budget's ${charge} would become negative`);
    this.#hold(-bytes);
    this.#note(-bytes, charge);
  }

  /** Bytes reserved under one name. */
  usedBytes(charge: BudgetCharge): number {
    return this.#charges[charge];
  }

  /**
   * Adds bytes that the main thread holds for an account.
   * @param bytes a multiple of BUDGET_UNIT_BYTES; negative to subtract
   */
  noteAccount(row: number, bytes: number): void {
    Atomics.add(this.#counters, accountSlot(this.#counters, row, BUDGET_MAIN), bytes / BUDGET_UNIT_BYTES);
  }

  /** Bytes held for the account of this row, by the main thread and by the threads of its Runs. */
  accountBytes(row: number): number {
    return accountUnits(this.#counters, row) * BUDGET_UNIT_BYTES;
  }

  /** Bytes that the worker threads hold in addition to reservations. */
  borrowedBytes(): number {
    return (heldUnits(this.#counters) - Atomics.load(this.#counters, BUDGET_MAIN)) * BUDGET_UNIT_BYTES;
  }

  /** Free bytes, never negative. */
  availableBytes(): number {
    const limit = Atomics.load(this.#counters, BUDGET_LIMIT);
    return Math.max(0, limit - heldUnits(this.#counters)) * BUDGET_UNIT_BYTES;
  }

  /**
   * Releases everything that a thread held. Only for a thread that has ended: a live thread would continue to use its
   * memory.
   */
  forgetThread(thread: number): void {
    forgetThreadUnits(this.#counters, thread);
  }

  #hold(bytes: number): void {
    const units = unitsOf(this.#heldBytes + bytes) - unitsOf(this.#heldBytes);
    if (units !== 0) Atomics.add(this.#counters, BUDGET_MAIN, units);
  }

  #note(bytes: number, charge: BudgetCharge): void {
    this.#heldBytes += bytes;
    this.#charges[charge] += bytes;
  }
}
