// The engine's work on one upload. Starts a task as soon as there is enough to read, follows the spool file as it
// grows, and restarts the task when a parameter arrives late or a slow upload becomes complete. Does not interpret
// the result. States:
// - waiting: for 256 KiB or the end of the upload
// - running: the task may end early; its end is then held until the upload is complete
// - over
// - leaving, then suspended: while the upload is slow and memory is short. Runs again once the upload is complete or
//   has become fast.

import { rm } from 'node:fs/promises';
import type { RunTask, TaskOverrides } from '../../workers/protocol/messages.ts';
import type { RunMemories, RunMemory } from '../admission/run-memory.ts';
import type { Account, CatalogTemplate, Plan, Subscription } from '../catalog/catalog.ts';
import { LinkedRing, type RingEntry } from '../collections/linked-ring.ts';
import type { TaskOutputs } from '../outputs/local-outputs.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import type { ThreadPool } from '../pool/pool.ts';
import type { PooledRun, TaskEnd } from '../pool/pool-thread.ts';
import type { Sharing } from '../pool/shared-run.ts';
import type { CheckedParameters } from '../uploads/parameters.ts';
import type { Upload, UploadListener } from '../uploads/upload.ts';
import type { RunPhase } from './active-runs.ts';
import type { RunTexts } from './run.ts';

/** The parts of the node on which the engine's work on an upload depends. */
export interface EngineParts extends Pick<RunTexts, 'times'> {
  readonly pool: ThreadPool;
  readonly taskOutputs: TaskOutputs;
  readonly memories: RunMemories;
  readonly slowUploads: SlowUploads;
  readonly paths: { readonly spillFor: (task: number) => string };
  /** How large uploads are shared by threads; null: each is processed by one thread. */
  readonly sharing: Sharing | null;
  readonly onFault: (fault: unknown, requestId: string) => void;
}

export interface EngineEnd {
  readonly end: TaskEnd;
  /** Path at which the task may have left its output. */
  readonly outputPath: string;
}

interface CurrentTask {
  readonly pooled: PooledRun;
  readonly overrides: TaskOverrides;
  isBegun: boolean;
  end: EngineEnd | null;
  isSuspended: boolean;
}

export class EngineRun implements UploadListener, WatchedUpload {
  #node: EngineParts;
  #upload: Upload;
  #frame: TaskFrame;
  readonly #memory: RunMemory;
  readonly #requestId: string;
  readonly #pace = new UploadPace(performance.now());
  /** Removed when the upload is complete or not needed any more. */
  readonly #watched: RingEntry<WatchedUpload>;
  #startedAt: string;
  #current: CurrentTask | null = null;
  /** Number of running tasks, plus ended tasks whose files are still being removed. */
  #open = 0;
  #onClosed: (() => void)[] = [];
  #grownBytes = 0;
  /** The task has been suspended, but has not released all its resources yet. */
  #isLeaving = false;
  /** Upload size when the task was last suspended, in bytes. */
  #suspendedAtBytes = 0;
  #whole = false;
  #cancelled = false;
  #end: EngineEnd | null = null;
  #onEnd: (end: EngineEnd) => void = () => {};
  #onBegun: () => void = () => {};

  /** Follows the upload from now on, starting with the bytes and parameters that have already arrived. */
  constructor(node: EngineParts, upload: Upload, frame: TaskFrame, memory: RunMemory, requestId: string) {
    this.#node = node;
    this.#upload = upload;
    this.#frame = frame;
    this.#memory = memory;
    this.#requestId = requestId;
    this.#startedAt = node.times.of(Date.now());
    upload.listener = this;
    this.#watched = node.slowUploads.add(this);
    const writtenBytes = upload.spool?.writtenBytes ?? 0;
    if (writtenBytes > 0) this.grown(writtenBytes);
  }

