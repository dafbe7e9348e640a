// Checks 10 to 12 of create_run: quota, slot, memory. What they take hangs on one object and is given back together.

import { reservationBytes } from '../../workers/template/reservation.ts';
import { chargeDigest, chargeDigestPrefix } from '../admission/charge-digest.ts';
import type { HeldThing, Lease } from '../admission/lease.ts';
import type { QuotaReservation } from '../admission/quota-ledger.ts';
import type { Account, CatalogTemplate, Subscription } from '../catalog/catalog.ts';
import { busy, type Refusal } from '../http/refusal.ts';
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

  /** Checks 10 and 11. */
  async takeQuotaAndSlot(): Promise<Refusal | null> {
    const { account, subscription, key } = this.request;
    const { plan } = subscription;
    const { ledger, slots } = this.#node;
    const now = Date.now();
    const answer = await ledger.reserve(account.id, this.#node.periods.of(subscription, now), plan.runsPerPeriod);
    if (answer.ok) {
      const { reservation } = answer;
      this.#reservation = reservation;
      this.#hold(() => ledger.release(reservation));
    } else {
      const { used, limit } = answer;
      const resetsAt = new Date(answer.resetsAt).toISOString();
      const message = `The account has used its ${limit} Runs of this billing period.`;
      const refusal: Refusal = { code: 'EXPORT_LIMIT_REACHED', message, quota: { used, limit, resets_at: resetsAt } };
      if (key === null || !(await ledger.wasChargedUnder(chargeDigestPrefix(account.id, key), now))) return refusal;
      this.#overQuota = refusal;
    }
    if (!slots.take(account.id, plan.runsInFlightMax)) {
      const message = `The account has ${plan.runsInFlightMax} Runs in flight, as many as its plan allows.`;
      return { code: 'CONCURRENCY_LIMIT_REACHED', message, headers: [['Retry-After', SLOT_RETRY_SECONDS]] };
    }
    this.#hold(() => slots.release(account.id));
    return null;
  }

  /** Check 12. */
  async takeMemory(): Promise<Refusal | null> {
    const { budget, disk, drain } = this.#node;
    if (drain.draining) return busy('The service is about to stop. Try again shortly.');
    if (!(await disk.space()).aboveFloor) return busy('The service is short of disk space. Try again shortly.');
    const bytes = reservationBytes(this.request.template.checked);
    if (!budget.tryReserve(bytes, 'reservations')) {
      return busy('The service is at its memory budget. Try again shortly.');
    }
    this.#memory = this.#lease.hold(() => budget.release(bytes, 'reservations'));
    return null;
  }

  /** Of a request that was let in over its quota: whether this very request was charged before. */
  async quotaRefusal(fingerprint: string): Promise<Refusal | null> {
    if (this.#overQuota === null) return null;
    const { account, key } = this.request;
    const charged = await this.#node.ledger.wasCharged(chargeDigest(account.id, key ?? '', fingerprint));
    return charged ? null : this.#overQuota;
  }

  /** Charges one succeeded Run; on the disk when it resolves. False: it had been charged before. */
  charge(fingerprint: string, expiresAt: number): Promise<boolean> {
    if (this.#reservation === null) return Promise.resolve(false);
    const { account, key } = this.request;
    const remembered = key === null ? null : { digest: chargeDigest(account.id, key, fingerprint), expiresAt };
    return this.#node.ledger.commit(this.#reservation, remembered);
  }

  /** Gives back quota (unless it was charged) and slot; memory only when the engine has let it go. Idempotent. */
  async giveBack(withMemory: boolean): Promise<void> {
    for (let thing = this.#held.pop(); thing !== undefined; thing = this.#held.pop()) {
      const underWay = thing.giveBack();
      if (underWay !== undefined) await underWay;
    }
    if (withMemory) await this.#memory?.giveBack();
  }

  #hold(giveBack: () => void): void {
    this.#held.push(this.#lease.hold(giveBack));
  }
}
