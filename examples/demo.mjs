// The demo of the README: makes a catalog, starts the service, uploads messy files over HTTP, and shows one of them beside
// its Template and its output. All files are in a temporary folder, which is removed at the end.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { createInterface } from 'node:readline';

const CLI = new URL('../dist/src/cli.js', import.meta.url).pathname;
const DEMO = new URL('./catalog/templates/demo/', import.meta.url).pathname;
const FILES = new URL('./files/', import.meta.url).pathname;
/** The first one is shown; of the others, a line tells what became of them. */
const UPLOADS = [
  ['shop-orders', `${FILES}orders-export.csv`],
  ['bank-statement', `${FILES}bank-statement.csv`],
  ['supplier-prices', `${FILES}price-list.csv`],
  ['mailing-list', `${FILES}sign-ups.tsv`],
  ['working-hours', `${DEMO}working-hours.xlsx`],
  ['web-orders', `${FILES}web-orders.json`],
];
/** Lines of the messy file and its Template that are shown. */
const SHOWN_LINES = 13;
/** Width of the whole picture if standard output is not a terminal, in columns. */
const WIDTH = 150;

let service;
// However this ends (`npm run demo | head` closes the pipe), the service ends too.
process.on('exit', () => service?.kill());

const folder = mkdtempSync(join(tmpdir(), 'template-run-demo-'));
try {
  const key = makeCatalog();
  const base = await startService();
  const [[template, file], ...others] = UPLOADS;
  const { run, output } = await upload(base, key, template, file);
  const source = readFileSync(join(DEMO, `${template}.yaml`), 'utf8');
  const operations = source.slice(source.indexOf('operations:'), source.indexOf('output:')).replaceAll(/^ *#.*\n/gm, '');
  printBeside([
    [`${basename(file)}, as it came`, readFileSync(file, 'utf8').replace('\uFEFF', '')],
    [`the Template ${template}`, operations],
    ['the output of the service', output],
  ]);
  const { rows_read: read, operations: steps } = run.report;
  const changed = steps.reduce((sum, { cells_changed: cells }) => sum + cells, 0);
  console.log(`\n${read} rows read, ${run.rows_written} written, ${changed} cells changed. The other demo files:`);
  const summaries = [];
  for (const [otherTemplate, otherFile] of others) {
    const { run } = await upload(base, key, otherTemplate, otherFile);
    summaries.push(`${basename(otherFile)}: ${run.report.rows_read} rows read, ${run.rows_written} written as ${extname(run.output.name).slice(1)}`);
  }
  // Two on a line, so that the demo fits on a screen of 24 lines.
  for (let at = 0; at < summaries.length; at += 2) {
    console.log(`  ${summaries.slice(at, at + 2).map((each) => each.padEnd(56)).join('').trimEnd()}`);
  }
} finally {
  if (service !== undefined && service.exitCode === null) {
    const gone = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}

function makeCatalog() {
  const printed = execFileSync(process.execPath, [CLI, 'init', join(folder, 'catalog')], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const key = /trs_\S+/.exec(printed)?.[0];
  if (key === undefined) throw new Error(`init printed no key:\n${printed}`);
  return key;
}

async function startService() {
  const flags = ['--catalog', join(folder, 'catalog'), '--data', join(folder, 'data'), '--port', '0'];
  service = spawn(process.execPath, [CLI, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: service.stdout })) {
    const entry = JSON.parse(line);
    if (entry.event !== 'listening') continue;
    service.stdout.resume();
    return `http://127.0.0.1:${entry.port}`;
  }
  throw new Error('the service ended before it listened');
}

/** The Run of the file, and its output as text. */
async function upload(base, key, template, file) {
  const headers = { authorization: `Bearer ${key}` };
  const form = new FormData();
  form.append('file', new Blob([readFileSync(file)]), basename(file));
  const answer = await fetch(`${base}/api/v1/templates/${template}/runs`, { method: 'POST', headers, body: form });
  const run = await answer.json();
  if (answer.status !== 201 || run.status !== 'succeeded') {
    throw new Error(`the Run of ${template} did not succeed: ${JSON.stringify(run)}`);
  }
  const output = await fetch(run.output.download_url, { headers });
  return { run, output: await output.text() };
}

/** @param columns the heading and the text of each column */
function printBeside(columns) {
  const lines = columns.map(([heading, text]) => {
    const shown = text.trimEnd().split('\n');
    const more = shown.length - SHOWN_LINES;
    return [heading.toUpperCase(), ...shown.slice(0, SHOWN_LINES), ...(more > 0 ? [`(${more} more lines)`] : [])];
  });
  const width = Math.floor((process.stdout.columns ?? WIDTH) / columns.length) - 2;
  for (let line = 0; line < SHOWN_LINES + 2; line++) {
    const cells = lines.map((column) => cut(column[line] ?? '', width).padEnd(width));
    const text = cells.join('  ').trimEnd();
    if (text !== '') console.log(text);
  }
}

function cut(text, width) {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
