// What every create_run shares on this node: stores, limits and the drain. A plain record, put together by server.ts.
import type { BillingPeriods } from '../admission/billing-period.ts';
import type { DiskFloor } from '../admission/disk-floor.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { QuotaLedger } from '../admission/quota-ledger.ts';
import type { RunSlots } from '../admission/run-slots.ts';
import type { OutputStore } from '../outputs/output-store.ts';
import type { ThreadPool } from '../pool.ts';
import type { IdleFiles } from '../spool/idle-files.ts';
import type { WriteBlocks } from '../spool/write-blocks.ts';
import type { Drain } from './drain.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import type { OutputNames } from './output-name.ts';
import type { RunStore } from './registry.ts';
import type { RunRecord, RunTexts } from './run.ts';
import type { RunIds } from './run-ids.ts';
import type { TaskFrames } from './task-frames.ts';

export interface NodeState extends RunTexts {
  readonly runs: RunStore;
  readonly keys: IdempotencyKeys;
  readonly outputs: OutputStore;
  readonly pool: ThreadPool;
  readonly frames: TaskFrames;
  readonly ids: RunIds;
  readonly outputNames: OutputNames;
  readonly periods: BillingPeriods;
  readonly slots: RunSlots;
  readonly budget: MemoryBudget;
  readonly ledger: QuotaLedger;
  readonly disk: DiskFloor;
  readonly drain: Drain;
  readonly idleFiles: IdleFiles;
  readonly blocks: WriteBlocks;
  readonly paths: {
    readonly spoolFor: (upload: number) => string;
    readonly spillFor: (task: number) => string;
  };
  readonly waitMilliseconds: number;
  readonly runMilliseconds: number;
  readonly retentionMilliseconds: number;
  /** Tells the log and the metrics of each Run that has ended. */
  readonly onRunEnded: (run: RunRecord, details: RunEnded) => void;
  readonly onFault: (fault: unknown, requestId: string) => void;
}

export interface RunEnded {
  readonly requestId: string;
  readonly milliseconds: number;
  readonly busyMilliseconds: number | null;
  readonly fileBytes: number;
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
  /** Whether the ledger counted it. */
  readonly charged: boolean;
}
