// What each Run of the service reserves from the memory budget: who may take how much, and in which order Runs that were
// set aside take theirs again. It knows neither uploads nor threads.
// States of a reservation: held → aside (its upload is slow) → held again, at once or after waiting for it → over.
import { isWithinShare } from '../../workers/memory/account-share.ts';
import {
  ACCOUNT_ROWS,
  BUDGET_UNIT_BYTES,
  NO_ACCOUNT,
  RUN_RESERVATION_BYTES,
  SPILL_ROOM_BYTES,
  unitsOf,
} from '../../workers/memory/budget.ts';
import type { MemoryBudget } from './memory-budget.ts';

/** What an account that has a Run at work leaves for one that has none, in bytes: a Run with two operations that may spill. */
const NEWCOMER_BYTES = RUN_RESERVATION_BYTES + 2 * SPILL_ROOM_BYTES;

/** Memory is short while less than one part in so many of the budget is free. */
const SHORT_SHARE = 2;

/** How often those that wait are looked at, in milliseconds: what threads give back tells nobody. */
const LOOK_MILLISECONDS = 50;

/** Of the accounts that are told apart; all others share the last. */
const LAST_ROW = ACCOUNT_ROWS - 1;

/** What one account holds. */
class AccountHold {
  readonly account: string;
  /** Of the shared counters. */
  readonly row: number;
  /** Reservations that are not over, and those of them that are held whole. */
  runs = 0;
  atWork = 0;

  constructor(account: string, row: number) {
    this.account = account;
    this.row = row;
  }
}

export class RunMemories {
  readonly #budget: MemoryBudget;
  readonly #asideBytes: number;
  readonly #accounts = new Map<string, AccountHold>();
  readonly #freeRows: number[] = [];
  readonly #waiting: RunMemory[] = [];
  #watch: NodeJS.Timeout | null = null;
  /** Runs that hold no more than their uploads need: these are slow, or over and the Runs wait for their turn. */
  aside = 0;

  /** @param asideBytes what a Run that was set aside still holds */
  constructor(budget: MemoryBudget, asideBytes: number) {
    this.#budget = budget;
    this.#asideBytes = asideBytes;
    for (let row = LAST_ROW - 1; row > NO_ACCOUNT; row -= 1) this.#freeRows.push(row);
  }

  /** Whether slow uploads should give back what their Runs hold. */
  get isShort(): boolean {
    return this.#waiting.length > 0 || this.#budget.availableBytes() < this.#budget.limitBytes / SHORT_SHARE;
  }

