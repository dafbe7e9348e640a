// Checks Templates in a thread of its own, one at a time, within bounds of time and memory, so that no Template holds up the
// event loop. A thread that a Template overruns is ended, and the next Template gets a new one.
// States: none → starting → ready ⇄ checking → none (its work is done, or a Template overran it).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CheckedTemplate } from '../outputs/output-name.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { FromCheckThread, ToCheckThread } from './check-messages.ts';
import { processorMilliseconds } from './processor-time.ts';
import type { TemplateCheck, TemplateContext } from './template-checker.ts';
import type { TestJob, TestVerdict } from './template-gate.ts';

/**
 * Of one Template, on a processor: forty times what those take that people write, and no longer than a Run of it may hold
 * its own thread.
 */
const CHECK_PROCESSOR_MILLISECONDS_MAX = 2_000;

/** Of one Template, as time goes by: where the system does not tell the other, or the thread waits for something for ever. */
const CHECK_MILLISECONDS_MAX = 20_000;

/**
 * Of the tests of one Template, as time goes by: they run on an engine of their own, whose time the thread's does not show. Tests
 * take milliseconds; on a machine that is busy, or with a large file, seconds.
 */
const TESTS_MILLISECONDS_MAX = 60_000;

/**
 * Of the thread, as the last line: the time above is over long before, and sound Templates of 1 MiB take up to 200 MiB. It is
 * that wide because V8 may abort the whole process, not the thread, where one meets its limit (seen with 256 MiB).
 */
const CHECK_HEAP_MEBIBYTES_MAX = 1_024;

/** Templates of one loading that may overrun: a folder of thousands would keep a processor busy for hours. */
export const OVERRUNS_MAX = 5;

/** How often a check under way is looked at. */
const LOOK_MILLISECONDS = 100;

export interface CheckThreadOptions {
  /** Module of the thread; the engine's checker unless a test says otherwise. */
  readonly entry?: URL;
}

type Outcome =
  | FromCheckThread
  | { readonly kind: 'too-long'; readonly isStarved: boolean }
  | { readonly kind: 'too-large' };

interface Thread {
  readonly worker: Worker;
  kernelThread: string | null;
  /** Whose names it reported last. */
  references: TemplateContext['secrets'] | null;
  /** Where its tests write; null: none was run. */
  folder: string | null;
}

export class CheckThread {
  readonly #entry: URL;
  #thread: Thread | null = null;
  /** Told to end, and not yet gone. */
  readonly #ending = new Set<Promise<unknown>>();
  #overruns = 0;
  #closed = false;

  constructor({ entry }: CheckThreadOptions = {}) {
    this.#entry = entry ?? new URL('dist/src/catalog/check-main.js', PACKAGE_FOLDER);
  }

