// `npm run bench`: measures the requested parts, prints each table as soon as it is ready, and writes it to RESULTS.md
// if requested.
import { mkdirSync, rmSync } from 'node:fs';
import { benchBudget } from './budget.ts';
import { benchEngine, type EngineResult } from './engine.ts';
import { benchGrowth } from './growth.ts';
import { describeMachine, machineLines } from './machine.ts';
import { benchOperations, type OperationResult } from './operations.ts';
import { measureLimits, type PhysicalLimits } from './physical-limits.ts';
import { type Progress, progress } from './progress.ts';
import { comparisonLines, readRun, writeRun } from './report/comparison.ts';
import { engineSection, type SummaryLine, summaryLine, summarySection } from './report/engine-section.ts';
import { type Measurement, saveMeasurement } from './report/measurements.ts';
import { operationLine, operationsSection } from './report/operations-section.ts';
import { writeResults } from './report/results.ts';
import type { Section } from './report/section.ts';
import { printSection } from './report/terminal.ts';
import { benchScaling, type Runner } from './scaling.ts';
import { benchFleet } from './service/fleet.ts';
import { benchFrontEnds } from './service/front-ends.ts';
import { benchLatency } from './service/latency.ts';
import { benchSmallRuns } from './service/small-runs.ts';
import { benchUploads } from './service/uploads.ts';
import { benchWorkers } from './service/workers.ts';
import { type Part, readSettings, type Settings, USAGE } from './settings.ts';
import { benchStudio } from './studio.ts';
import { measureWorkbookReading, workbookReadingSection } from './workbook-reading.ts';
import { measureWorkbookWriting, workbookWritingSection } from './workbook-writing.ts';
import { FORMAT_WORKLOADS } from './workloads/formats.ts';

/** Compiled benchmarks are in dist/bench. */
const BENCH_FOLDER = new URL('../../bench', import.meta.url).pathname;

const chosen = settingsOrUsage();
if (chosen !== null) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => leave(chosen));
  mkdirSync(chosen.folder, { recursive: true });
  try {
    await run(chosen);
  } finally {
    rmSync(chosen.folder, { recursive: true, force: true });
  }
}

async function run(settings: Settings): Promise<void> {
  const { folder } = settings;
  const machine = describeMachine(folder);
  const measured: Measurement[] = [];
  // Read first: a mistake in the path must not be found after an hour.
  const earlier = settings.comparePath === null ? null : readRun(settings.comparePath);
  for (const [name, value] of machineLines(machine)) console.log(`${name}: ${value}`);
  const line = progress();
  const onSection = (section: Section, summary: SummaryLine | null = null): void => {
    line.clear();
    printSection(section);
    measured.push({ machine, section, summary });
    if (settings.jsonPath !== null) writeRun(settings.jsonPath, measured);
    if (!settings.write) return;
    saveMeasurement(BENCH_FOLDER, { machine, section, summary });
    writeResults(BENCH_FOLDER);
  };
  line.show('measuring what the machine can do');
  const parts = partsOf(settings, measureLimits(folder), line, onSection);
  for (const [name, part] of Object.entries(parts)) {
    if (settings.parts.has(name as Part)) await runPart(name, part, line);
  }
  line.clear();
  if (earlier !== null) for (const text of comparisonLines(earlier, measured)) console.log(text);
}

/** A failed part does not end the run: the others have taken up to an hour. The exit status then is 1. */
async function runPart(name: string, part: () => Promise<void>, line: Progress): Promise<void> {
  const start = performance.now();
  try {
    await part();
  } catch (error) {
    line.clear();
    console.error(`${name} failed: ${(error as Error).stack}`);
    process.exitCode = 1;
  }
  line.clear();
  console.log(`\n${name}: ${((performance.now() - start) / 60_000).toFixed(1)} minutes`);
}

/** The parts in the order in which they run. `scaling` uses the measurements of `engine`. */
function partsOf(
  settings: Settings,
  limits: PhysicalLimits,
  line: Progress,
  onSection: (section: Section, summary?: SummaryLine) => void,
): Readonly<Record<Part, () => Promise<void>>> {
  const { folder, bytes, rounds, workloads, rows, loadSeconds, keptRuns } = settings;
  const engine = { folder, inputBytes: bytes, rounds, limits, progress: line };
  const service = { folder, bytes, rounds, loadSeconds, keptRuns, progress: line };
  const engines = new Map<string, readonly Runner[]>();
  return {
    async engine() {
      const lines: SummaryLine[] = [];
      const onResult = (result: EngineResult): void => {
        lines.push(summaryLine(result));
        engines.set(result.workload.name, result.standings);
        onSection(engineSection(result), lines.at(-1));
      };
      await benchEngine({ ...engine, workloads, onResult });
      printSection(summarySection(lines));
    },
    async formats() {
      const onResult = (result: EngineResult): void => onSection(engineSection(result), summaryLine(result));
      await benchEngine({ ...engine, workloads: FORMAT_WORKLOADS, onResult });
      line.show('reading and writing workbooks');
      onSection(workbookReadingSection(measureWorkbookReading()));
      onSection(workbookWritingSection(measureWorkbookWriting()));
    },
    async uploads() {
      for (const section of await benchUploads(service)) onSection(section);
    },
    async 'small-runs'() {
      for (const section of await benchSmallRuns(service)) onSection(section);
    },
    latency: async () => onSection(await benchLatency(service)),
    workers: async () => onSection(await benchWorkers(service)),
    'front-ends': async () => onSection(await benchFrontEnds(service, settings.nodes)),
    async fleet() {
      const section = await benchFleet(service);
      if (section !== null) onSection(section);
    },
    growth: async () => onSection(benchGrowth({ folder, bytes, rounds, limits, progress: line })),
    async scaling() {
      const jobs = settings.scalingJobs;
      onSection(await benchScaling({ folder, bytes, rounds, jobs, measured: engines, progress: line }));
    },
    studio: async () => onSection(await benchStudio({ folder, rounds, progress: line })),
    async operations() {
      const onResult = (result: OperationResult): void => {
        line.clear();
        console.log(operationLine(result));
      };
      onSection(operationsSection(await benchOperations({ folder, bytes, rounds, rows, progress: line, onResult })));
    },
    budget: async () => benchBudget({ folder, bytes, rows, workloads, progress: line }, onSection),
  };
}

/** On interruption, gigabytes must not stay in memory. The child processes received the terminal's signal, too. */
function leave({ folder }: Settings): never {
  rmSync(folder, { recursive: true, force: true });
  return process.exit(130);
}

/** Returns null after a usage message. */
function settingsOrUsage(): Settings | null {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(USAGE);
    return null;
  }
  try {
    return readSettings(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return null;
  }
}
