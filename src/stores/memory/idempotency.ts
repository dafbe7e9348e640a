// Idempotency-Keys of accounts: what has a key. It does not know who waits for one.
// States of a key: absent → uploading (a claim has it) → running (a Run) → finished (a Run's id, until that expires).
// uploading → finished, of a short Run. uploading or running → absent, or back to the finished Run before, when the claim
// is given up. finished → uploading, when that Run may be retried.
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import type { KeyHolder } from '../admission-desk.ts';
import { RETRIED_CODES } from '../retried-codes.ts';
import { type FinishedKey, FinishedKeys } from './finished-keys.ts';
import { InOrder } from './in-order.ts';

/** What a claimed key weighs beyond its text: its objects and its place in the map. */
const CLAIMED_BYTES = 400;

type ClaimedState = Exclude<KeyHolder, { phase: 'finished' }>;

/** A key that a claim has; it is given back with each change. */
export interface KeyEntry {
  readonly templateId: string;
  state: ClaimedState;
  /** The finished Run that the present claim retries. */
  readonly former: FinishedKey | null;
}

export type KeyAnswer =
  | { readonly kind: 'claimed'; readonly entry: KeyEntry }
  | { readonly kind: 'other_template' }
  | { readonly kind: 'held'; readonly holder: KeyHolder };

/** A Run that has finished, and until when its key is kept. */
export interface KeyEnd {
  readonly runId: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
  readonly errorCode: FailureCode | null;
}

const OTHER_TEMPLATE: KeyAnswer = { kind: 'other_template' };

export class IdempotencyKeys {
  readonly #claimed = new Map<string, KeyEntry>();
  /** Also those whose Runs are being retried. */
  readonly #finished: InOrder<FinishedKeys>;
  readonly #charge: (bytes: number) => void;

  constructor(budget: MemoryBudget) {
    this.#charge = (bytes) => {
      if (bytes > 0) budget.charge(bytes, 'records');
      else budget.release(-bytes, 'records');
    };
    this.#finished = new InOrder(() => new FinishedKeys(this.#charge));
  }

  /** Keys held, one that is retried twice. */
  get size(): number {
    return this.#claimed.size + this.#finished.size;
  }

  /** Gives the key to a claim if it is free. @param id of keyId @param now on the clock of its expiry */
  claim(id: string, templateId: string, runId: string, node: string, now: number): KeyAnswer {
    const claimed = this.#claimed.get(id);
    if (claimed !== undefined)
      return claimed.templateId === templateId ? { kind: 'held', holder: claimed.state } : OTHER_TEMPLATE;
    const former = this.#finishedKey(id, now);
    if (former !== null) {
      if (former.templateId !== templateId) return OTHER_TEMPLATE;
      const { errorCode } = former;
      if (errorCode === null || !RETRIED_CODES.has(errorCode)) return { kind: 'held', holder: former };
    }
    const entry: KeyEntry = { templateId, state: { phase: 'uploading', runId, node }, former };
    this.#claimed.set(id, entry);
    this.#charge(claimedBytes(id));
    return { kind: 'claimed', entry };
  }

  look(id: string, now: number): KeyHolder | null {
    return this.#claimed.get(id)?.state ?? this.#finishedKey(id, now);
  }

  /** Its Run is seen by others. */
  begin(entry: KeyEntry, fingerprint: string): void {
    const { state } = entry;
    if (state.phase === 'uploading') entry.state = { ...state, phase: 'running', fingerprint };
  }

  finish(id: string, { templateId }: KeyEntry, { runId, fingerprint, expiresAt, errorCode }: KeyEnd): void {
    // One whose Run is retried, or whose time has come and that is not forgotten yet.
    for (const finished of this.#finished.stores) finished.remove(id);
    const key: FinishedKey = { phase: 'finished', templateId, runId, fingerprint, errorCode };
    this.#finished.storeFor(expiresAt).add(id, key, expiresAt);
    this.#letGo(id);
  }

  /** No Run remains: the key is free again, or its finished Run's as before. */
  abandon(id: string): void {
    this.#letGo(id);
  }

  /** Forgets at most `max` keys whose time has come. */
  sweep(now: number, max: number): number {
    return this.#finished.sweep(now, max);
  }

  #letGo(id: string): void {
    if (this.#claimed.delete(id)) this.#charge(-claimedBytes(id));
  }

  #finishedKey(id: string, now: number): FinishedKey | null {
    for (const finished of this.#finished.stores) {
      const key = finished.get(id, now);
      if (key !== null) return key;
    }
    return null;
  }
}

function claimedBytes(id: string): number {
  return CLAIMED_BYTES + id.length;
}

/** Neither an account's id nor a key holds a line feed. */
export function keyId(account: string, key: string): string {
  return `${account}\n${key}`;
}
