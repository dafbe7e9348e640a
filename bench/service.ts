// Servers for the HTTP benchmarks: ours with a catalog of its own in a temporary folder, and the one it is compared with.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WORKLOADS } from './workloads.ts';

export interface RunningServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Path to post an upload to, and the header that lets it in. */
  readonly path: string;
  readonly authorization: string;
  readonly expectedStatus: number;
  stop(): Promise<void>;
}

const CLI = new URL('../src/cli.js', import.meta.url).pathname;
const FASTIFY = new URL('./contenders/fastify-server.js', import.meta.url).pathname;

/** Limits that no benchmark reaches. */
const PLAN = {
  upload_bytes_max: 4_000_000_000,
  rows_max: null,
  output_rows_max: null,
  runs_in_flight_max: 1_000,
  runs_per_period: null,
  period: 'month',
  rate_limits: Object.fromEntries(
    ['list_templates', 'create_run', 'get_run', 'get_run_output'].map((name) => [
      name,
      { requests: 1e6, window_seconds: 1 },
    ]),
  ),
};

/** @param base folder for catalog and data; memory where the disk's speed should not count */
export async function startOurs(base = tmpdir()): Promise<RunningServer> {
  const folder = mkdtempSync(join(base, 'template-run-bench-'));
  const catalog = join(folder, 'catalog');
  const printed = execFileSync(process.execPath, [CLI, 'init', catalog], { encoding: 'utf8' });
  const key = /trs_\S+/.exec(printed)![0];
  writeFileSync(join(catalog, 'plans.json'), JSON.stringify({ demo: PLAN, starter: PLAN }));
  const templates = join(catalog, 'templates', 'demo');
  mkdirSync(templates, { recursive: true });
  for (const { name, template } of WORKLOADS) writeFileSync(join(templates, `${name}.json`), JSON.stringify(template));
  const flags = ['--catalog', catalog, '--data', join(folder, 'data'), '--port', '0'];
  const child = spawn(process.execPath, [CLI, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await listening(child);
  return {
    name: 'template-run',
    port,
    pid: child.pid!,
    path: '/api/v1/templates/W1/runs',
    authorization: `Bearer ${key}`,
    expectedStatus: 201,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startFastify(): Promise<RunningServer> {
  const child = spawn(process.execPath, [FASTIFY], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await listening(child);
  return {
    name: 'fastify',
    port,
    pid: child.pid!,
    path: '/upload',
    authorization: 'none',
    expectedStatus: 200,
    stop: () => end(child),
  };
}

async function listening(child: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const { event, port } = JSON.parse(line) as { event?: string; port?: number };
    if (event !== 'listening') continue;
    child.stdout!.resume();
    return port!;
  }
  throw new Error('a server ended before it listened');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
