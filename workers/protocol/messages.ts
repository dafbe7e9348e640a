// Messages between the main thread and a worker thread, in both directions. Plain values only.
import type { MessagePort } from 'node:worker_threads';
import type { FileHead } from '../input/reader.ts';
import type { TemplateText } from '../template/template-text.ts';
import type { Failure } from './failure.ts';
import type { FaultText } from './fault-text.ts';
import type { KeysMemory } from './frame.ts';
import type { RunReport } from './report.ts';

/** Row of the budget's counters for Runs without an account. See ACCOUNT_ROWS in `memory/budget.ts`. */
export const NO_ACCOUNT = 0;

/** Source of an upload's (or a local file's) bytes. */
export type TaskSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /**
   * A file that may still grow: the main thread reports its length with `grown`. A local file is complete from the
   * start.
   */
  | { readonly kind: 'file'; readonly path: string };

/** Limits of the account's plan that the engine enforces; null = no limit. */
export interface TaskLimits {
  readonly rowsMax: number | null;
  readonly outputRowsMax: number | null;
  readonly outputBytesMax: number | null;
  readonly inflatedBytesMax: number | null;
}

/** Parameters of the request itself (delimiter and header_row of create_run). */
export interface TaskOverrides {
  readonly delimiter: string | null;
  readonly headerRow: number | null;
}

/** A reference table of the catalog. */
export interface TaskTable {
  readonly path: string;
  readonly sha256: string;
}

/** A local file that is read after others. */
export interface TaskFile {
  readonly path: string;
  /** Name without folders; null for standard input. */
  readonly name: string | null;
  readonly ending: string;
  readonly sizeBytes: number;
}

/**
 * One pass of the engine over one file. If parameters arrive after the file, a new task (with its own number and
 * output path) starts on the same stored file; the old task is cancelled if it has not ended.
 */
export interface RunTask {
  /** Task number, unique in the process. */
  readonly task: number;
  readonly template: TemplateText;
  readonly source: TaskSource;
  /**
   * File name ending of the upload, in lower case and without the dot ('' = no ending). Only a hint for detecting the
   * type.
   */
  readonly ending: string;
  /** Name of the file without folders, which only expressions of the Template can read. Absent if it has none. */
  readonly fileName?: string | null;
  /** Local files whose rows follow those of `source`. */
  readonly more?: readonly TaskFile[];
  readonly overrides: TaskOverrides;
  readonly limits: TaskLimits;
  /** The output stays in memory up to `memoryBytesMax` bytes; a larger output is written to the file `path`. */
  readonly output: { readonly path: string; readonly memoryBytesMax: number };
  /** Path of this Run's spill folder. The folder is created on demand and removed by the worker. */
  readonly spillDirectory: string;
  /** Reference tables by their name in the catalog. */
  readonly tables: Readonly<Record<string, TaskTable>>;
  /** Folder from which an operation reads the account's secrets by name; null = the account has no secrets. */
  readonly secretsDirectory: string | null;
  /** RFC 3339. */
  readonly startedAt: string;
  /** True if messages may name headers of the file: the reader of the messages owns the file. */
  readonly showsHeaders?: boolean;
  /** Memory that the Run may use without asking the budget, in bytes. */
  readonly reservationBytes: number;
  /**
   * The account's row in the budget's counters; memory that the Run borrows is charged to that account. NO_ACCOUNT if
   * absent.
   */
  readonly accountRow?: number;
  /** Set if several threads may share the Run (split.ts). The task is then the share of one thread. */
  readonly parts?: FileParts;
  /** Set if the Run processes one part of its file. */
  readonly part?: TaskPart;
  /** Set if several threads have grouped the rows. The task then merges these groups instead of reading the file. */
  readonly groups?: TaskGroups;
  /** Set if several threads have sorted the rows. The task then writes rows in ranges instead of reading the file. */
  readonly ranges?: TaskRanges;
}

/** The sorted rows of all parts of a file. */
export interface TaskRanges {
  /** Result of reading the beginning of the file. */
  readonly head: FileHead;
  /** Names of the files, in the exchange folder (see SortedRangeFiles). */
  readonly names: readonly string[];
  /** Number of ranges. */
  readonly count: number;
}

/**
 * The folder for files that the threads of a Run exchange: groups, streams, sorted rows. The main thread removes it at the
 * end of the Run.
 */
