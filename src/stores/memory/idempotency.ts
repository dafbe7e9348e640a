// Idempotency-Keys of accounts, their holders, and keys of ended Runs until they expire.
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import { HashIndex, textHash } from '../../collections/hash-index.ts';
import { SegmentedFifo } from '../../collections/segmented-fifo.ts';
import type { KeyHolder } from '../admission-store.ts';
import { RETRIED_CODES } from '../stores.ts';
import { InOrder, KeptMemory } from './kept-entries.ts';

// Idempotency-Keys of ended Runs until they expire. Each key is one byte record in a block, like the Runs themselves
// (run-records.ts). A key is removed only after all earlier ones.

// Layout of a record: the numbers at the offsets below; Template, error code ('' if none), Run and fingerprint, one
// per line; the id of the key.
const EXPIRES_AT = 0;
const ID_HASH = 8;
const TEXT_BYTES = 12;
/** 1: another Run holds the key now. */
const IS_REMOVED = 16;
const NUMBERS_BYTES = 17;

/** Memory of a key beyond its record: its slots in the index, and unused space in a block. */
const OVERHEAD_BYTES = 60;

/** The data of the Run that a claim needs. The Run's record is stored elsewhere. */
interface FinishedKey {
  readonly phase: 'finished';
  readonly templateId: string;
  readonly runId: string;
  readonly fingerprint: string;
  readonly errorCode: FailureCode | null;
}

class FinishedKeys {
  #queue = new SegmentedFifo();
  #places = new HashIndex();
  #size = 0;
  readonly #charge: (bytes: number, account: string) => void;

  /** @param charge called with the memory of a key, in bytes, and its account; negative when it is removed */
  constructor(charge: (bytes: number, account: string) => void) {
    this.#charge = charge;
  }

  /** Number of keys held, including expired ones that no sweep has removed yet. */
  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#queue.first === null;
  }

  /** Must be called once per id until the id is removed. @param id ASCII */
  add(id: string, { templateId, errorCode, runId, fingerprint }: FinishedKey, expiresAt: number): void {
    const text = `${templateId}\n${errorCode ?? ''}\n${runId}\n${fingerprint}`;
    const place = this.#queue.add(NUMBERS_BYTES + text.length + id.length);
    const hash = textHash(id);
    const record = this.#queue.at(place);
    record.writeDoubleLE(expiresAt, EXPIRES_AT);
    record.writeUInt32LE(hash, ID_HASH);
    record.writeUInt32LE(text.length, TEXT_BYTES);
    record[IS_REMOVED] = 0;
    record.write(text, NUMBERS_BYTES, 'latin1');
    record.write(id, NUMBERS_BYTES + text.length, 'latin1');
    this.#places.add(hash, place);
    this.#size += 1;
    this.#charge(weight(record), accountOf(id));
  }

  /** Null: unknown, or expired at `now`. */
  get(id: string, now: number): FinishedKey | null {
    const place = this.#find(id);
    if (place === null) return null;
    const record = this.#queue.at(place);
    if (record.readDoubleLE(EXPIRES_AT) <= now) return null;
    const text = record.toString('latin1', NUMBERS_BYTES, textEnd(record));
    const [templateId, errorCode, runId, fingerprint] = text.split('\n') as [string, FailureCode | '', string, string];
    return { phase: 'finished', templateId, runId, fingerprint, errorCode: errorCode || null };
  }

  /**
   * Removes a key that another Run will hold; has no effect if the key is unknown. Its memory is freed when the
   * record expires.
   */
  remove(id: string): void {
    const place = this.#find(id);
    if (place === null) return;
    this.#places.remove(textHash(id), place);
    this.#queue.at(place)[IS_REMOVED] = 1;
    this.#size -= 1;
  }

  /** Removes at most `max` expired keys. Returns the number removed; if it equals `max`, call again soon. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (; forgotten < max; forgotten += 1) {
      const { first } = this.#queue;
      if (first === null) break;
      const record = this.#queue.at(first);
      if (record.readDoubleLE(EXPIRES_AT) > now) break;
      if (record[IS_REMOVED] === 0) {
        this.#places.remove(record.readUInt32LE(ID_HASH), first);
        this.#size -= 1;
      }
      const bytes = weight(record);
      const account = accountOf(record.toString('latin1', textEnd(record)));
      this.#queue.removeFirst();
      this.#charge(-bytes, account);
    }
    return forgotten;
  }

  #find(id: string): number | null {
    return this.#places.find(textHash(id), (place) => {
      const record = this.#queue.at(place);
      return record.toString('latin1', textEnd(record)) === id;
    });
  }
}

function textEnd(record: Buffer): number {
  return NUMBERS_BYTES + record.readUInt32LE(TEXT_BYTES);
}

/** The account in the id of a key, which is its first line. */
function accountOf(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf('\n')));
}

