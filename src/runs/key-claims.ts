// This node's claims on Idempotency-Keys, the requests that wait for each, and admitted requests.

import type { RunMemory } from '../admission/run-memory.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import type {
  AdmissionAnswer,
  AdmissionStore,
  Admitted,
  BeginAnswer,
  FinishAnswer,
  KeyHolder,
  RunEnd,
} from '../stores/admission-store.ts';
import type { LiveRun, RunRecord } from './run.ts';

// This node's claims on Idempotency-Keys, by Run id, with the requests that wait for each. Complements the stores,
// which know claims but not requests. A claim of another node is followed by polling the admission store, once for
// all requests that wait here. States of a claim: uploading → running → over, or uploading → over. When a claim ends
// without a Run, the best waiting request is promoted: it asks the admission store for the key, and the others wait
// for it.

/** Maximum number of repeats that wait for the upload of one key. */
export const WAITERS_MAX = 32;

/** First and longest interval between two polls for a claim of another node, in milliseconds. */
const LOOK_MILLISECONDS_MIN = 25;
const LOOK_MILLISECONDS_MAX = 500;

export type KeyState =
  | { readonly phase: 'uploading' }
  /** `live` is null if the Run belongs to another node. */
  | { readonly phase: 'running'; readonly fingerprint: string; readonly runId: string; readonly live: LiveRun | null }
  | { readonly phase: 'finished'; readonly fingerprint: string; readonly runId: string };

/** The waiter was promoted: its request for the key is pending or answered. */
export interface Promoted {
  readonly phase: 'promoted';
  readonly claim: KeyClaim;
  readonly answer: MaybePromise<AdmissionAnswer>;
}

const UPLOADING: KeyState = { phase: 'uploading' };

/** A repeat that arrived while the upload of its key was not complete. */
export class Waiter {
  state: KeyState | Promoted = UPLOADING;
  /** Whether its own body is complete. A waiter with a complete body is promoted first. */
  complete = false;
  /** Called after each change of the state. */
  onChanged: () => void = () => {};
  /** Asks the admission store for the key, for a Run with this id. */
  readonly requestAdmission: (runId: string) => MaybePromise<AdmissionAnswer>;
  #at: KeyClaim | null = null;

  constructor(requestAdmission: (runId: string) => MaybePromise<AdmissionAnswer>) {
    this.requestAdmission = requestAdmission;
  }

  /** Called by KeyClaim. */
  move(state: KeyState | Promoted, at: KeyClaim | null): void {
    this.state = state;
    this.#at = at;
    this.onChanged();
  }

  /** Stops waiting. If the waiter was promoted, the caller releases what it was promoted to. */
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

  /**
   * Adds a waiter. Returns false if the limit of waiting requests is reached.
   * @param isLetIn stays even above the limit
   */
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

  /** Call when the body is complete and the Run starts. */
  begin(fingerprint: string, live: LiveRun | null): void {
    this.#changeState({ phase: 'running', fingerprint, runId: this.runId, live }, this);
  }

  /** Call when the Run has ended and can be read. */
  finish(fingerprint: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#changeState({ phase: 'finished', fingerprint, runId: this.runId }, null);
    this.#waiters.length = 0;
  }

  /** Call when no Run remains and the admission store knows this. Does nothing after `finish`. */
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

  #changeState(state: KeyState, at: KeyClaim | null): void {
    this.state = state;
    for (const waiter of this.#waiters) waiter.move(state, at);
  }

  #end(): void {
    this.#isOver = true;
    this.#claims.forget(this.runId);
  }
}

/** What is needed to follow a claim of another node. */
export interface AwaitedKey {
  readonly account: string;
  readonly key: string;
  /** The claim belonged to this node and has ended here; the admission store already has a newer state. */
  readonly isOwn: boolean;
  readonly holderOf: (account: string, key: string) => MaybePromise<KeyHolder | null>;
  readonly onFault: (fault: unknown) => void;
}

export class KeyClaims {
  #claims = new Map<string, KeyClaim>();
  #nextRunId: () => string;

  constructor(nextRunId: () => string) {
    this.#nextRunId = nextRunId;
  }

  /**
   * Opens a claim. Call before asking the admission store: others may learn of the claim before the response arrives.
   */
  open(): KeyClaim {
    return this.#add(this.#nextRunId());
  }

  /** Returns the claim of this Run id if it is open or followed on this node, else null. */
  find(runId: string): KeyClaim | null {
    return this.#claims.get(runId) ?? null;
  }

  /**
   * Follows a claim of another node, or a claim of this node that ended while the response of the store was on the
   * way.
   */
  follow(runId: string, asked: AwaitedKey): KeyClaim {
    const claim = this.#add(runId);
    void followElsewhere(claim, asked);
    return claim;
  }

