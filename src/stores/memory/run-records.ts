// Records of Runs: of those that have begun, as objects, and of those that have ended, until they expire.
import type { MemoryBudget } from '../../admission/memory-budget.ts';
import type { OutputRef } from '../../outputs/output-store.ts';
import type { RunRecord } from '../../runs/run.ts';
import { EndedRuns } from './ended-runs.ts';
import { InOrder } from './in-order.ts';

/** What a running Run weighs: its objects and its place in the map. */
const RUNNING_BYTES = 800;

export class RunRecords {
  /** What they hold is small: bytes come with the record of the end. */
  #running = new Map<string, RunRecord>();
  readonly #ended: InOrder<EndedRuns>;
  #charge: (bytes: number) => void;

  /** @param expired called with the output of each Run whose time has come */
  constructor(budget: MemoryBudget, expired: (output: OutputRef) => void) {
    this.#charge = (bytes) => {
      if (bytes > 0) budget.charge(bytes, 'records');
      else budget.release(-bytes, 'records');
    };
    this.#ended = new InOrder(() => new EndedRuns({ expired, charge: this.#charge }));
  }

  get size(): number {
    return this.#ended.size + this.#running.size;
  }

  /** A Run begins: it can be read from now on. */
  begin(run: RunRecord): void {
    this.#running.set(run.id, run);
    this.#charge(RUNNING_BYTES);
  }

  /** A Run has ended, which may have begun: it is kept until its time has come. */
  finish(run: RunRecord, expiresAt: number): void {
    this.#ended.storeFor(expiresAt).add(run, expiresAt);
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
    return this.#ended.sweep(now, max);
  }

  #endedRun(id: string, now: number): RunRecord | null {
    for (const ended of this.#ended.stores) {
      const run = ended.get(id, now);
      if (run !== null) return run;
    }
    return null;
  }
}
