// Where Runs live: behind an interface whose answers may take time, so that a store shared by several nodes can take its
// place. Nothing else may know where Runs are kept.
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { OutputPlace } from '../outputs/output-store.ts';
import type { Soon } from '../soon.ts';
import { EndedRuns } from './ended-runs.ts';
import type { RunRecord } from './run.ts';

export interface RunStore {
  /** A Run begins. */
  add(run: RunRecord): Soon<void>;
  /** A running Run has ended: it is kept until its expiry, as it is now. */
  finished(run: RunRecord): Soon<void>;
  /** null: unknown, expired, or of another account. */
  get(account: string, id: string, now: number): Soon<RunRecord | null>;
  /** Forgets a running Run that was never shown to anybody. */
  remove(id: string): Soon<void>;
}

/** What a running Run weighs: its objects and its place in the map. */
const RUNNING_BYTES = 800;

/**
 * A place in the map of those that run. A map that grew old leaves its former tables, with all that was in them, to the
 * collector of what is old: a Run that has ended is taken out of its place, so that its bytes are not left with them.
 */
interface Place {
  run: RunRecord | null;
}

/** Runs that wait for the ledger end out of order by less than this. A clock that was set back by more: see `finished`. */
const DISORDER_MILLISECONDS_MAX = 60_000;

export class MemoryRunStore implements RunStore {
  #running = new Map<string, Place>();
  /** In the order in which they began; the last one takes what ends. */
  #ended: EndedRuns[];
  #newEnded: () => EndedRuns;
  #latestExpiry = 0;
  #charge: (bytes: number) => void;

  /** @param expired called with the output of each Run whose time has come */
  constructor(budget: MemoryBudget, expired: (output: OutputPlace) => void) {
    this.#charge = (bytes) => {
      if (bytes > 0) budget.charge(bytes, 'records');
      else budget.release(-bytes, 'records');
    };
    this.#newEnded = () => new EndedRuns({ expired, charge: this.#charge });
    this.#ended = [this.#newEnded()];
  }

  get size(): number {
    return this.#ended.reduce((sum, { size }) => sum + size, this.#running.size);
  }

  add(run: RunRecord): void {
    this.#running.set(run.id, { run });
    this.#charge(RUNNING_BYTES);
  }

  finished(run: RunRecord): void {
    // Behind Runs that ended while the clock was a day ahead, all later ones would be kept for a day.
    if (run.expiresAt < this.#latestExpiry - DISORDER_MILLISECONDS_MAX) this.#ended.push(this.#newEnded());
    this.#latestExpiry = run.expiresAt;
    this.#ended.at(-1)!.add(run);
    this.remove(run.id);
  }

  get(account: string, id: string, now: number): RunRecord | null {
    const run = this.#running.get(id)?.run ?? this.#endedRun(id, now);
    return run !== null && run.account === account ? run : null;
  }

  remove(id: string): void {
    const place = this.#running.get(id);
    if (place === undefined) throw new Error('a Run ended that does not run');
    place.run = null;
    this.#running.delete(id);
    this.#charge(-RUNNING_BYTES);
  }

  /** Removes at most `max` Runs whose time has come. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (const ended of this.#ended) forgotten += ended.sweep(now, max - forgotten);
    if (this.#ended.length > 1)
      this.#ended = this.#ended.filter((ended, at, { length }) => ended.size > 0 || at === length - 1);
    return forgotten;
  }

  #endedRun(id: string, now: number): RunRecord | null {
    for (const ended of this.#ended) {
      const run = ended.get(id, now);
      if (run !== null) return run;
    }
    return null;
  }
}
