// Disk space and heap that a draft of a large sample needs.
// With all tests only: work and memory of large inputs.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'tap';
import { runsOf } from '../../../src/commands/template-draft.ts';
import { DigestBudget } from '../../../src/drafts/column-profile.ts';
import { templateText } from '../../../src/drafts/sample-profile.ts';
import { withEngine } from './draft-proof.ts';
import { drafted } from './drafted.ts';

test('one output of a sample stands on the disk at a time', async (t) => {
  const folder = t.testdir({});
  const sample = join(folder, 'sample.csv');
  // Larger than an output that stays in memory.
  writeFileSync(sample, `name,amount\n${'a text of some length,1.50\n'.repeat(100_000)}`);
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  await withEngine(async (engine) => {
    const run = runsOf(engine, sample);
    for (let round = 1; round <= 3; round++) {
      await run(templateText('operations: []\noutput: {format: csv}\n', 'yaml'));
      const files = readdirSync(temporary, { recursive: true, encoding: 'utf8' });
      t.equal(files.filter((name) => name.endsWith('.output')).length, 1, `round ${round}`);
    }
  });
});

const ROWS = 6_000;
const COLUMNS = 20;

test('the cells of a sample are not kept', async (t) => {
  const sample = join(t.testdir({}), 'sample.csv');
  const header = Array.from({ length: COLUMNS }, (_, at) => `text ${at}`).join(',');
  const cell = (row: number, at: number): string => `${row % (ROWS / 2)} ${at} `.padEnd(400, 'some words ');
  const rows = Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: COLUMNS }, (__, at) => `${cell(row, at)}.`).join(','),
  );
  writeFileSync(sample, `${header}\n${rows.join('\n')}\n`);
  const program = new URL('../../../src/commands/run-cli.js', import.meta.url);
  const code = `const { runCli } = await import(${JSON.stringify(program)});
    process.exitCode = await runCli(process.argv.slice(1), process);`;
  const args = ['--max-old-space-size=64', '--input-type=module', '-e', code, 'template', 'draft', sample];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  t.match(stdout, /name: text_19, match: \[text 19\]\} {2}# 6,000 cells, 3,000 distinct/);
  t.match(stdout, /# - \{dedupe: .*3,000 rows equal to an earlier row/);
});

test('the counter created last keeps no digests when the budget is exceeded', async (t) => {
  const budget = new DigestBudget(5);
  const [first, second] = [budget.counter(), budget.counter()];
  for (const text of ['a', 'b', 'a', 'é'.repeat(1_000)]) first.add(text);
  for (const text of ['a', 'b', 'b']) second.add(text);
  t.strictSame([first.repeats, second.repeats], [1, 1]);
  second.add('c');
  t.strictSame([first.repeats, second.repeats], [1, null]);
  for (const text of ['c', 'd', 'd']) first.add(text);
  t.equal(first.repeats, 2, 'what the other had is free');
  first.add('e');
  t.equal(first.repeats, null, 'more than the whole budget');
});

const LARGE_ROWS = 120_000;

/** A sample whose cells are not all profiled: amounts in whole cents, blank rows and repeated headers among them. */
function largeSample({ total, subtotals }: { readonly total: boolean; readonly subtotals: boolean }): string {
  const lines = ['booked on;text;amount;note'];
  let [sum, part] = [0, 0];
  for (let row = 1; row <= LARGE_ROWS; row++) {
    const cents = (row * 7_919) % 100_000;
    sum += cents;
    part += cents;
    const day = `${String((row % 28) + 1).padStart(2, '0')}.0${(row % 9) + 1}.2025`;
    lines.push(`${day};text ${row};${(cents / 100).toFixed(2).replace('.', ',')};`);
    if (row % 40_000 === 39_999) lines.push(';;;', 'Booked on;Text;Amount;Note');
    if (subtotals && row % 30_000 === 0) {
      lines.push(`Zwischensumme;;${(part / 100).toFixed(2).replace('.', ',')};`);
      part = 0;
    }
  }
  if (total) lines.push(`Summe;;${(sum / 100).toFixed(2).replace('.', ',')};`);
  return `${lines.join('\n')}\n`;
}

test('a large sample is profiled in part, and its draft says so', async (t) => {
  const lines = await drafted(t, largeSample({ total: true, subtotals: false }));
  const text = lines.join('\n');
  t.match(
    text,
    /^# Drafted from a sample of 120,007 rows and 4 columns\. Active lines were run over all rows\. Cells were counted in/m,
  );
  for (const active of [
    `- {stop_when: {where: 'booked_on == "Summe"'}}  # 1 row at the end; 1 amount is the sum of the cells above`,
    '- {drop_repeated_headers: {}}  # 3 rows that repeat the header',
    '- {drop_blank_rows: {}}  # 3 rows without a filled cell',
    '- {parse_date: {columns: booked_on, formats: ["dd.MM.yyyy"]}}',
    '- {parse_number: {columns: amount, decimal: ","}}',
    '- {check_totals: {checks: [{expr: "sum(`amount`)',
  ]) {
    t.ok(
      lines.some((line) => line.startsWith(active)),
      `${active}\n${text}`,
    );
  }
  // The whole sample has twice as many cells.
  t.match(text, /- \{name: text\} {2}# 1?\d\d,\d{3} cells/);
  t.notMatch(text, /- \{name: text\} {2}# 120,/);
});

test('subtotals of a large sample are found among rows that are not profiled', async (t) => {
  const filter = `- {filter: {where: 'booked_on == "Zwischensumme"', mode: drop}}  # 4 rows with a word for a total; `;
  const lines = await drafted(t, largeSample({ total: true, subtotals: true }));
  for (const active of [
    `${filter}without them, the rows add up to the total at the end`,
    `- {stop_when: {where: 'booked_on == "Summe"'}}  # 1 row at the end; 1 amount is the sum of the cells above`,
    '- {parse_date: {columns: booked_on, formats: ["dd.MM.yyyy"]}}',
    '- {check_totals: {checks: [{expr: "sum(`amount`)',
  ]) {
    t.ok(
      lines.some((line) => line.startsWith(active)),
      `${active}\n${lines.join('\n')}`,
    );
  }
  const offered = await drafted(t, `${largeSample({ total: false, subtotals: true })}01.01.2025;end;1,00;\n`);
  t.ok(offered.includes(`# ${filter}their amounts were not compared with the rows above them`), offered.join('\n'));
});
