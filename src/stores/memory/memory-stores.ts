// Assembles the stores of a standalone node, and removes expired entries regularly.

import type { MemoryBudget } from '../../admission/memory-budget.ts';
import type { MaybePromise } from '../../collections/maybe-promise.ts';
import { LocalOutputs } from '../../outputs/local-outputs.ts';
import type { OutputRef } from '../../outputs/output-store.ts';
import type { RunRecord } from '../../runs/run.ts';
import type { Log } from '../../telemetry/log.ts';
import type {
  AccountUsage,
  AdmissionAnswer,
  AdmissionOutcome,
  AdmissionRequest,
  AdmissionStore,
  BeginAnswer,
  FinishAnswer,
  KeyHolder,
  RunClaim,
  RunEnd,
} from '../admission-store.ts';
import type { BillingPeriod } from '../billing-period.ts';
import {
  chargeDigest,
  chargeDigestPrefix,
  type QuotaAnswer,
  type QuotaLedger,
  type QuotaReservation,
} from '../leveldb/quota-ledger.ts';
import { TokenBuckets } from '../rate-limiter.ts';
import type { Clock, RateRequest, RunAnswer, RunStore, Stores } from '../stores.ts';
import { IdempotencyKeys, type KeyEntry, keyId } from './idempotency.ts';
import { KeptMemory } from './kept-entries.ts';
import { RunRecords } from './run-records.ts';

// Counts the Runs in flight per account, from admission to the end of the Run.

export class RunSlots {
  #taken = new Map<string, number>();

  /** Takes a slot of the account unless `max` slots are taken; null: unlimited. */
  take(account: string, max: number | null): boolean {
    const taken = this.taken(account);
    if (max !== null && taken >= max) return false;
    this.#taken.set(account, taken + 1);
    return true;
  }

  /** Releases one slot. Throws if no slot is taken, which is a fault of the program. */
  release(account: string): void {
    const taken = this.taken(account);
    if (taken === 0) throw new Error('a slot was released that was not held');
    if (taken === 1) this.#taken.delete(account);
    else this.#taken.set(account, taken - 1);
  }

  taken(account: string): number {
    return this.#taken.get(account) ?? 0;
  }
}

// The admission store of a standalone node: keys, slots, rates and records are in this process, charges in the
// ledger's files. All calls are answered immediately, except the first read of an account's counter, and charges.

/** Everything that an admitted Run holds until it is over. */
class Flight implements RunClaim {
  readonly runId: string;
  readonly account: string;
  readonly keyText: string | null;
  readonly keyId: string;
  keyEntry: KeyEntry | null = null;
  reservation: QuotaReservation | null = null;
  hasSlot = false;
  promised = false;

  constructor({ runId, account, key }: AdmissionRequest) {
    this.runId = runId;
    this.account = account;
    this.keyText = key?.text ?? null;
    this.keyId = key === null ? '' : keyId(account, key.text);
  }
}

export interface MemoryAdmissionStoreParts {
  readonly records: RunRecords;
  readonly keys: IdempotencyKeys;
  readonly buckets: TokenBuckets;
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
}

class MemoryAdmissionStore implements AdmissionStore, RunStore {
  readonly #records: RunRecords;
  readonly #keys: IdempotencyKeys;
  readonly #buckets: TokenBuckets;
  readonly #ledger: QuotaLedger;
  readonly #clock: Clock;
  readonly #slots = new RunSlots();
  /** Keyed by Run id. */
  readonly #flights = new Map<string, Flight>();

  constructor({ records, keys, buckets, ledger, clock }: MemoryAdmissionStoreParts) {
    this.#records = records;
    this.#keys = keys;
    this.#buckets = buckets;
    this.#ledger = ledger;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.wall();
  }

