// `npm run bench`: measures the requested parts, prints each table as soon as it is ready, and writes it to RESULTS.md
// if requested.
import { mkdirSync, rmSync } from 'node:fs';
import { benchBudget } from './budget.ts';
import { benchEngine, type EngineResult } from './engine.ts';
import { benchGrowth } from './growth.ts';
import { describeMachine, machineLines } from './machine.ts';
import { benchOperations, type OperationResult } from './operations.ts';
import { measureLimits } from './physical-limits.ts';
import { progress } from './progress.ts';
import { comparisonLines, readRun, writeRun } from './report/comparison.ts';
import { engineSection, type SummaryLine, summaryLine, summarySection } from './report/engine-section.ts';
import { type Measurement, saveMeasurement } from './report/measurements.ts';
import { operationLine, operationsSection } from './report/operations-section.ts';
import { writeResults } from './report/results.ts';
import type { Section } from './report/section.ts';
import { printSection } from './report/terminal.ts';
import { benchScaling } from './scaling.ts';
import { benchFleet } from './service/fleet.ts';
import { benchFrontEnds } from './service/front-ends.ts';
import { benchLatency } from './service/latency.ts';
import { benchSmallRuns } from './service/small-runs.ts';
import { benchUploads } from './service/uploads.ts';
import { benchWorkers } from './service/workers.ts';
import { readSettings, type Settings, USAGE } from './settings.ts';
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
  const { parts, folder, bytes, rounds, workloads } = settings;
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
  const limits = measureLimits(folder);
  if (parts.has('engine')) {
    const lines: SummaryLine[] = [];
    const onResult = (result: EngineResult): void => {
      const summary = summaryLine(result);
      lines.push(summary);
      onSection(engineSection(result), summary);
    };
    benchEngine({ folder, inputBytes: bytes, rounds, workloads, limits, progress: line, onResult });
    printSection(summarySection(lines));
  }
  if (parts.has('formats')) {
    const onResult = (result: EngineResult): void => onSection(engineSection(result), summaryLine(result));
    const of = { folder, inputBytes: bytes, rounds, limits, progress: line };
    benchEngine({ ...of, workloads: FORMAT_WORKLOADS, onResult });
    line.show('writing workbooks');
    onSection(workbookReadingSection(measureWorkbookReading()));
    onSection(workbookWritingSection(measureWorkbookWriting()));
  }
  const { loadSeconds, keptRuns } = settings;
  const service = { folder, bytes, rounds, loadSeconds, keptRuns, progress: line };
  if (parts.has('uploads')) for (const section of await benchUploads(service)) onSection(section);
  if (parts.has('small-runs')) for (const section of await benchSmallRuns(service)) onSection(section);
  if (parts.has('latency')) onSection(await benchLatency(service));
  if (parts.has('workers')) onSection(await benchWorkers(service));
  if (parts.has('front-ends')) onSection(await benchFrontEnds(service, settings.nodes));
  if (parts.has('fleet')) {
    const section = await benchFleet(service);
    if (section !== null) onSection(section);
  }
  if (parts.has('growth')) onSection(benchGrowth({ folder, bytes, rounds, limits, progress: line }));
  if (parts.has('scaling'))
    onSection(await benchScaling({ folder, bytes, rounds, jobs: settings.scalingJobs, progress: line }));
  const { rows } = settings;
  if (parts.has('budget')) benchBudget({ folder, bytes, rows, workloads, progress: line }, onSection);
  if (parts.has('operations')) {
    const onResult = (result: OperationResult): void => {
      line.clear();
      console.log(operationLine(result));
    };
    onSection(
      operationsSection(await benchOperations({ folder, inputBytes: bytes, rounds, rows, progress: line, onResult })),
    );
  }
  if (parts.has('studio')) onSection(await benchStudio({ folder, rounds, progress: line }));
  line.clear();
  if (earlier !== null) for (const text of comparisonLines(earlier, measured)) console.log(text);
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
