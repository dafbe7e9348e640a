// The uploads and Runs in progress on this node, for the operator's page.
import type { Lease } from '../admission/lease.ts';
import { LinkedRing } from '../collections/linked-ring.ts';

/** `uploading`: the engine may already work on what has arrived. `waiting`: for a thread. */
export type RunPhase = 'uploading' | 'waiting' | 'running';

/** An upload or Run in progress. Contains nothing from the upload. */
export interface ActiveRun {
  readonly account: string;
  readonly template: string;
  readonly phase: RunPhase;
  readonly seconds: number;
  readonly uploadBytes: number;
  readonly rowsRead: number;
}

/** The parts of a Run in progress that know how far it is. */
interface Progress {
  readonly account: { readonly id: string };
  readonly template: { readonly id: string };
  readonly upload: { readonly sizeBytes: number };
  readonly engine: { readonly phase: RunPhase; readonly rowsRead: number };
}

interface Entry extends Progress {
  /** Time in milliseconds, of performance.now. */
  readonly beganAt: number;
}

export class ActiveRuns {
  readonly #entries = new LinkedRing<Entry>();

  /** Counts a Run until the lease is released. */
  add(progress: Progress, lease: Lease): void {
    const { account, template, upload, engine } = progress;
    const entry = this.#entries.add({ account, template, upload, engine, beganAt: performance.now() });
    lease.hold(() => entry.remove());
  }

  /** Oldest first. */
  list(now = performance.now()): ActiveRun[] {
    return [...this.#entries.values()].map(({ account, template, upload, engine, beganAt }) => ({
      account: account.id,
      template: template.id,
      phase: engine.phase,
      seconds: (now - beganAt) / 1000,
      uploadBytes: upload.sizeBytes,
      rowsRead: engine.rowsRead,
    }));
  }
}