  read(account: string, runId: string, { operation, limit }: RateRequest): RunAnswer {
    const now = this.#clock.steady();
    const rate = this.#buckets.take(account, operation, limit, now);
    return { rate, run: rate.allowed ? this.#records.get(account, runId, now) : null };
  }

  admit(request: AdmissionRequest): MaybePromise<AdmissionAnswer> {
    const now = this.#clock.steady();
    const rate = this.#buckets.take(request.account, 'create_run', request.rate, now);
    if (!rate.allowed) return { rate, outcome: { kind: 'limited' } };
    const flight = new Flight(request);
    if (request.key !== null) {
      const answer = this.#keys.claim(flight.keyId, request.key.templateId, request.runId, request.node, now);
      if (answer.kind !== 'claimed') return { rate, outcome: answer };
      flight.keyEntry = answer.entry;
    }
    const outcome = this.#reserve(flight, request);
    return outcome instanceof Promise ? outcome.then((late) => ({ rate, outcome: late })) : { rate, outcome };
  }

  begin({ runId }: RunClaim, run: RunRecord, fingerprint: string): MaybePromise<BeginAnswer> {
    const flight = this.#flights.get(runId);
    if (flight === undefined) return 'lost';
    const begun = (): BeginAnswer => {
      this.#records.begin(run);
      if (flight.keyEntry !== null) this.#keys.begin(flight.keyEntry, fingerprint);
      return 'begun';
    };
    if (flight.reservation !== null) return begun();
    return this.#ledger
      .wasCharged(chargeDigest(flight.account, flight.keyText ?? '', fingerprint))
      .then((before) => (before ? begun() : 'over_quota'));
  }

  promise(account: string, runId: string): boolean {
    const flight = this.#flights.get(runId);
    if (flight === undefined) return this.#records.get(account, runId, this.#clock.steady()) !== null;
    flight.promised = true;
    return true;
  }

  finish({ runId, account }: RunClaim, end: RunEnd | null): MaybePromise<FinishAnswer> {
    const flight = this.#flights.get(runId);
    if (flight === undefined) return this.promise(account, runId) ? 'done' : 'lost';
    if (end === null) {
      if (flight.promised) return 'promised';
      this.#letGo(flight);
      return 'done';
    }
    if (!end.isCharged || flight.reservation === null) return this.#keep(flight, end, false);
    const { keyText } = flight;
    const now = this.#clock.wall();
    const expiresAt = now + end.keepMilliseconds;
    const charge = keyText === null ? null : { digest: chargeDigest(account, keyText, end.fingerprint), expiresAt };
    return this.#ledger.commit(flight.reservation, charge, now).then((charged) => this.#keep(flight, end, charged));
  }

  abandon({ runId }: RunClaim): void {
    const flight = this.#flights.get(runId);
    if (flight !== undefined) this.#letGo(flight);
  }

  holderOf(account: string, key: string): KeyHolder | null {
    return this.#keys.holderOf(keyId(account, key), this.#clock.steady());
  }

  async usage(account: string, period: BillingPeriod): Promise<AccountUsage> {
    const used = await this.#ledger.used(account, period);
    return { used, runsInFlight: this.#slots.taken(account) };
  }

  /** Reserves quota, slot and node capacity, in this order. */
  #reserve(flight: Flight, request: AdmissionRequest): MaybePromise<AdmissionOutcome> {
    try {
      const answer = this.#ledger.reserve(request.account, request.period, request.quotaMax);
      if (!(answer instanceof Promise) && answer.ok) return this.#withQuota(flight, request, answer);
      return this.#reserveLater(flight, request, answer);
    } catch (fault) {
      this.#letGo(flight);
      throw fault;
    }
  }

  async #reserveLater(
    flight: Flight,
    request: AdmissionRequest,
    asked: MaybePromise<QuotaAnswer>,
  ): Promise<AdmissionOutcome> {
    try {
      const answer = await asked;
      if (answer.ok) return this.#withQuota(flight, request, answer);
      const { used } = answer;
      // A retry after a restart continues, because the restart lost its Run. Its file decides later whether it is the
      // same request.
      const isRepeat =
        request.key !== null &&
        (await this.#ledger.wasChargedUnder(chargeDigestPrefix(request.account, request.key.text)));
      if (isRepeat) return this.#withSlot(flight, request, { used });
      this.#letGo(flight);
      return { kind: 'quota', used };
    } catch (fault) {
      this.#letGo(flight);
      throw fault;
    }
  }

  #withQuota(flight: Flight, request: AdmissionRequest, answer: Extract<QuotaAnswer, { ok: true }>): AdmissionOutcome {
    flight.reservation = answer.reservation;
    return this.#withSlot(flight, request, null);
  }

