// All that a node keeps for longer than a request, behind interfaces: what several nodes would share.
import type { OutputStore } from '../outputs/output-store.ts';
import type { MetricDefinition } from '../telemetry/metric-definition.ts';
import type { AdmissionDesk } from './admission-desk.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RunStore } from './run-store.ts';

export interface Stores {
  readonly desk: AdmissionDesk;
  readonly runs: RunStore;
  readonly rates: RateLimiter;
  readonly outputs: OutputStore;
  readonly gauges: StoreGauges;
  /** What else metrics show of these stores, read now. */
  figures(): readonly StoreFigure[];
  /** Why no Run should come here; null: they may. */
  trouble(): string | null;
  /** The node is about to end: nothing is asked for again that failed. */
  hurry(): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** What metrics read. */
export interface StoreGauges {
  runsKept(): number;
}

/** A metric that is counted where it arises, as it is now. */
export interface StoreFigure {
  /** With one label at most. */
  readonly metric: MetricDefinition;
  /** By the label's value; where there is no label there is one value, under ''. */
  readonly values: ReadonlyMap<string, number>;
}
