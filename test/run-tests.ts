// Runs files of tests, each in a process of its own and several at a time, and says in TAP what became of them. tap's own
// runner works too (`npx tap <file>`), but for a coverage that nobody measures here it puts a loader before each module of
// each process and worker thread: a file that loads the engine then takes 2.3 s of processor time instead of 0.8.
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const PACKAGE_FOLDER = join(import.meta.dirname, '..', '..');
const ALL = 'dist/test';

/** What a file may take unless it says otherwise, in seconds: tap's variable, by which a process ends its own tests. */
const SECONDS_MAX = process.env['TAP_TIMEOUT'] ?? '240';

/** What a process gets beyond its time to say by itself which test took it, in milliseconds. */
const LAST_WORDS_MILLISECONDS = 30_000;

/** Files that run at a time, for each core: half of them wait for servers, timers and disks. */
const JOBS_PER_CORE = 2;

/** tap's counts of the assertions and tests without any in a process. */
const COUNTS = ['total', 'pass', 'fail', 'todo', 'skip'] as const;

type Counts = Record<(typeof COUNTS)[number], number>;

interface Ended {
  readonly output: string;
  readonly seconds: number;
  /** Why the process cannot count as passed; null where it can. */
  readonly trouble: string | null;
}

const { values, positionals } = parseArgs({
  options: { jobs: { type: 'string', short: 'j' }, last: { type: 'string' } },
  allowPositionals: true,
});
const files = (positionals.length === 0 ? [ALL] : positionals).flatMap(testsAt);
const counts: Counts = { total: 0, pass: 0, fail: 0, todo: 0, skip: 0 };
const failures: string[] = [];
let number = 0;

process.stdout.write('TAP version 14\n');
const isLast = (file: string): boolean => values.last !== undefined && file.startsWith(values.last);
await runAll(
  files.filter((file) => !isLast(file)),
  Number(values.jobs ?? availableParallelism() * JOBS_PER_CORE),
);
// What takes the machine for itself runs when the others are done, one file after the other.
await runAll(files.filter(isLast), 1);
process.stdout.write(`1..${number}\n`);
for (const file of failures) process.stdout.write(`# failed: ${file}\n`);
const told = COUNTS.filter((name) => name === 'total' || counts[name] > 0).map((name) => `${name}: ${counts[name]}`);
process.stdout.write(`# { ${told.join(', ')} }\n# time=${Math.round(performance.now())}ms\n`);
process.exitCode = failures.length === 0 && number > 0 ? 0 : 1;

/** The files of tests in a folder, or the file itself; sources stand for what was built of them. */
function testsAt(path: string): string[] {
  const built = path.replace(/^(?=test\b)/, 'dist/').replace(/\.ts$/, '.js');
  if (statSync(join(PACKAGE_FOLDER, built)).isFile()) return [built];
  return readdirSync(join(PACKAGE_FOLDER, built), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => join(built, name))
    .sort();
}

async function runAll(left: readonly string[], jobs: number): Promise<void> {
  const next = left.values();
  const job = async (): Promise<void> => {
    for (const file of next) tell(file, await run(file));
  };
  await Promise.all(Array.from({ length: jobs }, job));
}

function run(file: string): Promise<Ended> {
  const start = performance.now();
  const test = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: PACKAGE_FOLDER,
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: SECONDS_MAX },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [test.stdout!, test.stderr!]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  let isHung = false;
  const hung = (): void => {
    isHung = true;
    test.kill('SIGKILL');
    // What it started may still hold them.
    test.stdout!.destroy();
    test.stderr!.destroy();
  };
  let timer = setTimeout(hung, Number(SECONDS_MAX) * 1000 + LAST_WORDS_MILLISECONDS);
  // A file tells by tap that it needs more time.
  test.on('message', (message: { readonly setTimeout?: number }) => {
    if (message.setTimeout === undefined) return;
    clearTimeout(timer);
    timer = setTimeout(hung, message.setTimeout + LAST_WORDS_MILLISECONDS);
  });
  return new Promise((resolve) => {
    test.on('close', (code, signal) => {
      clearTimeout(timer);
      const ended = isHung ? 'its time was over' : `the process ended with ${signal ?? code}`;
      // A process may end well before its last test has begun: it has then not told how many there are.
      const isWhole = /^1\.\.\d+/m.test(output) && /^# \{ total: /m.test(output);
      const trouble = code !== 0 ? ended : isWhole ? null : 'the file did not come to its end';
      resolve({ output, seconds: (performance.now() - start) / 1000, trouble });
    });
  });
}

function tell(file: string, { output, seconds, trouble }: Ended): void {
  number += 1;
  const [, told = ''] = /^# \{ (total: .*) \}$/m.exec(output) ?? [];
  for (const name of COUNTS) counts[name] += Number(new RegExp(`\\b${name}: (\\d+)`).exec(told)?.[1] ?? 0);
  for (const [, name] of output.matchAll(/^ *ok \d+ - (.* # SKIP.*)/gm)) process.stdout.write(`# skipped: ${name}\n`);
  if (trouble !== null) {
    failures.push(file);
    process.stdout.write(`# Subtest: ${file}\n${output.replaceAll(/^(?=.)/gm, '    ')}\n`);
  }
  const reason = trouble === null ? '' : ` (${trouble})`;
  process.stdout.write(
    `${trouble === null ? 'ok' : 'not ok'} ${number} - ${file}${reason} # time=${seconds.toFixed(1)}s\n`,
  );
}