export function exchangeFolder({ spillDirectory }: Pick<RunTask, 'spillDirectory'>): string {
  return `${spillDirectory}.exchange`;
}

/** The groups of all parts of a file. */
export interface TaskGroups {
  /** Result of reading the beginning of the file. */
  readonly head: FileHead;
  /** Names of the files, in the exchange folder. */
  readonly names: readonly string[];
  /** For each part, the number to add to its row numbers (see PipelineResult) so that they count the rows of the file. */
  readonly rowsBefore: readonly number[];
  /** Number of rows in the file, and of errors in rows that the threads have counted. */
  readonly rows: number;
  readonly errors: number;
}

/** A large file that several threads may process in parts. A thread that has finished a part takes the next one. */
export interface FileParts {
  /** State of the parts, see PartTurns. */
  readonly turns: SharedArrayBuffer;
  /** Approximate size of one part. */
  readonly partBytes: number;
  /**
   * Memory for the keys of all threads, null if no step needs it. In the first share, which decides whether it is needed:
   * memory of an earlier Run, or null.
   */
  readonly keys: KeysMemory | null;
  /** Result of reading the beginning of the file. Null in the first share, which reads it (see ShareOpened). */
  readonly head: FileHead | null;
  readonly keyPhase: KeyPhase;
  /** True for the share that has the memory that is reserved for the Run. */
  readonly isFirst: boolean;
}

/** Number of streams: enough for 8 threads, and the groups of a stream mostly fit into the processor's cache. */
export const STREAM_BITS = 4;
export const STREAMS = 1 << STREAM_BITS;

/**
 * The phase of a share, if several threads process the rows by key (execution/keys/row-streams.ts). Other Runs do not use
 * it.
 */
export interface KeyPhase {
  /**
   * scatter: reads parts and writes their rows to streams. compute: runs the operation on streams and writes the new
   * cells. match: reads the parts again and adds the new cells to the rows.
   */
  readonly phase: 'scatter' | 'compute' | 'match';
  /** Random number of the Run, from which threads compute the stream of a row. */
  readonly seed: number;
  /** Names of the files with rows, and of those with new cells, in the exchange folder. */
  readonly rows: readonly string[];
  readonly cells: readonly string[];
}

/** The part with which a pipeline begins, or a range of sorted rows. */
export interface TaskPart {
  /** Index in the order of the file, starting at 0. */
  readonly number: number;
  /** Result of reading the beginning of the file. */
  readonly head: FileHead;
}

/** Number of data rows in one part. */
export interface PartOutcome {
  readonly number: number;
  readonly rows: number;
}

/** Result of one pipeline of a share: of some parts of a file, or of the streams that the share has processed. */
export interface PipelineResult {
  /** In the order of the file. */
  readonly parts: readonly PartOutcome[];
  readonly rowsWritten: number;
  readonly sizeBytes: number;
  /** Rows are numbered as if these parts were the whole file. */
  readonly report: RunReport;
  /** Set if the parts have groups instead of an output: names of the files (see TaskGroups). */
  readonly groups?: readonly string[];
  /** Set if the share has written streams: names of the files (see KeyPhase). */
  readonly streams?: readonly string[];
  /** Set if the parts have sorted rows instead of an output; null: the parts have no rows. */
  readonly sorted?: SortedFiles | null;
}

/** Sorted rows of some parts of a file. */
export interface SortedFiles {
  readonly names: readonly string[];
  readonly segments: number;
  readonly sizeBytes: number;
}

export interface RunOutcomeOutput {
  /** The whole output if it stayed in memory; null if it is in the file at the task's output path. */
  readonly bytes: Uint8Array | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly mimeType: string;
  /** Ending for the file name, without the dot. */
  readonly ending: string;
}

/** Suffix that turns the path of a Run's output into the path of its rejected rows. */
export const REJECTS_SUFFIX = '.rejects';

export interface RunOutcome {
  readonly rowsWritten: number | null;
  readonly truncated: boolean;
  readonly output: RunOutcomeOutput | null;
  /**
   * The file of rejected rows, if the Template writes one. On disk its path is the output's path plus REJECTS_SUFFIX.
   */
  readonly rejects: RunOutcomeOutput | null;
  readonly failure: Failure | null;
  readonly report: RunReport;
  /**
   * Wall time that the Run spent inside the engine, without waits for bytes, in milliseconds. Processor time is not
   * measured.
   */
  readonly busyMilliseconds: number;
  /** Set if the task was the share of a thread (RunTask.parts): the results of its pipelines. */
  readonly results?: readonly PipelineResult[];
}