  /** Called by KeyClaim. */
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
    const answer = waiter.requestAdmission(runId);
    // A promoted waiter reads the response later, or may have left. This handler prevents an unhandled rejection
    // until then.
    if (answer instanceof Promise) answer.catch(() => {});
    return answer;
  } catch (fault) {
    const failed = Promise.reject<AdmissionAnswer>(fault);
    failed.catch(() => {});
    return failed;
  }
}

/** Polls until no request waits for the claim, the claim has its Run, or the key has another holder. */
async function followElsewhere(claim: KeyClaim, { account, key, isOwn, holderOf, onFault }: AwaitedKey): Promise<void> {
  try {
    let pause = isOwn ? 0 : LOOK_MILLISECONDS_MIN;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(Math.max(2 * pause, LOOK_MILLISECONDS_MIN), LOOK_MILLISECONDS_MAX);
      if (!claim.isAwaited) break;
      const holder = await holderOf(account, key);
      if (holder === null || holder.runId !== claim.runId) break;
      if (holder.phase === 'running' && claim.state.phase === 'uploading') {
        claim.begin(holder.fingerprint, null);
        // Poll fast again: most Runs are short, even after a long upload.
        pause = LOOK_MILLISECONDS_MIN;
      }
      if (holder.phase === 'finished') claim.finish(holder.fingerprint);
    }
  } catch (fault) {
    onFault(fault);
  }
  // The remaining waiters ask for the key themselves.
  claim.abandon();
}

// One admitted request on this node: its claim in the admission store, the requests here that wait for its key, and
// its memory reservation. The calls to the store for one claim are made in order, however long each response takes.

export class Admission {
  readonly admitted: Admitted;
  readonly memory: RunMemory;
  /** null without an Idempotency-Key. */
  readonly keyClaim: KeyClaim | null;
  readonly #admissions: AdmissionStore;
  #begun: MaybePromise<BeginAnswer> | null = null;
  #isOver = false;

  constructor(admissions: AdmissionStore, admitted: Admitted, keyClaim: KeyClaim | null, memory: RunMemory) {
    this.#admissions = admissions;
    this.admitted = admitted;
    this.keyClaim = keyClaim;
    this.memory = memory;
  }

  get runId(): string {
    return this.admitted.claim.runId;
  }

  /** Marks the start of the Run: requests on this node that wait for the key now follow this Run. */
  start(live: LiveRun, fingerprint: string): void {
    this.keyClaim?.begin(fingerprint, live);
  }

  /** Makes the Run visible to others. Repeated calls return the same result. */
  begin(run: RunRecord, fingerprint: string): MaybePromise<BeginAnswer> {
    if (this.#begun !== null) return this.#begun;
    const asked = this.#admissions.begin(this.admitted.claim, run, fingerprint);
    this.#begun = asked;
    if (asked instanceof Promise) {
      // If the store failed, the next caller tries again.
      asked.catch(() => {
        if (this.#begun === asked) this.#begun = null;
      });
    }
    return asked;
  }

  /** Resolves to false when no Run remains. */
  promise(run: RunRecord, fingerprint: string): MaybePromise<boolean> {
    if (this.#isOver) return false;
    return andThen(this.begin(run, fingerprint), (begun) => {
      return begun === 'begun' && this.#admissions.promise(run.account, run.id);
    });
  }

  /** Same as `finish` of the admission store. Does not notify the requests that wait on this node: `settle` does. */
  finish(end: RunEnd | null): MaybePromise<FinishAnswer> {
    return andThen(this.#afterBegin(), () =>
      andThen(this.#admissions.finish(this.admitted.claim, end), (answer) => {
        if (answer !== 'promised') this.#isOver = true;
        return answer;
      }),
    );
  }

  /** Notifies waiting requests. Call after `finish`, with the fingerprint of the Run, or null if no Run remains. */
  settle(fingerprint: string | null): void {
    if (fingerprint === null) this.keyClaim?.abandon();
    else this.keyClaim?.finish(fingerprint);
  }

  /** Releases everything except the memory. Does nothing after `finish`. */
  abandon(): MaybePromise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const left = andThen(this.#afterBegin(), () => this.#admissions.abandon(this.admitted.claim));
    if (left instanceof Promise) return left.finally(() => this.keyClaim?.abandon());
    this.keyClaim?.abandon();
  }

  /** Waits for a pending `begin`, and ignores its failure: the Run must end in any case. */
  #afterBegin(): MaybePromise<unknown> {
    return this.#begun instanceof Promise ? this.#begun.catch(() => null) : null;
  }
}
