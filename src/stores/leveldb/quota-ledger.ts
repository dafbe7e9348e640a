// The quota ledger: counts the charged and reserved Runs of an account per billing period.
import { createHash } from 'node:crypto';
import { andThen, type MaybePromise } from '../../collections/maybe-promise.ts';
import type { BillingPeriod } from '../billing-period.ts';
import { type Clock, systemClock } from '../stores.ts';
import { type CounterRecord, counterKey, forgetPastPeriods, LedgerStore, newestCharge } from './ledger-store.ts';

// The key under which a charge is remembered: a digest of account, Idempotency-Key and fingerprint of the request.

/** Hex digits of each half, 128 bits. */
const HALF_DIGITS = 32;

/**
 * Concatenates two halves. The first depends only on account and key, so that the charges of a key can be found
 * before the request body has arrived.
 */
export function chargeDigest(account: string, idempotencyKey: string, fingerprint: string): string {
  return chargeDigestPrefix(account, idempotencyKey) + half(`${account}\n${idempotencyKey}\n${fingerprint}`);
}

/** First half of the digests of all charges for this account and key. */
export function chargeDigestPrefix(account: string, idempotencyKey: string): string {
  return half(`${account}\n${idempotencyKey}`);
}

/** Account ids and keys never contain a line feed, so the joined parts are unambiguous. */
function half(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HALF_DIGITS);
}

// The quota ledger: counts the charged Runs of an account per billing period on disk, and the reserved ones in memory
// only, so that a crash leaves no reservations. Independent of plans and Runs.
//
// States of a reservation: held → committing → settled. A failed commit returns to held; a release leads to settled.

/** One reserved unit of an account's quota. */
export interface QuotaReservation {
  readonly account: string;
  readonly period: BillingPeriod;
}

export type QuotaAnswer =
  | { readonly ok: true; readonly reservation: QuotaReservation }
  /** `resetsAt`: milliseconds since 1970. */
  | { readonly ok: false; readonly used: number; readonly limit: number; readonly resetsAt: number };

/** A remembered charge: `digest` as from chargeDigest, `expiresAt` in milliseconds since 1970. */
export interface RememberedCharge {
  readonly digest: string;
  readonly expiresAt: number;
}

/** Maximum number of commits written with one sync. */
const COMMITS_PER_WRITE_MAX = 1000;

/**
 * Time during which commits are gathered into one write while Runs end in quick succession, in milliseconds. A write
 * costs the event loop about the same whatever its size. With one write per turn of the loop, writes were a sixth of
 * the loop's cost at thousands of small Runs per second.
 */
export const GATHER_MILLISECONDS = 2;

/**
 * This many commits are written at once, without waiting for more: a larger group would hardly reduce the cost of a
 * commit, but would leave the node idle. Threads report the ends of up to as many Runs at once (workers/protocol/frame.ts).
 */
export const GATHERED_COMMITS = 16;

interface Counter {
  readonly account: string;
  readonly period: BillingPeriod;
  committed: number;
  /** Time of the last commit, in milliseconds since 1970; 0: no commit yet. */
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

const NOT_GATHERING = (): void => {};

export class QuotaLedger {
  #store: LedgerStore;
  /** Counters by account and period; a promise only while the counter is read from disk. */
  #counters = new Map<string, MaybePromise<Counter>>();
  #queue: Commit[] = [];
  #writing: Promise<void> | null = null;
  #stopGathering: () => void = NOT_GATHERING;

  /**
   * Time at which the ledger was opened, but not later than the newest charge. Used to decide what is old enough to
   * be removed.
   */
  #openedAt = 0;
  readonly #openedAfter: number;
  readonly #clock: Clock;

  /** Opens the ledger's folder and removes outdated counters. Rejects with DirectoryInUseError. */
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

  /**
   * Reserves one unit if the used units (committed and reserved) are below the limit. Null: unlimited, but still
   * counted.
   */
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
   * Turns a reservation into a charge, which is on disk when this resolves. Returns false if this charge was already
   * made (a retry after a restart); the reservation is then released. If it rejects (a fault such as a full disk),
   * the reservation is still held and nothing was charged.
   */
  commit(reservation: QuotaReservation, charge: RememberedCharge | null, now = this.#clock.wall()): Promise<boolean> {
    const held = reservation as Held;
    if (held.state !== 'held') throw new Error(`a ${held.state} quota reservation was committed`);
    held.state = 'committing';
    return new Promise((resolve, reject) => {
      this.#queue.push({ held, charge, now, resolve, reject });
      if (this.#queue.length >= GATHERED_COMMITS) this.#stopGathering();
      this.#writing ??= this.#writeQueue();
    });
  }

  /**
   * Releases a reservation. Has no effect on a settled one. During a commit, the release only happens if the commit
   * fails.
   */
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

  /** True if a charge with this digest is remembered at `now`. */
  async wasCharged(digest: string, now = this.#clock.wall()): Promise<boolean> {
    return Number((await this.#store.get(chargeKey(digest))) ?? 0) > now;
  }

  /** True if any charge whose digest begins with `prefix` (chargeDigestPrefix) is remembered at `now`. */
  async wasChargedUnder(prefix: string, now = this.#clock.wall()): Promise<boolean> {
    const charges = await this.#store.range(chargeKey(prefix), chargeKey(`${prefix}~`), COMMITS_PER_WRITE_MAX);
    return charges.some(([, expiresAt]) => Number(expiresAt) > now);
  }

  /**
   * Removes at most `max` expired charges, and the counters of periods that are over.
   * @param now by default the cautious clock below, which neither jumps ahead nor starts ahead of the newest charge
   */
  async sweep(max: number, now = this.#cautiousNow()): Promise<number> {
    for (const [key, counter] of this.#counters) {
      // A counter being read is about to be used.
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

  /** False: writing a charge to disk has failed, and no write has succeeded since. */
  get isHealthy(): boolean {
    return this.#store.isHealthy;
  }

  /** Tries to write again. Rejects with StoreUnavailableError while the disk accepts nothing. */
  recover(): Promise<void> {
    return this.#store.recover();
  }

  /** Waits for commits in progress, then closes the folder. */
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
    // A failed read is not cached, so the next request reads again.
    loading.catch(() => this.#counters.delete(key));
    this.#counters.set(key, loading);
    return loading;
  }

  async #writeQueue(): Promise<void> {
    let written = 0;
    while (this.#queue.length > 0) {
      await this.#gather(written + this.#queue.length > 2);
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

  /**
   * Waits for the commits of the next write. A single commit is written in this turn of the loop. If several commits
   * arrive in one turn, the following ones are gathered into one write.
   */
  #gather(hasOthers: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (!hasOthers || this.#queue.length >= GATHERED_COMMITS) {
        setImmediate(resolve);
        return;
      }
      const timer = setTimeout(() => this.#stopGathering(), GATHER_MILLISECONDS);
      this.#stopGathering = () => {
        clearTimeout(timer);
        this.#stopGathering = NOT_GATHERING;
        resolve();
      };
    });
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

  /**
   * The wall clock may jump while the process runs. This clock does not, so charges are remembered for their full
   * time.
   */
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

/** Padded so that the keys sort in order of time. */
function expiryKey(expiresAt: number, digest: string): string {
  return `expires/${String(Math.ceil(expiresAt)).padStart(15, '0')}/${digest}`;
}
