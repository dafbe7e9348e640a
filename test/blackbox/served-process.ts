// One process of the service, from its start to its end, with all that it writes.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { until } from './client.ts';

/** A start takes well under a second, on a very busy machine a minute. */
const START_MILLISECONDS_MAX = 180_000;

/** The exit status, or the signal that ended the process; null if no process was started. */
export type ExitStatus = number | NodeJS.Signals | null;

export interface ProcessStart {
  /** Arguments for Node. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Maximum number of open files of the process; null: the limit of this process. */
  readonly filesMax: number | null;
}

export function spawnService(
  { words, environment, filesMax }: ProcessStart,
  output: 'pipe' | number = 'pipe',
): ChildProcess {
  // Without the test runner's own modules, which would be loaded into each thread: 180 MiB on Node 22. The runner adds
  // them to the environment of each child, so `env` removes them and then becomes the service.
  const command = ['env', '-u', 'NODE_OPTIONS', process.execPath, ...words];
  const limit = filesMax === null ? '' : `ulimit -n ${filesMax}; `;
  return spawn('sh', ['-c', `${limit}exec "$0" "$@"`, ...command], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, 'pipe'],
  });
}

/** May be started again when it has ended. */
export class ServedProcess {
  /** Lines of standard output and standard error, of all starts. */
  output = '';
  errors = '';
  port = 0;
  #process: ChildProcess | null = null;
  #exit: Promise<ExitStatus> = Promise.resolve(null);

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
      child.on('exit', (code, signal) => {
        ended = true;
        resolve(code ?? signal);
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

  exited(): Promise<ExitStatus> {
    return this.#exit;
  }
}