function weight(record: Buffer): number {
  return OVERHEAD_BYTES + record.length;
}

// Idempotency-Keys of accounts and their holders. Does not handle requests that wait for a key.
//
// States of a key: absent → uploading (held by a claim) → running (held by a Run) → finished (refers to a Run until
// it expires). Short Runs go from uploading to finished directly. When the claim is given up, uploading or running
// return to absent, or to the previous finished Run. finished → uploading if that Run may be retried.

/** Memory of a claimed key beyond its text: its objects and its entry in the map. */
const CLAIMED_BYTES = 400;

type ClaimedState = Exclude<KeyHolder, { phase: 'finished' }>;

/** A key held by a claim. The claim passes it back with each change. */
export interface KeyEntry {
  readonly templateId: string;
  state: ClaimedState;
  /** The finished Run that this claim retries. */
  readonly former: FinishedKey | null;
}

export type KeyAnswer =
  | { readonly kind: 'claimed'; readonly entry: KeyEntry }
  | { readonly kind: 'other_template' }
  | { readonly kind: 'held'; readonly holder: KeyHolder };

/** A finished Run, and the expiry time of its key. */
export interface KeyEnd {
  readonly runId: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
  readonly errorCode: FailureCode | null;
}

const OTHER_TEMPLATE: KeyAnswer = { kind: 'other_template' };

export class IdempotencyKeys {
  readonly #claimed = new Map<string, KeyEntry>();
  /** Includes keys whose Runs are being retried. */
  readonly #finished: InOrder<FinishedKeys>;
  readonly #charge: (bytes: number) => void;

  constructor(budget: MemoryBudget, kept = new KeptMemory(budget)) {
    this.#charge = (bytes) => {
      if (bytes > 0) budget.charge(bytes, 'records');
      else budget.release(-bytes, 'records');
    };
    this.#finished = new InOrder(() => new FinishedKeys((bytes, account) => kept.charge(bytes, account)));
  }

  /** Number of keys held; a retried key counts twice. */
  get size(): number {
    return this.#claimed.size + this.#finished.size;
  }

  /** Gives the key to a claim if it is free. @param id result of keyId @param now on the clock of the expiry times */
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

  holderOf(id: string, now: number): KeyHolder | null {
    return this.#claimed.get(id)?.state ?? this.#finishedKey(id, now);
  }

  /** The Run becomes visible to others. */
  begin(entry: KeyEntry, fingerprint: string): void {
    const { state } = entry;
    if (state.phase === 'uploading') entry.state = { ...state, phase: 'running', fingerprint };
  }

  finish(id: string, { templateId }: KeyEntry, { runId, fingerprint, expiresAt, errorCode }: KeyEnd): void {
    // Removes the entry of a retried Run, or an expired one that no sweep has removed yet.
    for (const finished of this.#finished.stores) finished.remove(id);
    const key: FinishedKey = { phase: 'finished', templateId, runId, fingerprint, errorCode };
    this.#finished.storeFor(expiresAt).add(id, key, expiresAt);
    this.#letGo(id);
  }

  /** The Run is discarded: the key is free again, or returns to its finished Run. */
  abandon(id: string): void {
    this.#letGo(id);
  }

  /** Removes at most `max` expired keys. */
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

/** Account ids and keys never contain a line feed. */
export function keyId(account: string, key: string): string {
  return `${account}\n${key}`;
}
