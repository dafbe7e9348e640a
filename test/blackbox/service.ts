// Runs the built service as its own process on a catalog made for the test, and looks at its logs when it is over.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import tap, { type Test } from 'tap';
import { type CatalogDescription, CatalogFolder } from './catalog-folder.ts';
import { Client, pause, until } from './client.ts';
import { CANARY } from './multipart.ts';

const COMMAND = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
/** A start takes well under a second; a minute is for a machine that is busy with other things. */
const START_MILLISECONDS_MAX = 60_000;
/** tap ends a file after 30 s; on a busy machine some of these take longer. */
const FILE_MILLISECONDS_MAX = 240_000;

export type Flags = Readonly<Record<string, string | number>>;

export class Service {
  readonly catalog: CatalogFolder;
  readonly #folder: string;
  readonly #flags: Flags;
  readonly #environment: Readonly<Record<string, string>>;
  #process: ChildProcess | null = null;
  #output = '';
  #errors = '';
  #exit: Promise<number | null> = Promise.resolve(null);
  port = 0;

  constructor(description: CatalogDescription, flags: Flags = {}, environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
    this.#folder = mkdtempSync(join(tmpdir(), 'template-run-black-box-'));
    this.#flags = { workers: 1, 'drain-ms': 500, ...flags };
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
    const settings = { port: 0, host: '127.0.0.1', ...this.#flags, ...others };
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const places = ['--catalog', this.catalog.folder, '--data', this.dataFolder];
    // Without the test runner's own modules, which would be loaded into each thread: 180 MiB on Node 22. The runner adds
    // them to the environment of each child, so that they are taken off behind it; `env` becomes the service.
    return spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, COMMAND, 'serve', ...places, ...flags], {
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', output, 'pipe'],
    });
  }

  async start(): Promise<void> {
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
    await Promise.race([this.#exit, pause(5000)]);
    this.signal('SIGKILL');
    await this.#exit;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Starts a service that ends with the test. */
export async function startService(t: Test, description: CatalogDescription, flags: Flags = {}): Promise<Service> {
  tap.setTimeout(FILE_MILLISECONDS_MAX);
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
