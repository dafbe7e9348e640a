// Quota: how many succeeded Runs an account has been charged for in a billing period, durable, and how many are reserved,
// in memory only (a crash leaves no reservation behind). It does not know plans or Runs.
// States of a reservation: held → committing → settled; a failed commit leads back to held; release leads to settled.
import { after, type Soon } from '../soon.ts';
import type { BillingPeriod } from './billing-period.ts';
import { LedgerStore } from './ledger-store.ts';

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

/** Counters of past periods are kept this long, for whoever has to explain a bill. */
const PAST_PERIODS_MILLISECONDS = 62 * 24 * 3600 * 1000;

/**
 * So long commits are gathered while Runs end one upon another, in milliseconds. A write costs the loop as much however few
 * it holds: made in each turn it was a sixth of what thousands of small Runs a second cost the loop.
 */
const GATHER_MILLISECONDS = 2;

interface Counter {
  readonly account: string;
  readonly period: BillingPeriod;
  committed: number;
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
  #counters = new Map<string, Soon<Counter>>();
  #queue: Commit[] = [];
  #writing: Promise<void> | null = null;

  /** Opens the ledger's folder and drops what is too old to matter. Rejects with DirectoryInUseError. */
  static async open(directory: string, now = Date.now()): Promise<QuotaLedger> {
    const ledger = new QuotaLedger(await LedgerStore.open(directory));
    await ledger.#forgetPastPeriods(now);
    return ledger;
  }

  private constructor(store: LedgerStore) {
    this.#store = store;
  }

  /** Sets one unit aside if used (committed and reserved) is below the limit; null = no limit, counted all the same. */
  reserve(account: string, period: BillingPeriod, limit: number | null): Soon<QuotaAnswer> {
    return after(this.#counter(account, period), (counter): QuotaAnswer => {
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
  commit(reservation: QuotaReservation, charge: RememberedCharge | null, now = Date.now()): Promise<boolean> {
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
  async wasCharged(digest: string, now = Date.now()): Promise<boolean> {
    return Number((await this.#store.get(chargeKey(digest))) ?? 0) > now;
  }

  /** Whether any charge whose digest begins with `prefix` (chargeDigestPrefix) is remembered at `now`. */
  async wasChargedUnder(prefix: string, now = Date.now()): Promise<boolean> {
    const charges = await this.#store.range(chargeKey(prefix), chargeKey(`${prefix}~`), COMMITS_PER_WRITE_MAX);
    return charges.some(([, expiresAt]) => Number(expiresAt) > now);
  }

  /** Forgets at most `max` remembered charges whose time has come, and counters of periods that are over. */
  async sweep(max: number, now = Date.now()): Promise<number> {
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

  /** Waits for commits that are under way, then lets the folder go. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#store.close();
  }

  #counter(account: string, period: BillingPeriod): Soon<Counter> {
    const key = counterKey(account, period.key);
    const known = this.#counters.get(key);
    if (known !== undefined) return known;
    const loading = this.#store.get(key).then((value): Counter => {
      const committed = value === undefined ? 0 : (JSON.parse(value) as { used: number }).used;
      const counter = { account, period, committed, reserved: 0 };
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
      writes.set(key, counterValue(used, counter));
      undo.set(key, counterValue(counter.committed, counter));
    }
    await this.#store.writeSynced(writes, undo);
    for (const [counter, used] of counts) counter.committed = used;
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

  async #forgetPastPeriods(now: number): Promise<void> {
    let from = 'used/';
    for (;;) {
      const counters = await this.#store.range(from, 'used0', COMMITS_PER_WRITE_MAX);
      const old = counters.filter(([, value]) => {
        return (JSON.parse(value) as { ends_at: number }).ends_at < now - PAST_PERIODS_MILLISECONDS;
      });
      if (old.length > 0) await this.#store.write(new Map(old.map(([key]) => [key, null])));
      const last = counters.at(-1);
      if (last === undefined || counters.length < COMMITS_PER_WRITE_MAX) return;
      from = `${last[0]} `;
    }
  }
}

function settle(held: Held): void {
  held.state = 'settled';
  held.counter.reserved -= 1;
}

function counterKey(account: string, periodKey: string): string {
  return `used/${account}/${periodKey}`;
}

function counterValue(used: number, counter: Counter): string {
  return JSON.stringify({ used, ends_at: counter.period.endsAt });
}

function chargeKey(digest: string): string {
  return `charge/${digest}`;
}

/** Padded so that the order of the keys is the order in time. */
function expiryKey(expiresAt: number, digest: string): string {
  return `expires/${String(Math.ceil(expiresAt)).padStart(15, '0')}/${digest}`;
}
