// Memory reservations of Runs. Decides how much a Run may reserve, limits each account's share, and re-reserves memory
// for suspended Runs in FIFO order. Independent of uploads and threads. States of a reservation: held → suspended (the
// upload is slow) → held again, immediately or after a wait → over.
import { isWithinShare } from '../../workers/memory/account-share.ts';
import {
  ACCOUNT_ROWS,
  BUDGET_UNIT_BYTES,
  RUN_RESERVATION_BYTES,
  SPILL_MEMORY_BYTES,
  unitsOf,
} from '../../workers/memory/budget.ts';
import { NO_ACCOUNT } from '../../workers/protocol/messages.ts';
import type { MemoryBudget } from './memory-budget.ts';

/**
 * Memory that an account with active Runs must leave for an account without one, in bytes: a Run with two operations
 * that may spill.
 */
const NEWCOMER_BYTES = RUN_RESERVATION_BYTES + 2 * SPILL_MEMORY_BYTES;

/** Memory is short while less than this fraction (1/n) of the budget is free. */
const SHORT_SHARE = 2;

/** Polling interval for waiting Runs, in milliseconds: threads release memory without a notification. */
const POLL_MILLISECONDS = 50;

/** Last row of the account counters. All accounts without a separate row share it. */
const LAST_ROW = ACCOUNT_ROWS - 1;

/** Memory of one account. */
class AccountMemory {
  readonly account: string;
  /** Row in the shared counters. */
  readonly row: number;
  /** Number of open reservations, and the number of them that are not suspended. */
  runs = 0;
  atWork = 0;

  constructor(account: string, row: number) {
    this.account = account;
    this.row = row;
  }
}

export class RunMemories {
  readonly #budget: MemoryBudget;
  readonly #suspendedBytes: number;
  readonly #accounts = new Map<string, AccountMemory>();
  readonly #freeRows: number[] = [];
  readonly #waiting: RunMemory[] = [];
  #watch: NodeJS.Timeout | null = null;
  /**
   * Number of suspended Runs, which hold only what their uploads need: their uploads are slow, or complete and waiting
   * for memory.
   */
  suspended = 0;

  /** @param suspendedBytes memory that a suspended Run still holds */
  constructor(budget: MemoryBudget, suspendedBytes: number) {
    this.#budget = budget;
    this.#suspendedBytes = suspendedBytes;
    for (let row = LAST_ROW - 1; row > NO_ACCOUNT; row -= 1) this.#freeRows.push(row);
  }

  /** True if slow uploads should be suspended, to release the memory of their Runs. */
  get isShort(): boolean {
    return this.#waiting.length > 0 || this.#budget.availableBytes() < this.#budget.limitBytes / SHORT_SHARE;
  }

