// The engine's work on one upload: starts its task as soon as there is something to read, follows the spool as it grows,
// and begins again when a parameter arrives late, or when a slow upload is whole. It does not judge what comes out.
// States: waiting (for 256 KiB or the end) → at work (its task may end early: the end is held) → over; where the upload is
// slow and memory short: leaving (its task ends) → aside → at work again once the upload is whole, or has become fast.
import { rm } from 'node:fs/promises';
import type { RunTask, TaskOverrides } from '../../workers/protocol/messages.ts';
import type { RunMemory } from '../admission/run-memory.ts';
import type { PooledRun } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';
import type { TaskFrame } from '../pool/task-frames.ts';
import type { CheckedParameters } from '../uploads/parameters.ts';
import type { Upload, UploadListener } from '../uploads/upload.ts';
import type { NodeState } from './node-state.ts';
import { UploadPace, type WatchedUpload } from './slow-uploads.ts';

export interface EngineEnd {
  readonly end: TaskEnd;
  /** Where the task may have left its output. */
  readonly outputPath: string;
}

interface CurrentTask {
  readonly pooled: PooledRun;
  readonly overrides: TaskOverrides;
  isBegun: boolean;
  end: EngineEnd | null;
  isSetAside: boolean;
}

export class EngineRun implements UploadListener, WatchedUpload {
  #node: NodeState;
  #upload: Upload;
  #frame: TaskFrame;
  readonly #memory: RunMemory;
  readonly #requestId: string;
  readonly #pace = new UploadPace(performance.now());
  #startedAt: string;
  #current: CurrentTask | null = null;
  /** Tasks at work, and those that have ended whose files are still being removed. */
  #open = 0;
  #onClosed: (() => void)[] = [];
  #grownBytes = 0;
  /** Its task has been set aside, and what it held is not given back yet. */
  #isLeaving = false;
  /** Of the upload, when its task was last set aside. */
  #asideAtBytes = 0;
  #whole = false;
  #cancelled = false;
  #end: EngineEnd | null = null;
  #onEnd: (end: EngineEnd) => void = () => {};
  #onBegun: () => void = () => {};

  /** Follows the upload from now on; what it already has is taken up. */
  constructor(node: NodeState, upload: Upload, frame: TaskFrame, memory: RunMemory, requestId: string) {
    this.#node = node;
    this.#upload = upload;
    this.#frame = frame;
    this.#memory = memory;
    this.#requestId = requestId;
    this.#startedAt = node.times.of(Date.now());
    upload.listener = this;
    node.slowUploads.add(this);
    const writtenBytes = upload.spool?.writtenBytes ?? 0;
    if (writtenBytes > 0) this.grown(writtenBytes);
  }

  /** The upload is whole and its parameters are sound: what remains is the engine's. */
  complete(parameters: CheckedParameters): void {
    this.#whole = true;
    this.#node.slowUploads.remove(this);
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

  /** Tells one listener of the last task's end, once the upload is whole. A task that was cancelled ends too. */
  onEnd(listener: (end: EngineEnd) => void): void {
    if (this.#end !== null) listener(this.#end);
    else this.#onEnd = listener;
  }

  /** Tells one listener when a thread has begun the last task, at once when it has. */
  onBegun(listener: () => void): void {
    if (this.#current?.isBegun) listener();
    else this.#onBegun = listener;
  }

  /** Ends the work; `closed` tells when everything is given back. */
  cancel(): void {
    this.#cancelled = true;
    this.#node.slowUploads.remove(this);
    this.#current?.pooled.cancel();
  }

  /** Resolves when no task is at work any more and what was dropped has been removed; nothing when that is so now. */
  closed(): void | Promise<void> {
    this.#node.slowUploads.remove(this);
    if (this.#open === 0) return;
    return new Promise((resolve) => this.#onClosed.push(resolve));
  }

  /** Of the upload, as `parametersChanged`. */
  grown(bytes: number): void {
    this.#grownBytes = bytes;
    const parameters = this.#upload.parameters();
    if (this.#cancelled || this.#isLeaving || !this.#memory.isHeld || parameters.problem !== null) return;
    if (this.#current === null) this.#startOnFile(parameters);
    this.#current?.pooled.grown(bytes, false);
  }

  /** What was found with the other parameters is void. */
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
   * Of SlowUploads. A task that waits for a slow upload gives back all it holds where memory is short, and what it did is done
   * again: when the upload is whole; or before, when it arrives fast and has become twice as long, so that all that is
   * done again is less than the file.
   */
  look(now: number): void {
    const { sizeBytes, isHeldBack } = this.#upload;
    if (isHeldBack) this.#pace.restart(sizeBytes, now);
    const isSlow = this.#pace.isSlow(sizeBytes, now);
    const { isShort } = this.#node.memories;
    if (this.#memory.isHeld) {
      if (isSlow && isShort) this.#setAside();
    } else if (!isSlow && !isShort && this.#current === null && sizeBytes >= 2 * this.#asideAtBytes) {
      if (this.#grownBytes > 0 && this.#memory.tryHold()) this.grown(this.#grownBytes);
    }
  }

  #setAside(): void {
    const current = this.#current;
    if (current !== null && current.end === null) {
      current.isSetAside = true;
      current.pooled.setAside();
    } else if (this.#open === 0) this.#memory.setAside();
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
    const { ending } = this.#upload;
    const startedAt = this.#startedAt;
    const { template, limits, tables, secretsDirectory, reservationBytes } = this.#frame;
    const { accountRow } = this.#memory;
    const task: RunTask = {
      task: number,
      template,
      source,
      ending,
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
    const pooled = pool.run(task, ended, { begun: () => this.#begun(current), bytesAgain: () => spool.bytes() });
    const current: CurrentTask = { pooled, overrides, isBegun: false, end: null, isSetAside: false };
    this.#current = current;
  }

  #begun(task: CurrentTask): void {
    task.isBegun = true;
    if (task !== this.#current) return;
    this.#upload.spool!.forgetBytes();
    this.#onBegun();
  }

  #ended(task: CurrentTask, end: EngineEnd, spillDirectory: string): void {
    task.end = end;
    if (task === this.#current && task.isSetAside && end.end.kind === 'cancelled' && !this.#cancelled) {
      this.#isLeaving = true;
      this.#asideAtBytes = this.#upload.sizeBytes;
      this.#current = null;
    }
    const isCurrent = task === this.#current;
    if (isCurrent && this.#whole) this.#over(end);
    // Nobody takes what a Run made that was given up while its end was on the way.
    const kept = !this.#cancelled && end.end.kind === 'done' && end.end.outcome.output !== null;
    if (kept && isCurrent) this.#close();
    else {
      const removed = this.#remove(end, spillDirectory).catch((fault) => this.#node.onFault(fault, this.#requestId));
      void removed.then(() => this.#close());
    }
  }

  async #remove({ end, outputPath }: EngineEnd, spillDirectory: string): Promise<void> {
    // A thread that is gone cannot remove its files itself.
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
    for (const tell of this.#onClosed.splice(0)) tell();
  }

  /** Its task has let go of all it held. */
  #left(): void {
    this.#isLeaving = false;
    if (this.#cancelled) return;
    if (this.#whole) this.#startWhole(this.#upload.parameters());
    else this.#memory.setAside();
  }

  /** A task whose end nobody waits for: its output goes when it has ended, or now if it already has. */
  #drop(task: CurrentTask): void {
    if (task.end === null) return;
    const discarding = this.#node.taskOutputs.discard(task.end.outputPath);
    if (discarding instanceof Promise) discarding.catch((fault) => this.#node.onFault(fault, this.#requestId));
  }
}
