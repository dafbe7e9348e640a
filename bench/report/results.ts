// Writes bench/RESULTS.md and bench/charts/*.svg from the sections of a full run.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, machineLines } from '../machine.ts';
import { chartSvg } from './chart.ts';
import type { Section } from './section.ts';

const INTRODUCTION = `# Results of the benchmark

Written by \`npm run bench -- --write\`; figures of one machine, medians of the rounds, with the least and the most beside
them. What carries over to other machines is the ratio: *ours / it* above 1 means that template-run is faster. All take
the same file, each run in a process of its own, in turn; time is from the call to the finished file, without the start of
the process (Miller's start of some milliseconds is part of its time). Every contender's answer is compared with ours on a
small file of the same kind before its time counts: exactly, except that DuckDB may keep any row of each address in W4,
and that DuckDB and Polars may give groups (W5), rows of one amount (W6) and bookings (W8) in any order. Contenders that
take more than five seconds are measured once. *CPU ms/MB* is the processor time of all threads for each MB of input.
Memory is the peak of the process. Physical limits are measured in the same run: copying memory, looking for a byte,
reading and writing files of the medium.
`;

/**
 * @param folder the project's bench folder
 * @param left names of what was not measured
 */
export function writeResults(
  folder: string,
  machine: Machine,
  sections: readonly Section[],
  left: readonly string[] = [],
): void {
  const charts = join(folder, 'charts');
  mkdirSync(charts, { recursive: true });
  for (const name of readdirSync(charts)) if (name.endsWith('.svg')) rmSync(join(charts, name));
  for (const { name, title, chart } of sections) {
    if (chart !== null) writeFileSync(join(charts, `${name}.svg`), chartSvg(title, chart));
  }
  writeFileSync(join(folder, 'RESULTS.md'), resultsText(machine, sections, left));
}

function resultsText(machine: Machine, sections: readonly Section[], left: readonly string[]): string {
  const about = machineLines(machine).map(([name, value]) => `| ${name} | ${value} |`);
  const table = ['| | |', '|---|---|', ...about, ''].join('\n');
  const omitted = left.length === 0 ? [] : [`Not measured in this run: ${left.join(', ')}.\n`];
  return [INTRODUCTION, table, ...omitted, ...sections.map(sectionText)].join('\n');
}

function sectionText({ name, title, columns, rows, notes, chart }: Section): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `## ${title}`,
    '',
    line(columns),
    `|---|${'---:|'.repeat(columns.length - 1)}`,
    ...rows.map(line),
    '',
    ...notes.flatMap((note) => [note, '']),
    ...(chart === null ? [] : [`![${title}](charts/${name}.svg)`, '']),
  ].join('\n');
}
