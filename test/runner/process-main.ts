// A process that runs test files one after another, in the order in which the runner sends them. All files of a process share
// tap, the engine and the kernels, which take longer to load than most files take to run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import tap from 'tap';
import { failureOf, type PointOfTap } from './failures.ts';
import type { FileOrder, FileResult, ProcessMessage, Skipped, TestCost } from './messages.ts';

/** tap's separate folder for `t.testdir()`, named after the file so that processes do not share a folder. */
const FIXTURES = '.tap/fixtures';

/** Tests that the runner adds after those of a file. */
const END = 'the file has ended';
const AFTER_END = 'the next file may begin';
const isOfFile = ({ name }: { readonly name: string }): boolean => name !== END && name !== AFTER_END;

type TapResult = (typeof tap.lists.skip)[number];
/** Unit of the times in /proc, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

type Teardown = () => unknown;

/** Teardowns of the current file: `t.teardown` and `t.after` of tap's root would otherwise wait for the end of the process. */
let teardowns: Teardown[] = [];

const send = (message: ProcessMessage): void => {
  process.send?.(message);
};

/** The current test of the file, and the processor time at its start. */
let running: TestCost | null = null;
let tests: TestCost[] = [];

/** @param next the test that starts now; null after the last one */
function noteCost(next: string | null): void {
  const now = processorSeconds();
  if (running !== null && isOfFile(running))
    tests.push({ name: running.name, processorSeconds: now - running.processorSeconds });
  running = next === null ? null : { name: next, processorSeconds: now };
}

// Without this registration tap would write to standard output, which is reserved for the files.
tap.register();
tap.resume();
// The runner measures the time: it can end a process that no longer answers.
tap.setTimeout(0);
process.channel?.ref();
tap.on('subtestStart', (test: { readonly name: string }) => {
  noteCost(test.name);
  send({ kind: 'test', name: test.name });
});
const addTeardown = (teardown: Teardown): void => {
  teardowns.unshift(teardown);
};
Object.assign(tap, {
  teardown: addTeardown,
  after: addTeardown,
  setTimeout: (milliseconds: number) => {
    // A file may ask for more time than the runner gives, and not for less: a busy machine needs it.
    tap.options.timeout = Math.max(tap.options.timeout ?? 0, milliseconds);
    send({ kind: 'timeout', milliseconds });
  },
});

process.on('message', (order: FileOrder) => void runFile(order));
process.on('disconnect', () => process.exit(0));
send({ kind: 'ready' });

async function runFile({ file, timeoutMilliseconds }: FileOrder): Promise<void> {
  const processorBefore = processorSeconds();
  const passedBefore = tap.counts.pass;
  tap.lists.fail = [];
  tap.lists.skip = [];
  tap.lists.todo = [];
  teardowns = [];
  tests = [];
  // Subtests inherit this timeout. It is longer than the runner's, because the runner names the test that took the time.
  tap.options.timeout = timeoutMilliseconds * 2;
  (tap as { testdirName: string }).testdirName = join(process.cwd(), FIXTURES, file.replaceAll(/[^\w.-]+/g, '-'));
  try {
    await import(pathToFileURL(join(process.cwd(), file)).href);
  } catch (error) {
    tap.fail('the file could not be loaded', errorDetails(error));
  }
  await end();
  noteCost(null);
  for (const teardown of teardowns) await tidyUp(teardown);
  const result: FileResult = {
    passed: tap.counts.pass - passedBefore,
    failures: (tap.lists.fail as PointOfTap[]).map(failureOf),
    skipped: [...tap.lists.skip, ...tap.lists.todo].filter(isOfFile).map(skippedOf),
    processorSeconds: processorSeconds() - processorBefore,
    tests,
  };
  send({ kind: 'result', result });
}

/** tap runs the root's tests in turn, and reports each of them only when the next one begins. */
function end(): Promise<void> {
  return new Promise((resolve) => {
    const listener = ({ name }: { readonly name: string }): void => {
      if (name !== END) return;
      tap.parser.off('result', listener);
      resolve();
    };
    tap.parser.on('result', listener);
    for (const name of [END, AFTER_END]) void tap.test(name, { skip: true }, () => undefined);
  });
}

/** Processor time of this process and, if the system reports them, of its children that have ended. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  let childrenTicks = 0;
  try {
    // After the name in parentheses come the fields from the third on: cutime and cstime are fields 16 and 17.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    childrenTicks = Number(fields[13]) + Number(fields[14]);
  } catch {
    // Not Linux: only the time of this process is available.
  }
  return (user + system) / 1e6 + childrenTicks / TICKS_PER_SECOND;
}

function skippedOf({ fullname, skip, todo }: TapResult): Skipped {
  return { name: fullname.replace(/^TAP > /, ''), reason: String(skip || todo) };
}

async function tidyUp(teardown: Teardown): Promise<void> {
  try {
    await teardown();
  } catch (error) {
    tap.fail('the file could not tidy up', errorDetails(error));
  }
}

function errorDetails(error: unknown): { stack: string } {
  return { stack: error instanceof Error ? (error.stack ?? error.message) : `thrown: ${String(error)}` };
}
