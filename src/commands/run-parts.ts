// Does the parts of one Run in the threads of a pool and joins what they tell: see workers/run/split.ts.
import { rmSync, writeFileSync } from 'node:fs';
import { OutputTurns } from '../../workers/output/sink/output-turns.ts';
import type { RunOutcome, RunTask, TaskPart } from '../../workers/protocol/messages.ts';
import { type CodeCounts, REPORT_ROWS_MAX, type RowErrorCode, type RunReport } from '../../workers/run/report.ts';
import type { PooledRun, ThreadPool } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';

export interface PartsJob {
  readonly pool: ThreadPool;
  /** Of the whole Run. */
  readonly task: RunTask;
  readonly parts: readonly TaskPart[];
  /** Throws where a task did not come to an end of its own: a fault of ours, a lost thread. */
  readonly outcomeOf: (end: TaskEnd) => RunOutcome;
}

/** The outcome of the whole; null where a part failed, and nothing remains of its output. Throws as `outcomeOf`. */
export async function runParts(job: PartsJob): Promise<RunOutcome | null> {
  const { path } = job.task.output;
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  new OutputTurns(job.pool.turns).begin();
  const ends = await new Relay(job).ends();
  // Those that another one's failure has ended say nothing of the file.
  const outcomes = ends.filter((end) => end !== null && end.kind !== 'cancelled').map((end) => job.outcomeOf(end!));
  if (outcomes.length === ends.length && outcomes.every(({ failure }) => failure === null)) return joined(outcomes);
  rmSync(path, { force: true });
  return null;
}

function isSound(end: TaskEnd): boolean {
  return end.kind === 'done' && end.outcome.failure === null;
}

/** Keeps one part for each thread at work; a thread that is still being started gets none. */
class Relay {
  readonly #job: PartsJob;
  readonly #ends: (TaskEnd | null)[];
  readonly #running = new Map<number, PooledRun>();
  #next = 0;
  #failed = false;
  #resolve: () => void = () => {};

  constructor(job: PartsJob) {
    this.#job = job;
    this.#ends = job.parts.map(() => null);
  }

  /** By part; those that were not begun because another had failed are null. */
  async ends(): Promise<readonly (TaskEnd | null)[]> {
    const over = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.#startMore();
    await over;
    return this.#ends;
  }

  #startMore(): void {
    const { pool, parts } = this.#job;
    const wanted = Math.max(1, pool.liveThreads);
    while (!this.#failed && this.#running.size < wanted && this.#next < parts.length) this.#start(parts[this.#next++]!);
    if (this.#running.size === 0) this.#resolve();
  }

  #start(part: TaskPart): void {
    const { pool, task } = this.#job;
    const run = pool.run({ ...task, task: pool.nextTask(), part }, (end) => this.#ended(part, end));
    this.#running.set(part.number, run);
    run.grown(part.to, true);
  }

  #ended(part: TaskPart, end: TaskEnd): void {
    this.#ends[part.number] = end;
    this.#running.delete(part.number);
    if (!isSound(end)) {
      this.#failed = true;
      for (const run of this.#running.values()) run.cancel();
    }
    this.#startMore();
  }
}

function joined(parts: readonly RunOutcome[]): RunOutcome {
  const [first, ...others] = parts as readonly [RunOutcome, ...RunOutcome[]];
  const { report } = first;
  let { rowsWritten, busyMilliseconds } = first;
  let sizeBytes = first.output!.sizeBytes;
  for (const part of others) {
    addReport(report, part.report);
    rowsWritten = rowsWritten! + part.rowsWritten!;
    busyMilliseconds += part.busyMilliseconds;
    sizeBytes += part.output!.sizeBytes;
  }
  return { ...first, rowsWritten, busyMilliseconds, output: { ...first.output!, sizeBytes } };
}

/** Adds the report of the next part; its rows count from the part's first. */
function addReport(report: RunReport, part: RunReport): void {
  const rowsBefore = report.rows_read;
  addCounts(report.input.errors, part.input.errors, rowsBefore);
  for (const [index, operation] of report.operations.entries()) {
    const more = part.operations[index]!;
    operation.rows_in += more.rows_in;
    operation.rows_out += more.rows_out;
    operation.cells_changed += more.cells_changed;
    addCounts(operation.errors, more.errors, rowsBefore);
  }
  report.output.formulas_guarded += part.output.formulas_guarded;
  report.rows_written += part.rows_written;
  report.rows_read += part.rows_read;
}

function addCounts(into: CodeCounts, from: CodeCounts, rowsBefore: number): void {
  for (const [key, { count, rows }] of Object.entries(from)) {
    const code = key as RowErrorCode;
    const known = into[code] ?? { count: 0, rows: [] };
    known.count += count;
    known.rows = [...known.rows, ...rows.map((row) => row + rowsBefore)].slice(0, REPORT_ROWS_MAX);
    into[code] = known;
  }
}
