// What the thread of a watching command does: runs Templates over a local file under its eyes, the last one that is wanted, and
// answers questions about the Run that was complete last. Rows stay here; what is asked for crosses over.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { inputFormats } from '../input/index.ts';
import { FileSource } from '../input/source/file-source.ts';
import { type BudgetShare, largeRowOwner, RUN_RESERVATION_BYTES, threadShare } from '../memory/budget.ts';
import { ThreadCollector } from '../memory/collector.ts';
import { KernelPool } from '../memory/kernel-pool.ts';
import { TemplateCache } from '../plan/template-cache.ts';
import { Cancelled } from '../protocol/failure.ts';
import { faultText } from '../protocol/fault-text.ts';
import { REJECTS_SUFFIX, type RunOutcome, type RunTask } from '../protocol/messages.ts';
import { runTemplate } from '../run/run.ts';
import { runCoroutine } from '../thread/coroutine.ts';
import { RunSnapshot } from './run-snapshot.ts';
import { SnapshotAnswers } from './snapshot-answers.ts';
import type {
  FromWatchThread,
  ToWatchThread,
  Watched,
  WatchRequest,
  WatchThreadRequest,
  WatchThreadStart,
} from './watch-messages.ts';

/** Milliseconds between two words of how far a Run is. */
const PROGRESS_MILLISECONDS = 200;

const THREAD = 0;

/** What a watched Run writes is nobody's: beyond this it goes to the thread's folder. */
const OUTPUT_MEMORY_BYTES_MAX = 1024 * 1024;

/** A local file has no plan and so no ceilings but the machine's. */
const NO_LIMITS = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

/** Serves the port until it is closed. */
export function serveWatch(port: MessagePort, start: WatchThreadStart): void {
  const thread = new WatchServer(port, start);
  port.on('message', (message: ToWatchThread) => void thread.receive(message));
}

class WatchServer {
  readonly #port: MessagePort;
  readonly #start: WatchThreadStart;
  readonly #wanted: Int32Array;
  readonly #budget: BudgetShare;
  readonly #kernels: KernelPool;
  readonly #templates = new TemplateCache();
  #answers: SnapshotAnswers | null = null;
  /** Runs come one after the other. */
  #running: Promise<void> = Promise.resolve();

  constructor(port: MessagePort, start: WatchThreadStart) {
    this.#port = port;
    this.#start = start;
    this.#wanted = new Int32Array(start.wanted);
    this.#budget = threadShare(new Int32Array(start.budget), THREAD);
    this.#kernels = new KernelPool(start.kernels, this.#budget, new ThreadCollector());
  }

  async receive({ number, request }: ToWatchThread): Promise<void> {
    if (request.kind !== 'watch') {
      this.#tell(number, () => this.#answer(request));
      return;
    }
    const before = this.#running;
    this.#running = before.then(() => this.#watch(number, request));
    await this.#running;
  }

  #answer(request: Exclude<WatchThreadRequest, WatchRequest>): unknown {
    if (this.#answers === null) return null;
    if (request.kind === 'rows') return this.#answers.rows(request);
    if (request.kind === 'trace') return this.#answers.trace(request);
    return this.#answers.sourceRows(request);
  }

  #tell(number: number, answer: () => unknown): void {
    try {
      this.#send({ kind: 'answer', number, answer: answer() });
    } catch (error) {
      this.#send({ kind: 'fault', number, ...faultText(error) });
    }
  }

  async #watch(number: number, request: WatchRequest): Promise<void> {
    try {
      const watched = await this.#watchTwice(number, request);
      this.#send({ kind: 'answer', number, answer: watched });
    } catch (error) {
      if (error instanceof Cancelled) this.#send({ kind: 'cancelled', number });
      else this.#send({ kind: 'fault', number, ...faultText(error) });
    }
  }

  /** The verdict is that of a Run as it is. Where a row ends it, a second one shows the rows behind that one too. */
  async #watchTwice(number: number, request: WatchRequest): Promise<Watched> {
    const begun = performance.now();
    const { profiledStep } = request;
    const rowsMax = request.rowsMax ?? Number.POSITIVE_INFINITY;
    let snapshot = new RunSnapshot({ gathers: false, rowsMax, profiledStep });
    const outcome = await this.#run(number, request, snapshot);
    if (outcome.failure?.code === 'TEMPLATE_ROW_ERROR') {
      snapshot = new RunSnapshot({ gathers: true, rowsMax, profiledStep });
      await this.#run(number, request, snapshot);
    }
    const answers = new SnapshotAnswers(snapshot);
    const rowsRead = Math.max(outcome.report.rows_read, snapshot.rowsSeen);
    if (snapshot.plan !== null) this.#answers = answers;
    return {
      failure: outcome.failure,
      steps: answers.steps,
      profiledStep,
      profiles: snapshot.profiles,
      // A Run that a row ends has read fewer than the one that shows the rows behind it.
      isPartial: rowsRead >= rowsMax,
      rowsRead,
      rowsWritten: outcome.rowsWritten,
      headers: answers.headers,
      milliseconds: performance.now() - begun,
    };
  }

  async #run(number: number, request: WatchRequest, watch: RunSnapshot): Promise<RunOutcome> {
    const source = new FileSource(request.path);
    const task = this.#task(number, request);
    let toldAt = performance.now();
    const beat = (): void => {
      if (performance.now() - toldAt < PROGRESS_MILLISECONDS) return;
      toldAt = performance.now();
      this.#send({ kind: 'progress', number, rowsRead: watch.rowsSeen });
    };
    try {
      source.grown(statSync(request.path).size, true);
      const work = runTemplate({
        task,
        prepared: this.#templates.get(request.template),
        source,
        kernels: this.#kernels,
        budget: this.#budget,
        largeRow: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
        largeRowOwner: largeRowOwner(THREAD),
        formats: inputFormats,
        cancelled: () => Atomics.load(this.#wanted, 0) !== number,
        beat,
        watch,
      });
      return await runCoroutine(work);
    } finally {
      source.close();
      for (const path of [task.output.path, task.output.path + REJECTS_SUFFIX]) rmSync(path, { force: true });
    }
  }

  #task(number: number, { template, ending, path, startedAt }: WatchRequest): RunTask {
    const { folder, tables, secretsDirectory } = this.#start;
    return {
      task: number,
      template,
      source: { kind: 'file', path },
      ending,
      overrides: { delimiter: null, headerRow: null },
      limits: NO_LIMITS,
      output: { path: join(folder, `${number}.output`), memoryBytesMax: OUTPUT_MEMORY_BYTES_MAX },
      spillDirectory: join(folder, `${number}.spill`),
      tables,
      secretsDirectory,
      startedAt,
      reservationBytes: RUN_RESERVATION_BYTES,
    };
  }

  #send(message: FromWatchThread): void {
    this.#port.postMessage(message);
  }
}
