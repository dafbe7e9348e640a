// Whether the node accepts Runs: its shutdown and its readiness. The shutdown refuses new Runs, and then sets a deadline
// for current work. It is independent of signals and sockets. States:
// - open
// - announced: only /readyz reports it, so that balancers send no more requests
// - draining: until the deadline, or until no work is left
// - over: the deadline has passed

import type { DiskFloor } from '../admission/disk-floor.ts';
import { LinkedRing } from '../collections/linked-ring.ts';
import type { ThreadPool } from '../pool/pool.ts';
import type { Log } from '../telemetry/log.ts';

export class Drain {
  draining = false;
  announced = false;
  readonly #listeners = new LinkedRing<() => void>();
  #idle: (() => void) | null = null;
  #underWay = 0;
  #over = false;

  /** Number of tasks for which the drain waits. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Registers a task until the returned function is called. */
  enter(): () => void {
    this.#underWay += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    };
  }

  /** Calls back when the deadline passes. Returns a function that cancels the registration. */
  onDeadline(listener: () => void): () => void {
    if (this.#over) {
      listener();
      return () => {};
    }
    const entry = this.#listeners.add(listener);
    return () => entry.remove();
  }

  /** Resolves after the given time. Until then, new Runs are still accepted. */
  async announce(milliseconds: number): Promise<void> {
    this.announced = true;
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  /**
   * Refuses new Runs, and resolves when no task is left. At the deadline, the listeners are called so that their
   * tasks end.
   */
  async run(milliseconds: number): Promise<void> {
    this.announced = true;
    this.draining = true;
    if (this.#underWay === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const timer = setTimeout(() => this.#deadline(), milliseconds);
    await idle;
    clearTimeout(timer);
  }

  #deadline(): void {
    this.#over = true;
    // A listener may remove other listeners.
    for (let { first } = this.#listeners; first !== null; { first } = this.#listeners) {
      first.remove();
      first.value();
    }
  }
}

// Whether the node can accept Runs, and if not, why. Read by /readyz and the metrics, and checked periodically so
// that the log reports changes even without requests.

/** Interval between two checks. */
const CHECK_MILLISECONDS = 1_000;

/** The parts of the node that decide whether it is ready. */
export interface ReadinessParts {
  readonly drain: Drain;
  readonly pool: Pick<ThreadPool, 'unreadyReason'>;
  readonly disk: DiskFloor;
  /** Why the shared stores accept no Run; null if they do, or if this node has no shared stores. */
  readonly storeUnreadyReason: () => string | null;
}

export class Readiness {
  readonly #node: ReadinessParts;
  readonly #log: Log;
  /** The reasons that were last logged; '' = ready, the initial state. */
  #logged = '';

  constructor(node: ReadinessParts, log: Log) {
    this.#node = node;
    this.#log = log;
  }

  /**
   * Returns the reasons against sending Runs to this node; an empty list means ready. Changes are logged, except for
   * a drain, which has its own log line.
   */
  async reasons(): Promise<readonly string[]> {
    const reasons = await this.#currentReasons();
    if (this.#node.drain.announced) return ['draining', ...reasons];
    const text = reasons.join('; ');
    if (text !== this.#logged) {
      this.#logged = text;
      if (reasons.length === 0) this.#log.info('ready');
      else this.#log.warn('not_ready', { reasons });
    }
    return reasons;
  }

  /** Checks periodically until the returned function is called. */
  watch(): () => void {
    const check = (): void => void this.reasons().catch((fault) => this.#log.fault('fault', fault));
    const timer = setInterval(check, CHECK_MILLISECONDS);
    return () => clearInterval(timer);
  }

  async #currentReasons(): Promise<string[]> {
    const { pool, disk, storeUnreadyReason } = this.#node;
    const reasons = pool.unreadyReason === null ? [] : [pool.unreadyReason];
    const shared = storeUnreadyReason();
    if (shared !== null) reasons.push(shared);
    const { error, aboveFloor } = await disk.space();
    if (error !== null) reasons.push(`the data folder cannot be used: ${error}`);
    else if (!aboveFloor) reasons.push('the disk is below its floor');
    return reasons;
  }
}
