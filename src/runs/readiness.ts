// Whether the node can take Runs, and why not: asked by /readyz and the metrics, and looked at by itself, so that the log
// tells when it changes though nobody asks.
import type { Log } from '../telemetry/log.ts';
import type { NodeState } from './node-state.ts';

/** How often it is looked at. */
const LOOK_MILLISECONDS = 1_000;

type ReadinessParts = Pick<NodeState, 'drain' | 'pool' | 'disk' | 'storeTrouble'>;

export class Readiness {
  readonly #node: ReadinessParts;
  readonly #log: Log;
  /** What was logged last; '' = ready, as the node is when it begins to listen. */
  #logged = '';

  constructor(node: ReadinessParts, log: Log) {
    this.#node = node;
    this.#log = log;
  }

  /** Why no Run should come here; none: they may. A change is logged, but for that of a drain, which has a line of its own. */
  async reasons(): Promise<readonly string[]> {
    const troubles = await this.#troubles();
    if (this.#node.drain.announced) return ['draining', ...troubles];
    const text = troubles.join('; ');
    if (text !== this.#logged) {
      this.#logged = text;
      if (troubles.length === 0) this.#log.info('ready');
      else this.#log.warn('not_ready', { reasons: troubles });
    }
    return troubles;
  }

  /** Looks from now on, until the function that it returns is called. */
  watch(): () => void {
    const look = (): void => void this.reasons().catch((fault) => this.#log.fault('fault', fault));
    const timer = setInterval(look, LOOK_MILLISECONDS);
    return () => clearInterval(timer);
  }

  async #troubles(): Promise<string[]> {
    const { pool, disk, storeTrouble } = this.#node;
    const troubles = pool.trouble === null ? [] : [pool.trouble];
    const shared = storeTrouble();
    if (shared !== null) troubles.push(shared);
    const { trouble, aboveFloor } = await disk.space();
    if (trouble !== null) troubles.push(`the data folder cannot be used: ${trouble}`);
    else if (!aboveFloor) troubles.push('the disk is below its floor');
    return troubles;
  }
}
