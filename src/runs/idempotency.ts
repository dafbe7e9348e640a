// Idempotency-Keys of accounts: which request owns a key, who waits for it, and which Run a repeat is answered with.
// States of a key: absent → uploading (one request owns it, repeats take seats) → running (a Run) → finished (a Run's
// id, until that expires). uploading or running → uploading, when the owner ends without a Run and a seat takes over;
// → absent, or back to the finished Run before, when there is no seat. finished → uploading, when that Run may be retried.
import type { FailureCode } from '../../workers/failure.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { Soon } from '../soon.ts';
import { ExpiringMap } from './expiring-map.ts';
import type { LiveRun } from './live-run.ts';
import type { RunRecord } from './run.ts';

/** Repeats that may wait for one key's upload. */
export const SEATS_MAX = 32;

/** After these a repeat starts a new Run. */
const RETRIED_CODES: ReadonlySet<FailureCode> = new Set([
  'RUN_INTERRUPTED',
  'RUN_TIMEOUT',
  'RUN_RESOURCE_LIMIT',
  'INTERNAL_ERROR',
]);

/**
 * What a finished key weighs beyond its text: entry, places in map and heap, states, fingerprint, Run id. Measured on
 * Node 20 and 22 with 100,000 to 1,100,000 keys of 20 to 255 characters: 422 to 446, by how full the maps are.
 */
const KEY_OVERHEAD_BYTES = 450;

/** Of its Run only what a claim asks for: the record is the registry's. */
interface FinishedKey {
  readonly fingerprint: string;
  readonly runId: string;
  readonly expiresAt: number;
  readonly errorCode: FailureCode | null;
}

type KeyState =
  | { readonly phase: 'uploading' }
  | { readonly phase: 'running'; readonly fingerprint: string; readonly live: LiveRun }
  | ({ readonly phase: 'finished' } & FinishedKey);

interface KeyEntry {
  readonly templateId: string;
  state: KeyState;
  /** The finished Run that the present owner retries. */
  former: FinishedKey | null;
  readonly seats: Seat[];
}

export type Claim =
  | { readonly kind: 'owner'; readonly ownership: Ownership }
  | { readonly kind: 'seat'; readonly seat: Seat }
  /** The key's Run runs (`live`) or has finished. */
  | { readonly kind: 'replay'; readonly fingerprint: string; readonly runId: string; readonly live: LiveRun | null }
  | { readonly kind: 'other_template' }
  /** No seat is free. */
  | { readonly kind: 'crowded' };

/** The right of one request to give the key a Run. Ends with finish or abandon, once. */
export interface Ownership {
  /** False when the key belongs to a different request. */
  matches(fingerprint: string): boolean;
  /** The body is complete and the Run starts. */
  begin(fingerprint: string, live: LiveRun): void;
  finish(run: RunRecord): void;
  /** No Run remains: a seat takes over, or the key is free again. Does nothing after finish. */
  abandon(): void;
}

export type SeatState = KeyState | { readonly phase: 'yours'; readonly ownership: Ownership };

/** The place of a repeat that came while the key's first request was uploading. */
export class Seat {
  state: SeatState = { phase: 'uploading' };
  /** Its own body is complete: it is the better successor. */
  complete = false;
  /** Called after each change of the state. */
  onChanged: () => void = () => {};
  #leave: (seat: Seat) => void;

  constructor(leave: (seat: Seat) => void) {
    this.#leave = leave;
  }

  move(state: SeatState): void {
    this.state = state;
    this.onChanged();
  }

  /** Gives the place up, and the key if it was handed to it. */
  leave(): void {
    this.#leave(this);
    if (this.state.phase === 'yours') this.state.ownership.abandon();
  }
}

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

  /** What a request with this key is to do: later from a store that several nodes share. */
  claim(account: string, key: string, templateId: string, now: number): Soon<Claim> {
    const id = `${account}\n${key}`;
    const entry = this.#entries.get(id, now);
    if (entry === undefined) {
      const fresh: KeyEntry = { templateId, state: { phase: 'uploading' }, former: null, seats: [] };
      this.#entries.set(id, fresh, Number.POSITIVE_INFINITY);
      return { kind: 'owner', ownership: this.#own(id, fresh) };
    }
    if (entry.templateId !== templateId) return { kind: 'other_template' };
    const { state } = entry;
    if (state.phase === 'uploading') return this.#takeSeat(entry);
    if (state.phase === 'running') {
      return { kind: 'replay', fingerprint: state.fingerprint, runId: state.live.run.id, live: state.live };
    }
    if (state.errorCode === null || !RETRIED_CODES.has(state.errorCode)) {
      return { kind: 'replay', fingerprint: state.fingerprint, runId: state.runId, live: null };
    }
    entry.former = state;
    entry.state = { phase: 'uploading' };
    this.#entries.updateExpiry(id, Number.POSITIVE_INFINITY);
    return { kind: 'owner', ownership: this.#own(id, entry) };
  }

  /** Forgets at most `max` keys whose time has come. */
  sweep(now: number, max: number): number {
    return this.#entries.sweep(now, max);
  }

  #takeSeat(entry: KeyEntry): Claim {
    if (entry.seats.length >= SEATS_MAX) return { kind: 'crowded' };
    const seat = new Seat((leaving) => {
      const index = entry.seats.indexOf(leaving);
      if (index >= 0) entry.seats.splice(index, 1);
    });
    entry.seats.push(seat);
    return { kind: 'seat', seat };
  }

  #own(id: string, entry: KeyEntry): Ownership {
    let over = false;
    return {
      matches: (fingerprint) => entry.former === null || entry.former.fingerprint === fingerprint,
      begin: (fingerprint, live) => {
        this.#move(entry, { phase: 'running', fingerprint, live });
      },
      finish: ({ id: runId, expiresAt, errorCode }) => {
        if (over || entry.state.phase !== 'running') return;
        over = true;
        const { fingerprint } = entry.state;
        entry.former = null;
        this.#move(entry, { phase: 'finished', fingerprint, runId, expiresAt, errorCode });
        entry.seats.length = 0;
        this.#entries.updateExpiry(id, expiresAt);
      },
      abandon: () => {
        if (over) return;
        over = true;
        this.#succeed(id, entry);
      },
    };
  }

  /** The next seat takes over: the first whose body is complete, else the first. */
  #succeed(id: string, entry: KeyEntry): void {
    const next = entry.seats.find(({ complete }) => complete) ?? entry.seats[0];
    if (next !== undefined) {
      entry.seats.splice(entry.seats.indexOf(next), 1);
      this.#move(entry, { phase: 'uploading' });
      next.move({ phase: 'yours', ownership: this.#own(id, entry) });
    } else if (entry.former !== null) {
      entry.state = { phase: 'finished', ...entry.former };
      this.#entries.updateExpiry(id, entry.former.expiresAt);
      entry.former = null;
    } else {
      this.#entries.delete(id);
    }
  }

  #move(entry: KeyEntry, state: KeyState): void {
    entry.state = state;
    for (const seat of entry.seats) seat.move(state);
  }
}
