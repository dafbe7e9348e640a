// Steps whose answer waits until replicas have them, so that a promotion loses nothing that was acknowledged.
// They have a connection of their own, since WAIT holds up everything behind it. One WAIT is under way at a time; what was
// done while it lasted is covered by the next one (group commit).
import { REPLICATED_KEY } from './account-keys.ts';
import type { Argument, RedisLink } from './redis-link.ts';
import type { Script } from './scripts/script.ts';

/** Calls a script as one step. */
export interface StepCaller {
  /** Rejects with SharedStoreUnavailableError, or with a fault. */
  call(script: Script, key: string, args: readonly Argument[]): Promise<unknown>;
}

/**
 * For so long, beyond what one WAIT takes, new Runs are refused after replicas were too few: then one may try again. The ends
 * of those that are under way ask again within a second, and tell sooner that there are enough.
 */
const SHORTAGE_MILLISECONDS = 2_000;

/** The mark needs to live no longer than it takes to be replicated. */
const MARK_MILLISECONDS = 60_000;

export class ReplicatedSteps implements StepCaller {
  readonly #link: RedisLink;
  readonly #replicas: number;
  readonly #waitMilliseconds: number;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Until then replicas count as too few, by performance.now(). */
  #shortUntil = 0;
  /** Not begun yet: it covers all steps that are done by then. */
  #next: Promise<number> | null = null;

  /**
   * @param link of nobody else
   * @param replicas that must have a step, 1 or more
   */
  constructor(link: RedisLink, replicas: number, timeoutMilliseconds: number) {
    this.#link = link;
    this.#replicas = replicas;
    // Its answer, that they were too few, has to come before the deadline of the call.
    this.#waitMilliseconds = Math.ceil(timeoutMilliseconds / 2);
  }

  /** Throws SharedStoreUnavailableError where what is begun now could not be acknowledged: replicas were too few just now. */
  expectReplicas(): void {
    if (performance.now() < this.#shortUntil)
      throw this.#link.refusal('too_few_replicas', 'Too few replicas were there');
  }

  /** Rejects also where the step is done and replicas do not have it yet: whether it lasts is in doubt. */
  async call(script: Script, key: string, args: readonly Argument[]): Promise<unknown> {
    const { connection } = this.#link;
    const answer = await this.#link.call(script, key, args);
    const waited = await this.#replicated();
    // On another connection it may have been another primary, which does not have the step.
    if (waited !== connection) throw this.#link.refusal('lost', 'Connection was lost before replicas had it');
    return answer;
  }

  #replicated(): Promise<number> {
    this.#next ??= this.#underWay.then(() => {
      this.#next = null;
      const wait = this.#wait();
      this.#underWay = wait.catch(() => {});
      return wait;
    });
    return this.#next;
  }

  /** The number of the connection on which it was. */
  async #wait(): Promise<number> {
    const { connection } = this.#link;
    // WAIT waits for what its own connection has written last: where a step was asked for again, that may be nothing.
    await this.#link.command('SET', REPLICATED_KEY, 1, 'PX', MARK_MILLISECONDS);
    const replicas = Number(await this.#link.command('WAIT', this.#replicas, this.#waitMilliseconds));
    if (connection !== this.#link.connection) return -1;
    const areTooFew = replicas < this.#replicas;
    this.#shortUntil = areTooFew ? performance.now() + SHORTAGE_MILLISECONDS + this.#waitMilliseconds : 0;
    if (areTooFew) throw this.#link.refusal('too_few_replicas', 'Too few replicas have it');
    return connection;
  }
}
