// Quota: how many succeeded Runs an account has been charged for in a billing period, durable, and how many are reserved,
// in memory only (a crash leaves no reservation behind). It does not know plans or Runs.
// States of a reservation: held → committing → settled; a failed commit leads back to held; release leads to settled.
import { andThen, type MaybePromise } from '../../collections/maybe-promise.ts';
import type { BillingPeriod } from '../billing-period.ts';
import { type Clock, systemClock } from '../clock.ts';
import { LedgerStore } from './ledger-store.ts';
import { type CounterRecord, counterKey, forgetPastPeriods, newestCharge } from './past-periods.ts';

/** One unit of an account's quota that is set aside. */
export interface QuotaReservation {
  readonly account: string;
  readonly period: BillingPeriod;
}

export type QuotaAnswer =
  | { readonly ok: true; readonly reservation: QuotaReservation }
  /** `resetsAt`: milliseconds since 1970. */
  | { readonly ok: false; readonly used: number; readonly limit: number; readonly resetsAt: number };

/** A charge that is remembered: `digest` from charge-digest.ts, `expiresAt` in milliseconds since 1970. */
export interface RememberedCharge {
  readonly digest: string;
  readonly expiresAt: number;
}

/** Commits that are written with one sync. */
const COMMITS_PER_WRITE_MAX = 1000;

/**
 * So long commits are gathered while Runs end one upon another, in milliseconds. A write costs the loop as much however few
 * it holds: made in each turn it was a sixth of what thousands of small Runs a second cost the loop.
 */
const GATHER_MILLISECONDS = 2;

interface Counter {
  readonly account: string;
  readonly period: BillingPeriod;
  committed: number;
  /** When the last one was committed, in milliseconds since 1970; 0: none was. */
  chargedAt: number;
  reserved: number;
}

interface Held extends QuotaReservation {
  readonly counter: Counter;
  state: 'held' | 'committing' | 'settled';
  releaseWanted: boolean;
}

interface Commit {
  readonly held: Held;
  readonly charge: RememberedCharge | null;
  readonly now: number;
  readonly resolve: (charged: boolean) => void;
  readonly reject: (fault: unknown) => void;
}

export class QuotaLedger {
  #store: LedgerStore;
  /** A promise only while its counter is read. */
  #counters = new Map<string, MaybePromise<Counter>>();
  #queue: Commit[] = [];
  #writing: Promise<void> | null = null;

  /** By the clock when it was opened, but not later than the newest charge: what is older may be forgotten. */
  #openedAt = 0;
  readonly #openedAfter: number;
  readonly #clock: Clock;

  /** Opens the ledger's folder and drops what is too old to matter. Rejects with DirectoryInUseError. */
  static async open(directory: string, clock: Clock = systemClock): Promise<QuotaLedger> {
    const now = clock.wall();
    const ledger = new QuotaLedger(await LedgerStore.open(directory), clock);
    ledger.#openedAt = Math.min(now, (await newestCharge(ledger.#store)) ?? now);
    await forgetPastPeriods(ledger.#store, ledger.#openedAt);
    return ledger;
  }

  private constructor(store: LedgerStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#openedAfter = clock.steady();
  }

  /** Sets one unit aside if used (committed and reserved) is below the limit; null = no limit, counted all the same. */
  reserve(account: string, period: BillingPeriod, limit: number | null): MaybePromise<QuotaAnswer> {
    return andThen(this.#counter(account, period), (counter): QuotaAnswer => {
      const used = counter.committed + counter.reserved;
      if (limit !== null && used >= limit) return { ok: false, used, limit, resetsAt: period.endsAt };
      counter.reserved += 1;
      const held: Held = { account, period, counter, state: 'held', releaseWanted: false };
      return { ok: true, reservation: held };
    });
  }

  /**
   * Turns a reservation into a charge that is on the disk when this resolves. False: the remembered charge was made
   * before (a repeat after a restart), the reservation was released instead. When it rejects (a fault: disk full), the
   * reservation is still held and nothing was charged.
   */
  commit(reservation: QuotaReservation, charge: RememberedCharge | null, now = this.#clock.wall()): Promise<boolean> {
    const held = reservation as Held;
    if (held.state !== 'held') throw new Error(`a ${held.state} quota reservation was committed`);
    held.state = 'committing';
    return new Promise((resolve, reject) => {
      this.#queue.push({ held, charge, now, resolve, reject });
      this.#writing ??= this.#writeQueue();
    });
  }

  /** Gives a reservation back. Nothing happens when it is settled; during a commit it waits for that one's failure. */
  release(reservation: QuotaReservation): void {
    const held = reservation as Held;
    if (held.state === 'committing') held.releaseWanted = true;
    if (held.state === 'held') settle(held);
  }

  /** Committed and reserved units. */
  async used(account: string, period: BillingPeriod): Promise<number> {
    const counter = await this.#counter(account, period);
    return counter.committed + counter.reserved;
  }

