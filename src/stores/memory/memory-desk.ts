// The desk of a node on its own: keys, slots, rates and records in this process, charges in the ledger's files. All but the
// first reading of an account's counter and a charge is answered at once.
import type { MaybePromise } from '../../collections/maybe-promise.ts';
import type { RunRecord } from '../../runs/run.ts';
import type {
  AccountUsage,
  AdmissionAnswer,
  AdmissionAsk,
  AdmissionDesk,
  AdmissionOutcome,
  BeginAnswer,
  FinishAnswer,
  KeyHolder,
  RunClaim,
  RunEnd,
} from '../admission-desk.ts';
import type { BillingPeriod } from '../billing-period.ts';
import type { Clock } from '../clock.ts';
import { chargeDigest, chargeDigestPrefix } from '../leveldb/charge-digest.ts';
import type { QuotaAnswer, QuotaLedger, QuotaReservation } from '../leveldb/quota-ledger.ts';
import type { RateAsk, RunAnswer, RunStore } from '../run-store.ts';
import { type IdempotencyKeys, type KeyEntry, keyId } from './idempotency.ts';
import type { RunRecords } from './run-records.ts';
import { RunSlots } from './run-slots.ts';
import type { TokenBuckets } from './token-buckets.ts';

/** What an admitted Run holds until it is over. */
class Flight implements RunClaim {
  readonly runId: string;
  readonly account: string;
  readonly keyText: string | null;
  readonly keyId: string;
  keyEntry: KeyEntry | null = null;
  reservation: QuotaReservation | null = null;
  hasSlot = false;
  promised = false;

  constructor({ runId, account, key }: AdmissionAsk) {
    this.runId = runId;
    this.account = account;
    this.keyText = key?.text ?? null;
    this.keyId = key === null ? '' : keyId(account, key.text);
  }
}

export interface MemoryDeskParts {
  readonly records: RunRecords;
  readonly keys: IdempotencyKeys;
  readonly buckets: TokenBuckets;
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
}

export class MemoryDesk implements AdmissionDesk, RunStore {
  readonly #records: RunRecords;
  readonly #keys: IdempotencyKeys;
  readonly #buckets: TokenBuckets;
  readonly #ledger: QuotaLedger;
  readonly #clock: Clock;
  readonly #slots = new RunSlots();
  /** By Run id. */
  readonly #flights = new Map<string, Flight>();

  constructor({ records, keys, buckets, ledger, clock }: MemoryDeskParts) {
    this.#records = records;
    this.#keys = keys;
    this.#buckets = buckets;
    this.#ledger = ledger;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.wall();
  }

  read(account: string, runId: string, { operation, limit }: RateAsk): RunAnswer {
    const now = this.#clock.steady();
    const rate = this.#buckets.take(account, operation, limit, now);
    return { rate, run: rate.allowed ? this.#records.get(account, runId, now) : null };
  }

  admit(ask: AdmissionAsk): MaybePromise<AdmissionAnswer> {
    const now = this.#clock.steady();
    const rate = this.#buckets.take(ask.account, 'create_run', ask.rate, now);
    if (!rate.allowed) return { rate, outcome: { kind: 'limited' } };
    const flight = new Flight(ask);
    if (ask.key !== null) {
      const answer = this.#keys.claim(flight.keyId, ask.key.templateId, ask.runId, ask.node, now);
      if (answer.kind !== 'claimed') return { rate, outcome: answer };
      flight.keyEntry = answer.entry;
    }
    const outcome = this.#reserve(flight, ask);
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

  look(account: string, key: string): KeyHolder | null {
    return this.#keys.look(keyId(account, key), this.#clock.steady());
  }

  async usage(account: string, period: BillingPeriod): Promise<AccountUsage> {
    const used = await this.#ledger.used(account, period);
    return { used, runsInFlight: this.#slots.taken(account) };
  }

  /** Quota, slot, room, in this order. */
  #reserve(flight: Flight, ask: AdmissionAsk): MaybePromise<AdmissionOutcome> {
    try {
      const answer = this.#ledger.reserve(ask.account, ask.period, ask.quotaMax);
      if (!(answer instanceof Promise) && answer.ok) return this.#withQuota(flight, ask, answer);
      return this.#reserveLater(flight, ask, answer);
    } catch (fault) {
      this.#letGo(flight);
      throw fault;
    }
  }

  async #reserveLater(flight: Flight, ask: AdmissionAsk, asked: MaybePromise<QuotaAnswer>): Promise<AdmissionOutcome> {
    try {
      const answer = await asked;
      if (answer.ok) return this.#withQuota(flight, ask, answer);
      const { used } = answer;
      // A repeat after a restart, which has forgotten its Run, goes on: its file tells whether it is the same request.
      const isRepeat =
        ask.key !== null && (await this.#ledger.wasChargedUnder(chargeDigestPrefix(ask.account, ask.key.text)));
      if (isRepeat) return this.#withSlot(flight, ask, { used });
      this.#letGo(flight);
      return { kind: 'quota', used };
    } catch (fault) {
      this.#letGo(flight);
      throw fault;
    }
  }

  #withQuota(flight: Flight, ask: AdmissionAsk, answer: Extract<QuotaAnswer, { ok: true }>): AdmissionOutcome {
    flight.reservation = answer.reservation;
    return this.#withSlot(flight, ask, null);
  }

  #withSlot(flight: Flight, ask: AdmissionAsk, overQuota: { readonly used: number } | null): AdmissionOutcome {
    flight.hasSlot = this.#slots.take(ask.account, ask.slotsMax);
    if (!flight.hasSlot || !ask.room) {
      const kind = flight.hasSlot ? 'no_room' : 'slots';
      this.#letGo(flight);
      return { kind };
    }
    this.#flights.set(ask.runId, flight);
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

  /** Does nothing where it was charged. */
  #release({ reservation }: Flight): void {
    if (reservation !== null) this.#ledger.release(reservation);
  }
}
