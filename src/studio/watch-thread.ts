// Main-thread side of the worker thread in which Runs are watched: sends requests to it and shuts it down.
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { WATCH_ENTRY } from '../../workers/built-files.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { faultOf } from '../../workers/protocol/fault-text.ts';
import type {
  FromWatchThread,
  RowsRequest,
  ShapesRequest,
  SourceRows,
  SourceRowsRequest,
  TracedCell,
  TraceRequest,
  Watched,
  WatchedRows,
  WatchRequest,
  WatchThreadRequest,
  WatchThreadStart,
} from '../../workers/watch/watch-messages.ts';
import { MemoryBudget } from '../admission/memory-budget.ts';
import { makeStudioFolder } from './opened-files.ts';

export interface WatchThreadSettings {
  readonly memoryBudgetBytes: number;
  readonly secretsDirectory: string | null;
  /** Receives the number of rows that the current Run has read. */
  readonly onProgress: (rowsRead: number) => void;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (fault: Error) => void;
}

/**
 * Size of the young generation. The objects created after each edit (copies of 2,000 rows after each operation) fit
 * into it. With the runtime's default of 48 MiB per thread, the collector moved each object twice before freeing it,
 * and an edit took 187 ms until its rows were shown instead of 130 ms.
 */
const YOUNG_GENERATION_MIB = 96;

export class WatchThread {
  readonly #worker: Worker;
  readonly #folder = makeStudioFolder();
  readonly #wanted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #waiting = new Map<number, Waiting>();
  readonly #onProgress: (rowsRead: number) => void;
  #number = 0;
  #isClosed = false;
  /** The reason why the thread has ended. */
  #lost: Error | null = null;

  constructor(settings: WatchThreadSettings) {
    this.#onProgress = settings.onProgress;
    const start: WatchThreadStart = {
      kernels: compileKernels(),
      budget: new MemoryBudget(settings.memoryBudgetBytes, 1).buffer,
      wanted: this.#wanted.buffer as SharedArrayBuffer,
      folder: this.#folder,
      secretsDirectory: settings.secretsDirectory,
    };
    this.#worker = new Worker(WATCH_ENTRY, {
      workerData: start,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    this.#worker.on('message', (message: FromWatchThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#lose(error));
    this.#worker.on('exit', () => this.#lose(new Error('the thread of the studio has ended')));
  }

  /** Ends the current Run and starts another. Null: replaced by a later request. */
  watch(request: Omit<WatchRequest, 'kind'>): Promise<Watched | null> {
    return this.#ask({ kind: 'watch', ...request }) as Promise<Watched | null>;
  }

  /**
   * Source rows in ascending order that contain cell shapes absent from the first rows. Null: replaced by a later
   * request.
   */
  shapes(request: Omit<ShapesRequest, 'kind'>): Promise<readonly number[] | null> {
    return this.#ask({ kind: 'shapes', ...request }) as Promise<readonly number[] | null>;
  }

  /** Null: no Run has reached its first row yet. */
  rows(request: Omit<RowsRequest, 'kind'>): Promise<WatchedRows | null> {
    return this.#ask({ kind: 'rows', ...request }) as Promise<WatchedRows | null>;
  }

  trace(request: Omit<TraceRequest, 'kind'>): Promise<readonly TracedCell[] | null> {
    return this.#ask({ kind: 'trace', ...request }) as Promise<readonly TracedCell[] | null>;
  }

  sourceRows(request: Omit<SourceRowsRequest, 'kind'>): Promise<SourceRows | null> {
    return this.#ask({ kind: 'source_rows', ...request }) as Promise<SourceRows | null>;
  }

  /** Ends the current Run without a result. */
  stop(): void {
    Atomics.store(this.#wanted, 0, 0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.stop();
    await this.#worker.terminate();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #ask(request: WatchThreadRequest): Promise<unknown> {
    if (this.#isClosed) return Promise.resolve(null);
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const number = ++this.#number;
    if (request.kind === 'watch' || request.kind === 'shapes') Atomics.store(this.#wanted, 0, number);
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ number, request });
    });
  }

  #take(message: FromWatchThread): void {
    if (message.kind === 'progress') {
      this.#onProgress(message.rowsRead);
      return;
    }
    const waiting = this.#waiting.get(message.number);
    this.#waiting.delete(message.number);
    if (message.kind === 'answer') waiting?.resolve(message.answer);
    else if (message.kind === 'cancelled') waiting?.resolve(null);
    else waiting?.reject(faultOf(message));
  }

  #lose(error: Error): void {
    this.#lost ??= error;
    for (const { resolve, reject } of this.#waiting.values()) {
      if (this.#isClosed) resolve(null);
      else reject(error);
    }
    this.#waiting.clear();
  }
}
