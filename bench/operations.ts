// Compares every operation with other engines on two threads: the same job in each engine's language, with compared
// outputs, alternating.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { REJECTS_SUFFIX } from '../workers/protocol/messages.ts';
import { type Answer, compareAnswers, readAnswer, readParquetAnswer } from './answers.ts';
import { type Entrant, entrants } from './contenders/lineup.ts';
import { INPUTS } from './inputs/index.ts';
import { type Figure, figureOf, LastingProcess, type Measure, measure, WARM_BYTES } from './measure.ts';
import { jobOf, type OperationRow } from './operations/operation-row.ts';
import type { Progress } from './progress.ts';
import type { Job, System } from './workloads/job.ts';

export interface OperationsSettings {
  readonly folder: string;
  /** Size in the benchmark; the files here are smaller. */
  readonly bytes: number;
  readonly rounds: number;
  readonly rows: readonly OperationRow[];
  readonly progress: Progress;
  /** Receives each row as soon as it is measured: the whole table takes many minutes. */
  readonly onResult: (result: OperationResult) => void;
}

/** Result of one engine for one row. */
export interface OperationTime {
  /** MB/s of the input. */
  readonly rate: Figure;
  /** For all threads, per MB of input. */
  readonly processorMilliseconds: number;
  readonly peakBytes: number;
}

export interface OperationResult {
  readonly row: OperationRow;
  readonly inputBytes: number;
  readonly own: OperationTime;
  /** Results by engine name, for installed engines that can express the row. */
  readonly others: ReadonlyMap<string, OperationTime>;
}

/** The table has more than a hundred rows. With half of the size, ratios differ by a few percent. */
const SIZE = 1 / 2;

/** Outputs are compared on files of this size. */
const CHECK_BYTES = 2_000_000;

/** An engine slower than this in a row is measured once: further rounds would take most of the table's time. */
export const SLOW_MILLISECONDS = 5_000;

/** A short warm-up: the median of five measured Runs follows, and the table has more than a hundred rows. */
const WARM_MILLISECONDS = 1000;

const THREADS = 2;
const ENGINES: readonly System[] = ['template-run', 'duckdb', 'polars'];

interface Race {
  readonly entrant: Entrant;
  readonly measures: Measure[];
  readonly lasting: LastingProcess;
}

/** Returns one result per row, in the order of the table, without rows that fail, for example if an output differs. */
export async function benchOperations(settings: OperationsSettings): Promise<OperationResult[]> {
  const { rows, progress, onResult } = settings;
  const all = entrants(({ name }, why) => console.log(`${name}: skipped, ${why}`));
  const lineup = all.filter(({ system, threads }) => ENGINES.includes(system) && threads === THREADS);
  const results: OperationResult[] = [];
  for (const [index, row] of rows.entries()) {
    progress.show(`row ${index + 1} of ${rows.length}: ${row.name}`);
    try {
      const result = await measureRow(settings, row, lineup);
      onResult(result);
      results.push(result);
    } catch (error) {
      // The other rows take many minutes, so they are kept. The exit status of the benchmark shows the failure.
      console.error(`${row.name} failed: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  return results;
}

async function measureRow(
  settings: OperationsSettings,
  row: OperationRow,
  all: readonly Entrant[],
): Promise<OperationResult> {
  const job = jobOf(row);
  const lineup = all.filter(({ system }) => system !== 'polars' || job.polars !== null);
  await checkAnswers(settings, job, lineup);
  const input = inputOf(settings, job, settings.bytes * SIZE);
  const races: Race[] = [];
  try {
    for (const entrant of lineup) {
      races.push({ entrant, measures: [], lasting: await startLasting(settings, job, entrant, input) });
    }
    for (let round = 0; round < settings.rounds; round++) {
      for (const { measures, lasting } of races) {
        if ((measures[0]?.milliseconds ?? 0) > SLOW_MILLISECONDS) continue;
        removeOutput(outputIn(settings));
        measures.push(await lasting.run());
      }
    }
  } finally {
    for (const { lasting } of races) await lasting.stop();
    clear(settings);
  }
  const inputBytes = statSync(input).size;
  const times = races.map(({ entrant, measures }) => [entrant.name, timeOf(measures, inputBytes)] as const);
  return { row, inputBytes, own: times[0]![1], others: new Map(times.slice(1)) };
}

async function checkAnswers(settings: OperationsSettings, job: Job, lineup: readonly Entrant[]): Promise<void> {
  const input = inputOf(settings, job, Math.min(CHECK_BYTES, settings.bytes * SIZE));
  const answers: { readonly system: System; readonly answer: Answer }[] = [];
  for (const entrant of lineup) {
    runOnce(settings, job, entrant, input);
    const output = outputIn(settings);
    const answer = job.ending === 'parquet' ? await readParquetAnswer(output) : readAnswer(output, job);
    answers.push({ system: entrant.system, answer });
  }
  clear(settings);
  for (const { system, answer } of answers) compareAnswers(job, system, answers[0]!.answer, answer);
}

function startLasting(
  settings: OperationsSettings,
  job: Job,
  { system, threads }: Entrant,
  input: string,
): Promise<LastingProcess> {
  const beginning = inputOf(settings, job, Math.min(WARM_BYTES, settings.bytes * SIZE));
  const warmUp = { input: beginning, milliseconds: WARM_MILLISECONDS };
  const processJob = { system, threads, workload: job.name, input, output: outputIn(settings), budgetBytes: null };
  return LastingProcess.start({ ...processJob, warmUp });
}

function runOnce(settings: OperationsSettings, job: Job, { system, threads }: Entrant, input: string): void {
  const output = outputIn(settings);
  removeOutput(output);
  measure({ system, threads, workload: job.name, input, output, budgetBytes: null });
}

/** Inputs of one kind are created once for all rows. */
function inputOf({ folder }: OperationsSettings, job: Job, bytes: number): string {
  const input = INPUTS[job.input];
  const path = join(folder, `${job.input}-${bytes}.${input.type ?? 'csv'}`);
  input.make(path, bytes);
  return path;
}

function outputIn({ folder }: OperationsSettings): string {
  return join(folder, 'operation.csv');
}

/** Also removes the file of rejected rows. */
function removeOutput(path: string): void {
  for (const ending of ['', REJECTS_SUFFIX]) rmSync(path + ending, { force: true });
}

function clear(settings: OperationsSettings): void {
  removeOutput(outputIn(settings));
  rmSync(`${outputIn(settings)}.tables`, { recursive: true, force: true });
}

function timeOf(measures: readonly Measure[], inputBytes: number): OperationTime {
  const processor = figureOf(measures.map(({ processorMilliseconds }) => processorMilliseconds)).median;
  return {
    rate: figureOf(measures.map(({ milliseconds }) => inputBytes / 1e3 / milliseconds)),
    processorMilliseconds: processor / (inputBytes / 1e6),
    peakBytes: figureOf(measures.map(({ peakBytes }) => peakBytes)).median,
  };
}
