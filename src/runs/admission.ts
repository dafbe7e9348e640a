// One admitted request on this node: its claim at the desk, what waits for its key here, and its memory. What is asked of
// the desk for one claim is asked in order, however long each answer takes.
import type { RunMemory } from '../admission/run-memory.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import type { AdmissionDesk, Admitted, BeginAnswer, FinishAnswer, RunEnd } from '../stores/admission-desk.ts';
import type { KeyClaim } from './key-claims.ts';
import type { LiveRun } from './live-run.ts';
import type { RunRecord } from './run.ts';

export class Admission {
  readonly admitted: Admitted;
  readonly memory: RunMemory;
  /** null: without an Idempotency-Key. */
  readonly keyClaim: KeyClaim | null;
  readonly #desk: AdmissionDesk;
  #begun: MaybePromise<BeginAnswer> | null = null;
  #isOver = false;

  constructor(desk: AdmissionDesk, admitted: Admitted, keyClaim: KeyClaim | null, memory: RunMemory) {
    this.#desk = desk;
    this.admitted = admitted;
    this.keyClaim = keyClaim;
    this.memory = memory;
  }

  get runId(): string {
    return this.admitted.claim.runId;
  }

  /** The Run starts: those who wait here follow it. */
  start(live: LiveRun, fingerprint: string): void {
    this.keyClaim?.begin(fingerprint, live);
  }

  /** Shows the Run to others, once. May be asked for again. */
  begin(run: RunRecord, fingerprint: string): MaybePromise<BeginAnswer> {
    if (this.#begun !== null) return this.#begun;
    const asked = this.#desk.begin(this.admitted.claim, run, fingerprint);
    this.#begun = asked;
    if (asked instanceof Promise) {
      // Where the store failed, the next one who needs it asks again.
      asked.catch(() => {
        if (this.#begun === asked) this.#begun = null;
      });
    }
    return asked;
  }

  /** False: no Run remains. */
  promise(run: RunRecord, fingerprint: string): MaybePromise<boolean> {
    if (this.#isOver) return false;
    return andThen(this.begin(run, fingerprint), (begun) => {
      return begun === 'begun' && this.#desk.promise(run.account, run.id);
    });
  }

  /** As the desk's. Those who wait here are told by `settle`. */
  finish(end: RunEnd | null): MaybePromise<FinishAnswer> {
    return andThen(this.#afterBegin(), () =>
      andThen(this.#desk.finish(this.admitted.claim, end), (answer) => {
        if (answer !== 'promised') this.#isOver = true;
        return answer;
      }),
    );
  }

  /** After finish: `fingerprint` of its Run; null where none remains. */
  settle(fingerprint: string | null): void {
    if (fingerprint === null) this.keyClaim?.abandon();
    else this.keyClaim?.finish(fingerprint);
  }

  /** Gives everything back but the memory. Does nothing after finish. */
  abandon(): MaybePromise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const left = andThen(this.#afterBegin(), () => this.#desk.abandon(this.admitted.claim));
    if (left instanceof Promise) return left.finally(() => this.keyClaim?.abandon());
    this.keyClaim?.abandon();
  }

  /** A begin that failed is no reason not to end. */
  #afterBegin(): MaybePromise<unknown> {
    return this.#begun instanceof Promise ? this.#begun.catch(() => null) : null;
  }
}
