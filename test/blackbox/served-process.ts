// One process of the service, from its start to its end, with all that it writes.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { until } from './client.ts';

/** A start takes well under a second; a minute is for a machine that is busy with other things. */
const START_MILLISECONDS_MAX = 60_000;

export interface ProcessStart {
  /** What Node is started with. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** How many files it may have open; null = as many as this one. */
  readonly filesMax: number | null;
}

export function spawnService(
  { words, environment, filesMax }: ProcessStart,
  output: 'pipe' | number = 'pipe',
): ChildProcess {
  // Without the test runner's own modules, which would be loaded into each thread: 180 MiB on Node 22. The runner adds
  // them to the environment of each child, so that they are taken off behind it; `env` becomes the service.
  const command = ['env', '-u', 'NODE_OPTIONS', process.execPath, ...words];
  const limit = filesMax === null ? '' : `ulimit -n ${filesMax}; `;
  return spawn('sh', ['-c', `${limit}exec "$0" "$@"`, ...command], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, 'pipe'],
  });
}

/** May be started again when it has ended. */
export class ServedProcess {
  /** Of standard output and standard error, over all starts. */
  output = '';
  errors = '';
  port = 0;
  #process: ChildProcess | null = null;
  #exit: Promise<number | null> = Promise.resolve(null);

  /** For what the system knows of it. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Resolves when it listens. */
  async start(how: ProcessStart): Promise<void> {
    const from = this.output.length;
    const child = spawnService(how) as ChildProcessByStdio<null, Readable, Readable>;
    this.#process = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
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
      this.output.slice(from).split('\n').slice(0, -1).find(isListening);
    const line = await until(find, (found) => found !== undefined || ended, START_MILLISECONDS_MAX);
    if (line === undefined) throw new Error(`the service did not start: ${this.output}${this.errors}`);
    this.port = (JSON.parse(line) as { port: number }).port;
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  /** The exit status, null when a signal ended the process. */
  exited(): Promise<number | null> {
    return this.#exit;
  }
}
