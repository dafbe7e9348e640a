// Runs the built service as its own process on a catalog made for the test, and looks at its logs when it is over.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import tap, { type Test } from 'tap';
import { isOnRedis, leaveRedis, portFlags, redisFlags } from '../fixtures/test-stores.ts';
import { type CatalogDescription, CatalogFolder } from './catalog-folder.ts';
import { Client, until } from './client.ts';
import { CANARY } from './multipart.ts';

export const COMMAND = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
/** What services are started from unless a test says otherwise: `serve`, or a fixture that serves with other stores. */
const PROGRAM = process.env['SERVE_PROGRAM'] === undefined ? [COMMAND, 'serve'] : [process.env['SERVE_PROGRAM']];
/** A start takes well under a second; a minute is for a machine that is busy with other things. */
const START_MILLISECONDS_MAX = 60_000;
/** tap ends a file after 30 s; on a busy machine some of these take longer. A file that needs more has said so before. */
const FILE_MILLISECONDS_MIN = 240_000;
const END_MILLISECONDS_MAX = 5_000;
/** With Redis a port is chosen before, and another process may take it meanwhile. */
const STARTS_MAX = 5;

export type Flags = Readonly<Record<string, string | number>>;

export class Service {
  readonly catalog: CatalogFolder;
  readonly #folder: string;
  readonly #flags: Flags;
  /** Those of the stores. */
  #storeFlags: Flags | null = null;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #program: readonly string[];
  #process: ChildProcess | null = null;
  #output = '';
  #errors = '';
  #exit: Promise<number | null> = Promise.resolve(null);
  port = 0;
  /** Of the next process: how many files it may have open; null = as many as this one. */
  filesMax: number | null = null;

  /** @param program what Node is started with before the flags of `serve` */
  constructor(
    description: CatalogDescription,
    flags: Flags = {},
    environment: Readonly<Record<string, string>> = {},
    program: readonly string[] = PROGRAM,
  ) {
    this.#environment = environment;
    this.#program = program;
    this.#folder = mkdtempSync(join(tmpdir(), 'template-run-black-box-'));
    this.#flags = { workers: 1, 'drain-ms': 500, 'metrics-on-api-port': 'yes', ...flags };
    this.catalog = new CatalogFolder(join(this.#folder, 'catalog'), description);
    mkdirSync(this.dataFolder);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything that was written to standard output and standard error, over all starts. */
  get logs(): string {
    return this.#output + this.#errors;
  }

  /** Log lines of standard output as objects. */
  get events(): Record<string, unknown>[] {
    const lines = this.#output.split('\n').slice(0, -1);
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** One sample of /metrics by its name with labels; NaN when it is not there. */
  async metric(name: string): Promise<number> {
    return new Client(this.port).metric(name);
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

  get dataFolder(): string {
    return join(this.#folder, 'data');
  }

  /** One more process on the same folders; the caller sees it to its end. */
  beside(): ChildProcessByStdio<null, Readable, Readable> {
    return this.#spawn('pipe') as ChildProcessByStdio<null, Readable, Readable>;
  }

  /** The same on a port that the caller chose, with its standard output in a file of the caller's. */
  onPort(port: number, outputDescriptor: number): ChildProcess {
    return this.#spawn(outputDescriptor, { port });
  }

  #spawn(output: 'pipe' | number, others: Flags = {}): ChildProcess {
    const all = { port: 0, host: '127.0.0.1', ...this.#storeFlags, ...this.#flags, ...others };
    const { catalog = this.catalog.folder, ...settings }: Flags = all;
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const places = ['--catalog', String(catalog), '--data', this.dataFolder];
    // Without the test runner's own modules, which would be loaded into each thread: 180 MiB on Node 22. The runner adds
    // them to the environment of each child, so that they are taken off behind it; `env` becomes the service.
    const command = ['env', '-u', 'NODE_OPTIONS', process.execPath, ...this.#program, ...places, ...flags];
    const limit = this.filesMax === null ? '' : `ulimit -n ${this.filesMax}; `;
    return spawn('sh', ['-c', `${limit}exec "$0" "$@"`, ...command], {
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', output, 'pipe'],
    });
  }

  async start(): Promise<void> {
    if (!isOnRedis || 'redis' in this.#flags) return this.#start();
    this.#storeFlags ??= await redisFlags(this.#folder);
    for (let tries = 1; ; tries += 1) {
      this.#storeFlags = { ...this.#storeFlags, 'drain-delay-ms': 0, ...(await portFlags()) };
      try {
        return await this.#start();
      } catch (fault) {
        if (tries === STARTS_MAX || !/the port (?:is|was) taken/.test(this.logs)) throw fault;
      }
    }
  }

  async #start(): Promise<void> {
    const from = this.#output.length;
    const child = this.beside();
    this.#process = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    let ended = false;
    this.#exit = new Promise((resolve) => {
      child.on('exit', (code) => {
        ended = true;
        resolve(code);
      });
    });
    const isListening = (line: string): boolean => /"event":\s*"listening"/.test(line);
    const find = async (): Promise<string | undefined> =>
      this.#output.slice(from).split('\n').slice(0, -1).find(isListening);
    const line = await until(find, (found) => found !== undefined || ended, START_MILLISECONDS_MAX);
    if (line === undefined) throw new Error(`the service did not start: ${this.logs}`);
    this.port = (JSON.parse(line) as { port: number }).port;
  }

  /** Of the running process; for what the system knows of it. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  /** The exit status, null when a signal ended the process. */
  exited(): Promise<number | null> {
    return this.#exit;
  }

  /** kill -9 and start again on the same folders. */
  async crash(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exit;
    await this.start();
  }

  /** Ends the process whatever it does and removes its folders. */
  async remove(): Promise<void> {
    this.signal('SIGTERM');
    // A timer that is left would keep the test's process for as long.
    const killing = setTimeout(() => this.signal('SIGKILL'), END_MILLISECONDS_MAX);
    await this.#exit;
    clearTimeout(killing);
    if (this.#storeFlags !== null) await leaveRedis();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Starts a service that ends with the test. */
export async function startService(t: Test, description: CatalogDescription, flags: Flags = {}): Promise<Service> {
  tap.setTimeout(Math.max(tap.options.timeout ?? 0, FILE_MILLISECONDS_MIN));
  const service = new Service(description, flags);
  t.teardown(() => service.remove());
  await service.start();
  return service;
}

/** The last case of every file: what was logged is JSON lines without a word of any upload and without a key. */
export async function checkLogs(t: Test, service: Service, keys: readonly string[] = []): Promise<void> {
  service.signal('SIGTERM');
  t.equal(await service.exited(), 0, 'SIGTERM ends with status 0');
  t.ok(service.events.length > 0, 'every line of standard output is JSON');
  t.notMatch(service.logs, new RegExp(CANARY, 'i'), 'no word of an upload in the logs');
  for (const key of keys) t.notOk(service.logs.includes(key), 'no API key in the logs');
}
