// Executes the commands of a page in bash, one after the other, in a new folder with the examples. Services run in the
// background until the end of the page.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '../blackbox/client.ts';

/** What a page prints for a reader to replace: the origin of the service, the port, the key, the Run. */
const PRINTED = { origin: 'https://runs.example.com', port: '8080', key: 'trs_demo...', run: '<run id>' } as const;

const START_MILLISECONDS_MAX = 180_000;

/** Commands that only set something: the reader's shell keeps it. */
const SETTING = /^(?:export |alias |[A-Z_]+=\S*(?:\s*#.*)?$)/;

/** Ends only when it is told to; what it prints when it is ready, and the signal that ends it. */
const SERVERS: readonly { command: RegExp; ready: RegExp; signal: NodeJS.Signals }[] = [
  { command: /^template-run serve\b/, ready: /"event":"listening".*"port":(\d+)/, signal: 'SIGTERM' },
  { command: /^template-run studio\b/, ready: /http:\/\/127\.0\.0\.1:(\d+)\/\S*\n/, signal: 'SIGINT' },
];

export interface Done {
  readonly status: number | null;
  /** Standard output and standard error, as a terminal shows them, with what the page prints for a reader's own values. */
  readonly output: string;
}

interface Server {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly signal: NodeJS.Signals;
  readonly command: string;
}

export class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), 'template-run-reader-'));
  readonly #settings: string[] = [];
  readonly #servers: Server[] = [];
  #port = PRINTED.port as string;
  #key = PRINTED.key as string;
  #run = PRINTED.run as string;

  constructor() {
    const checkout = process.cwd();
    cpSync('examples', join(this.folder, 'examples'), { recursive: true });
    symlinkSync(join(checkout, 'dist'), join(this.folder, 'dist'));
    mkdirSync(join(this.folder, 'node_modules'));
    symlinkSync(checkout, join(this.folder, 'node_modules/template-run'));
    mkdirSync(join(this.folder, 'bin'));
    this.#program('template-run', `exec '${process.execPath}' '${join(checkout, 'dist/src/cli.js')}' "$@"`);
    // The studio opens a browser, where it can.
    this.#program('xdg-open', 'exit 0');
    // An answer that is an error is no success, as it is to who reads it.
    this.write('.curlrc', 'fail-with-body\nsilent\nshow-error\n');
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  copy(from: string, to: string): void {
    cpSync(join(this.folder, from), join(this.folder, to));
  }

  async do(printed: string): Promise<Done> {
    const command = this.#filledIn(printed);
    if (SETTING.test(command)) this.#settings.push(command);
    const server = SERVERS.find((each) => each.command.test(command));
    if (server !== undefined) return this.#serve(command, server);
    const path = join(this.folder, '.output');
    const file = openSync(path, 'w');
    const child = this.#spawn(['shopt -s expand_aliases; set -o pipefail', ...this.#settings, command].join('\n'), [
      'ignore',
      file,
      file,
    ]);
    const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
    closeSync(file);
    const output = readFileSync(path, 'utf8');
    this.#key = /^(trs_\w+\.\d+_\w+)$/m.exec(output)?.[1] ?? this.#key;
    this.#run = /^\{"id":"([^"]+)"/m.exec(output)?.[1] ?? this.#run;
    return { status, output: this.#asPrinted(output) };
  }

  /** Ends what serves, and gives the commands that did not end well. */
  async leave(): Promise<string[]> {
    const ends = this.#servers.splice(0).map(async ({ process, ended, signal, command }) => {
      process.kill(signal);
      const status = await ended;
      return status === 0 ? [] : [`${command} ended with ${status}`];
    });
    const problems = (await Promise.all(ends)).flat();
    rmSync(this.folder, { recursive: true, force: true });
    return problems;
  }

  async #serve(command: string, { ready, signal }: (typeof SERVERS)[number]): Promise<Done> {
    // The port of the page may be taken: a free one, which is put in the place of the page's from here on.
    const free = command.replace(`--port ${PRINTED.port}`, '--port 0');
    const child = this.#spawn([...this.#settings, `exec ${free}`].join('\n'), ['ignore', 'pipe', 'pipe']);
    let output = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    let status: number | null | undefined;
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve)).then((code) => (status = code));
    this.#servers.push({ process: child, ended, signal, command });
    const found = await until(
      async () => ready.exec(output),
      (match) => match !== null || status !== undefined,
      START_MILLISECONDS_MAX,
    );
    if (found === null) return { status: status ?? null, output };
    if (free !== command) this.#port = found[1]!;
    return { status: 0, output: this.#asPrinted(output) };
  }

  #spawn(script: string, stdio: ('ignore' | 'pipe' | number)[]): ChildProcess {
    const { NODE_OPTIONS: _, ...environment } = process.env;
    const own = { HOME: this.folder, PATH: `${join(this.folder, 'bin')}:${process.env['PATH']}` };
    return spawn('bash', ['-c', script], { cwd: this.folder, env: { ...environment, ...own }, stdio });
  }

  #program(name: string, script: string): void {
    const path = join(this.folder, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  #filledIn(printed: string): string {
    return printed
      .replaceAll(PRINTED.origin, `http://127.0.0.1:${this.#port}`)
      .replaceAll(`127.0.0.1:${PRINTED.port}`, `127.0.0.1:${this.#port}`)
      .replaceAll(PRINTED.key, this.#key)
      .replaceAll(PRINTED.run, this.#run);
  }

  #asPrinted(output: string): string {
    return output
      .replaceAll(`127.0.0.1:${this.#port}`, `127.0.0.1:${PRINTED.port}`)
      .replaceAll(this.#key, PRINTED.key)
      .replaceAll(this.#run, PRINTED.run)
      .replaceAll(this.folder, '.');
  }
}
