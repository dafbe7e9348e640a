// Compares the engine with other engines: the same file, the same work, alternating, each in a separate process. The
// processes of engines stay alive between their runs, as in a service.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compareAnswers, readAnswer } from './answers.ts';
import { type Entrant, entrants } from './contenders/lineup.ts';
import { INPUTS, type Input } from './inputs/index.ts';
import {
  type Figure,
  figureOf,
  LastingProcess,
  type Measure,
  measure,
  WARM_BYTES,
  WARM_MILLISECONDS,
} from './measure.ts';
import { limitOf, type PhysicalLimits, type WorkloadLimit } from './physical-limits.ts';
import type { Progress } from './progress.ts';
import { isEngine, type System } from './workloads/job.ts';
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
  readonly system: System;
  readonly threads: number;
  readonly measures: readonly Measure[];
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

/**
 * A contender slower than this is measured once: more rounds of minutes give no new information. Slow programs, which are
 * many times slower than the engines, are measured once from one second on.
 */
const SLOW_MILLISECONDS = 5_000;
const SLOW_PROGRAM_MILLISECONDS = 1_000;

/** Slow programs read a file that is smaller by this factor. */
const SLOW_DIVISOR = 4;

interface Inputs {
  readonly large: string;
  readonly slow: string;
  readonly warmUp: string;
}

interface Race {
  readonly entrant: Entrant;
  readonly input: string;
  readonly measures: Measure[];
  failure: string | null;
  /** For engines, otherwise null. */
  readonly lasting: LastingProcess | null;
}

/** Every contender's output for each workload is checked before its time counts. */
export async function benchEngine(settings: EngineSettings): Promise<void> {
  const { folder, workloads } = settings;
  const all = entrants(({ name }, why) => console.log(`${name}: skipped, ${why}`));
  const files = new Set<string>();
  for (const [index, workload] of workloads.entries()) {
    const input = INPUTS[workload.input];
    const lineup = all.filter(({ system }) => canRead(system, input));
    const ending = input.type ?? 'csv';
    const make = (kind: string, bytes: number): string => {
      const path = join(folder, `${workload.input}-${kind}.${ending}`);
      input.make(path, Math.min(bytes, settings.inputBytes));
      files.add(path);
      return path;
    };
    settings.progress.show(`${workload.name}: making ${input.title}`);
    checkAnswers(settings, workload, lineup, make('check', CHECK_BYTES));
    const large = make('large', settings.inputBytes);
    const hasSlow = lineup.some(({ isSlow }) => isSlow);
    const slow = hasSlow ? make('slow', Math.ceil(settings.inputBytes / SLOW_DIVISOR)) : large;
    settings.onResult(await measureAll(settings, workload, lineup, { large, slow, warmUp: make('warm', WARM_BYTES) }));
    if (workloads[index + 1]?.input === workload.input) continue;
    // Memory is the medium, and later parts need several gigabytes of it.
    for (const path of files) rmSync(path);
    files.clear();
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

async function measureAll(
  settings: EngineSettings,
  workload: Workload,
  lineup: readonly Entrant[],
  inputs: Inputs,
): Promise<EngineResult> {
  const { folder, rounds, limits, progress } = settings;
  const output = join(folder, `out.${workload.ending}`);
  const races: Race[] = [];
  try {
    for (const entrant of lineup) {
      progress.show(`${workload.name}: starting ${entrant.name}`);
      races.push(await newRace(entrant, workload, inputs, output));
    }
    for (let round = 0; round < rounds; round++) {
      for (const race of races) {
        progress.show(`${workload.name}: round ${round + 1} of ${rounds}, ${race.entrant.name}`);
        await takeTurn(race, workload, output);
      }
    }
  } finally {
    for (const { lasting } of races) await lasting?.stop();
  }
  const inputBytes = statSync(inputs.large).size;
  const outputBytes = races[0]!.measures[0]!.outputBytes;
  const limit = limitOf(workload, limits, inputBytes, outputBytes);
  return { workload, inputBytes, outputBytes, limit, standings: races.map((race) => standing(race, inputBytes)) };
}

async function newRace(entrant: Entrant, { name }: Workload, inputs: Inputs, output: string): Promise<Race> {
  const { system, threads, isSlow } = entrant;
  const input = isSlow ? inputs.slow : inputs.large;
  const warmUp = { input: inputs.warmUp, milliseconds: WARM_MILLISECONDS };
  const job = { system, threads, workload: name, input, output, budgetBytes: null, warmUp };
  const race = { entrant, input, measures: [], failure: null, lasting: null };
  if (!isEngine(system)) return race;
  try {
    return { ...race, lasting: await LastingProcess.start(job) };
  } catch (error) {
    if (system === 'template-run') throw error;
    return { ...race, failure: (error as Error).message };
  }
}

async function takeTurn(race: Race, workload: Workload, output: string): Promise<void> {
  const { entrant, input, measures, failure, lasting } = race;
  const { system, threads, isSlow } = entrant;
  const slowMilliseconds = isSlow ? SLOW_PROGRAM_MILLISECONDS : SLOW_MILLISECONDS;
  if (failure !== null || (measures[0]?.milliseconds ?? 0) > slowMilliseconds) return;
  const job = { system, threads, workload: workload.name, input, output, budgetBytes: null };
  try {
    measures.push(lasting === null ? measure(job) : await lasting.run());
  } catch (error) {
    // Other systems may run out of memory on a large file, which the table then shows.
    if (system === 'template-run') throw error;
    race.failure = (error as Error).message;
  }
  rmSync(output, { force: true });
}

function standing({ entrant, input, measures, failure }: Race, largeBytes: number): Standing {
  const { system, threads } = entrant;
  const inputBytes = statSync(input).size;
  const name = inputBytes < largeBytes ? `${entrant.name}, ${Math.round(inputBytes / 1e6)} MB` : entrant.name;
  const shared = { name, system, threads, measures, isOurs: system === 'template-run', failure };
  if (measures.length === 0 || failure !== null)
    return { ...shared, rate: null, processorMilliseconds: 0, peakBytes: 0, rounds: 0 };
  const rate = figureOf(measures.map(({ milliseconds }) => inputBytes / 1e3 / milliseconds));
  const peakBytes = figureOf(measures.map(({ peakBytes }) => peakBytes)).median;
  const processor = figureOf(measures.map((measure) => measure.processorMilliseconds)).median;
  const processorMilliseconds = processor / (inputBytes / 1e6);
  return { ...shared, rate, processorMilliseconds, peakBytes, rounds: measures.length };
}
