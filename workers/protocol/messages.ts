// What crosses between the main thread and a worker thread, both ways. Plain values only.
import type { MessagePort } from 'node:worker_threads';
import type { FileHead } from '../input/reader.ts';
import type { RunReport } from '../run/report.ts';
import type { TemplateText } from '../template/template-text.ts';
import type { Failure } from './failure.ts';

/** Where the bytes of an upload (or of a local file) are. */
export type TaskSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** A file that may still grow: the main thread tells its length with `grown`. A local file is complete at once. */
  | { readonly kind: 'file'; readonly path: string };

/** Ceilings of the plan that the engine keeps; null = none. */
export interface TaskLimits {
  readonly rowsMax: number | null;
  readonly outputRowsMax: number | null;
  readonly outputBytesMax: number | null;
  readonly inflatedBytesMax: number | null;
}

/** A request's own parameters (create_run's delimiter and header_row). */
export interface TaskOverrides {
  readonly delimiter: string | null;
  readonly headerRow: number | null;
}

/** A reference table of the catalog. */
export interface TaskTable {
  readonly path: string;
  readonly sha256: string;
}

/**
 * One pass of the engine over one file. Parameters that arrive after the file begin a new task on the same stored file
 * (its own number and output path); the old one is cancelled if it has not ended.
 */
export interface RunTask {
  /** Number of the task, unique in the process. */
  readonly task: number;
  readonly template: TemplateText;
  readonly source: TaskSource;
  /** The upload's file name ending, lower case, without the dot ('' = none): only a hint for the type. */
  readonly ending: string;
  readonly overrides: TaskOverrides;
  readonly limits: TaskLimits;
  /** The output: kept in memory up to `memoryBytesMax`, beyond that in the file `path` (written there from then on). */
  readonly output: { readonly path: string; readonly memoryBytesMax: number };
  /** A path of the Run's own for its spill files; made when needed, removed by the worker. */
  readonly spillDirectory: string;
  /** Reference tables by catalog name. */
  readonly tables: Readonly<Record<string, TaskTable>>;
  /** Secrets of the account by name are read from this folder when an operation names one; null = none. */
  readonly secretsDirectory: string | null;
  /** RFC 3339. */
  readonly startedAt: string;
  /** What the Run may use without asking the budget, in bytes. */
  readonly reservationBytes: number;
  /** Of the budget's counters: the account that holds what the Run borrows; NO_ACCOUNT unless said. */
  readonly accountRow?: number;
  /** Where the task is one part of a Run over a large file (split.ts); its output goes into that of the whole. */
  readonly part?: TaskPart;
}

/** Bytes of a file that hold whole records. */
export interface TaskPart {
  /** From 0, in the order of the file. */
  readonly number: number;
  /** Byte of the file where it begins, and the one behind it. */
  readonly from: number;
  readonly to: number;
  /** What the beginning of the file tells. */
  readonly head: FileHead;
}

export interface RunOutcomeOutput {
  /** The whole output when it stayed in memory, else null (it is in the task's output path). */
  readonly bytes: Uint8Array | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly mimeType: string;
  /** Ending for the file name, without the dot. */
  readonly ending: string;
}

/** Behind the path of a Run's output: the path of its rejected rows. */
export const REJECTS_SUFFIX = '.rejects';

export interface RunOutcome {
  readonly rowsWritten: number | null;
  readonly truncated: boolean;
  readonly output: RunOutcomeOutput | null;
  /** The file of rejected rows, where the Template makes one; on disk it is at the output's path with REJECTS_SUFFIX. */
  readonly rejects: RunOutcomeOutput | null;
  readonly failure: Failure | null;
  readonly report: RunReport;
  /** Processor time is not measured; wall time inside the engine in milliseconds, waits for bytes left out. */
  readonly busyMilliseconds: number;
}

/** An outcome as it crosses threads: its report is written once, where it was made. */
export interface TaskOutcome extends Omit<RunOutcome, 'report'> {
  /** A RunReport as JSON. */
  readonly reportText: string;
  readonly rowsRead: number;
}

/** Posted as frames (task-codec.ts), several of one turn together. */
export type ToWorker =
  | { readonly kind: 'start'; readonly task: RunTask }
  /** The source file has `bytes` bytes now; `ended`: and will have no more. */
  | { readonly kind: 'grown'; readonly task: number; readonly bytes: number; readonly ended: boolean }
  | { readonly kind: 'cancel'; readonly task: number }
  /** Its upload is slow: it ends as a cancelled one does if it waits for bytes now, or before it is told of more. */
  | { readonly kind: 'set_aside'; readonly task: number }
  /** Finish what runs, take nothing new, end the thread's task. */
  | { readonly kind: 'stop' };

/** Posted as frames (outcome-codec.ts), several of one turn together. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly thread: number }
  /** The Run is over; with a failure this may come while the file still arrives. The thread has forgotten the task. */
  | { readonly kind: 'done'; readonly task: number; readonly outcome: TaskOutcome }
  /** A cancelled Run has given everything back. */
  | { readonly kind: 'cancelled'; readonly task: number }
  /** A fault of ours: message and stack for the log, never for an answer. */
  | { readonly kind: 'fault'; readonly task: number; readonly message: string; readonly stack: string };

/** Int32 slots of the shared control block of one thread. */
export const CONTROL_BEAT = 0;
export const CONTROL_SLOTS = 1;

/** Two Int64 slots: see OutputTurns. */
export const TURNS_BYTES = 16;

/** What a thread is started with (the argument of its one long task). */
export interface ThreadStart {
  readonly thread: number;
  /** Frames of ToWorker come in, frames of FromWorker go out. */
  readonly port: MessagePort;
  readonly budget: SharedArrayBuffer;
  /** CONTROL_SLOTS Int32: CONTROL_BEAT counts batches, messages and idle ticks: a thread whose count stands still is silent. */
  readonly control: SharedArrayBuffer;
  /** See TaskClaims: a task is begun only by the thread that takes it there. */
  readonly claims: SharedArrayBuffer;
  /** Int32 flags by `task % CANCEL_FLAGS`: the task number whose Run is to stop; checked at each batch. */
  readonly cancel: SharedArrayBuffer;
  /** For the whole node: see CoreShare. */
  readonly cores: SharedArrayBuffer;
  /** One Int32 for the whole node: see LargeRowGate. */
  readonly largeRow: SharedArrayBuffer;
  /** For the parts of a Run: see OutputTurns. */
  readonly turns: SharedArrayBuffer;
  /** Two Int64 slots: see RunProgress; null: nobody looks. */
  readonly progress: SharedArrayBuffer | null;
  /** Compiled once by the main thread (see compileKernels). */
  readonly kernels: WebAssembly.Module;
}

/** Slots of the cancel flags: more than the Runs that one thread can hold at a time. */
export const CANCEL_FLAGS = 16_384;
