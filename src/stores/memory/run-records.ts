// Records of Runs: of those that have begun, as objects, and of those that have ended, until they expire.
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import type { OutputRef } from '../../outputs/output-store.ts';
import type { RunRecord } from '../../runs/run.ts';
import { EndedRuns } from './ended-runs.ts';

/** What a running Run weighs: its objects and its place in the map. */
const RUNNING_BYTES = 800;

/** Runs that wait for the ledger end out of order by less than this. By more, on a clock that was set back: see `finished`. */
const DISORDER_MILLISECONDS_MAX = 60_000;

export class RunRecords {
  /** What they hold is small: bytes come with the record of the end. */
  #running = new Map<string, RunRecord>();
  /** In the order in which they began; the last one takes what ends. */
  #ended: EndedRuns[];
  #newEnded: () => EndedRuns;
  #latestExpiry = 0;
  #charge: (bytes: number) => void;

  /** @param expired called with the output of each Run whose time has come */
  constructor(budget: MemoryBudget, expired: (output: OutputRef) => void) {
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

  /** A Run begins: it can be read from now on. */
  begin(run: RunRecord): void {
    this.#running.set(run.id, run);
    this.#charge(RUNNING_BYTES);
  }

  /** A Run has ended, which may have begun: it is kept until its time has come. */
  finish(run: RunRecord, expiresAt: number): void {
    // Behind Runs that ended while the clock was a day ahead, all later ones would be kept for a day.
    if (expiresAt < this.#latestExpiry - DISORDER_MILLISECONDS_MAX) this.#ended.push(this.#newEnded());
    this.#latestExpiry = expiresAt;
    this.#ended.at(-1)!.add(run, expiresAt);
    this.remove(run.id);
  }

  /** null: unknown, expired at `now`, or of another account. */
  get(account: string, id: string, now: number): RunRecord | null {
    const run = this.#running.get(id) ?? this.#endedRun(id, now);
    return run !== null && run.account === account ? run : null;
  }

  /** Forgets a running Run, if it has begun. */
  remove(id: string): void {
    if (this.#running.delete(id)) this.#charge(-RUNNING_BYTES);
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
