// State that all create_run requests of this node share: stores, claims, limits and the drain. A plain record,
// assembled by server.ts.
import type { DiskFloor } from '../admission/disk-floor.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { RunMemories } from '../admission/run-memory.ts';
import type { Exchange } from '../http/exchange.ts';
import type { TaskOutputs } from '../outputs/local-outputs.ts';
import type { OutputNames, OutputStore } from '../outputs/output-store.ts';
import type { ThreadPool } from '../pool/pool.ts';
import type { TaskFrames } from '../pool/task-frames.ts';
import type { AdmissionStore } from '../stores/admission-store.ts';
import type { BillingPeriods } from '../stores/billing-period.ts';
import type { RunStore } from '../stores/stores.ts';
import type { IdleFiles } from '../uploads/idle-files.ts';
import type { WriteBlocks } from '../uploads/spooled-file.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { Drain } from './drain.ts';
import type { KeyClaims } from './key-claims.ts';
import type { RunEnded, RunIds, RunRecord, RunTexts } from './run.ts';
import type { SlowUploads } from './slow-uploads.ts';

export interface NodeState extends RunTexts {
  /** Unique for each node and each start of it. */
  readonly name: string;
  readonly admissions: AdmissionStore;
  readonly runs: RunStore;
  /** Why the shared stores accept no Run; null if they do, or if this node has no shared stores. */
  readonly storeUnreadyReason: () => string | null;
  /** Whether the memory held by finished Runs of the account leaves capacity for another Run. */
  readonly mayKeepRun: (account: string) => boolean;
  readonly outputs: OutputStore;
  readonly taskOutputs: TaskOutputs;
  readonly keyClaims: KeyClaims;
  readonly pool: ThreadPool;
  readonly frames: TaskFrames;
  readonly ids: RunIds;
  readonly outputNames: OutputNames;
  /** The response of list_templates by account of the catalog: requests at the same time share one text. */
  readonly templateLists: WeakMap<object, string>;
  readonly periods: BillingPeriods;
  readonly budget: MemoryBudget;
  readonly memories: RunMemories;
  readonly slowUploads: SlowUploads;
  readonly activeRuns: ActiveRuns;
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
  /** Reports each ended Run to the log and the metrics. `exchange` is the request that started the Run. */
  readonly onRunEnded: (run: RunRecord, details: RunEnded, exchange: Exchange) => void;
  readonly onFault: (fault: unknown, requestId: string) => void;
}
