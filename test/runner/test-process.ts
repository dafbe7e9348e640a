// A child process that runs test files one after another. It is started when it is first needed, and restarted after a file
// during which it ended, hung or grew large.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileOrder, FileResult, ProcessMessage } from './messages.ts';

const MAIN = join(import.meta.dirname, 'process-main.js');

/** Maximum output that is kept of a file, to be shown if its process ends: the last part. */
const OUTPUT_CHARACTERS_MAX = 20_000;

/** Resident memory above which a process is replaced: other test processes need the memory of a small machine. */
const RESIDENT_MEBIBYTES_MAX = 1_024;

export interface FileRun {
  readonly result: FileResult;
  readonly seconds: number;
  /** Files that the same process ran before. */
  readonly filesBefore: readonly string[];
}

const NOTHING: FileResult = { passed: 0, failures: [], skipped: [], processorSeconds: 0, tests: [] };

export class TestProcess {
  readonly #folder: string;
  readonly #timeoutMilliseconds: number;
  readonly #nodeOptions: readonly string[];
  #child: ChildProcess | null = null;
  #output = '';
  #filesBefore: string[] = [];

  /**
   * @param folder working folder of the tests: the package
   * @param nodeOptions flags of Node for the process
   */
  constructor(folder: string, timeoutMilliseconds: number, nodeOptions: readonly string[]) {
    this.#folder = folder;
    this.#timeoutMilliseconds = timeoutMilliseconds;
    this.#nodeOptions = nodeOptions;
  }

  async run(file: string): Promise<FileRun> {
    const start = performance.now();
    this.#child ??= await this.#start();
    const filesBefore = [...this.#filesBefore];
    this.#output = '';
    const result = await this.#resultOf(this.#child, file);
    this.#filesBefore.push(file);
    if (this.#child !== null && residentMebibytes(this.#child) > RESIDENT_MEBIBYTES_MAX) await this.end();
    return { result, seconds: (performance.now() - start) / 1000, filesBefore };
  }

  /** Ends the process if it runs. */
  async end(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#forget();
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
    destroyStreams(child);
  }

  #forget(): void {
    this.#child = null;
    this.#filesBefore = [];
  }

  async #start(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ['--enable-source-maps', ...this.#nodeOptions, MAIN], {
      cwd: this.#folder,
      env: { ...process.env, TAP: '1' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARACTERS_MAX);
      });
    }
    child.once('close', () => {
      if (this.#child === child) this.#forget();
    });
    await new Promise<void>((resolve, reject) => {
      child
        .on('error', reject)
        .once('close', () => reject(new Error(`A test process did not start:\n${this.#output}`)));
      // tap sends other messages first.
      const onMessage = ({ kind }: ProcessMessage): void => {
        if (kind !== 'ready') return;
        child.off('message', onMessage);
        resolve();
      };
      child.on('message', onMessage);
    });
    return child;
  }

  /** If a process ends or hangs, the file that it ran has failed. */
  #resultOf(child: ChildProcess, file: string): Promise<FileResult> {
    return new Promise((resolve) => {
      let test = 'before the first test';
      let timeoutMilliseconds = this.#timeoutMilliseconds;
      let isHung = false;
      const hang = (): void => {
        isHung = true;
        child.kill('SIGKILL');
        destroyStreams(child);
      };
      let timer = setTimeout(hang, timeoutMilliseconds);
      const settle = (result: FileResult): void => {
        clearTimeout(timer);
        child.off('message', onMessage).off('close', onClose);
        resolve(result);
      };
      const onMessage = (message: ProcessMessage): void => {
        if (message.kind === 'test') test = `in the test ${JSON.stringify(message.name)}`;
        if (message.kind === 'result') settle(checked(message.result));
        if (message.kind !== 'timeout') return;
        clearTimeout(timer);
        timeoutMilliseconds = Math.max(message.milliseconds, this.#timeoutMilliseconds);
        timer = setTimeout(hang, timeoutMilliseconds);
      };
      const onClose = (code: number | null, signal: string | null): void => {
        const reason = isHung
          ? `the file took more than ${timeoutMilliseconds / 1000} s`
          : `the process ended with ${signal === null ? `status ${code}` : signal}`;
        const failure = { name: `${reason}, ${test}`, place: null, details: this.#output };
        settle({ ...NOTHING, failures: [failure] });
      };
      child.on('message', onMessage).on('close', onClose);
      const order: FileOrder = { file, timeoutMilliseconds };
      child.send(order);
    });
  }
}

/** Processes that a file has started and not ended may still hold these streams open, and the runner would wait for them. */
function destroyStreams(child: ChildProcess): void {
  child.stdout!.destroy();
  child.stderr!.destroy();
}

/** A file without a check neither fails nor passes. */
function checked(result: FileResult): FileResult {
  const { passed, failures, skipped } = result;
  if (passed + failures.length + skipped.length > 0) return result;
  return { ...result, failures: [{ name: 'the file has no tests', place: null, details: '' }] };
}

/** Resident memory; 0 if the system does not report it. */
function residentMebibytes({ pid }: ChildProcess): number {
  try {
    const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return 0;
  }
}
