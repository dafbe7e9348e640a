// The thread that checks the Templates of the catalog and runs their tests: its messages and its loop.

import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { checkTemplate } from '../../workers/plan/template-cache.ts';
import type { TaskTable } from '../../workers/protocol/messages.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import { runTests, type TemplateTest } from '../template-tests/run-tests.ts';
import type { TestEngine } from '../template-tests/test-engine.ts';
import { checkForService } from './engine-checker.ts';
import type { TemplateCheck } from './template-checker.ts';
import type { TestJob } from './template-gate.ts';

type TestMessage = Extract<ToCheckThread, { readonly kind: 'test' }>;

/** Runs the tests of Templates on one engine, which is started when the first tests are run. */
class TemplateTests {
  #engine: Promise<TestEngine> | null = null;

  /**
   * Runs the tests of a Template that has been checked. Returns for each test the number of differences from its
   * expectation.
   */
  async run(message: TestMessage): Promise<{ readonly name: string; readonly differences: number }[]> {
    const { source, format, files, folder, tables, secrets, secretsDirectory } = message;
    const references = { tables: new Set(Object.keys(tables)), secrets };
    const checked = checkTemplate(source, format, references);
    if ('problems' in checked) throw new Error('tests of an invalid Template were sent');
    this.#engine ??= import('../template-tests/test-engine.ts').then(({ TestEngine }) => TestEngine.open(folder));
    const engine = (await this.#engine).forAccount(tables, secretsDirectory);
    const read = async (name: string): Promise<Uint8Array | string> => files.get(name) ?? 'does not exist';
    const tests = checked.template.tests as readonly TemplateTest[];
    const results = await runTests({ source, format, tests, read }, (run) => engine.run(run));
    return results.map(({ test, differences }) => ({ name: test, differences: differences.length }));
  }
}

/** Answers one message after the other. */
export function serveChecks(port: MessagePort): void {
  const send = (message: FromCheckThread): void => port.postMessage(message);
  let tables = new Set<string>();
  let secrets = new Set<string>();
  const tests = new TemplateTests();
  port.on('message', (message: ToCheckThread) => {
    if (message.kind === 'check') return send(answer(message.source, message.format, { tables, secrets }));
    if (message.kind === 'test') {
      tests.run(message).then(
        (results) => send({ kind: 'tested', tests: results }),
        (error: unknown) => send(faultOf(error)),
      );
      return;
    }
    tables = new Set(message.tables);
    secrets = new Set(message.secrets);
  });
  send({ kind: 'ready', kernelThread: kernelThread() });
}

function answer(
  source: string,
  format: 'json' | 'yaml',
  references: { readonly tables: Set<string>; readonly secrets: Set<string> },
): FromCheckThread {
  try {
    return { kind: 'checked', check: checkForService(source, format, references) };
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) return { kind: 'too-deep' };
    return faultOf(error);
  }
}

function faultOf(error: unknown): FromCheckThread {
  const fault = error instanceof Error ? error : new Error(String(error));
  return { kind: 'fault', message: fault.message, stack: fault.stack ?? '' };
}

function kernelThread(): string | null {
  try {
    return basename(readlinkSync('/proc/thread-self'));
  } catch {
    return null;
  }
}

// Messages between the service and the thread that checks its Templates, which handles one Template at a time.

export type ToCheckThread =
  /** The names that the following Templates may refer to. */
  | { readonly kind: 'references'; readonly tables: readonly string[]; readonly secrets: readonly string[] }
  | { readonly kind: 'check'; readonly source: string; readonly format: 'json' | 'yaml' }
  /** `folder`: for files written by the tests; removed when the thread has ended. */
  | (Omit<TestJob, 'tables'> & {
      readonly kind: 'test';
      readonly folder: string;
      readonly tables: Readonly<Record<string, TaskTable>>;
    });

export type FromCheckThread =
  /**
   * The first message. `kernelThread`: the thread's number in /proc/self/task, null if the system has no such
   * numbers.
   */
  | { readonly kind: 'ready'; readonly kernelThread: string | null }
  | { readonly kind: 'checked'; readonly check: TemplateCheck<CheckedTemplate> }
  | { readonly kind: 'tested'; readonly tests: readonly { readonly name: string; readonly differences: number }[] }
  /** The text is nested so deeply that the checker's stack overflowed. */
  | { readonly kind: 'too-deep' }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string };
