// Runs the built service on a catalog made for the test, and checks its logs at the end. One process, or several behind
// a balancer if the tests use the stores of a fleet.
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import tap, { type Test } from 'tap';
import { Balancer, BalancerEndedError } from '../fixtures/balancer.ts';
import { freePort, isPortTaken } from '../fixtures/free-port.ts';
import { isBalanced, isOnRedis, leaveRedis, redisFlags } from '../fixtures/test-stores.ts';
import { type CatalogDescription, CatalogFolder } from './catalog-folder.ts';
import { Client, until } from './client.ts';
import { CANARY } from './multipart.ts';
import { type ExitStatus, type ProcessStart, ServedProcess, spawnService } from './served-process.ts';

export const COMMAND = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
/** Default program of a service: `serve`, or a fixture that serves with other stores. */
const PROGRAM = process.env['SERVE_PROGRAM'] === undefined ? [COMMAND, 'serve'] : [process.env['SERVE_PROGRAM']];
/**
 * tap ends a file after 30 s. On a busy machine some of these take many minutes, above all with several nodes and a balancer. A
 * file that needs more has said so before.
 */
const FILE_MILLISECONDS_MIN = 1_200_000;
/**
 * The default of `--drain-ms`. Ten seconds after this time, a node ends by force, which ends it by a signal if its threads still run.
 * A busy machine needs seconds to end them. Without work, a node ends at once.
 */
const DRAIN_MILLISECONDS = 10_000;
/** With Redis a port is chosen before, and another process may take it meanwhile. */
const STARTS_MAX = 5;
/** Number of nodes that share a balancer. */
const NODES = 2;

export type Flags = Readonly<Record<string, string | number>>;

/** Metrics that all nodes report about the same thing, which must not be added up. */
const SHARED_METRICS: readonly (readonly [RegExp, (...values: number[]) => number])[] = [
  [/^template_run_quota_/, Math.max],
  [/^template_run_(?:ready|catalog_in_force)$/, Math.min],
];

export class Service {
  readonly catalog: CatalogFolder;
  readonly #folder: string;
  readonly #flags: Flags;
  /** Those of the stores. */
  #storeFlags: Flags | null = null;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #nodes: ServedProcess[];
  #balancer: Balancer | null = null;
  readonly nodeCount: number;
  /** Arguments of Node for the next process, before the flags of `serve`. */
  program: readonly string[];
  /** Port that clients use. */
  port = 0;
  /** Maximum number of open files of the next process; null: the limit of this process. */
  filesMax: number | null = null;

