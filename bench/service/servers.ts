// Servers for the HTTP benchmarks: this service with a catalog in a temporary folder, and the servers with which it is
// compared.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { peer } from '../contenders/peers.ts';
import { WORKLOADS } from '../workloads/index.ts';
import { type LogReader, openServerLog, type ServerLog } from './server-log.ts';

export interface RunningServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Path for uploads, and the Authorization header. */
  readonly path: string;
  readonly authorization: string;
  readonly expectedStatus: number;
  /** Returns whether the body of a response is correct for an upload of this file. */
  readonly isRight: (body: unknown, file: Buffer, origin: string) => boolean | Promise<boolean>;
  stop(): Promise<void>;
}

const script = (path: string): string => new URL(path, import.meta.url).pathname;
const CLI = script('../../src/cli.js');
const FASTIFY = script('../contenders/fastify-server.js');
const FLOOR = script('../contenders/floor-server.js');
const SINK = script('./sink-server.js');

/**
 * Retention time of outputs, unless the service is measured as installed. The peers remove their outputs with the response. Memory
 * that is released late returns slowly on a virtual machine, because the host reclaims it in the meantime: with 5 s,
 * the same upload took 1.5 times as long, sometimes 2.
 */
const RETENTION_MILLISECONDS = 300;

/** Ticks per second in /proc on Linux, whatever the kernel's clock frequency. */
const CLOCK_TICKS_PER_SECOND = 100;

/**
 * Wait of a POST, unless the service is measured as installed: a busy machine may need long for eight large uploads,
 * and a 202 response could not be compared.
 */
const WAIT_MILLISECONDS = 500_000;

const MEASURED_FLAGS = [
  ...['--wait-ms', String(WAIT_MILLISECONDS), '--retention-ms', String(RETENTION_MILLISECONDS)],
  ...['--metrics-on-api-port', 'yes'],
];

/** Interval at which the log is read until the service listens. */
const LOOK_MILLISECONDS = 20;

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
  /** Number of engine threads; the number of cores by default. */
  readonly workers?: number;
  /** True for the default flags; otherwise retention is short, the wait of a POST is long, and metrics are enabled. */
  readonly asInstalled?: boolean;
  /** Where the log goes, which has the default level; to a file by default. */
  readonly logReader?: LogReader;
  /** Further flags of `serve`. */
  readonly flags?: readonly string[];
  /** Executable of Node; the one that runs the benchmark by default. */
  readonly node?: string;
}

/** @param base folder for catalog and data; in memory if the speed of the disk should not count */
export async function startOurs(
  base: string,
  { workers, asInstalled = false, logReader = 'file', flags: more = [], node = process.execPath }: OwnSettings = {},
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
    ...['--catalog', catalog, '--data', join(folder, 'data'), '--port', '0'],
    ...(asInstalled ? [] : MEASURED_FLAGS),
    ...(workers === undefined ? [] : ['--workers', String(workers)]),
    ...more,
  ];
  const log = openServerLog(logReader, folder);
  const child = spawn(node, [CLI, 'serve', ...flags], { stdio: ['ignore', log.descriptor, 'inherit'] });
  const port = await listeningPort(child, log);
  return {
    name: logReader === 'file' ? 'template-run' : `template-run, ${logReader} log reader`,
    port,
    pid: child.pid!,
    path: '/api/v1/templates/w1/runs',
    authorization: `Bearer ${key}`,
    expectedStatus: 201,
    isRight: (body, file, origin) => isRightRun(body as OwnRun, file, origin, key),
    async stop() {
      await end(child);
      log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listeningPort(child: ChildProcess, log: ServerLog): Promise<number> {
  while (child.exitCode === null && child.signalCode === null) {
    const port = /"event":"listening".*?"port":(\d+)[,}]/.exec(log.read())?.[1];
    if (port !== undefined) {
      log.listening();
      return Number(port);
    }
    await sleep(LOOK_MILLISECONDS);
  }
  throw new Error(`the service ended before it listened: ${log.read()}`);
}

interface OwnRun {
  readonly status: string;
  readonly output: { readonly download_url: string; readonly size_bytes: number } | null;
}

/** Returns whether the output has the six columns and, for each row of the file in any form, its number. */
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

/** One Fastify process as two or three servers: each path does the same job in another way. */
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

/** Responds with the size of the file. */
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

/** Peak memory of a server since the last `forgetPeak`, in bytes. */
export function peakBytes({ pid }: RunningServer): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** User and system time of all its threads so far. */
export function processorSeconds({ pid }: Pick<RunningServer, 'pid'>): number {
  // Fields after the name, which may contain anything: state, ten numbers, and the two values in ticks.
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
