// The engine's work on one upload: starts its task as soon as there is something to read, follows the spool as it grows,
// and begins again when a parameter arrives late. It does not judge what comes out.
// States: waiting (for 256 KiB or the end) → at work (its task may end early: the end is held) → over.
import { rm } from 'node:fs/promises';
import type { RunTask, TaskOverrides } from '../../workers/messages.ts';
import type { PooledRun, TaskEnd } from '../pool.ts';
import type { NodeState } from './node-state.ts';
import type { CheckedParameters } from './parameters.ts';
import type { TaskFrame } from './task-frames.ts';
import type { Upload, UploadListener } from './upload.ts';

export interface EngineEnd {
  readonly end: TaskEnd;
  /** Where the task may have left its output. */
  readonly outputPath: string;
}

interface CurrentTask {
  readonly pooled: PooledRun;
  readonly overrides: TaskOverrides;
  end: EngineEnd | null;
}

export class EngineRun implements UploadListener {
  #node: NodeState;
  #upload: Upload;
  #frame: TaskFrame;
  #startedAt: string;
  #current: CurrentTask | null = null;
  /** Tasks at work, and those that have ended whose files are still being removed. */
  #open = 0;
  #onClosed: (() => void)[] = [];
  #grownBytes = 0;
  #whole = false;
  #cancelled = false;
  #end: EngineEnd | null = null;
  #onEnd: (end: EngineEnd) => void = () => {};

  /** Follows the upload from now on; what it already has is taken up. */
  constructor(node: NodeState, upload: Upload, frame: TaskFrame) {
    this.#node = node;
    this.#upload = upload;
    this.#frame = frame;
    this.#startedAt = node.times.of(Date.now());
    upload.listener = this;
    const writtenBytes = upload.spool?.writtenBytes ?? 0;
    if (writtenBytes > 0) this.grown(writtenBytes);
  }

  /** The upload is whole and its parameters are sound: what remains is the engine's. */
  complete(parameters: CheckedParameters): void {
    this.#whole = true;
    if (this.#cancelled) return;
    const spool = this.#upload.spool!;
    if (spool.inMemory) this.#start(parameters, { kind: 'bytes', bytes: spool.takeBytes() });
    else {
      if (this.#current === null) this.#startOnFile(parameters);
      this.#current?.pooled.grown(spool.sizeBytes, true);
    }
    if (this.#current?.end) this.#over(this.#current.end);
  }

  /** Tells one listener of the last task's end, once the upload is whole. A task that was cancelled ends too. */
  onEnd(listener: (end: EngineEnd) => void): void {
    if (this.#end !== null) listener(this.#end);
    else this.#onEnd = listener;
  }

  /** Ends the work; `closed` tells when everything is given back. */
  cancel(): void {
    this.#cancelled = true;
    this.#current?.pooled.cancel();
  }

  /** Resolves when no task is at work any more and what was dropped has been removed; nothing when that is so now. */
  closed(): void | Promise<void> {
    if (this.#open === 0) return;
    return new Promise((resolve) => this.#onClosed.push(resolve));
  }

  /** Of the upload, as `parametersChanged`. */
  grown(bytes: number): void {
    this.#grownBytes = bytes;
    const parameters = this.#upload.parameters();
    if (this.#cancelled || parameters.problem !== null) return;
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
    if (parameters.problem !== null) return;
    this.#startOnFile(parameters);
    (this.#current as CurrentTask | null)?.pooled.grown(this.#grownBytes, false);
  }

  #startOnFile(parameters: CheckedParameters): void {
    this.#start(parameters, { kind: 'file', path: this.#upload.spool!.path });
  }

  #start({ delimiter, headerRow }: CheckedParameters, source: RunTask['source']): void {
    const { pool, outputs, paths } = this.#node;
    const number = pool.nextTask();
    const overrides = { delimiter, headerRow };
    const output = outputs.placeFor(number);
    const spillDirectory = paths.spillFor(number);
    const { ending } = this.#upload;
    const startedAt = this.#startedAt;
    const { template, limits, tables, secretsDirectory, reservationBytes } = this.#frame;
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
    };
    this.#open += 1;
    const pooled = pool.run(task, (end) => this.#ended(current, { end, outputPath: output.path }, spillDirectory));
    const current: CurrentTask = { pooled, overrides, end: null };
    this.#current = current;
  }

  #ended(task: CurrentTask, end: EngineEnd, spillDirectory: string): void {
    task.end = end;
    const isCurrent = task === this.#current;
    if (isCurrent && this.#whole) this.#over(end);
    // Nobody takes what a Run made that was given up while its end was on the way.
    const kept = !this.#cancelled && end.end.kind === 'done' && end.end.outcome.output !== null;
    if (kept && isCurrent) this.#close();
    else void this.#remove(end, spillDirectory).finally(() => this.#close());
  }

  async #remove({ end, outputPath }: EngineEnd, spillDirectory: string): Promise<void> {
    // A thread that is gone cannot remove its files itself.
    if (end.kind === 'interrupted') await rm(spillDirectory, { recursive: true, force: true });
    await this.#node.outputs.discardPlace(outputPath);
  }

  #over(end: EngineEnd): void {
    this.#end = end;
    this.#onEnd(end);
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open === 0) for (const tell of this.#onClosed.splice(0)) tell();
  }

  /** A task whose end nobody waits for: its output goes when it has ended, or now if it already has. */
  #drop(task: CurrentTask): void {
    if (task.end !== null) void this.#node.outputs.discardPlace(task.end.outputPath);
  }
}