  /**
   * The reservation of a new Run; null: it has to be refused. An account without a Run at work gets what is free, any other
   * its share. Runs that wait to go on come first: those of the account, and those that wait for room alone.
   */
  admit(account: string, bytes: number): RunMemory | null {
    const hold = this.#accounts.get(account) ?? new AccountHold(account, this.#freeRows.at(-1) ?? LAST_ROW);
    if (this.#waiting.some((memory) => memory.hold === hold || memory.hold.atWork === 0)) return null;
    const wholeBytes = unitsOf(bytes) * BUDGET_UNIT_BYTES;
    if (!this.#take(hold, wholeBytes)) return null;
    if (hold.runs === 0) {
      this.#accounts.set(account, hold);
      this.#freeRows.pop();
    }
    hold.runs += 1;
    hold.atWork += 1;
    return new RunMemory(this, hold, wholeBytes);
  }

  /** Of RunMemory, as all below. */
  setAside({ hold, bytes }: RunMemory): void {
    hold.atWork -= 1;
    this.aside += 1;
    this.#give(hold, bytes - this.#asideBytes);
    this.#look();
  }

  /** At once, or not at all. */
  takeAgain({ hold, bytes }: RunMemory): boolean {
    if (!this.#take(hold, bytes - this.#asideBytes)) return false;
    hold.atWork += 1;
    this.aside -= 1;
    return true;
  }

  /** Its turn comes when there is room for it. */
  wait(memory: RunMemory): void {
    this.#waiting.push(memory);
    this.#look();
  }

  /** @param isAside it holds no more than a Run that was set aside */
  end(memory: RunMemory, isAside: boolean): void {
    const { hold, bytes } = memory;
    this.#leave(memory);
    this.#give(hold, isAside ? this.#asideBytes : bytes);
    if (isAside) this.aside -= 1;
    else hold.atWork -= 1;
    hold.runs -= 1;
    if (hold.runs === 0) {
      this.#accounts.delete(hold.account);
      if (hold.row !== LAST_ROW) this.#freeRows.push(hold.row);
    }
    this.#look();
  }

  #take(hold: AccountHold, bytes: number): boolean {
    if (hold.atWork > 0 && !this.#isWithinShare(hold, bytes)) return false;
    if (!this.#budget.tryReserve(bytes, 'reservations')) return false;
    this.#budget.noteAccount(hold.row, bytes);
    return true;
  }

  #isWithinShare(hold: AccountHold, bytes: number): boolean {
    const heldBytes = this.#budget.accountBytes(hold.row) + bytes;
    const freeBytes = this.#budget.availableBytes() - bytes;
    return freeBytes >= NEWCOMER_BYTES && isWithinShare('reservations', heldBytes, freeBytes);
  }

  #give(hold: AccountHold, bytes: number): void {
    this.#budget.release(bytes, 'reservations');
    this.#budget.noteAccount(hold.row, -bytes);
  }

  #leave(memory: RunMemory): void {
    const index = this.#waiting.indexOf(memory);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /**
   * In the order in which they came. One whose account has its share already keeps nobody else; one whose account has no Run
   * at work waits for room alone: what becomes free is its own.
   */
  #look(): void {
    if (this.#waiting.length === 0 && this.#watch === null) return;
    const late = new Set<AccountHold>();
    for (const memory of [...this.#waiting]) {
      if (late.has(memory.hold)) continue;
      if (this.takeAgain(memory)) {
        this.#leave(memory);
        memory.taken();
      } else if (memory.hold.atWork === 0) break;
      else late.add(memory.hold);
    }
    this.#keepLooking();
  }

  #keepLooking(): void {
    if (this.#waiting.length > 0) this.#watch ??= setInterval(() => this.#look(), LOOK_MILLISECONDS);
    else if (this.#watch !== null) {
      clearInterval(this.#watch);
      this.#watch = null;
    }
  }
}

/** The reservation of one Run. */
export class RunMemory {
  readonly hold: AccountHold;
  /** When it is held. */
  readonly bytes: number;
  readonly #memories: RunMemories;
  #state: 'held' | 'aside' | 'over' = 'held';
  #onTaken: (() => void) | null = null;

  constructor(memories: RunMemories, hold: AccountHold, bytes: number) {
    this.#memories = memories;
    this.hold = hold;
    this.bytes = bytes;
  }

  /** Of the shared counters: where its Run notes what it borrows. */
  get accountRow(): number {
    return this.hold.row;
  }

  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** Gives back all but what a Run needs whose upload arrives and nothing else. */
  setAside(): void {
    if (this.#state !== 'held') return;
    this.#state = 'aside';
    this.#memories.setAside(this);
  }

  /** Takes it again if it can be had now. */
  tryHold(): boolean {
    if (this.#state === 'aside' && this.#onTaken === null && this.#memories.takeAgain(this)) this.#state = 'held';
    return this.isHeld;
  }

  /** Calls back once it is held: now, or when its turn has come. Never when it is given back before. */
  whenHeld(listener: () => void): void {
    if (this.#state === 'held') listener();
    if (this.#state !== 'aside') return;
    this.#onTaken = listener;
    this.#memories.wait(this);
  }

  /** Of RunMemories: its turn has come. */
  taken(): void {
    this.#state = 'held';
    this.#onTaken?.();
    this.#onTaken = null;
  }

  /** Gives everything back. Idempotent. */
  giveBack(): void {
    const state = this.#state;
    if (state === 'over') return;
    this.#state = 'over';
    this.#onTaken = null;
    this.#memories.end(this, state === 'aside');
  }
}
