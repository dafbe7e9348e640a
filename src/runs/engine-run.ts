// The engine's work on one upload: starts its task as soon as there is something to read, follows the spool as it grows,
// and begins again when a parameter arrives late. It does not judge what comes out.
// States: waiting (for 256 KiB or the end) → at work (its task may end early: the end is held) → over.
import { rm } from 'node:fs/promises';
import type { RunTask, TaskOverrides } from '../../workers/messages.ts';
import type { PooledRun, TaskEnd } from '../pool.ts';
import type { NodeState } from './node-state.ts';
import type { CheckedParameters } from './parameters.ts';
import type { TaskFrame } from './task-frames.ts';
import type { Upload } from './upload.ts';

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

export class EngineRun {
  /** The end of the last task, once the upload is whole. A task that was cancelled ends too. */
  readonly result: Promise<EngineEnd>;
  #node: NodeState;
  #upload: Upload;
  #frame: TaskFrame;
  #startedAt = new Date().toISOString();
  #current: CurrentTask | null = null;
  #open = new Set<Promise<void>>();
  #grownBytes = 0;
  #whole = false;
  #cancelled = false;
  #resolve: (end: EngineEnd) => void = () => {};

  /** Follows the upload from now on; what it already has is taken up. */
  constructor(node: NodeState, upload: Upload, frame: TaskFrame) {
    this.#node = node;
    this.#upload = upload;
    this.#frame = frame;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    upload.listener = {
      grown: (bytes) => this.#grown(bytes),
      parametersChanged: () => this.#parametersChanged(),
    };
    const writtenBytes = upload.spool?.writtenBytes ?? 0;
    if (writtenBytes > 0) this.#grown(writtenBytes);
  }

  /** The upload is whole and its parameters are sound: what remains is the engine's. */
  complete(parameters: CheckedParameters): void {
    this.#whole = true;
    if (this.#cancelled) return;
    const spool = this.#upload.spool!;
    if (spool.inMemory) this.#start(parameters, { kind: 'bytes', bytes: spool.takeBytes() });
    else if (this.#current === null) this.#startOnFile(parameters);
    this.#current?.pooled.grown(spool.sizeBytes, true);
    if (this.#current?.end) this.#resolve(this.#current.end);
  }

  /** Ends the work; `closed` tells when everything is given back. */
  cancel(): void {
    this.#cancelled = true;
    this.#current?.pooled.cancel();
  }

  /** Resolves when no task is at work any more and what was dropped has been removed. */
  async closed(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #grown(bytes: number): void {
    this.#grownBytes = bytes;
    const parameters = this.#upload.parameters();
    if (this.#cancelled || parameters.problem !== null) return;
    if (this.#current === null) this.#startOnFile(parameters);
    this.#current?.pooled.grown(bytes, false);
  }

  /** What was found with the other parameters is void. */
  #parametersChanged(): void {
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
    let closed = (): void => {};
    const open = new Promise<void>((resolve) => {
      closed = resolve;
    });
    this.#open.add(open);
    const pooled = pool.run(task, (end) => {
      const engineEnd = { end, outputPath: output.path };
      void this.#ended(current, engineEnd, spillDirectory).finally(() => {
        this.#open.delete(open);
        closed();
      });
    });
    const current: CurrentTask = { pooled, overrides, end: null };
    this.#current = current;
  }

  async #ended(task: CurrentTask, end: EngineEnd, spillDirectory: string): Promise<void> {
    task.end = end;
    if (task === this.#current && this.#whole) this.#resolve(end);
    // A thread that is gone cannot remove its files itself.
    if (end.end.kind === 'interrupted') await rm(spillDirectory, { recursive: true, force: true });
    const kept = end.end.kind === 'done' && end.end.outcome.output !== null;
    if (!kept || task !== this.#current) await this.#node.outputs.discardPlace(end.outputPath);
  }

  /** A task whose end nobody waits for: its output goes when it has ended, or now if it already has. */
  #drop(task: CurrentTask): void {
    if (task.end !== null) void this.#node.outputs.discardPlace(task.end.outputPath);
  }
}
