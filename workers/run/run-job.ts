// What a Run is given: its task, its file, and what it shares with the other Runs of its thread. Starts nothing.
import type { TableCache } from '../execution/tables/table-cache.ts';
import type { InputFormat } from '../input/format.ts';
import type { ReadAheadThread } from '../input/read-ahead/read-ahead-thread.ts';
import type { StoredSource } from '../input/source/source.ts';
import type { BudgetShare } from '../memory/budget.ts';
import type { KernelPool } from '../memory/kernel-pool.ts';
import type { GatedRun } from '../memory/large-row.ts';
import type { PreparedTemplate } from '../plan/prepared-template.ts';
import type { RunTask } from '../protocol/messages.ts';
import type { SharedOutput } from './output-stage.ts';
import type { RunReport } from './report.ts';
import type { RunWatch } from './run-watch.ts';

export interface RunJob {
  readonly task: RunTask;
  readonly prepared: PreparedTemplate;
  /** Read from its first byte. */
  readonly source: StoredSource;
  readonly kernels: KernelPool;
  readonly budget: BudgetShare;
  /** For what stays in the thread when the Run is over, such as tables: `budget` unless said. */
  readonly threadBudget?: BudgetShare;
  /** The shared Int32 of LargeRowGate. */
  readonly largeRow: Int32Array;
  /** See largeRowOwner. */
  readonly largeRowOwner: number;
  /** What parts write with (see TaskPart). */
  readonly shared?: SharedOutput;
  /** The thread's reference tables; a Run without one reads its own. */
  readonly tables?: TableCache;
  /** That its file may have. */
  readonly formats: readonly InputFormat[];
  cancelled(): boolean;
  /** Waits until the thread has done what else there was; one turn of its event loop unless given. */
  turn?(): Promise<void>;
  /** Called whenever the clock is read: tells the main thread that the thread is alive. */
  beat(): void;
  /** Told of the rows read so far, after each batch; without it nobody is. */
  progressed?(rowsRead: number): void;
  /** The thread's, for large files. */
  readonly readAhead?: ReadAheadThread;
  /** Sees the rows behind each operation; without it there is nobody. */
  readonly watch?: RunWatch;
  /** Rows of a batch at most; smaller ones are for tests, results do not depend on it. */
  readonly batchRowsMax?: number;
}

/** For the gate, which outlives the Run and must not keep its memory: closures of a function that knows nothing of it. */
export function gatedRun(job: RunJob): GatedRun {
  return { cancelled: () => job.cancelled(), arrived: () => job.source.hasArrived };
}

/** A Run's report before its first byte. */
export function emptyReport(task: RunTask): RunReport {
  return {
    template_sha256: task.template.sha256,
    rows_read: 0,
    rows_written: 0,
    input: { type: '', encoding: '', delimiter: null, header_row: null, errors: {} },
    operations: [],
    output: { formulas_guarded: 0 },
    tables: {},
  };
}
