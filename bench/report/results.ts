// Writes bench/RESULTS.md and bench/charts/*.svg from the stored measurements.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, machineLines } from '../machine.ts';
import { FORMAT_WORKLOADS } from '../workloads/formats.ts';
import { WORKLOADS } from '../workloads/index.ts';
import { chartSvg } from './chart.ts';
import { summarySection } from './engine-section.ts';
import { type Measurement, readMeasurements } from './measurements.ts';
import type { Section } from './section.ts';

/** In the order of the text, after the workloads. */
const SERVICE_SECTIONS = [
  'workbook-reading',
  'workbook-writing',
  'upload',
  'uploads-at-once',
  'small-runs',
  'small-runs-forms',
  'latency',
  'workers',
  'front-ends',
  'fleet',
  'studio',
  'growth',
  'scaling',
  'budget',
  'operations',
];

/** Sections that the summary mentions in one line each, with the fastest of the others. */
const SUMMARIZED = ['workbook-writing', 'upload', 'uploads-at-once', 'small-runs'];

const INTRODUCTION = `# Results of the benchmark

Written by \`npm run bench -- --write\` on one machine. All programs do the same work on the same file. *Ours / it* above 1 means
that template-run is faster than the fastest of the other programs. Compare ratios: MB/s depend on the machine.
`;

const METHOD = `## How it was measured

- Values are medians of the rounds; *min..max* and the lines in the charts show their spread. The programs take turns. An engine that
  needs more than five seconds is measured once, Miller and the JavaScript libraries from one second on.
- The time is from the call to the finished file, without the start of the process (Miller's start of some milliseconds is part of its
  time). Miller and the JavaScript libraries read a quarter of the file, because their time grows in proportion to its size.
- The engines (template-run, Polars, DuckDB) are measured as in a service that has worked for a while: their processes stay alive between
  the rounds, and process a smaller file first; template-run does so for some seconds, because its code is compiled while it runs. The
  other programs start a new process for each round. With two threads of template-run, both process parts of the file if the Template
  allows it ([conditions](../docs/explanation/memory.md#one-large-file-on-several-threads)).
- Before its time counts, the output of each program is compared with ours on a small file of the same kind. It must be equal, except that
  DuckDB may keep any row of each address in W4, and that DuckDB and Polars may write groups (W5), rows of one amount (W6) and bookings
  (W8) in any order.
- *CPU ms/MB* is the processor time of all threads for each MB of input. Memory is the peak of the process.
- Physical limits come from the same run of the benchmark: the times of reading, of looking for a byte, of copying and of writing, added up
  for one thread. Two threads can exceed them.
- \`figures/\` contains the measurements of each section with all samples.
`;

/**
 * Generates RESULTS.md and the charts from all stored measurements.
 * @param folder the project's bench folder
 */
export function writeResults(folder: string): void {
  const names = [...[...WORKLOADS, ...FORMAT_WORKLOADS].map(({ name }) => name.toLowerCase()), ...SERVICE_SECTIONS];
  const measurements = readMeasurements(folder, names);
  const lines = measurements.flatMap(({ summary }) => (summary === null ? [] : [summary]));
  const summary = summarySection(lines);
  const charts = join(folder, 'charts');
  rmSync(charts, { recursive: true, force: true });
  mkdirSync(charts, { recursive: true });
  for (const { name, title, chart } of [summary, ...measurements.map(({ section }) => section)]) {
    if (chart !== null) writeFileSync(join(charts, `${name}.svg`), chartSvg(title, chart));
  }
  const parts = [
    INTRODUCTION,
    ...(lines.length === 0 ? [] : [sectionText(summary, null)]),
    ...linesBelow(measurements),
    METHOD,
    ...measurements.map(({ section, machine }) => sectionText(section, machine)),
  ];
  writeFileSync(join(folder, 'RESULTS.md'), parts.join('\n'));
}

/** What the summary mentions in addition to the table of workloads. */
function linesBelow(measurements: readonly Measurement[]): readonly string[] {
  const lines = measurements.flatMap(({ section: { name, title, chart, notes } }) => {
    if (name === 'operations') return [`- ${title}. ${notes[0]}`];
    const own = chart?.bars.find(({ ours }) => ours);
    const [best] = (chart?.bars ?? []).filter(({ ours }) => !ours).sort((one, other) => other.value - one.value);
    if (!SUMMARIZED.includes(name) || own === undefined || best === undefined) return [];
    const ratio = (own.value / best.value).toFixed(2);
    return [`- ${title}: ${own.value.toFixed(0)} ${chart!.unit}, ${ratio} times the rate of ${best.label}`];
  });
  return lines.length === 0 ? [] : [`${lines.join('\n')}\n`];
}

function sectionText({ name, title, columns, rows, notes, chart }: Section, machine: Machine | null): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `## ${title}`,
    '',
    line(columns),
    `|---|${'---:|'.repeat(columns.length - 1)}`,
    ...rows.map(line),
    '',
    ...notes.flatMap((note) => [note, '']),
    ...(machine === null ? [] : [`Measured on: ${machineText(machine)}.`, '']),
    ...(chart === null ? [] : [`![${title}](charts/${name}.svg)`, '']),
  ].join('\n');
}

function machineText(machine: Machine): string {
  return machineLines(machine)
    .map(([name, value], index) => `${index === 0 ? '' : `${name.toLowerCase()} `}${value}`)
    .join('; ');
}