  #withSlot(flight: Flight, request: AdmissionRequest, overQuota: { readonly used: number } | null): AdmissionOutcome {
    flight.hasSlot = this.#slots.take(request.account, request.slotsMax);
    if (!flight.hasSlot || !request.hasCapacity) {
      const kind = flight.hasSlot ? 'no_capacity' : 'slots';
      this.#letGo(flight);
      return { kind };
    }
    this.#flights.set(request.runId, flight);
    return { kind: 'admitted', claim: flight, former: flight.keyEntry?.former?.fingerprint ?? null, overQuota };
  }

  #keep(flight: Flight, { record, fingerprint, keepMilliseconds }: RunEnd, charged: boolean): FinishAnswer {
    const { runId, account, keyId, keyEntry } = flight;
    const expiresAt = this.#clock.steady() + keepMilliseconds;
    this.#records.finish(record, expiresAt);
    this.#flights.delete(runId);
    this.#release(flight);
    this.#slots.release(account);
    const { errorCode } = record;
    if (keyEntry !== null) this.#keys.finish(keyId, keyEntry, { runId, fingerprint, expiresAt, errorCode });
    return charged ? 'charged' : 'done';
  }

  #letGo(flight: Flight): void {
    this.#flights.delete(flight.runId);
    this.#release(flight);
    if (flight.hasSlot) this.#slots.release(flight.account);
    this.#records.remove(flight.runId);
    if (flight.keyEntry !== null) this.#keys.abandon(flight.keyId);
  }

  /** Has no effect if the reservation was charged. */
  #release({ reservation }: Flight): void {
    if (reservation !== null) this.#ledger.release(reservation);
  }
}

// Regularly removes expired entries in limited batches: Runs with their outputs, keys, remembered charges.

/** Interval and batch size of the removal of Runs, keys and buckets, small enough not to block the event loop. */
const SWEEP_MILLISECONDS = 200;
const SWEEP_MAX = 500;

/** Interval of the removal of remembered charges. */
const LEDGER_SWEEP_MILLISECONDS = 60_000;

export interface Sweeper {
  stop(): Promise<void>;
}

/** Starts sweeping until stopped. */
function startSweeper(runs: RunRecords, keys: IdempotencyKeys, ledger: QuotaLedger, clock: Clock, log: Log): Sweeper {
  const sweep = (): void => {
    const now = clock.steady();
    const more = runs.sweep(now, SWEEP_MAX) === SWEEP_MAX || keys.sweep(now, SWEEP_MAX) === SWEEP_MAX;
    timer = setTimeout(sweep, more ? 0 : SWEEP_MILLISECONDS);
  };
  let timer = setTimeout(sweep, SWEEP_MILLISECONDS);
  let sweeping: Promise<unknown> = Promise.resolve();
  const ledgerTimer = setInterval(() => {
    sweeping = ledger.sweep(SWEEP_MAX).catch((fault: unknown) => log.fault('ledger_not_swept', fault));
  }, LEDGER_SWEEP_MILLISECONDS);
  return {
    stop: async (): Promise<void> => {
      clearTimeout(timer);
      clearInterval(ledgerTimer);
      await sweeping;
    },
  };
}

// Assembles the stores of a standalone node. Everything is in memory except the quota ledger and large outputs.

/** @param ledger closed by its owner, after these stores */
export function openMemoryStores(ledger: QuotaLedger, budget: MemoryBudget, clock: Clock, log: Log): Stores {
  const outputs = new LocalOutputs(budget);
  const kept = new KeptMemory(budget);
  const expired = (output: OutputRef): void => {
    outputs.remove(output)?.catch((fault) => log.fault('output_not_removed', fault));
  };
  const records = new RunRecords(budget, expired, kept);
  const keys = new IdempotencyKeys(budget, kept);
  const buckets = new TokenBuckets();
  const admissions = new MemoryAdmissionStore({ records, keys, buckets, ledger, clock });
  const sweeper = startSweeper(records, keys, ledger, clock, log);
  return {
    admissions,
    runs: admissions,
    rates: { take: (account, operation, limit) => buckets.take(account, operation, limit, clock.steady()) },
    outputs,
    gauges: { runsKept: () => records.size },
    metricValues: () => [],
    nodes: () => [],
    mayKeepRun: (account) => kept.hasShare(account),
    unreadyReason: () => null,
    hurry: () => {},
    close: () => sweeper.stop(),
  };
}
