// Where Runs live: behind an interface whose answers may take time, so that a store shared by several nodes can take its
// place. Nothing else may know where Runs are kept.
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { Soon } from '../soon.ts';
import { ExpiringMap } from './expiring-map.ts';
import type { RunRecord } from './run.ts';

export interface RunStore {
  /** A Run begins. */
  add(run: RunRecord): Soon<void>;
  /** A Run has ended: it is kept until its expiry. */
  finished(run: RunRecord): Soon<void>;
  /** null: unknown, expired, or of another account. */
  get(account: string, id: string, now: number): Soon<RunRecord | null>;
  /** Forgets a Run that was never shown to anybody. */
  remove(id: string): Soon<void>;
}

/**
 * What a record weighs beyond its JSON: its objects and its places in the maps (540 bytes, measured over 100,000), and half
 * as much again, which the heap grows between two collections.
 */
const RECORD_OVERHEAD_BYTES = 800;

export class MemoryRunStore implements RunStore {
  #runs: ExpiringMap<RunRecord>;

  /** @param expired called for each Run whose time has come */
  constructor(budget: MemoryBudget, expired: (run: RunRecord) => void) {
    this.#runs = new ExpiringMap<RunRecord>({
      expired: (_, run) => {
        expired(run);
        run.json?.free();
      },
      bytesOf: (_, run) => RECORD_OVERHEAD_BYTES + (run.json?.length ?? 0),
      charge: (bytes) => {
        if (bytes > 0) budget.charge(bytes, 'records');
        else budget.release(-bytes, 'records');
      },
    });
  }

  get size(): number {
    return this.#runs.size;
  }

  add(run: RunRecord): void {
    this.#runs.set(run.id, run, run.expiresAt);
  }

  finished(run: RunRecord): void {
    this.#runs.set(run.id, run, run.expiresAt);
  }

  get(account: string, id: string, now: number): RunRecord | null {
    const run = this.#runs.get(id, now);
    return run !== undefined && run.account === account ? run : null;
  }

  remove(id: string): void {
    this.#runs.delete(id);
  }

  /** Removes at most `max` Runs whose time has come. */
  sweep(now: number, max: number): number {
    return this.#runs.sweep(now, max);
  }
}