  constructor(
    description: CatalogDescription,
    flags: Flags = {},
    environment: Readonly<Record<string, string>> = {},
    program: readonly string[] = PROGRAM,
  ) {
    this.#environment = environment;
    this.program = program;
    this.#folder = mkdtempSync(join(tmpdir(), 'template-run-black-box-'));
    this.#flags = { workers: 1, 'drain-ms': DRAIN_MILLISECONDS, 'metrics-on-api-port': 'yes', ...flags };
    this.nodeCount = isBalanced && !('redis' in flags) ? NODES : 1;
    this.#nodes = Array.from({ length: this.nodeCount }, () => new ServedProcess());
    this.catalog = new CatalogFolder(join(this.#folder, 'catalog'), description);
    this.#nodes.forEach((_, number) => {
      mkdirSync(this.#dataFolder(number));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything that was written to standard output and standard error, over all starts. */
  get logs(): string {
    return this.#nodes.map(({ output, errors }) => output + errors).join('');
  }

  /** Log lines of standard output as objects. */
  get events(): Record<string, unknown>[] {
    const lines = this.#nodes.flatMap(({ output }) => output.split('\n').slice(0, -1));
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** One sample of /metrics by its name with labels, of all nodes; NaN if it is missing. */
  async metric(name: string): Promise<number> {
    const values = await Promise.all(this.#nodes.map(({ port }) => new Client(port).metric(name)));
    const known = values.filter((value) => !Number.isNaN(value));
    if (known.length === 0) return Number.NaN;
    const [, merge = sum] = SHARED_METRICS.find(([pattern]) => pattern.test(name)) ?? [];
    return merge(...known);
  }

  /** Runs of the account that are charged or reserved: one more as soon as an upload has been let in. */
  async quotaUsed(account = 'acme'): Promise<number> {
    return (await this.metric(`template_run_quota_used{account="${account}"}`)) || 0;
  }

  /** Begins uploads and waits until they have been let in, however busy the machine is. */
  async letIn<T>(begin: () => T, { account = 'acme', uploads = 1 } = {}): Promise<T> {
    const expected = (await this.quotaUsed(account)) + uploads;
    const begun = begin();
    const used = await until(
      () => this.quotaUsed(account),
      (now) => now >= expected,
    );
    if (used < expected) throw new Error(`${account} has ${used} Runs, and not ${expected}`);
    return begun;
  }

  /** Resolves once so many repeats wait for the Runs of others, however busy the machine is. */
  async joined(repeats = 1): Promise<void> {
    const aside = await until(
      () => this.metric('template_run_runs_aside'),
      (now) => now >= repeats,
    );
    if (aside < repeats) throw new Error(`${aside} repeats wait, and not ${repeats}`);
  }

  client(account = 'acme', key = 'full'): Client {
    return new Client(this.port, this.catalog.key(account, key));
  }

  /** Same as `until` for each node separately, for example for a catalog, which each node reads at its own time. */
  async untilEverywhere<T>(
    account: string,
    ask: (client: Client) => Promise<T>,
    liked: (value: T) => boolean,
  ): Promise<T> {
    const clients = this.#nodes.map(({ port }) => new Client(port, this.catalog.key(account)));
    const values = await Promise.all(clients.map((client) => until(() => ask(client), liked)));
    return values.find((value) => !liked(value)) ?? values[0]!;
  }

  /** Data folder of the first node. */
  get dataFolder(): string {
    return this.#dataFolder(0);
  }

  #dataFolder(node: number): string {
    return join(this.#folder, node === 0 ? 'data' : `data-${node}`);
  }

  /** One more process on the same folders; the caller sees it to its end. */
  beside(): ChildProcessByStdio<null, Readable, Readable> {
    return spawnService(this.#processStart()) as ChildProcessByStdio<null, Readable, Readable>;
  }

  /** The same on a port that the caller chose, with its standard output in a file of the caller's. */
  onPort(port: number, outputDescriptor: number): ChildProcess {
    return spawnService(this.#processStart({ port }), outputDescriptor);
  }

  #processStart(others: Flags = {}, node = 0): ProcessStart {
    const all = { port: 0, host: '127.0.0.1', ...this.#storeFlags, ...this.#flags, ...others };
    const { catalog = this.catalog.folder, ...settings }: Flags = all;
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const places = ['--catalog', String(catalog), '--data', this.#dataFolder(node)];
    const words = [...this.program, ...places, ...flags];
    return { words, environment: this.#environment, filesMax: this.filesMax };
  }

  async start(): Promise<void> {
    if (!isOnRedis || 'redis' in this.#flags) {
      await this.#nodes[0]!.start(this.#processStart());
      this.port = this.#nodes[0]!.port;
      return;
    }
    this.#storeFlags ??= await redisFlags(this.#folder);
    for (let tries = 1; ; tries += 1) {
      try {
        return await (isBalanced ? this.#startBalanced() : this.#startOnRedis());
      } catch (fault) {
        await this.#end();
        if (tries === STARTS_MAX || !(fault instanceof BalancerEndedError || isPortTaken(this.logs))) throw fault;
      }
    }
  }

  async #startOnRedis(): Promise<void> {
    const port = await freePort();
    this.#storeFlags = { ...this.#storeFlags, port, ...this.#baseUrl(port), 'drain-delay-ms': 0 };
    await this.#nodes[0]!.start(this.#processStart());
    this.port = this.#nodes[0]!.port;
  }

  async #startBalanced(): Promise<void> {
    const port = await freePort();
    this.#storeFlags = { ...this.#storeFlags, ...this.#baseUrl(port), 'drain-delay-ms': 0 };
    await Promise.all(this.#nodes.map((node, number) => node.start(this.#processStart({}, number))));
    const ports = this.#nodes.map((node) => node.port);
    this.#balancer = await Balancer.start(ports, { port, opensAllPaths: true });
    this.port = port;
  }

  /** A service with Redis needs a flag for the URL that its clients use. */
  #baseUrl(port: number): Flags {
    return 'TEMPLATE_RUN_BASE_URL' in this.#environment ? {} : { 'base-url': `http://127.0.0.1:${port}` };
  }

  /** Id of the running process, for reading its state from the system. */
  get pid(): number {
    return this.#nodes[0]!.pid;
  }

  signal(name: NodeJS.Signals): void {
    for (const node of this.#nodes) node.signal(name);
  }

  /** With several nodes: the first exit status that is not 0. */
  async exited(): Promise<ExitStatus> {
    const statuses = await Promise.all(this.#nodes.map((node) => node.exited()));
    const [firstFailure = 0] = statuses.filter((status) => status !== 0);
    return firstFailure;
  }

  /** kill -9 and start again on the same folders. */
  async crash(): Promise<void> {
    await this.#end();
    await this.start();
  }

  /** Ends the process whatever it does and removes its folders. */
  async remove(): Promise<void> {
    await this.#end();
    if (this.#storeFlags !== null) await leaveRedis();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited();
    await this.#balancer?.stop();
    this.#balancer = null;
  }
}

function sum(...values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Starts a service that ends with the test. */
export async function startService(t: Test, description: CatalogDescription, flags: Flags = {}): Promise<Service> {
  tap.setTimeout(Math.max(tap.options.timeout ?? 0, FILE_MILLISECONDS_MIN));
  const service = new Service(description, flags);
  t.teardown(() => service.remove());
  await service.start();
  return service;
}

/** The last case of every file: the log consists of JSON lines that contain no word of an upload and no key. */
export async function checkLogs(t: Test, service: Service, keys: readonly string[] = []): Promise<void> {
  service.signal('SIGTERM');
  t.equal(await service.exited(), 0, 'SIGTERM ends with status 0');
  t.ok(service.events.length > 0, 'every line of standard output is JSON');
  t.notMatch(service.logs, new RegExp(CANARY, 'i'), 'no word of an upload in the logs');
  for (const key of keys) t.notOk(service.logs.includes(key), 'no API key in the logs');
}
