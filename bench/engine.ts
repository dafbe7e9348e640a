// Compares the engine with other engines: the same file, the same work, alternating, each run in a separate process.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compareAnswers, readAnswer } from './answers.ts';
import { type Entrant, entrants } from './contenders/lineup.ts';
import { INPUTS, type Input } from './inputs/index.ts';
import { type Figure, figureOf, type Measure, measure } from './measure.ts';
import { limitOf, type PhysicalLimits, type WorkloadLimit } from './physical-limits.ts';
import type { Progress } from './progress.ts';
import type { System } from './workloads/job.ts';
import type { Workload } from './workloads/workload.ts';

export interface EngineSettings {
  /** Folder for inputs and outputs; in memory (tmpfs) if the speed of the disk should not count. */
  readonly folder: string;
  readonly inputBytes: number;
  readonly rounds: number;
  readonly workloads: readonly Workload[];
  readonly limits: PhysicalLimits;
  readonly progress: Progress;
  onResult(result: EngineResult): void;
}

export interface EngineResult {
  readonly workload: Workload;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly limit: WorkloadLimit;
  readonly standings: readonly Standing[];
}

/** Result of one contender, or its failure. */
export interface Standing {
  readonly name: string;
  readonly isOurs: boolean;
  /** MB/s of the input. */
  readonly rate: Figure | null;
  /** Processor time of all threads per MB, which is reliable on a busy machine, too. */
  readonly processorMilliseconds: number;
  readonly peakBytes: number;
  readonly rounds: number;
  readonly failure: string | null;
}

/** Outputs are compared on files of this size, because reading them is slow JavaScript. */
const CHECK_BYTES = 5_000_000;

/** A contender slower than this is measured once: more rounds of minutes give no new information. */
const SLOW_MILLISECONDS = 5_000;

/** Every contender's output for each workload is checked before its time counts. */
export function benchEngine(settings: EngineSettings): void {
  const { folder, inputBytes, workloads } = settings;
  const all = entrants(({ name }, why) => console.log(`${name}: skipped, ${why}`));
  for (const workload of workloads) {
    const input = INPUTS[workload.input];
    const lineup = all.filter(({ system }) => canRead(system, input));
    const ending = input.type ?? 'csv';
    const small = join(folder, `${workload.input}-check.${ending}`);
    const large = join(folder, `${workload.input}.${ending}`);
    settings.progress.show(`${workload.name}: making ${input.title}`);
    input.make(small, Math.min(CHECK_BYTES, inputBytes));
    input.make(large, inputBytes);
    checkAnswers(settings, workload, lineup, small);
    settings.onResult(measureAll(settings, workload, lineup, large));
  }
}

/** Returns whether the system can read a file of this kind. */
function canRead(system: System, { type, encoding }: Input): boolean {
  if (type === undefined && encoding === undefined) return true;
  if (system === 'polars') return type !== 'json' && encoding === undefined;
  return system === 'template-run' || system === 'duckdb';
}

function checkAnswers(
  { folder, progress }: EngineSettings,
  workload: Workload,
  lineup: readonly Entrant[],
  input: string,
): void {
  const answers = lineup.map(({ name, system, threads }) => {
    progress.show(`${workload.name}: checking the answer of ${name}`);
    const output = join(folder, `check.${workload.ending}`);
    measure({ system, threads, workload: workload.name, input, output, budgetBytes: null });
    const answer = readAnswer(output, workload);
    rmSync(output);
    return { system, answer };
  });
  for (const { system, answer } of answers) compareAnswers(workload, system, answers[0]!.answer, answer);
}

function measureAll(
  { folder, rounds, limits, progress }: EngineSettings,
  workload: Workload,
  lineup: readonly Entrant[],
  input: string,
): EngineResult {
  const races = lineup.map((entrant) => ({ entrant, measures: [] as Measure[], failure: null as string | null }));
  for (let round = 0; round < rounds; round++) {
    for (const race of races) {
      const { name, system, threads } = race.entrant;
      if (race.failure !== null || (race.measures[0]?.milliseconds ?? 0) > SLOW_MILLISECONDS) continue;
      progress.show(`${workload.name}: round ${round + 1} of ${rounds}, ${name}`);
      const output = join(folder, `out.${workload.ending}`);
      try {
        race.measures.push(measure({ system, threads, workload: workload.name, input, output, budgetBytes: null }));
      } catch (error) {
        // Other systems may run out of memory on a large file, which the table then shows.
        if (system === 'template-run') throw error;
        race.failure = (error as Error).message;
      }
      rmSync(output, { force: true });
    }
  }
  const inputBytes = statSync(input).size;
  const outputBytes = races[0]!.measures[0]!.outputBytes;
  const limit = limitOf(workload, limits, inputBytes, outputBytes);
  const standings = races.map(({ entrant, measures, failure }) => standing(entrant, measures, failure, inputBytes));
  return { workload, inputBytes, outputBytes, limit, standings };
}

function standing(
  { name, system }: Entrant,
  measures: readonly Measure[],
  failure: string | null,
  inputBytes: number,
): Standing {
  const isOurs = system === 'template-run';
  if (measures.length === 0 || failure !== null) {
    return { name, isOurs, rate: null, processorMilliseconds: 0, peakBytes: 0, rounds: 0, failure };
  }
  const rate = figureOf(measures.map(({ milliseconds }) => inputBytes / 1e3 / milliseconds));
  const peakBytes = figureOf(measures.map(({ peakBytes }) => peakBytes)).median;
  const processor = figureOf(measures.map((measure) => measure.processorMilliseconds)).median;
  const processorMilliseconds = processor / (inputBytes / 1e6);
  return { name, isOurs, rate, processorMilliseconds, peakBytes, rounds: measures.length, failure };
}