  /**
   * Reserves memory for a new Run. Returns null if the Run must be refused. An account without an active Run may take
   * any free memory, any other account only its share. Refuses while a Run of the same account is waiting, or a Run of
   * an account without an active Run.
   */
  admit(account: string, bytes: number): RunMemory | null {
    const owner = this.#accounts.get(account) ?? new AccountMemory(account, this.#freeRows.at(-1) ?? LAST_ROW);
    if (this.#waiting.some((memory) => memory.owner === owner || memory.owner.atWork === 0)) return null;
    const wholeBytes = unitsOf(bytes) * BUDGET_UNIT_BYTES;
    if (!this.#take(owner, wholeBytes)) return null;
    if (owner.runs === 0) {
      this.#accounts.set(account, owner);
      this.#freeRows.pop();
    }
    owner.runs += 1;
    owner.atWork += 1;
    return new RunMemory(this, owner, wholeBytes);
  }

  /** Called by RunMemory, as are the following methods. */
  suspend({ owner, bytes }: RunMemory): void {
    owner.atWork -= 1;
    this.suspended += 1;
    this.#give(owner, bytes - this.#suspendedBytes);
    this.#serveQueue();
  }

  /** Re-reserves the memory immediately, or returns false. */
  reacquire({ owner, bytes }: RunMemory): boolean {
    if (!this.#take(owner, bytes - this.#suspendedBytes)) return false;
    owner.atWork += 1;
    this.suspended -= 1;
    return true;
  }

  /** Adds the Run to the queue for memory. */
  wait(memory: RunMemory): void {
    this.#waiting.push(memory);
    this.#serveQueue();
  }

  /** @param isSuspended whether the Run holds only what a suspended Run holds */
  end(memory: RunMemory, isSuspended: boolean): void {
    const { owner, bytes } = memory;
    this.#leave(memory);
    this.#give(owner, isSuspended ? this.#suspendedBytes : bytes);
    if (isSuspended) this.suspended -= 1;
    else owner.atWork -= 1;
    owner.runs -= 1;
    if (owner.runs === 0) {
      this.#accounts.delete(owner.account);
      if (owner.row !== LAST_ROW) this.#freeRows.push(owner.row);
    }
    this.#serveQueue();
  }

  #take(owner: AccountMemory, bytes: number): boolean {
    if (owner.atWork > 0 && !this.#isWithinShare(owner, bytes)) return false;
    if (!this.#budget.tryReserve(bytes, 'reservations')) return false;
    this.#budget.noteAccount(owner.row, bytes);
    return true;
  }

  #isWithinShare(owner: AccountMemory, bytes: number): boolean {
    const heldBytes = this.#budget.accountBytes(owner.row) + bytes;
    const freeBytes = this.#budget.availableBytes() - bytes;
    return freeBytes >= NEWCOMER_BYTES && isWithinShare('reservations', heldBytes, freeBytes);
  }

  #give(owner: AccountMemory, bytes: number): void {
    this.#budget.release(bytes, 'reservations');
    this.#budget.noteAccount(owner.row, -bytes);
  }

  #leave(memory: RunMemory): void {
    const index = this.#waiting.indexOf(memory);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /**
   * Serves the queue in FIFO order. A Run whose account has used up its share does not block others. A Run whose
   * account has no active Run waits only for free memory: the queue stops at this Run, so that it gets the next memory.
   */
  #serveQueue(): void {
    if (this.#waiting.length === 0 && this.#watch === null) return;
    const late = new Set<AccountMemory>();
    for (const memory of [...this.#waiting]) {
      if (late.has(memory.owner)) continue;
      if (this.reacquire(memory)) {
        this.#leave(memory);
        memory.taken();
      } else if (memory.owner.atWork === 0) break;
      else late.add(memory.owner);
    }
    this.#keepPolling();
  }

  #keepPolling(): void {
    if (this.#waiting.length > 0) this.#watch ??= setInterval(() => this.#serveQueue(), POLL_MILLISECONDS);
    else if (this.#watch !== null) {
      clearInterval(this.#watch);
      this.#watch = null;
    }
  }
}

/** The reservation of one Run. */
export class RunMemory {
  readonly owner: AccountMemory;
  /** Size of the reservation while it is held. */
  readonly bytes: number;
  readonly #memories: RunMemories;
  #state: 'held' | 'suspended' | 'over' = 'held';
  #onTaken: (() => void) | null = null;

  constructor(memories: RunMemories, owner: AccountMemory, bytes: number) {
    this.#memories = memories;
    this.owner = owner;
    this.bytes = bytes;
  }

  /** Row in the shared counters to which the Run's borrowed memory is added. */
  get accountRow(): number {
    return this.owner.row;
  }

  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** Releases everything except what a Run needs while its upload arrives. */
  suspend(): void {
    if (this.#state !== 'held') return;
    this.#state = 'suspended';
    this.#memories.suspend(this);
  }

  /** Re-reserves the memory if that is possible now. Returns whether it is held. */
  tryReacquire(): boolean {
    if (this.#state === 'suspended' && this.#onTaken === null && this.#memories.reacquire(this)) this.#state = 'held';
    return this.isHeld;
  }

  /**
   * Calls `listener` once the reservation is held: immediately, or when its turn comes. Never if it is released before.
   */
  whenHeld(listener: () => void): void {
    if (this.#state === 'held') listener();
    if (this.#state !== 'suspended') return;
    this.#onTaken = listener;
    this.#memories.wait(this);
  }

  /** Called by RunMemories when its turn has come. */
  taken(): void {
    this.#state = 'held';
    this.#onTaken?.();
    this.#onTaken = null;
  }

  /** Releases everything. Idempotent. */
  release(): void {
    const state = this.#state;
    if (state === 'over') return;
    this.#state = 'over';
    this.#onTaken = null;
    this.#memories.end(this, state === 'suspended');
  }
}
