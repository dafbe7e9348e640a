// Whether the node can accept Runs, and if not, why. Read by /readyz and the metrics, and checked periodically so
// that the log reports changes even without requests.
import type { DiskFloor } from '../admission/disk-floor.ts';
import type { ThreadPool } from '../pool/pool.ts';
import type { Log } from '../telemetry/log.ts';
import type { Drain } from './drain.ts';

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