/** An outcome as it crosses threads. The thread that made the report has already converted it to text. */
export interface TaskOutcome extends Omit<RunOutcome, 'report'> {
  /** A RunReport as JSON. */
  readonly reportText: string;
  readonly rowsRead: number;
  /** Number of threads that processed parts of the file. Absent if one thread processed it as a whole. */
  readonly threads?: number;
}

/** Messages to a worker. Posted as frames (task-codec.ts) that hold several messages of one event loop turn. */
export type ToWorker =
  | { readonly kind: 'start'; readonly task: RunTask }
  /** The source file now has `bytes` bytes. `ended`: it will not grow further. */
  | { readonly kind: 'grown'; readonly task: number; readonly bytes: number; readonly ended: boolean }
  | { readonly kind: 'cancel'; readonly task: number }
  /**
   * The upload of this task is slow: suspend the task. It ends like a cancelled task if it is waiting for bytes now,
   * or waits before the next `grown`.
   */
  | { readonly kind: 'suspend'; readonly task: number }
  /** Finish the running tasks, accept no new ones, and end the thread's main loop. */
  | { readonly kind: 'stop' };

/** Messages from a worker. Posted as frames (outcome-codec.ts) that hold several messages of one event loop turn. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly thread: number }
  /**
   * The Run has ended. If it failed, this message may arrive while the file is still being uploaded. The thread has
   * forgotten the task.
   */
  | { readonly kind: 'done'; readonly task: number; readonly outcome: TaskOutcome }
  /** Progress of a long Run, at most twice a second. */
  | { readonly kind: 'progress'; readonly task: number; readonly rowsRead: number }
  /** The thread processes its file in parts, so that other threads can take shares. */
  | ShareOpened
  /** A cancelled Run has released all of its resources. */
  | { readonly kind: 'cancelled'; readonly task: number }
  /** A fault of ours. Message and stack are for the log, never for a response. */
  | ({ readonly kind: 'fault'; readonly task: number } & FaultText);

/** Sent by the first share of a Run. `head` is the result of reading the beginning of the file. */
export interface ShareOpened {
  readonly kind: 'share_opened';
  readonly task: number;
  readonly head: FileHead;
  /** Memory for the keys of all threads, or null if no step needs it. */
  readonly keys: KeysMemory | null;
}

/** Int32 slots in the shared control block of one thread. */
export const CONTROL_BEAT = 0;
/** Number of the task that is running or ran last; NO_TASK before the first one. */
export const CONTROL_TASK = 1;
export const CONTROL_SLOTS = 2;
export const NO_TASK = -1;

/** Start parameters of a thread (the argument of its single long Piscina task). */
export interface ThreadStart {
  readonly thread: number;
  /** Receives frames of ToWorker and sends frames of FromWorker. */
  readonly port: MessagePort;
  readonly budget: SharedArrayBuffer;
  /**
   * CONTROL_SLOTS Int32 values. CONTROL_BEAT counts batches, messages and idle ticks; a thread whose count does not
   * change is unresponsive.
   */
  readonly control: SharedArrayBuffer;
  /** See TaskClaims. A thread may start only a task that it has claimed there. */
  readonly claims: SharedArrayBuffer;
  /**
   * Int32 flags, indexed by `task % CANCEL_FLAGS`. A flag holds the number of the task to cancel. Runs check it at
   * each batch.
   */
  readonly cancel: SharedArrayBuffer;
  /** Shared by the whole node, see CoreShare. */
  readonly cores: SharedArrayBuffer;
  /** One Int32 shared by the whole node, see LargeRowGate. */
  readonly largeRow: SharedArrayBuffer;
  /** Two Int64 slots, see RunProgress. Null if progress is not shown. */
  readonly progress: SharedArrayBuffer | null;
  /** Compiled once by the main thread (see compileKernels). */
  readonly kernels: WebAssembly.Module;
}

/** Number of cancel flags: more than the number of Runs that one thread can hold at a time. */
export const CANCEL_FLAGS = 16_384;
