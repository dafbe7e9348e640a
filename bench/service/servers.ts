// Servers for the HTTP benchmarks: ours with a catalog of its own in a temporary folder, and those it is compared with.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { peer } from '../contenders/peers.ts';
import { WORKLOADS } from '../workloads/index.ts';

export interface RunningServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Path to post an upload to, and the header that lets it in. */
  readonly path: string;
  readonly authorization: string;
  readonly expectedStatus: number;
  /** Whether the body of an answer is that to an upload of this file. */
  readonly isRight: (body: unknown, file: Buffer, origin: string) => boolean | Promise<boolean>;
  stop(): Promise<void>;
}

const script = (path: string): string => new URL(path, import.meta.url).pathname;
const CLI = script('../../src/cli.js');
const FASTIFY = script('../contenders/fastify-server.js');
const FLOOR = script('../contenders/floor-server.js');
const SINK = script('./sink-server.js');

/**
 * How long outputs are kept, unless the default is measured. The peers remove theirs with the answer; memory that is given back late comes back slowly on a
 * virtual machine, whose host takes it away meanwhile: with 5 s the same upload took 1.5 times as long, now and then 2.
 */
const RETENTION_MILLISECONDS = 300;

/** Of /proc on Linux, whatever the kernel's own clock is. */
const CLOCK_TICKS_PER_SECOND = 100;

/** A busy machine may take long for eight large uploads, and a 202 is no answer to compare. */
const WAIT_MILLISECONDS = 500_000;

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

export interface OwnSettings {
  /** Threads of the engine; as many as cores unless said. */
  readonly workers?: number;
  /** Of outputs and Runs; short unless said. */
  readonly retention?: 'short' | 'default';
  /** More flags of `serve`. */
  readonly flags?: readonly string[];
}

/** @param base folder for catalog and data; memory where the disk's speed should not count */
export async function startOurs(
  base: string,
  { workers, retention = 'short', flags: more = [] }: OwnSettings = {},
): Promise<RunningServer> {
  const folder = mkdtempSync(join(base, 'service-'));
  const catalog = join(folder, 'catalog');
  const printed = execFileSync(process.execPath, [CLI, 'init', catalog], { encoding: 'utf8', stdio: 'pipe' });
  const key = /trs_\S+/.exec(printed)![0];
  writeFileSync(join(catalog, 'plans.json'), JSON.stringify({ demo: PLAN, starter: PLAN }));
  const templates = join(catalog, 'templates', 'demo');
  mkdirSync(templates, { recursive: true });
  for (const { name, template } of WORKLOADS) {
    writeFileSync(join(templates, `${name.toLowerCase()}.json`), JSON.stringify(template));
  }
  const flags = [
    ...['--catalog', catalog, '--data', join(folder, 'data'), '--port', '0', '--log-level', 'warn'],
    ...['--wait-ms', String(WAIT_MILLISECONDS)],
    ...(retention === 'short' ? ['--retention-ms', String(RETENTION_MILLISECONDS)] : []),
    ...['--metrics-on-api-port', 'yes'],
    ...(workers === undefined ? [] : ['--workers', String(workers)]),
    ...more,
  ];
  const { child, port } = await start(CLI, ['serve', ...flags]);
  return {
    name: 'template-run',
    port,
    pid: child.pid!,
    path: '/api/v1/templates/w1/runs',
    authorization: `Bearer ${key}`,
    expectedStatus: 201,
    isRight: (body, file, origin) => isRightRun(body as OwnRun, file, origin, key),
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface OwnRun {
  readonly status: string;
  readonly output: { readonly download_url: string; readonly size_bytes: number } | null;
}

/** Whether the output has the six columns, and of each row of the file, however that is written, its number. */
async function isRightRun({ status, output }: OwnRun, file: Buffer, origin: string, key: string): Promise<boolean> {
  if (status !== 'succeeded' || output === null) return false;
  const { pathname } = new URL(output.download_url);
  const response = await fetch(origin + pathname, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (Buffer.byteLength(text) !== output.size_bytes) return false;
  const [header, ...rows] = text.trimEnd().split(/\r?\n/);
  const numbers = [...file.toString().matchAll(/^"?(\d+)"?[,;]/gm)].map(([, number]) => number);
  const written = rows.map((row) => row.split(',')[0]);
  return header === 'order_id,name,email,status,total,notes' && written.join() === numbers.join() && numbers.length > 0;
}

/** One Fastify as two or three servers: the paths are its ways to do the same job. */
export async function startFastify(
  base: string,
  ways: readonly (readonly [name: string, path: string])[],
): Promise<readonly RunningServer[]> {
  if (peer('fastify') === null) {
    console.log('Fastify: skipped, not installed (npm run bench:setup)');
    return [];
  }
  const folder = mkdtempSync(join(base, 'fastify-'));
  const { child, port } = await start(FASTIFY, [folder]);
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  const isRight = (body: unknown): boolean => (body as { bytes: number }).bytes > 0;
  const shared = { port, pid: child.pid!, authorization: 'none', expectedStatus: 200, isRight, stop };
  return ways.map(([name, path]) => ({ ...shared, name, path }));
}

/** Answers with the size of the file. */
export async function startFloor(): Promise<RunningServer> {
  const { child, port } = await start(FLOOR, []);
  return {
    name: 'the floor: uWebSockets.js, busboy, Piscina',
    port,
    pid: child.pid!,
    path: '/upload',
    authorization: 'none',
    expectedStatus: 201,
    isRight: (body, file) => (body as { bytes: number }).bytes === file.length,
    stop: () => end(child),
  };
}

export async function startSink(): Promise<RunningServer> {
  const { child, port } = await start(SINK, []);
  const stop = (): Promise<void> => end(child);
  const shared = { port, pid: child.pid!, path: '/', authorization: 'none', expectedStatus: 201, stop };
  return { ...shared, name: 'sockets alone', isRight: () => true };
}

/** The most memory that a server ever held since the last `forgetPeak`, in bytes. */
export function peakBytes({ pid }: RunningServer): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** User and system time of all its threads up to now. */
export function processorSeconds({ pid }: Pick<RunningServer, 'pid'>): number {
  // Behind the name, which may hold anything: state, ten numbers, and the two in ticks.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

export function residentBytes({ pid }: RunningServer): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

export function forgetPeak({ pid }: RunningServer): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

async function start(path: string, args: readonly string[]): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout! })) {
    const { event, port } = JSON.parse(line) as { event?: string; port?: number };
    if (event !== 'listening') continue;
    child.stdout!.resume();
    return { child, port: port! };
  }
  throw new Error('a server ended before it listened');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
