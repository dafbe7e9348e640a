// Checks 10 to 12 of create_run: quota, slot, memory. What they take hangs on one object and is given back together.
import { reservationBytes } from '../../workers/template/reservation.ts';
import { chargeDigest, chargeDigestPrefix } from '../admission/charge-digest.ts';
import type { HeldThing, Lease } from '../admission/lease.ts';
import type { QuotaAnswer, QuotaReservation } from '../admission/quota-ledger.ts';
import type { Account, CatalogTemplate, Subscription } from '../catalog/catalog.ts';
import { busy, type Refusal } from '../http/refusal.ts';
import { after, type Soon } from '../soon.ts';
import type { NodeState } from './node-state.ts';
import type { CheckedTemplate } from './output-name.ts';

/** How long a client waits before it asks again for a slot, in seconds: Runs take seconds. */
const SLOT_RETRY_SECONDS = '1';

export interface AdmissionRequest {
  readonly account: Account;
  readonly subscription: Subscription;
  readonly template: CatalogTemplate<CheckedTemplate>;
  /** The Idempotency-Key, null = none. */
  readonly key: string | null;
}

/** What one admitted request holds. Everything hangs on the lease; `giveBack` returns it before files are removed. */
export class Admission {
  readonly request: AdmissionRequest;
  #node: NodeState;
  #lease: Lease;
  #reservation: QuotaReservation | null = null;
  /** The quota is used up; only a repeat of a Run that was charged before may go on. */
  #overQuota: Refusal | null = null;
  #held: HeldThing[] = [];
  #memory: HeldThing | null = null;

  constructor(node: NodeState, request: AdmissionRequest, lease: Lease) {
    this.#node = node;
    this.request = request;
    this.#lease = lease;
  }

  /** Checks 10 to 12. */
  takeAll(): Soon<Refusal | null> {
    return after(this.takeQuotaAndSlot(), (refused) => refused ?? this.takeMemory());
  }

  /** Checks 10 and 11. */
  takeQuotaAndSlot(): Soon<Refusal | null> {
    const { account, subscription } = this.request;
    const now = Date.now();
    const { ledger, periods } = this.#node;
    const answer = ledger.reserve(account.id, periods.of(subscription, now), subscription.plan.runsPerPeriod);
    return after(answer, (quota) => {
      if (!quota.ok) return this.#overQuotaOrRefused(quota, now);
      const { reservation } = quota;
      this.#reservation = reservation;
      this.#hold(() => ledger.release(reservation));
      return this.#takeSlot();
    });
  }

  async #overQuotaOrRefused(quota: Extract<QuotaAnswer, { ok: false }>, now: number): Promise<Refusal | null> {
    const { account, key } = this.request;
    const { used, limit } = quota;
    const resetsAt = new Date(quota.resetsAt).toISOString();
    const message = `The account has used its ${limit} Runs of this billing period.`;
    const refusal: Refusal = { code: 'EXPORT_LIMIT_REACHED', message, quota: { used, limit, resets_at: resetsAt } };
    const { ledger } = this.#node;
    if (key === null || !(await ledger.wasChargedUnder(chargeDigestPrefix(account.id, key), now))) return refusal;
    this.#overQuota = refusal;
    return this.#takeSlot();
  }

  #takeSlot(): Refusal | null {
    const { account, subscription } = this.request;
    const { plan } = subscription;
    const { slots } = this.#node;
    if (!slots.take(account.id, plan.runsInFlightMax)) {
      const message = `The account has ${plan.runsInFlightMax} Runs in flight, as many as its plan allows.`;
      return { code: 'CONCURRENCY_LIMIT_REACHED', message, headers: [['Retry-After', SLOT_RETRY_SECONDS]] };
    }
    this.#hold(() => slots.release(account.id));
    return null;
  }

  /** Check 12. */
  takeMemory(): Soon<Refusal | null> {
    const { disk, drain } = this.#node;
    if (drain.draining) return busy('The service is about to stop. Try again shortly.');
    return after(disk.space(), ({ trouble, aboveFloor }) => {
      if (trouble !== null) return busy('The service cannot store files. Try again shortly.');
      if (!aboveFloor) return busy('The service is short of disk space. Try again shortly.');
      return this.#reserveMemory();
    });
  }

  #reserveMemory(): Refusal | null {
    const { budget } = this.#node;
    const bytes = reservationBytes(this.request.template.checked);
    if (!budget.tryReserve(bytes, 'reservations')) {
      return busy('The service is at its memory budget. Try again shortly.');
    }
    this.#memory = this.#lease.hold(() => budget.release(bytes, 'reservations'));
    return null;
  }

  /** Of a request that was let in over its quota: whether this very request was charged before. */
  quotaRefusal(fingerprint: string): Soon<Refusal | null> {
    if (this.#overQuota === null) return null;
    const { account, key } = this.request;
    const charged = this.#node.ledger.wasCharged(chargeDigest(account.id, key ?? '', fingerprint));
    return charged.then((before) => (before ? null : this.#overQuota));
  }

  /** Charges one succeeded Run; on the disk when it resolves. False: it had been charged before. */
  charge(fingerprint: string, expiresAt: number): Soon<boolean> {
    if (this.#reservation === null) return false;
    const { account, key } = this.request;
    const remembered = key === null ? null : { digest: chargeDigest(account.id, key, fingerprint), expiresAt };
    return this.#node.ledger.commit(this.#reservation, remembered);
  }

  /** Gives back quota (unless it was charged) and slot; memory only when the engine has let it go. Idempotent. */
  giveBack(withMemory: boolean): void {
    for (let thing = this.#held.pop(); thing !== undefined; thing = this.#held.pop()) thing.giveBack();
    if (withMemory) this.#memory?.giveBack();
  }

  #hold(giveBack: () => void): void {
    this.#held.push(this.#lease.hold(giveBack));
  }
}
