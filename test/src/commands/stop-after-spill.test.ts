// A slice or stop_when ends the rows at the same row for all operations before it, also where one of them lacks memory and holds
// rows back until the end of the file: same output, same report, same failure with little memory as with much.
// With all tests only: work and memory of large inputs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli } from './command-line.ts';

const ROWS = 200_000;
const LAST = 150_000;
/** A row after the end whose value is not a number. */
const BAD = 180_000;

const folder = t.testdir({});
const input = join(folder, 'input.csv');
const padding = 'x'.repeat(80);
const lines = Array.from({ length: ROWS }, (_, row) => {
  const number = row === BAD ? 'bad' : row;
  return `group ${row % (ROWS - 1000)} ${padding},value ${row} ${padding},${number}\n`;
});
writeFileSync(input, `g,v,n\n${lines.join('')}`);

/** Output, and the summary without the time that the Run took. */
async function run(operations: string, memory: string) {
  const template = join(folder, 'template.yaml');
  const output = join(folder, `output-${memory}.csv`);
  writeFileSync(template, `format: 1\noperations:\n${operations}\noutput: {columns: [n]}\n`);
  const { status, stderr } = await cli('run', template, input, '-o', output, '--json', '--memory-budget', memory);
  const summary = JSON.parse(stderr.trim().split('\n').at(-1)!) as { report?: unknown };
  return { status, report: summary.report, stderr };
}

const FILL = '  - {fill_down: {columns: v, group_by: g}}';
for (const [title, operations] of [
  ['slice', `  - {cast: {columns: {n: integer}}}\n${FILL}\n  - {slice: {limit: ${LAST}}}`],
  [
    'stop_when',
    `  - {cast: {columns: {n: integer}}}\n${FILL}\n  - {stop_when: {where: 'v.startsWith("value ${LAST} ")'}}`,
  ],
] as const) {
  t.test(title, async (t) => {
    const much = await run(operations, '512MiB');
    const little = await run(operations, '52MiB');
    t.equal(little.status, 0, little.stderr);
    t.strictSame(little.report, much.report);
  });
}
