// Checks Templates one at a time in a separate thread, with limits on time and memory.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { FromCheckThread, ToCheckThread } from './serve-checks.ts';
import type { TemplateCheck, TemplateContext } from './template-checker.ts';
import type { TestJob, TestVerdict } from './template-gate.ts';

// Processor time used by a thread of this process, which on a busy machine is much shorter than the elapsed time.

/** The kernel reports times in hundredths of a second (USER_HZ), independent of the rate of its internal clock. */
const TICK_MILLISECONDS = 10;

/** Indexes after the thread name of the 14th and 15th field of proc(5): time in user mode and in the kernel. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/** In milliseconds; null if the system does not report it or the thread has ended. */
function processorMilliseconds(kernelThread: string | null): number | null {
  if (kernelThread === null) return null;
  try {
    const text = readFileSync(`/proc/self/task/${kernelThread}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * TICK_MILLISECONDS;
  } catch {
    return null;
  }
}

// The thread keeps Templates from blocking the event loop. A thread that exceeds a limit is terminated, and the next
// Template gets a new thread.
//
// States: none → starting → ready ⇄ checking → none (idle, or terminated because a Template exceeded a limit).

/**
 * Maximum processor time for one Template, in milliseconds. Templates written by people take at most a fortieth of it,
 * and a Run may occupy its thread at least as long.
 */
const CHECK_PROCESSOR_MILLISECONDS_MAX = 2_000;

/**
 * Elapsed time for one Template, in milliseconds. Applies if the system does not report processor time, or if the
 * thread waits forever.
 */
const CHECK_MILLISECONDS_MAX = 20_000;

/**
 * Maximum elapsed time for the start of the thread, in milliseconds. A start usually takes 0.1 s, but more than 20 s on
 * a busy machine. The limit is far higher, because the service does not start without this thread.
 */
const START_MILLISECONDS_MAX = 120_000;

/**
 * Elapsed time for the tests of one Template, in milliseconds. They run on a separate engine, whose processor time is
 * not included in that of the thread. Tests take milliseconds; on a busy machine, or with a large file, seconds.
 */
const TESTS_MILLISECONDS_MAX = 60_000;

/**
 * Time after which tests in progress are postponed if the catalog changes again, in milliseconds. Postponed tests run
 * later, after the tests of accounts that have taken less time.
 */
const POSTPONE_TESTS_AFTER_MILLISECONDS = 2_000;

/**
 * Heap limit of the thread, in MiB, as a last resort. The time limits apply long before, and valid Templates of 1 MiB
 * need up to 200 MiB. The limit is this high because V8 may abort the whole process, not only the thread, when a
 * thread reaches its limit (seen with 256 MiB).
 */
const CHECK_HEAP_MEBIBYTES_MAX = 1_024;

/**
 * Number of Templates per reload that may exceed a limit. Without it, a folder of thousands could keep a processor
 * busy for hours.
 */
export const OVERRUNS_MAX = 5;

/** Interval between checks of the processor time used, in milliseconds. */
const POLL_MILLISECONDS = 100;

export interface CheckThreadOptions {
  /** Module of the thread; the engine's checker, except in tests. */
  readonly entry?: URL;
}

type Outcome =
  | FromCheckThread
  | { readonly kind: 'too-long'; readonly isStarved: boolean }
  | { readonly kind: 'postponed' }
  | { readonly kind: 'too-large' };

interface Thread {
  readonly worker: Worker;
  kernelThread: string | null;
  /** The references that were sent to the thread last. */
  references: TemplateContext['secrets'] | null;
  /** Folder for files written by tests; null: no tests were run. */
  folder: string | null;
}

export class CheckThread {
  readonly #entry: URL;
  #thread: Thread | null = null;
  /** Threads that are being terminated. */
  readonly #ending = new Set<Promise<unknown>>();
  #overruns = 0;
  /** Time at which tests in progress are postponed, on the clock of performance.now(). */
  #testsEnd = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor({ entry }: CheckThreadOptions = {}) {
    this.#entry = entry ?? new URL('dist/workers/checks.cjs', PACKAGE_FOLDER);
  }

  /** Call only after the previous check has been answered. Rejects on a fault of the checker. */
  readonly check = async (
    source: string,
    format: 'json' | 'yaml',
    context: TemplateContext,
  ): Promise<TemplateCheck<CheckedTemplate>> => {
    if (this.#closed) return ENDS;
    if (this.#overruns >= OVERRUNS_MAX) {
      return problem(
        `was not checked, because ${OVERRUNS_MAX} others took too much time or memory. Correct those first.`,
        true,
      );
    }
    this.#thread ??= await this.#start();
    if (this.#closed) this.#end();
    if (this.#thread === null) return ENDS;
    const outcome = await this.#request(this.#thread, { kind: 'check', source, format }, context);
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
        throw new Error('unexpected message from the thread that checks Templates');
    }
  };

  /** Runs the tests of a Template that has been checked. The same rules as for `check` apply. */
  readonly test = async ({ tables, ...job }: TestJob): Promise<TestVerdict> => {
    if (this.#closed) return { problem: NOT_TESTED, isTemporary: true };
    if (this.#overruns >= OVERRUNS_MAX) {
      return {
        problem: `were not run, because ${OVERRUNS_MAX} others took too much time. Correct those first.`,
        isTemporary: true,
      };
    }
    this.#thread ??= await this.#start();
    if (this.#closed) this.#end();
    if (this.#thread === null) return { problem: NOT_TESTED, isTemporary: true };
    const thread = this.#thread;
    thread.folder ??= await mkdtemp(join(tmpdir(), 'template-run-tests-'));
    const paths = Object.fromEntries([...tables].map(([name, { path, sha256 }]) => [name, { path, sha256 }]));
    const outcome = await this.#request(thread, { kind: 'test', ...job, tables: paths, folder: thread.folder });
    if (outcome.kind === 'tested') return { tests: outcome.tests };
    if (outcome.kind === 'postponed') {
      this.#end();
      return { problem: 'were postponed, because the catalog changed again.', isTemporary: true };
    }
    if (this.#closed) return { problem: NOT_TESTED, isTemporary: true };
    if (outcome.kind === 'fault') throw Object.assign(new Error(outcome.message), { stack: outcome.stack });
    this.#overrun();
    const limit =
      outcome.kind === 'too-large' ? `${CHECK_HEAP_MEBIBYTES_MAX} MiB` : `${TESTS_MILLISECONDS_MAX / 1000} s`;
    return { problem: `take more than ${limit}. Give tests small files.`, isTemporary: false };
  };

  /** Called when the catalog must be read again. Until `reset`, tests that do not end soon are postponed. */
  postponeTests(): void {
    this.#testsEnd = performance.now() + POSTPONE_TESTS_AFTER_MILLISECONDS;
  }

  /** Called after a load. Ends the thread, and resets `postponeTests` and the count of exceeded limits. */
  reset(): void {
    this.#overruns = 0;
    this.#testsEnd = Number.POSITIVE_INFINITY;
    this.#end();
  }

  /** Closes permanently and abandons a check in progress. */
  close(): void {
    this.#closed = true;
    this.#end();
  }

  /** Resolves when all terminated threads have ended. A thread in native code may take a while. */
  async ended(): Promise<void> {
    await Promise.all(this.#ending);
  }

  async #start(): Promise<Thread> {
    const worker = new Worker(this.#entry, {
      resourceLimits: { maxOldGenerationSizeMb: CHECK_HEAP_MEBIBYTES_MAX },
    });
    // Errors may also occur between answers, when no listener is waiting.
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (this.#thread?.worker === worker) this.#thread = null;
    });
    const thread: Thread = { worker, kernelThread: null, references: null, folder: null };
    const outcome = await this.#outcome(thread, START_MILLISECONDS_MAX);
    if (outcome.kind === 'ready') thread.kernelThread = outcome.kernelThread;
    else if (!this.#closed) throw new Error('the thread that checks Templates did not start');
    return thread;
  }

  /** @param context names to which the Template may refer; null if `request` is not a check */
  #request(thread: Thread, request: ToCheckThread, context: TemplateContext | null = null): Promise<Outcome> {
    const send = (message: ToCheckThread): void => thread.worker.postMessage(message);
    // All Templates of an account share the same object of references, so comparing the object is enough.
    if (context !== null && thread.references !== context.secrets) {
      const { tables, secrets } = context;
      send({ kind: 'references', tables: [...tables.keys()], secrets: [...secrets] });
      thread.references = secrets;
    }
    const isTest = request.kind === 'test';
    const outcome = this.#outcome(thread, isTest ? TESTS_MILLISECONDS_MAX : CHECK_MILLISECONDS_MAX, isTest);
    send(request);
    return outcome;
  }

  /** The next message of the thread, or the reason why no message arrives. */
  #outcome({ worker, kernelThread }: Thread, millisecondsMax: number, isTest = false): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      const before = processorMilliseconds(kernelThread);
      const timer = setInterval(() => {
        const now = before === null ? null : processorMilliseconds(kernelThread);
        const busy = now === null ? 0 : now - before!;
        const isStarved = busy <= CHECK_PROCESSOR_MILLISECONDS_MAX;
        if (isTest && performance.now() > this.#testsEnd) {
          settle(() => resolve({ kind: 'postponed' }));
          return;
        }
        if (isStarved && performance.now() - began <= millisecondsMax) return;
        settle(() => resolve({ kind: 'too-long', isStarved }));
      }, POLL_MILLISECONDS);
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
    // Not awaited, because a thread in native code ends late and would delay the following checks.
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

function problem(message: string, isTemporary = false): TemplateCheck<CheckedTemplate> {
  return { problems: [{ pointer: '', line: null, column: null, message }], isTemporary };
}