  /** Whether a charge with this digest is remembered at `now`. */
  async wasCharged(digest: string, now = this.#clock.wall()): Promise<boolean> {
    return Number((await this.#store.get(chargeKey(digest))) ?? 0) > now;
  }

  /** Whether any charge whose digest begins with `prefix` (chargeDigestPrefix) is remembered at `now`. */
  async wasChargedUnder(prefix: string, now = this.#clock.wall()): Promise<boolean> {
    const charges = await this.#store.range(chargeKey(prefix), chargeKey(`${prefix}~`), COMMITS_PER_WRITE_MAX);
    return charges.some(([, expiresAt]) => Number(expiresAt) > now);
  }

  /**
   * Forgets at most `max` remembered charges whose time has come, and counters of periods that are over.
   * @param now unless given, a clock that neither jumps ahead nor began ahead of the newest charge
   */
  async sweep(max: number, now = this.#cautiousNow()): Promise<number> {
    for (const [key, counter] of this.#counters) {
      // One that is being read is about to be used.
      if (counter instanceof Promise) continue;
      if (counter.reserved === 0 && counter.period.endsAt <= now) this.#counters.delete(key);
    }
    const ended = await this.#store.range('expires/', expiryKey(now, '~'), max);
    const digests = ended.map(([key]) => key.slice(key.lastIndexOf('/') + 1));
    const expiries = await this.#store.getMany(digests.map(chargeKey));
    const writes = new Map<string, string | null>(ended.map(([key]) => [key, null]));
    digests.forEach((digest, index) => {
      if (Number(expiries[index] ?? 0) <= now) writes.set(chargeKey(digest), null);
    });
    await this.#store.write(writes);
    return ended.length;
  }

  /** False: the disk did not take a charge, and has not been asked again since. */
  get isSound(): boolean {
    return this.#store.isSound;
  }

  /** Asks the disk again. Rejects with StoreUnavailableError while it takes nothing. */
  mend(): Promise<void> {
    return this.#store.mend();
  }

  /** Waits for commits that are under way, then lets the folder go. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#store.close();
  }

  #counter(account: string, period: BillingPeriod): MaybePromise<Counter> {
    const key = counterKey(account, period.key);
    const known = this.#counters.get(key);
    if (known !== undefined) return known;
    const loading = this.#store.get(key).then((value): Counter => {
      const record = value === undefined ? null : (JSON.parse(value) as CounterRecord);
      const committed = record?.used ?? 0;
      const counter = { account, period, committed, chargedAt: record?.charged_at ?? 0, reserved: 0 };
      this.#counters.set(key, counter);
      return counter;
    });
    // A failed reading is not kept: the next request reads again.
    loading.catch(() => this.#counters.delete(key));
    this.#counters.set(key, loading);
    return loading;
  }

  async #writeQueue(): Promise<void> {
    let written = 0;
    while (this.#queue.length > 0) {
      const others = written + this.#queue.length > 2;
      // A Run that ends alone is not held up; of several in one turn, and of those that follow, one write takes all.
      await new Promise((resolve) => (others ? setTimeout(resolve, GATHER_MILLISECONDS) : setImmediate(resolve)));
      const commits = this.#queue.splice(0, COMMITS_PER_WRITE_MAX);
      written = commits.length;
      try {
        await this.#writeCommits(commits);
      } catch (fault) {
        for (const { held, reject } of commits) {
          held.state = 'held';
          if (held.releaseWanted) settle(held);
          reject(fault);
        }
      }
    }
    this.#writing = null;
  }

  async #writeCommits(commits: readonly Commit[]): Promise<void> {
    const charged = await this.#alreadyCharged(commits);
    const writes = new Map<string, string | null>();
    const undo = new Map<string, string | null>();
    const counts = new Map<Counter, number>();
    const chargedAt = commits.at(-1)!.now;
    const isNew = commits.map(({ held, charge }) => {
      const fresh = charge === null || !charged.has(charge.digest);
      if (fresh) counts.set(held.counter, (counts.get(held.counter) ?? held.counter.committed) + 1);
      if (charge !== null) {
        const { digest, expiresAt } = charge;
        writes.set(chargeKey(digest), String(expiresAt)).set(expiryKey(expiresAt, digest), '');
        if (fresh) undo.set(chargeKey(digest), null);
        charged.add(digest);
      }
      return fresh;
    });
    for (const [counter, used] of counts) {
      const key = counterKey(counter.account, counter.period.key);
      writes.set(key, counterValue({ ...counter, committed: used, chargedAt }));
      undo.set(key, counterValue(counter));
    }
    await this.#store.writeSynced(writes, undo);
    for (const [counter, used] of counts) Object.assign(counter, { committed: used, chargedAt });
    commits.forEach(({ held, resolve }, index) => {
      settle(held);
      resolve(isNew[index]!);
    });
  }

  async #alreadyCharged(commits: readonly Commit[]): Promise<Set<string>> {
    const remembered = commits.filter((commit) => commit.charge !== null);
    const expiries = await this.#store.getMany(remembered.map(({ charge }) => chargeKey(charge!.digest)));
    const live = remembered.filter(({ now }, index) => Number(expiries[index] ?? 0) > now);
    return new Set(live.map(({ charge }) => charge!.digest));
  }

  /** Within this process the clock may jump: what was remembered before it did is kept as long as it was meant to be. */
  #cautiousNow(): number {
    return Math.min(this.#clock.wall(), this.#openedAt + this.#clock.steady() - this.#openedAfter);
  }
}

function settle(held: Held): void {
  held.state = 'settled';
  held.counter.reserved -= 1;
}

function counterValue({ committed, chargedAt, period }: Counter): string {
  const record: CounterRecord = { used: committed, ends_at: period.endsAt, charged_at: chargedAt };
  return JSON.stringify(record);
}

function chargeKey(digest: string): string {
  return `charge/${digest}`;
}

/** Padded so that the order of the keys is the order in time. */
function expiryKey(expiresAt: number, digest: string): string {
  return `expires/${String(Math.ceil(expiresAt)).padStart(15, '0')}/${digest}`;
}