  get phase(): RunPhase {
    if (!this.#whole) return 'uploading';
    return this.#current?.isBegun === true ? 'running' : 'waiting';
  }

  /** Rows read so far; 0 for a Run that has just begun, or begun again. */
  get rowsRead(): number {
    return this.#current?.pooled.rowsRead() ?? 0;
  }

  /** Call when the upload is complete and its parameters are valid: only the engine's work remains. */
  complete(parameters: CheckedParameters): void {
    this.#whole = true;
    this.#watched.remove();
    const current = this.#current;
    if (this.#cancelled || this.#isLeaving) return;
    if (current === null) this.#memory.whenHeld(() => this.#startWhole(parameters));
    else if (current.end !== null) this.#over(current.end);
    else current.pooled.grown(this.#upload.spool!.sizeBytes, true);
  }

  #startWhole(parameters: CheckedParameters): void {
    if (this.#cancelled) return;
    const spool = this.#upload.spool!;
    if (spool.inMemory) this.#start(parameters, { kind: 'bytes', bytes: spool.bytes() });
    else {
      this.#startOnFile(parameters);
      this.#current?.pooled.grown(spool.sizeBytes, true);
    }
  }

  /** Sets the one listener for the end of the last task once the upload is complete. A cancelled task ends too. */
  onEnd(listener: (end: EngineEnd) => void): void {
    if (this.#end !== null) listener(this.#end);
    else this.#onEnd = listener;
  }

  /** Sets the one listener for the start of the last task by a thread. Called immediately if the task has started. */
  onBegun(listener: () => void): void {
    if (this.#current?.isBegun) listener();
    else this.#onBegun = listener;
  }

  /** Cancels the work. `closed` reports when all resources are released. */
  cancel(): void {
    this.#cancelled = true;
    this.#watched.remove();
    this.#current?.pooled.cancel();
  }

  /** Resolves when no task is running and dropped files are removed. Returns nothing if that is already so. */
  closed(): void | Promise<void> {
    this.#watched.remove();
    if (this.#open === 0) return;
    return new Promise((resolve) => this.#onClosed.push(resolve));
  }

  /** Upload callback, like `parametersChanged`: the upload has grown. */
  grown(bytes: number): void {
    this.#grownBytes = bytes;
    const parameters = this.#upload.parameters();
    if (this.#cancelled || this.#isLeaving || !this.#memory.isHeld || parameters.problem !== null) return;
    if (this.#current === null) this.#startOnFile(parameters);
    this.#current?.pooled.grown(bytes, false);
  }

  /** Results of the previous parameters are invalid. */
  parametersChanged(): void {
    const parameters = this.#upload.parameters();
    const current = this.#current;
    if (current === null || this.#cancelled) return;
    current.pooled.cancel();
    this.#drop(current);
    this.#current = null;
    if (parameters.problem !== null || !this.#memory.isHeld) return;
    this.#startOnFile(parameters);
    (this.#current as CurrentTask | null)?.pooled.grown(this.#grownBytes, false);
  }

  /**
   * Callback of SlowUploads. If memory is short, a task that waits for a slow upload is suspended and releases all
   * its resources. Its work is repeated when the upload is complete, or earlier if the upload has become fast and has
   * doubled in size. This doubling limits all repeated work to less than the file size.
   */
  check(now: number): void {
    const { sizeBytes, isHeldBack } = this.#upload;
    if (isHeldBack) this.#pace.restart(sizeBytes, now);
    const isSlow = this.#pace.isSlow(sizeBytes, now);
    const { isShort } = this.#node.memories;
    if (this.#memory.isHeld) {
      if (isSlow && isShort) this.#suspend();
    } else if (!isSlow && !isShort && this.#current === null && sizeBytes >= 2 * this.#suspendedAtBytes) {
      if (this.#grownBytes > 0 && this.#memory.tryReacquire()) this.grown(this.#grownBytes);
    }
  }

  #suspend(): void {
    const current = this.#current;
    if (current !== null && current.end === null) {
      current.isSuspended = true;
      current.pooled.suspend();
    } else if (this.#open === 0) this.#memory.suspend();
  }

  #startOnFile(parameters: CheckedParameters): void {
    this.#start(parameters, { kind: 'file', path: this.#upload.spool!.path });
  }

  #start({ delimiter, headerRow }: CheckedParameters, source: RunTask['source']): void {
    const { pool, taskOutputs, paths } = this.#node;
    const number = pool.nextTask();
    const overrides = { delimiter, headerRow };
    const output = taskOutputs.targetOf(number);
    const spillDirectory = paths.spillFor(number);
    const { ending, fileName } = this.#upload;
    const startedAt = this.#startedAt;
    const { template, limits, tables, secretsDirectory, reservationBytes } = this.#frame;
    const { accountRow } = this.#memory;
    const task: RunTask = {
      task: number,
      template,
      source,
      ending,
      fileName,
      overrides,
      limits,
      output,
      spillDirectory,
      tables,
      secretsDirectory,
      startedAt,
      reservationBytes,
      accountRow,
    };
    this.#open += 1;
    const ended = (end: TaskEnd): void => this.#ended(current, { end, outputPath: output.path }, spillDirectory);
    const spool = this.#upload.spool!;
    const sharing = source.kind === 'file' ? this.#sharing : null;
    const pooled = pool.run(task, ended, {
      begun: () => this.#begun(current),
      bytesAgain: () => spool.bytes(),
      sharing,
    });
    const current: CurrentTask = { pooled, overrides, isBegun: false, end: null, isSuspended: false };
    this.#current = current;
  }

  /**
   * Not null if the upload is large or may become large, so that idle threads may take part. The size of an upload
   * without a Content-Length is not known until the upload is complete.
   */
  get #sharing(): Sharing | null {
    const { sharing } = this.#node;
    const { sizeBytes, expectedBytes } = this.#upload;
    if (sharing === null) return null;
    const mayGrow = expectedBytes === 0 && !this.#whole;
    return mayGrow || Math.max(sizeBytes, expectedBytes) >= sharing.sizes.fileBytesMin ? sharing : null;
  }

  #begun(task: CurrentTask): void {
    task.isBegun = true;
    if (task !== this.#current) return;
    this.#upload.spool!.forgetBytes();
    this.#onBegun();
  }

  #ended(task: CurrentTask, end: EngineEnd, spillDirectory: string): void {
    task.end = end;
    if (task === this.#current && task.isSuspended && end.end.kind === 'cancelled' && !this.#cancelled) {
      this.#isLeaving = true;
      this.#suspendedAtBytes = this.#upload.sizeBytes;
      this.#current = null;
    }
    const isCurrent = task === this.#current;
    if (isCurrent && this.#whole) this.#over(end);
    // An output that was finished while the Run was being cancelled is not used.
    const kept = !this.#cancelled && end.end.kind === 'done' && end.end.outcome.output !== null;
    if (kept && isCurrent) this.#close();
    else {
      const removed = this.#remove(end, spillDirectory).catch((fault) => this.#node.onFault(fault, this.#requestId));
      void removed.then(() => this.#close());
    }
  }

  async #remove({ end, outputPath }: EngineEnd, spillDirectory: string): Promise<void> {
    // A lost thread cannot remove its files itself.
    if (end.kind === 'interrupted') await rm(spillDirectory, { recursive: true, force: true });
    await this.#node.taskOutputs.discard(outputPath);
  }

  #over(end: EngineEnd): void {
    this.#end = end;
    this.#onEnd(end);
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    if (this.#isLeaving) this.#left();
    for (const listener of this.#onClosed.splice(0)) listener();
  }

  /** The suspended task has released all its resources. */
  #left(): void {
    this.#isLeaving = false;
    if (this.#cancelled) return;
    if (this.#whole) this.#startWhole(this.#upload.parameters());
    else this.#memory.suspend();
  }

  /** Drops a task whose end is not needed. Its output is removed when the task ends, or now if it has ended. */
  #drop(task: CurrentTask): void {
    if (task.end === null) return;
    const discarding = this.#node.taskOutputs.discard(task.end.outputPath);
    if (discarding instanceof Promise) discarding.catch((fault) => this.#node.onFault(fault, this.#requestId));
  }
}

// Detects slow uploads: checks incomplete uploads a few times per second, and lets the engine's work on each decide
// how to react.

/**
 * An upload is slow if fewer bytes than this arrive within the time below: under 64 KiB/s, its Run waits far more
 * than it works.
 */
const SLOW_BYTES = 128 * 1024;
const SLOW_MILLISECONDS = 2000;

const CHECK_MILLISECONDS = 250;

/** Tracks the speed of one upload. */
export class UploadPace {
  #bytes = 0;
  #since: number;

  /** @param now milliseconds, of performance.now */
  constructor(now: number) {
    this.#since = now;
  }

  /** @param bytes number of upload bytes that have arrived */
  isSlow(bytes: number, now: number): boolean {
    if (bytes - this.#bytes >= SLOW_BYTES) this.restart(bytes, now);
    return now - this.#since >= SLOW_MILLISECONDS;
  }

  /** Restarts the measurement after the upload had to wait for this service. */
  restart(bytes: number, now: number): void {
    this.#bytes = bytes;
    this.#since = now;
  }
}

export interface WatchedUpload {
  /** @param now milliseconds, of performance.now */
  check(now: number): void;
}

export class SlowUploads {
  readonly #watched = new LinkedRing<WatchedUpload>();
  #watch: NodeJS.Timeout | null = null;

  /** Checks the upload until the returned entry is removed. */
  add(upload: WatchedUpload): RingEntry<WatchedUpload> {
    this.#watch ??= setInterval(() => this.#check(), CHECK_MILLISECONDS);
    return this.#watched.add(upload);
  }

  #check(): void {
    const now = performance.now();
    for (const upload of this.#watched.values()) upload.check(now);
    if (!this.#watched.isEmpty || this.#watch === null) return;
    clearInterval(this.#watch);
    this.#watch = null;
  }
}

// The common part of all tasks of one account, plan and Template, created once: the pool sends each thread the same
// object only once.

/** The part of a task that does not depend on the request. */
export type TaskFrame = Pick<RunTask, 'template' | 'limits' | 'tables' | 'secretsDirectory' | 'reservationBytes'>;

interface Entry {
  readonly account: Account;
  readonly plan: Plan;
  readonly frame: TaskFrame;
}

export class TaskFrames {
  /** Objects of the catalog never change: a new catalog has new objects. */
  #entries = new WeakMap<CatalogTemplate<CheckedTemplate>, Entry>();

  of(account: Account, { plan }: Subscription, template: CatalogTemplate<CheckedTemplate>): TaskFrame {
    const known = this.#entries.get(template);
    if (known !== undefined && known.account === account && known.plan === plan) return known.frame;
    const frame = frameOf(account, plan, template);
    this.#entries.set(template, { account, plan, frame });
    return frame;
  }
}

function frameOf(account: Account, plan: Plan, template: CatalogTemplate<CheckedTemplate>): TaskFrame {
  const { rowsMax, outputRowsMax, outputBytesMax, inflatedBytesMax } = plan;
  const tables: Record<string, RunTask['tables'][string]> = {};
  for (const [name, { path, sha256 }] of account.tables) tables[name] = { path, sha256 };
  return {
    template: { source: template.source, format: template.format, sha256: template.sha256 },
    limits: { rowsMax, outputRowsMax, outputBytesMax, inflatedBytesMax },
    tables,
    secretsDirectory: account.secretsDirectory,
    reservationBytes: template.checked.reservationBytes,
  };
}
