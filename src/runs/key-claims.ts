// This node's claims on Idempotency-Keys, by Run id, and the requests that wait for each: beside the stores, which know of
// no request. A claim that another node has is followed by asking the desk again and again, once for all who wait here.
// States of a claim: uploading → running → over; uploading → over. When it ends without a Run, the best of those who wait is
// promoted: it asks the desk for the key, and the others wait for it.
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { AdmissionAnswer, KeyHolder } from '../stores/admission-desk.ts';
import type { LiveRun } from './live-run.ts';

/** Repeats that may wait for one key's upload. */
export const WAITERS_MAX = 32;

/** How often the desk is asked for a claim of another node, in milliseconds: at first, and at last. */
const LOOK_MILLISECONDS_MIN = 25;
const LOOK_MILLISECONDS_MAX = 500;

export type KeyState =
  | { readonly phase: 'uploading' }
  /** `live` is null where the Run is another node's. */
  | { readonly phase: 'running'; readonly fingerprint: string; readonly runId: string; readonly live: LiveRun | null }
  | { readonly phase: 'finished'; readonly fingerprint: string; readonly runId: string };

/** It has asked for the key itself. */
export interface Promoted {
  readonly phase: 'promoted';
  readonly claim: KeyClaim;
  readonly answer: MaybePromise<AdmissionAnswer>;
}

const UPLOADING: KeyState = { phase: 'uploading' };

/** A repeat that came while its key's upload was not over. */
export class Waiter {
  state: KeyState | Promoted = UPLOADING;
  /** Its own body is complete: it is the better successor. */
  complete = false;
  /** Called after each change of the state. */
  onChanged: () => void = () => {};
  /** Asks the desk for the key, for a Run with this id. */
  readonly ask: (runId: string) => MaybePromise<AdmissionAnswer>;
  #at: KeyClaim | null = null;

  constructor(ask: (runId: string) => MaybePromise<AdmissionAnswer>) {
    this.ask = ask;
  }

  /** Of KeyClaim. */
  move(state: KeyState | Promoted, at: KeyClaim | null): void {
    this.state = state;
    this.#at = at;
    this.onChanged();
  }

  /** Waits no longer. The caller gives up what a promoted one was given. */
  leave(): void {
    this.#at?.drop(this);
    this.#at = null;
  }
}

export class KeyClaim {
  readonly runId: string;
  state: KeyState = UPLOADING;
  #claims: KeyClaims;
  #waiters: Waiter[] = [];
  #isOver = false;

  constructor(claims: KeyClaims, runId: string) {
    this.#claims = claims;
    this.runId = runId;
  }

  get isAwaited(): boolean {
    return this.#waiters.length > 0 && !this.#isOver;
  }

  /** False: as many wait as may. @param isLetIn stays, however many wait */
  join(waiter: Waiter, isLetIn: boolean): boolean {
    if (!isLetIn && this.#waiters.length >= WAITERS_MAX) return false;
    this.#waiters.push(waiter);
    waiter.move(this.state, this);
    return true;
  }

  drop(waiter: Waiter): void {
    const index = this.#waiters.indexOf(waiter);
    if (index >= 0) this.#waiters.splice(index, 1);
  }

  /** Its body is complete and its Run starts. */
  begin(fingerprint: string, live: LiveRun | null): void {
    this.#tell({ phase: 'running', fingerprint, runId: this.runId, live }, this);
  }

  /** The Run has ended and can be read. */
  finish(fingerprint: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#tell({ phase: 'finished', fingerprint, runId: this.runId }, null);
    this.#waiters.length = 0;
  }

  /** No Run remains, and the desk knows. Does nothing after finish. */
  abandon(): void {
    if (this.#isOver) return;
    this.#end();
    const waiters = this.#waiters.splice(0);
    const next = waiters.find(({ complete }) => complete) ?? waiters[0];
    if (next === undefined) return;
    const claim = this.#claims.open();
    for (const waiter of waiters) {
      if (waiter === next) continue;
      claim.#waiters.push(waiter);
      waiter.move(UPLOADING, claim);
    }
    next.move({ phase: 'promoted', claim, answer: askNow(next, claim.runId) }, null);
  }

  #tell(state: KeyState, at: KeyClaim | null): void {
    this.state = state;
    for (const waiter of this.#waiters) waiter.move(state, at);
  }

  #end(): void {
    this.#isOver = true;
    this.#claims.forget(this.runId);
  }
}

/** What a claim that another node has is followed with. */
export interface KeyLook {
  readonly account: string;
  readonly key: string;
  /** It was this node's: the desk has other news already. */
  readonly isOwn: boolean;
  readonly look: (account: string, key: string) => MaybePromise<KeyHolder | null>;
  readonly onFault: (fault: unknown) => void;
}

export class KeyClaims {
  #claims = new Map<string, KeyClaim>();
  #nextRunId: () => string;

  constructor(nextRunId: () => string) {
    this.#nextRunId = nextRunId;
  }

  /** Before the desk is asked: others may learn of it before its own request does. */
  open(): KeyClaim {
    return this.#add(this.#nextRunId());
  }

  /** null: the Run is over, or another node's. */
  find(runId: string): KeyClaim | null {
    return this.#claims.get(runId) ?? null;
  }

  /** The claim of another node, or one of ours that ended while the desk's answer was on the way. */
  follow(runId: string, asked: KeyLook): KeyClaim {
    const claim = this.#add(runId);
    void followElsewhere(claim, asked);
    return claim;
  }

  /** Of KeyClaim. */
  forget(runId: string): void {
    this.#claims.delete(runId);
  }

  #add(runId: string): KeyClaim {
    const claim = new KeyClaim(this, runId);
    this.#claims.set(runId, claim);
    return claim;
  }
}

function askNow(waiter: Waiter, runId: string): MaybePromise<AdmissionAnswer> {
  try {
    const answer = waiter.ask(runId);
    // Whoever was promoted looks at it later, and may have left: the fault is not unhandled meanwhile.
    if (answer instanceof Promise) answer.catch(() => {});
    return answer;
  } catch (fault) {
    const failed = Promise.reject<AdmissionAnswer>(fault);
    failed.catch(() => {});
    return failed;
  }
}

/** Until nobody waits for it, or it has its Run, or the key is somebody else's. */
async function followElsewhere(claim: KeyClaim, { account, key, isOwn, look, onFault }: KeyLook): Promise<void> {
  try {
    let pause = isOwn ? 0 : LOOK_MILLISECONDS_MIN;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(Math.max(2 * pause, LOOK_MILLISECONDS_MIN), LOOK_MILLISECONDS_MAX);
      if (!claim.isAwaited) break;
      const holder = await look(account, key);
      if (holder === null || holder.runId !== claim.runId) break;
      if (holder.phase === 'running' && claim.state.phase === 'uploading') {
        claim.begin(holder.fingerprint, null);
        // Most Runs are short, however long their upload was.
        pause = LOOK_MILLISECONDS_MIN;
      }
      if (holder.phase === 'finished') claim.finish(holder.fingerprint);
    }
  } catch (fault) {
    onFault(fault);
  }
  // Those who still wait ask for the key themselves.
  claim.abandon();
}
