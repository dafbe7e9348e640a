// Runs the tests of Templates on the real engine, with one thread, a memory budget and a temporary folder, as in the
// service.
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_RESERVATION_BYTES } from '../../workers/memory/budget.ts';
import { faultOf } from '../../workers/protocol/fault-text.ts';
import {
  REJECTS_SUFFIX,
  type RunOutcomeOutput,
  type RunTask,
  type TaskTable,
} from '../../workers/protocol/messages.ts';
import type { RunReport } from '../../workers/protocol/report.ts';
import { MEMORY_BUDGET_BYTES_MIN, MemoryBudget } from '../admission/memory-budget.ts';
import { ThreadPool } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';
import type { TestRun } from './run-tests.ts';
import type { TestOutcome } from './template-expectation.ts';

/** Tests are small; a larger one spills to disk like any other Run. */
const BUDGET_BYTES = 4 * MEMORY_BUDGET_BYTES_MIN;

const OUTPUT_MEMORY_BYTES_MAX = 1024 * 1024;

/** Fixed start time of every test, so that tests of `run.started_at` do not depend on the date. */
const STARTED_AT = '2026-01-01T00:00:00.000Z';

const NO_LIMITS = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

export class TestEngine {
  readonly #pool: ThreadPool;
  readonly #folder: string;
  readonly #tables: Readonly<Record<string, TaskTable>>;
  readonly #secretsDirectory: string | null;

  /** Calls `body` with an engine, and closes the engine afterwards. @param folder as in `open` */
  static async with<Result>(folder: string, body: (engine: TestEngine) => Promise<Result>): Promise<Result> {
    const engine = TestEngine.open(folder);
    try {
      return await body(engine);
    } finally {
      await engine.#pool.close();
    }
  }

  /**
   * The engine ends with the thread that opened it. @param folder folder for files of the tests, which the caller
   * removes
   */
  static open(folder: string): TestEngine {
    const budget = new MemoryBudget(BUDGET_BYTES, 1);
    const onThreadExit = (thread: number): void => budget.forgetThread(thread);
    return new TestEngine(new ThreadPool({ threads: 1, budget: budget.buffer, onThreadExit }), folder, {}, null);
  }

  private constructor(
    pool: ThreadPool,
    folder: string,
    tables: Readonly<Record<string, TaskTable>>,
    secretsDirectory: string | null,
  ) {
    this.#pool = pool;
    this.#folder = folder;
    this.#tables = tables;
    this.#secretsDirectory = secretsDirectory;
  }

  /** The same engine with an account's tables (by catalog name; tables of a test take precedence) and secrets. */
  forAccount(tables: Readonly<Record<string, TaskTable>>, secretsDirectory: string | null): TestEngine {
    return new TestEngine(this.#pool, this.#folder, tables, secretsDirectory);
  }

  /** Applies a Template to a test's input. Throws faults of the program. */
  async run(test: TestRun): Promise<TestOutcome> {
    const number = this.#pool.nextTask();
    const outputPath = join(this.#folder, `${number}.output`);
    const tables = { ...this.#tables, ...(await this.#writeTables(number, test.tables)) };
    const task = this.#task(number, test, outputPath, tables);
    const end = await new Promise<TaskEnd>((ended) => this.#pool.run(task, ended));
    if (end.kind === 'fault') throw faultOf(end);
    if (end.kind !== 'done') throw new Error('the thread of a test was lost');
    const { failure, reportText } = end.outcome;
    const output = await takeFile(end.outcome.output, outputPath);
    const rejects = await takeFile(end.outcome.rejects, outputPath + REJECTS_SUFFIX);
    return { output, rejects, failure, report: JSON.parse(reportText) as RunReport };
  }

  async #writeTables(
    number: number,
    tables: Readonly<Record<string, Uint8Array>>,
  ): Promise<Readonly<Record<string, TaskTable>>> {
    const written: Record<string, TaskTable> = {};
    for (const [index, [name, bytes]] of Object.entries(tables).entries()) {
      const path = join(this.#folder, `${number}.${index}.csv`);
      await writeFile(path, bytes);
      written[name] = { path, sha256: createHash('sha256').update(bytes).digest('hex') };
    }
    return written;
  }

  #task(number: number, test: TestRun, outputPath: string, tables: Readonly<Record<string, TaskTable>>): RunTask {
    const { source, format } = test;
    return {
      task: number,
      template: { source, format, sha256: createHash('sha256').update(source).digest('hex') },
      // A copy, because the bytes are transferred to the thread, and the test may run a second time for its rows.
      source: { kind: 'bytes', bytes: Uint8Array.from(test.input) },
      ending: test.ending,
      overrides: { delimiter: test.delimiter, headerRow: test.headerRow },
      limits: NO_LIMITS,
      output: { path: outputPath, memoryBytesMax: OUTPUT_MEMORY_BYTES_MAX },
      spillDirectory: join(this.#folder, `${number}.spill`),
      tables,
      secretsDirectory: this.#secretsDirectory,
      startedAt: STARTED_AT,
      showsHeaders: true,
      reservationBytes: RUN_RESERVATION_BYTES,
    };
  }
}

/** The bytes of an output file of a Run, which is then removed. */
async function takeFile(file: RunOutcomeOutput | null, path: string): Promise<Uint8Array | null> {
  if (file === null) return null;
  if (file.bytes !== null) return file.bytes;
  const bytes = await readFile(path);
  await rm(path);
  return bytes;
}
