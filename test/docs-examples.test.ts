// Programs on the pages run unchanged, and the answers that the contract shows are those of the service.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { plan } from './blackbox/catalog-folder.ts';
import { file } from './blackbox/multipart.ts';
import { type Service, startService } from './blackbox/service.ts';
import { fencesOf } from './documents/shell-blocks.ts';
import { skipUnlessLong } from './sweep.ts';

const SEND_FILES = 'docs/how-to/send-files.md';
const CONTRACT = 'docs/reference/http-contract.md';
const TEMPLATE = readFileSync('examples/catalog/templates/demo/shop-orders.yaml', 'utf8');
const ORDERS = 'examples/files/orders-export.csv';
/** Address of a service on the pages. */
const SHOWN_URL = 'https://runs.example.com';

const catalog = {
  plans: {
    shown: plan({ upload_bytes_max: 100 * 1024 * 1024, runs_in_flight_max: 4, runs_per_period: 10_000 }),
  },
  accounts: { acme: { plan: 'shown', templates: { 'shop-orders': TEMPLATE } } },
};

function codeIn(page: string, language: string): string[] {
  const fences = fencesOf(readFileSync(page, 'utf8'));
  return fences.filter((fence) => fence.language === language).map(({ lines }) => lines.join('\n'));
}

/** Standard output of a program from a page, in a folder that has the package and a file of orders. */
async function printed(folder: string, name: string, program: string, service: Service): Promise<string> {
  writeFileSync(join(folder, name), program.replaceAll(SHOWN_URL, service.url));
  const command = name.endsWith('.py') ? 'python3' : process.execPath;
  const environment = {
    ...process.env,
    TEMPLATE_RUN_API_KEY: service.client().key!,
    PYTHONPATH: resolve('examples/clients/python'),
  };
  const child = spawn(command, [name], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (text += piece));
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${text}`);
  return text;
}

t.test('the programs of the page on sending files', { skip: skipUnlessLong }, async (t) => {
  const service = await startService(t, catalog);
  const folder = t.testdir({ 'template.yaml': TEMPLATE });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(process.cwd(), join(folder, 'node_modules', 'template-run'));
  copyFileSync(ORDERS, join(folder, 'orders.csv'));
  const output = join(folder, 'orders-clean.csv');
  const [client, library, ...others] = codeIn(SEND_FILES, 'js') as [string, string, ...string[]];
  t.strictSame(others, [], 'all of them run here');
  t.equal(await printed(folder, 'client.mjs', client, service), '6 rows\n');
  const made = readFileSync(output, 'utf8');
  t.equal(made.trimEnd().split('\n').length, 7);
  const given =
    "import { readFileSync } from 'node:fs';\nconst templateText = readFileSync('template.yaml', 'utf8');\n";
  const shown = '\nconsole.log(rowsWritten, report.rows_written);\n';
  t.equal(await printed(folder, 'library.mjs', given + library + shown, service), '6 6\n');
  t.equal(readFileSync(output, 'utf8'), made, 'the library makes the same bytes');
  const [python, ...more] = codeIn(SEND_FILES, 'python') as [string, ...string[]];
  t.strictSame(more, []);
  if (spawnSync('python3', ['--version']).status !== 0) return t.pass('python3', { skip: 'it is not installed' });
  t.equal(await printed(folder, 'client.py', python, service), '6 rows\n');
  t.equal(readFileSync(output, 'utf8'), made, 'the client in Python fetches the same bytes');
});

t.test('the answers of the contract', { skip: skipUnlessLong }, async (t) => {
  const service = await startService(t, catalog, { 'base-url': SHOWN_URL });
  const client = service.client();
  const [templates, run, usage, error, ...others] = codeIn(CONTRACT, 'json').map((text) => JSON.parse(text));
  t.strictSame(others, [], 'all of them are compared here');
  t.strictSame((await client.get('/api/v1/templates')).json, templates);
  const made = await client.upload('shop-orders', [file(readFileSync(ORDERS), { filename: 'orders-export.csv' })]);
  t.strictSame(lasting({ ...made.json, report: {} }), lasting(run));
  t.strictSame(Object.keys(made.json), Object.keys(run), 'in this order');
  const used = (await client.get('/api/v1/usage')).json;
  t.strictSame(lasting({ ...used, used: usage.used, runs_in_flight: 1 }), lasting(usage));
  const lacking = await client.upload('shop-orders', [file('a,b\n1,2\n')]);
  t.strictSame(Object.keys(lacking.json), Object.keys(error));
  t.equal(lacking.json['error'], error.error);
});

/** Replaces the parts that differ each time. */
function lasting(answer: object): unknown {
  const text = JSON.stringify(answer)
    .replaceAll(/run_[a-z0-9]{26}/g, 'run_*')
    .replaceAll(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, '*');
  return JSON.parse(text);
}
