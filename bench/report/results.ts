// Writes bench/RESULTS.md and bench/charts/*.svg from the stored measurements.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, machineLines } from '../machine.ts';
import { FORMAT_WORKLOADS } from '../workloads/formats.ts';
import { WORKLOADS } from '../workloads/index.ts';
import { chartSvg } from './chart.ts';
import { summarySection } from './engine-section.ts';
import { readMeasurements } from './measurements.ts';
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

const INTRODUCTION = `# Results of the benchmark

Written by \`npm run bench -- --write\`; figures of one machine, medians of the rounds, with the least and the most beside
them. What carries over to other machines is the ratio: *ours / it* above 1 means that template-run is faster. All take
the same file, each run in a process of its own, in turn; time is from the call to the finished file, without the start of
the process (Miller's start of some milliseconds is part of its time). Every contender's answer is compared with ours on a
small file of the same kind before its time counts: exactly, except that DuckDB may keep any row of each address in W4,
and that DuckDB and Polars may give groups (W5), rows of one amount (W6) and bookings (W8) in any order. Contenders that
take more than five seconds are measured once. template-run has two threads too, one of which reads ahead: it was started
before, as on a node with a free core that reads one large file after the other; the command \`run\` starts it with the
file, and it is there 45 ms later. *CPU ms/MB* is the processor time of all threads for each MB of input. Memory is the
peak of the process. Physical limits are measured in the same run: copying memory, looking for a byte, reading and writing
files of the medium. Each section says what it was measured on; its figures as data: \`figures/\`.
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
    ...measurements.map(({ section, machine }) => sectionText(section, machine)),
  ];
  writeFileSync(join(folder, 'RESULTS.md'), parts.join('\n'));
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