  /** Not before the one before has been answered. It rejects when the checker has a fault of its own. */
  readonly check = async (
    source: string,
    format: 'json' | 'yaml',
    context: TemplateContext,
  ): Promise<TemplateCheck<CheckedTemplate>> => {
    if (this.#closed) return ENDS;
    if (this.#overruns >= OVERRUNS_MAX) {
      return problem(`was not checked, as ${OVERRUNS_MAX} others took too much time or memory. Mend them first.`, true);
    }
    this.#thread ??= await this.#start();
    if (this.#closed) this.#end();
    if (this.#thread === null) return ENDS;
    const outcome = await this.#ask(this.#thread, { kind: 'check', source, format }, context);
    switch (outcome.kind) {
      case 'checked':
        return outcome.check;
      case 'too-deep':
        return problem('is nested too deep to be checked.');
      case 'too-long':
        this.#overrun();
        if (outcome.isStarved)
          return problem(`was not checked within ${CHECK_MILLISECONDS_MAX / 1000} s. ${SHORTER}`, true);
        return problem(`takes more than ${CHECK_PROCESSOR_MILLISECONDS_MAX / 1000} s to check. ${SHORTER}`);
      case 'too-large':
        this.#overrun();
        return problem(`takes more than ${CHECK_HEAP_MEBIBYTES_MAX} MiB of memory to check. ${SHORTER}`);
      case 'fault':
        if (this.#closed) return ENDS;
        throw Object.assign(new Error(outcome.message), { stack: outcome.stack });
      default:
        throw new Error('a thread that checks Templates gave another answer');
    }
  };

  /** The tests of a Template that has been checked; as `check`. */
  readonly test = async ({ tables, ...job }: TestJob): Promise<TestVerdict> => {
    if (this.#closed) return { problem: NOT_TESTED, isPassing: true };
    if (this.#overruns >= OVERRUNS_MAX) {
      return {
        problem: `were not run, as ${OVERRUNS_MAX} others took too much time. Mend them first.`,
        isPassing: true,
      };
    }
    this.#thread ??= await this.#start();
    if (this.#closed) this.#end();
    if (this.#thread === null) return { problem: NOT_TESTED, isPassing: true };
    const thread = this.#thread;
    thread.folder ??= await mkdtemp(join(tmpdir(), 'template-run-tests-'));
    const paths = Object.fromEntries([...tables].map(([name, { path, sha256 }]) => [name, { path, sha256 }]));
    const outcome = await this.#ask(thread, { kind: 'test', ...job, tables: paths, folder: thread.folder });
    if (outcome.kind === 'tested') return { tests: outcome.tests };
    if (this.#closed) return { problem: NOT_TESTED, isPassing: true };
    if (outcome.kind === 'fault') throw Object.assign(new Error(outcome.message), { stack: outcome.stack });
    this.#overrun();
    const limit =
      outcome.kind === 'too-large' ? `${CHECK_HEAP_MEBIBYTES_MAX} MiB` : `${TESTS_MILLISECONDS_MAX / 1000} s`;
    return { problem: `take more than ${limit}. Give tests small files.`, isPassing: false };
  };

  /** Nothing is left to check for now: the thread ends, and what overran is forgotten. */
  rest(): void {
    this.#overruns = 0;
    this.#end();
  }

  /** For good: what is being checked is let go. */
  close(): void {
    this.#closed = true;
    this.#end();
  }

  /** Resolves when no thread is left of those that were told to end. One in native code takes its time. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending);
  }

  async #start(): Promise<Thread> {
    const worker = new Worker(this.#entry, {
      resourceLimits: { maxOldGenerationSizeMb: CHECK_HEAP_MEBIBYTES_MAX },
    });
    // Also between its answers, when nobody waits for one.
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (this.#thread?.worker === worker) this.#thread = null;
    });
    const thread: Thread = { worker, kernelThread: null, references: null, folder: null };
    const outcome = await this.#outcome(thread, CHECK_MILLISECONDS_MAX);
    if (outcome.kind === 'ready') thread.kernelThread = outcome.kernelThread;
    else if (!this.#closed) throw new Error('the thread that checks Templates did not start');
    return thread;
  }

  /** @param context what the text may refer to, where it is to be checked */
  #ask(thread: Thread, asked: ToCheckThread, context: TemplateContext | null = null): Promise<Outcome> {
    const send = (message: ToCheckThread): void => thread.worker.postMessage(message);
    // An account's references are the same object for all its Templates.
    if (context !== null && thread.references !== context.secrets) {
      const { tables, secrets } = context;
      send({ kind: 'references', tables: [...tables.keys()], secrets: [...secrets] });
      thread.references = secrets;
    }
    const outcome = this.#outcome(thread, asked.kind === 'test' ? TESTS_MILLISECONDS_MAX : CHECK_MILLISECONDS_MAX);
    send(asked);
    return outcome;
  }

  /** What the thread says next, or why it says no more. */
  #outcome({ worker, kernelThread }: Thread, millisecondsMax: number): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      const before = processorMilliseconds(kernelThread);
      const timer = setInterval(() => {
        const now = before === null ? null : processorMilliseconds(kernelThread);
        const busy = now === null ? 0 : now - before!;
        const isStarved = busy <= CHECK_PROCESSOR_MILLISECONDS_MAX;
        if (isStarved && performance.now() - began <= millisecondsMax) return;
        settle(() => resolve({ kind: 'too-long', isStarved }));
      }, LOOK_MILLISECONDS);
      const settle = (end: () => void): void => {
        clearInterval(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        end();
      };
      const onMessage = (message: FromCheckThread): void => settle(() => resolve(message));
      const onError = (fault: NodeJS.ErrnoException): void =>
        settle(() => (fault.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ kind: 'too-large' }) : reject(fault)));
      const onExit = (): void => settle(() => resolve({ kind: 'fault', message: 'the thread ended', stack: '' }));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    });
  }

  #overrun(): void {
    this.#overruns += 1;
    this.#end();
  }

  #end(): void {
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    // Not waited for: native code that does not look at the flag would hold up the others.
    const end: Promise<unknown> = removed(thread).finally(() => this.#ending.delete(end));
    this.#ending.add(end);
  }
}

async function removed({ worker, folder }: Thread): Promise<void> {
  await worker.terminate();
  if (folder !== null) await rm(folder, { recursive: true, force: true });
}

const NOT_TESTED = 'were not run: the service ends.';
const ENDS = problem('was not checked: the service ends.', true);
const SHORTER = 'Write fewer or shorter expressions, patterns and columns, or move lists into reference tables.';

function problem(message: string, isPassing = false): TemplateCheck<CheckedTemplate> {
  return { problems: [{ pointer: '', line: null, column: null, message }], isPassing };
}
