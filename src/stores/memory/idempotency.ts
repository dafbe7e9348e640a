// Idempotency-Keys of accounts: what has a key. It does not know who waits for one.
// States of a key: absent → uploading (a claim has it) → running (a Run) → finished (a Run's id, until that expires).
// uploading → finished, of a short Run. uploading or running → absent, or back to the finished Run before, when the claim
// is given up. finished → uploading, when that Run may be retried.
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import { ExpiringMap } from '../../collections/expiring-map.ts';
import type { KeyHolder } from '../admission-desk.ts';
import { RETRIED_CODES } from '../retried-codes.ts';

/**
 * What a finished key weighs beyond its text: entry, places in map and heap, states, fingerprint, Run id. Measured on
 * Node 20 with 270,000 keys of 36 characters.
 */
const KEY_OVERHEAD_BYTES = 405;

/** Of its Run only what a claim asks for: the record is kept elsewhere. */
interface FinishedKey {
  readonly phase: 'finished';
  readonly runId: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
  readonly errorCode: FailureCode | null;
}

type KeyState = Exclude<KeyHolder, { phase: 'finished' }> | FinishedKey;

/** A key that a claim has; it is given back with each change. */
export interface KeyEntry {
  readonly templateId: string;
  state: KeyState;
  /** The finished Run that the present claim retries. */
  former: FinishedKey | null;
}

export type KeyAnswer =
  | { readonly kind: 'claimed'; readonly entry: KeyEntry }
  | { readonly kind: 'other_template' }
  | { readonly kind: 'held'; readonly holder: KeyHolder };

/** A Run that has finished, and until when its key is kept. */
export type KeyEnd = Omit<FinishedKey, 'phase'>;

const OTHER_TEMPLATE: KeyAnswer = { kind: 'other_template' };

export class IdempotencyKeys {
  #entries: ExpiringMap<KeyEntry>;

  constructor(budget: MemoryBudget) {
    this.#entries = new ExpiringMap<KeyEntry>({
      bytesOf: (key) => key.length + KEY_OVERHEAD_BYTES,
      charge: (bytes) => {
        if (bytes > 0) budget.charge(bytes, 'records');
        else budget.release(-bytes, 'records');
      },
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Gives the key to a claim if it is free. @param id of keyId @param now on the clock of its expiry */
  claim(id: string, templateId: string, runId: string, node: string, now: number): KeyAnswer {
    const entry = this.#entries.get(id, now);
    if (entry === undefined) {
      const fresh: KeyEntry = { templateId, state: { phase: 'uploading', runId, node }, former: null };
      this.#entries.set(id, fresh, Number.POSITIVE_INFINITY);
      return { kind: 'claimed', entry: fresh };
    }
    if (entry.templateId !== templateId) return OTHER_TEMPLATE;
    const { state } = entry;
    if (state.phase !== 'finished' || state.errorCode === null || !RETRIED_CODES.has(state.errorCode)) {
      return { kind: 'held', holder: state };
    }
    entry.former = state;
    entry.state = { phase: 'uploading', runId, node };
    this.#entries.updateExpiry(id, Number.POSITIVE_INFINITY);
    return { kind: 'claimed', entry };
  }

  look(id: string, now: number): KeyHolder | null {
    return this.#entries.get(id, now)?.state ?? null;
  }

  /** Its Run is seen by others. */
  begin(entry: KeyEntry, fingerprint: string): void {
    const { state } = entry;
    if (state.phase === 'uploading') entry.state = { ...state, phase: 'running', fingerprint };
  }

  finish(id: string, entry: KeyEntry, { runId, fingerprint, expiresAt, errorCode }: KeyEnd): void {
    entry.former = null;
    entry.state = { phase: 'finished', runId, fingerprint, expiresAt, errorCode };
    this.#entries.updateExpiry(id, expiresAt);
  }

  /** No Run remains: the key is free again, or its finished Run's as before. */
  abandon(id: string, entry: KeyEntry): void {
    const { former } = entry;
    if (former === null) {
      this.#entries.delete(id);
      return;
    }
    entry.state = former;
    entry.former = null;
    this.#entries.updateExpiry(id, former.expiresAt);
  }

  /** Forgets at most `max` keys whose time has come. */
  sweep(now: number, max: number): number {
    return this.#entries.sweep(now, max);
  }
}

/** Neither an account's id nor a key holds a line feed. */
export function keyId(account: string, key: string): string {
  return `${account}\n${key}`;
}
