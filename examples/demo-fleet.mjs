// The demo of docs/how-to/fleet.md: Redis, HAProxy with the configuration of deploy/, and three nodes. A Run is made on one node and
// fetched from the others; then a node is killed, and the fleet goes on. Needs redis-server and haproxy (Debian's packages).
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const CLI = new URL('../dist/src/cli.js', import.meta.url).pathname;
const DEPLOY = new URL('../deploy/', import.meta.url).pathname;
const STATEMENT = new URL('./files/bank-statement.csv', import.meta.url).pathname;
const NODES = 3;
const PATIENCE_MILLISECONDS = 60_000;

for (const command of ['redis-server', 'haproxy']) {
  if (spawnSync(command, ['-v']).error === undefined) continue;
  console.log(`SKIPPED: ${command} is not installed (apt-get install redis-server haproxy)`);
  process.exit(0);
}

const processes = [];
// However this ends, they end too.
process.on('exit', () => {
  for (const child of processes) child.kill('SIGKILL');
});
const folder = mkdtempSync(join(tmpdir(), 'template-run-demo-fleet-'));
try {
  await demo();
} finally {
  await Promise.all(processes.map(ended));
  rmSync(folder, { recursive: true, force: true });
}

async function demo() {
  const key = /trs_\S+/.exec(execFileSync(process.execPath, [CLI, 'init', join(folder, 'catalog')], { encoding: 'utf8' }))[0];
  mkdirSync(join(folder, 'outputs'));
  const [redis, balancer] = [await freePort(), await freePort()];
  const base = `http://127.0.0.1:${balancer}`;
  start('redis-server', ['--port', String(redis), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--dir', folder]);
  await until(() => connects(redis));
  console.log(`Redis on port ${redis}`);
  const nodes = await Promise.all(Array.from({ length: NODES }, (_, number) => startNode(number, redis, base)));
  nodes.forEach(({ port }, number) => console.log(`node ${number + 1} on port ${port}`));
  startBalancer(balancer, nodes);
  const headers = { authorization: `Bearer ${key}` };
  await until(async () => (await fetch(`${base}/api/v1/templates`, { headers })).status === 200);
  console.log(`HAProxy on port ${balancer}, round robin\n`);

  const first = await post(base, headers, 'statement-1');
  console.log(`A Run made through the balancer: ${first.status} ${first.body.id}`);
  for (const { number, port } of nodes) {
    const direct = `http://127.0.0.1:${port}/api/v1/runs/${first.body.id}`;
    const run = await (await fetch(direct, { headers })).json();
    const output = Buffer.from(await (await fetch(`${direct}/output`, { headers })).arrayBuffer());
    console.log(`  asked of node ${number + 1}: ${run.status}, ${output.length} bytes of output`);
    if (run.id !== first.body.id || output.length !== run.output.size_bytes) throw new Error('a node does not know it');
  }
  const repeats = await Promise.all(Array.from({ length: 6 }, () => post(base, headers, 'statement-1')));
  const ids = new Set(repeats.map(({ body }) => body.id));
  console.log(`Six repeats with its Idempotency-Key: ${repeats.map(({ status }) => status)}, ${ids.size} Run`);
  if (ids.size !== 1 || !ids.has(first.body.id)) throw new Error('a repeat made another Run');

  const victim = nodes[0];
  console.log(`\nkill -9 of node 1, and requests go on:`);
  victim.child.kill('SIGKILL');
  await ended(victim.child);
  const statuses = [];
  for (let count = 0; count < 30; count += 1) {
    statuses.push((await post(base, headers, `after-${count}`)).status);
    const output = await fetch(first.body.output.download_url, { headers });
    if (output.status !== 200) throw new Error(`the output of the first Run: ${output.status}`);
  }
  console.log(`  30 new Runs: ${JSON.stringify(counted(statuses))}; the first Run's output came each time`);
  if (statuses.some((status) => status !== 201)) throw new Error('a request was not answered with its Run');
  const { port } = nodes[1];
  const given = async () => /^template_run_fleet_nodes 2$/m.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  await until(given);
  console.log('  the others have given it up: two nodes are left');
  for (const { child } of nodes) child.kill('SIGTERM');
}

async function startNode(number, redis, base) {
  const flags = {
    catalog: join(folder, 'catalog'),
    data: join(folder, `data-${number + 1}`),
    outputs: join(folder, 'outputs'),
    redis: `redis://127.0.0.1:${redis}`,
    port: 0,
    workers: 1,
    'base-url': base,
    'drain-delay-ms': 0,
    'metrics-on-api-port': 'yes',
  };
  const child = start(process.execPath, [CLI, 'serve', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])]);
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line);
    if (entry.event !== 'listening') continue;
    child.stdout.resume();
    return { number, child, port: entry.port };
  }
  throw new Error('a node ended before it listened');
}

/** The configuration of deploy/: only addresses are replaced, and TLS is left out. */
function startBalancer(port, nodes) {
  let text = readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8').replace(/bind :8443 ssl crt .*\n/, `bind 127.0.0.1:${port}\n`);
  nodes.forEach((node, index) => {
    text = text.replaceAll(`10.0.0.1${index + 1}:8080`, `127.0.0.1:${node.port}`);
  });
  writeFileSync(join(folder, 'haproxy.cfg'), text);
  start('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')]);
}

async function post(base, headers, key) {
  const form = new FormData();
  form.append('file', new Blob([readFileSync(STATEMENT)]), 'bank-statement.csv');
  const more = { ...headers, 'idempotency-key': key };
  const answer = await fetch(`${base}/api/v1/templates/bank-statement/runs`, { method: 'POST', headers: more, body: form });
  return { status: answer.status, body: await answer.json() };
}

function start(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (command !== process.execPath) child.stdout.resume();
  processes.push(child);
  return child;
}

async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const killing = setTimeout(() => child.kill('SIGKILL'), 5000);
  child.kill('SIGTERM');
  await gone;
  clearTimeout(killing);
}

async function until(isSo) {
  for (const end = Date.now() + PATIENCE_MILLISECONDS; Date.now() < end; ) {
    if (await Promise.resolve(isSo()).catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('waited in vain');
}

function connects(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function counted(values) {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
