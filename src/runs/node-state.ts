// What every create_run shares on this node: stores, what waits beside them, limits and the drain. A plain record, put together by server.ts.
import type { DiskFloor } from '../admission/disk-floor.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { RunMemories } from '../admission/run-memory.ts';
import type { OutputNames } from '../outputs/output-name.ts';
import type { OutputStore } from '../outputs/output-store.ts';
import type { TaskOutputs } from '../outputs/task-outputs.ts';
import type { ThreadPool } from '../pool/pool.ts';
import type { TaskFrames } from '../pool/task-frames.ts';
import type { AdmissionDesk } from '../stores/admission-desk.ts';
import type { BillingPeriods } from '../stores/billing-period.ts';
import type { RunStore } from '../stores/run-store.ts';
import type { IdleFiles } from '../uploads/idle-files.ts';
import type { WriteBlocks } from '../uploads/write-blocks.ts';
import type { Drain } from './drain.ts';
import type { KeyClaims } from './key-claims.ts';
import type { RunRecord, RunTexts } from './run.ts';
import type { RunIds } from './run-ids.ts';
import type { SlowUploads } from './slow-uploads.ts';

export interface NodeState extends RunTexts {
  /** Tells it from other nodes, and from itself before it was started anew. */
  readonly name: string;
  readonly desk: AdmissionDesk;
  readonly runs: RunStore;
  /** Why the stores that nodes share take no Run; null: they do, or there are none. */
  readonly storeTrouble: () => string | null;
  readonly outputs: OutputStore;
  readonly taskOutputs: TaskOutputs;
  readonly keyClaims: KeyClaims;
  readonly pool: ThreadPool;
  readonly frames: TaskFrames;
  readonly ids: RunIds;
  readonly outputNames: OutputNames;
  readonly periods: BillingPeriods;
  readonly budget: MemoryBudget;
  readonly memories: RunMemories;
  readonly slowUploads: SlowUploads;
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
  /** Whether it counts towards the quota. */
  readonly charged: boolean;
}
