// The demo of the README: makes a catalog, starts the service on it, uploads a messy file over HTTP, shows the Run and
// the first lines of its output. Everything lies in a temporary folder that goes away at the end.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';

const CLI = new URL('../dist/src/cli.js', import.meta.url).pathname;
const UPLOADS = [
  ['bank-statement', new URL('./files/bank-statement.csv', import.meta.url).pathname],
  ['shop-orders', new URL('./files/orders-export.csv', import.meta.url).pathname],
  ['supplier-prices', new URL('./files/price-list.csv', import.meta.url).pathname],
  ['mailing-list', new URL('./files/sign-ups.tsv', import.meta.url).pathname],
  ['working-hours', new URL('./catalog/templates/demo/working-hours.xlsx', import.meta.url).pathname],
  ['web-orders', new URL('./files/web-orders.json', import.meta.url).pathname],
];
const SHOWN_LINES = 10;

let service;
// However this ends (`npm run demo | head` closes the pipe), the service ends too.
process.on('exit', () => service?.kill());

const folder = mkdtempSync(join(tmpdir(), 'template-run-demo-'));
try {
  const key = makeCatalog();
  const base = await startService();
  for (const [template, file] of UPLOADS) await run(base, key, template, file);
  console.log('\nThe service answers as long as it runs; the README shows the same with curl.');
} finally {
  if (service !== undefined && service.exitCode === null) {
    const gone = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}

function makeCatalog() {
  const printed = execFileSync(process.execPath, [CLI, 'init', join(folder, 'catalog')], { encoding: 'utf8' });
  const key = /trs_\S+/.exec(printed)?.[0];
  if (key === undefined) throw new Error(`init printed no key:\n${printed}`);
  console.log(`$ template-run init catalog\n${printed}`);
  return key;
}

async function startService() {
  const flags = ['--catalog', join(folder, 'catalog'), '--data', join(folder, 'data'), '--port', '0'];
  console.log('$ template-run serve --catalog catalog --data data --port 0');
  service = spawn(process.execPath, [CLI, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: service.stdout })) {
    const entry = JSON.parse(line);
    if (entry.event !== 'listening') continue;
    service.stdout.resume();
    console.log(`listening on port ${entry.port}`);
    return `http://127.0.0.1:${entry.port}`;
  }
  throw new Error('the service ended before it listened');
}

async function run(base, key, template, file) {
  const headers = { authorization: `Bearer ${key}` };
  const came = file.endsWith('.xlsx') ? inspected(file) : firstLines(readFileSync(file, 'utf8'));
  console.log(`\n--- ${basename(file)}, as it came:\n${came}`);
  console.log(`\n$ curl -H 'Authorization: Bearer trs_demo...' -F file=@${basename(file)} ${base}/api/v1/templates/${template}/runs`);
  const form = new FormData();
  form.append('file', new Blob([readFileSync(file)]), basename(file));
  const answer = await fetch(`${base}/api/v1/templates/${template}/runs`, { method: 'POST', headers, body: form });
  const body = await answer.json();
  console.log(`${answer.status}`, JSON.stringify(body, null, 2));
  if (answer.status !== 201 || body.status !== 'succeeded') throw new Error(`the Run of ${template} did not succeed`);
  const output = await fetch(body.output.download_url, { headers });
  console.log(`\n--- ${body.output.name}, first lines:\n${firstLines(await output.text())}`);
}

/** What `inspect` tells of a file that is no text. */
function inspected(file) {
  return execFileSync(process.execPath, [CLI, 'inspect', file], { encoding: 'utf8' }).trimEnd();
}

function firstLines(text) {
  return text.trimEnd().split('\n').slice(0, SHOWN_LINES).join('\n');
}
