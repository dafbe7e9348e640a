// Main code of the thread in which a command watches Runs. Runs Templates over a local file, abandons a Run if a
// newer one was requested, and answers questions about the last complete Run. Rows stay in this thread; only
// requested rows are sent to the command.
import { existsSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
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
import type { RunWatch } from '../run/run-job.ts';
import { runCoroutine } from '../scheduling/coroutine.ts';
import { RunSnapshot } from './run-snapshot.ts';
import { ShapeRows, SnapshotAnswers } from './snapshot-answers.ts';
import type {
  FromWatchThread,
  RowsRequest,
  ShapesRequest,
  SourceRows,
  SourceRowsRequest,
  ToWatchThread,
  TracedCell,
  TraceRequest,
  Watched,
  WatchRequest,
  WatchThreadRequest,
  WatchThreadStart,
} from './watch-messages.ts';

type RunRequest = Exclude<WatchThreadRequest, RowsRequest>;

type FileRequest = ShapesRequest | WatchRequest;

interface RunTurn {
  /** Number of the request message. */
  readonly number: number;
  /** Number of the message whose Run is current. */
  readonly wanted: number;
}

/** An observer that also reports the progress of the Run. */
interface SeenRows extends RunWatch {
  readonly rowsSeen: number;
  close(): void;
}

/** Interval between progress messages, in milliseconds. */
const PROGRESS_MILLISECONDS = 200;

const THREAD = 0;

/** The output of a watched Run is not used. A larger output goes to a file in the thread's folder. In bytes. */
const OUTPUT_MEMORY_BYTES_MAX = 1024 * 1024;

/** A local file has no account plan, so only the machine limits it. */
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
  /** The request to which `#answers` belongs. */
  #last: WatchRequest | null = null;
  /** Runs are processed one after the other. */
  #running: Promise<void> = Promise.resolve();

  constructor(port: MessagePort, start: WatchThreadStart) {
    this.#port = port;
    this.#start = start;
    this.#wanted = new Int32Array(start.wanted);
    this.#budget = threadShare(new Int32Array(start.budget), THREAD);
    this.#kernels = new KernelPool(start.kernels, this.#budget, new ThreadCollector());
  }

  async receive({ number, request }: ToWatchThread): Promise<void> {
    const known = request.kind === 'watch' || request.kind === 'shapes' ? null : this.#known(request);
    if (known !== null) this.#tell(number, known);
    else await this.#inTurn(number, request as RunRequest);
  }

  /** The answer if it is available at once, even during a Run. Null if it requires another Run. */
  #known(request: RowsRequest | TraceRequest | SourceRowsRequest): (() => unknown) | null {
    const answers = this.#answers;
    if (answers === null) return () => null;
    if (request.kind === 'rows') return () => answers.rows(request);
    const rows = request.kind === 'trace' ? [request.sourceRow] : request.rows;
    if (!rows.every((row) => answers.hasSourceRow(row))) return null;
    return () => (request.kind === 'trace' ? answers.trace(request) : answers.sourceRows(request.rows));
  }

  /** Requests that need a Run wait for the previous one. */
  async #inTurn(number: number, request: RunRequest): Promise<void> {
    const before = this.#running;
    this.#running = before.then(() => this.#work(number, request));
    await this.#running;
  }

  #tell(number: number, answer: () => unknown): void {
    try {
      this.#send({ kind: 'answer', number, answer: answer() });
    } catch (error) {
      this.#send({ kind: 'fault', number, ...faultText(error) });
    }
  }

  async #work(number: number, request: RunRequest): Promise<void> {
    try {
      const answer = await this.#answer(number, request);
      this.#send({ kind: 'answer', number, answer });
    } catch (error) {
      if (error instanceof Cancelled) this.#send({ kind: 'cancelled', number });
      else this.#send({ kind: 'fault', number, ...faultText(error) });
    }
  }

  #answer(number: number, request: RunRequest): Promise<unknown> {
    switch (request.kind) {
      case 'watch':
        return this.#watchTwice(number, request);
      case 'shapes':
        return this.#shapes(number, request);
      case 'trace':
        return this.#trace(number, request);
      case 'source_rows':
        return this.#sourceRows(number, request);
    }
  }

  /**
   * Runs the Template as usual, which gives the outcome. If a row error ends that Run, a second Run that skips such
   * rows shows the rows after it, too.
   */
  async #watchTwice(number: number, request: WatchRequest): Promise<Watched> {
    const begun = performance.now();
    const { rowsMax, pickedRows, profiledStep } = request;
    let snapshot = new RunSnapshot({ continuesAfterFailure: false, rowsMax, pickedRows, profiledStep });
    const outcome = await this.#run({ number, wanted: number }, request, snapshot);
    if (outcome.failure?.code === 'TEMPLATE_ROW_ERROR') {
      snapshot = new RunSnapshot({ continuesAfterFailure: true, rowsMax, pickedRows, profiledStep });
      await this.#run({ number, wanted: number }, request, snapshot);
    }
    const answers = new SnapshotAnswers(snapshot);
    const rowsRead = pickedRows === null ? Math.max(outcome.report.rows_read, snapshot.rowsSeen) : snapshot.rowsSeen;
    if (snapshot.plan !== null) {
      this.#answers = answers;
      this.#last = request;
    }
    return {
      failure: outcome.failure,
      steps: answers.steps,
      profiledStep,
      profiles: snapshot.profiles,
      // A Run that ended at a row has read fewer rows than the second Run, which shows the rows after it.
      isPartial: pickedRows !== null || rowsRead >= (rowsMax ?? Number.POSITIVE_INFINITY),
      rowsWithErrors: answers.rowsWithErrors,
      rowsRead,
      rowsWritten: outcome.rowsWritten,
      headers: answers.headers,
      firstRecord: firstRecord(outcome.report.input),
      sheetRows: snapshot.sheetRows,
      milliseconds: performance.now() - begun,
    };
  }

  async #shapes(number: number, request: ShapesRequest): Promise<readonly number[]> {
    const watch = new ShapeRows(request.firstRows);
    await this.#run({ number, wanted: number }, request, watch);
    return watch.found;
  }

  async #trace(number: number, request: TraceRequest): Promise<readonly TracedCell[] | null> {
    const alone = await this.#again(number, [request.sourceRow]);
    return alone === null ? null : this.#answers!.trace(request, alone);
  }

  async #sourceRows(number: number, { rows }: SourceRowsRequest): Promise<SourceRows | null> {
    return (await this.#again(number, rows))?.sourceRows(rows) ?? null;
  }

  /** Reads changed or failed rows from far down in the file again, to show how they arrived from the file. */
  async #again(number: number, rows: readonly number[]): Promise<SnapshotAnswers | null> {
    if (this.#last === null || !existsSync(this.#last.path)) return null;
    const pickedRows = [...new Set(rows)].sort((a, b) => a - b);
    const snapshot = new RunSnapshot({ continuesAfterFailure: true, rowsMax: null, pickedRows, profiledStep: 0 });
    const wanted = Atomics.load(this.#wanted, 0);
    await this.#run({ number, wanted }, this.#last, snapshot);
    return new SnapshotAnswers(snapshot);
  }

  /** Ends with Cancelled as soon as another Run is wanted than `wanted`. */
  async #run({ number, wanted }: RunTurn, request: FileRequest, watch: SeenRows): Promise<RunOutcome> {
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
        cancelled: () => Atomics.load(this.#wanted, 0) !== wanted,
        beat,
        watch,
      });
      return await runCoroutine(work);
    } finally {
      watch.close();
      source.close();
      for (const path of [task.output.path, task.output.path + REJECTS_SUFFIX]) rmSync(path, { force: true });
    }
  }

  #task(number: number, { template, ending, path, tables, startedAt }: FileRequest): RunTask {
    const { folder, secretsDirectory } = this.#start;
    return {
      task: number,
      template,
      source: { kind: 'file', path },
      ending,
      fileName: basename(path),
      overrides: { delimiter: null, headerRow: null },
      limits: NO_LIMITS,
      output: { path: join(folder, `${number}.output`), memoryBytesMax: OUTPUT_MEMORY_BYTES_MAX },
      spillDirectory: join(folder, `${number}.spill`),
      tables,
      secretsDirectory,
      startedAt,
      showsHeaders: true,
      reservationBytes: RUN_RESERVATION_BYTES,
    };
  }

  #send(message: FromWatchThread): void {
    this.#port.postMessage(message);
  }
}

/** See Watched.firstRecord. */
function firstRecord({ type, header_row: headerRow }: RunOutcome['report']['input']): number | null {
  return type === 'csv' ? (headerRow ?? -1) + 1 : null;
}
