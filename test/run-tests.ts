// Runs files of tests, each in a process of its own and several at a time, and says in TAP what became of them. tap's own
// runner works too (`npx tap <file>`), but for a coverage that nobody measures here it puts a loader before each module of
// each process and worker thread: a file that loads the engine then takes 2.3 s of processor time instead of 0.8.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isLong } from './sweep.ts';

const PACKAGE_FOLDER = join(import.meta.dirname, '..', '..');
const ALL = 'dist/test';

/** What a file may take unless it says otherwise, in seconds: tap's variable, by which a process ends its own tests. */
const SECONDS_MAX = process.env['TAP_TIMEOUT'] ?? '240';

/** What a process gets beyond its time to say by itself which test took it, in milliseconds. */
const LAST_WORDS_MILLISECONDS = 30_000;

/** Files that run at a time, for each core: half of them wait for servers, timers and disks. */
const JOBS_PER_CORE = 2;

/**
 * Folders whose files need no process of their own: they call the engine and start nothing. Most of what such a file costs is
 * to load tap and the engine, 0.6 to 1 s of processor time, so that several share a process.
 */
const SHARING_FOLDERS = ['language', 'workers'].map((folder) => join(ALL, folder, '/'));

/** What others in its process could feel of a file: its time, its memory, its folder (named after the process), what it sets, its children. */
const NOT_SHARING = /\b(?:setTimeout|testdir)\(|child_process|worker_threads|memoryUsage|process\.(?:env|on|chdir)\b/;

/** Stands at the head of a file whose tests take long by their nature: `npm test` leaves it out, and says why. */
const ALL_TESTS_ONLY = /^\/\/ With all tests only: (.+)\.$/m;

/** Of those, what waits most of its time, for leases, stalls and nodes: one at a time runs beside the others. */
const MOSTLY_WAITING = /^\/\/ With all tests only: (?:faults that are waited for by the clock|several nodes)/m;

/** More would make the slowest group last longer than the others together. */
const SHARING_FILES_MAX = 6;

const SEVERAL_FILES = join(ALL, 'import-several.js');

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
  options: {
    jobs: { type: 'string', short: 'j' },
    last: { type: 'string', multiple: true },
    alone: { type: 'string', multiple: true },
  },
  allowPositionals: true,
});
const found = (positionals.length === 0 ? [ALL] : positionals).flatMap(testsAt);
const counts: Counts = { total: 0, pass: 0, fail: 0, todo: 0, skip: 0 };
const failures: string[] = [];
let number = 0;

process.stdout.write('TAP version 14\n');
// Who names a file or a folder wants its tests.
const files = isLong || positionals.length > 0 ? found : found.filter(isOfEachChange);
const begins = (file: string, names: readonly string[] = []): boolean => names.some((name) => file.startsWith(name));
const isAlone = (file: string): boolean => begins(file, values.alone);
const isLast = (file: string): boolean => isAlone(file) || begins(file, values.last);
const isBeside = (file: string): boolean => !isLast(file) && MOSTLY_WAITING.test(textOf(file));
await Promise.all([
  runAll(
    groupsOf(files.filter((file) => !isLast(file) && !isBeside(file))),
    Number(values.jobs ?? availableParallelism() * JOBS_PER_CORE),
  ),
  runAll(
    files.filter(isBeside).map((file) => [file]),
    1,
  ),
]);
// When the others are done: what looks at the memory of a service has a core for itself, what measures time the machine.
await runAll(
  files.filter((file) => isLast(file) && !isAlone(file)).map((file) => [file]),
  availableParallelism(),
);
await runAll(
  files.filter(isAlone).map((file) => [file]),
  1,
);
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

function textOf(file: string): string {
  return readFileSync(join(PACKAGE_FOLDER, file), 'utf8');
}

/** Whether `npm test` runs the file; one that is left out is told. */
function isOfEachChange(file: string): boolean {
  const [, reason] = ALL_TESTS_ONLY.exec(textOf(file)) ?? [];
  if (reason === undefined) return true;
  process.stdout.write(`# skipped: ${file} # SKIP ${reason}: npm run test:all\n`);
  counts.skip += 1;
  return false;
}

/** Files by process, in the order of their lengths as far as that is known: minutes, several files in one process, the others. */
function groupsOf(all: readonly string[]): (readonly string[])[] {
  const isSharing = (file: string): boolean =>
    SHARING_FOLDERS.some((folder) => file.startsWith(folder)) && !NOT_SHARING.test(textOf(file));
  const sharing = all.filter(isSharing);
  const groups: string[][] = [];
  for (let from = 0; from < sharing.length; from += SHARING_FILES_MAX)
    groups.push(sharing.slice(from, from + SHARING_FILES_MAX));
  const single = all.filter((file) => !isSharing(file));
  const isLongest = (file: string): boolean => ALL_TESTS_ONLY.test(textOf(file));
  const [longest, others] = [single.filter(isLongest), single.filter((file) => !isLongest(file))];
  return [...longest.map((file) => [file]), ...groups, ...others.map((file) => [file])];
}

async function runAll(groups: readonly (readonly string[])[], jobs: number): Promise<void> {
  const next = groups.values();
  const job = async (): Promise<void> => {
    for (const group of next) await runGroup(group);
  };
  await Promise.all(Array.from({ length: jobs }, job));
}

/** Of a group that fails, each file runs alone, so that its failures stand under its name; that all pass alone makes no pass. */
async function runGroup(group: readonly string[]): Promise<void> {
  const ended = await run(group);
  const [file = ''] = group;
  if (ended.trouble === null || group.length === 1) {
    tell(group, ended);
    return;
  }
  const alone = [];
  for (const one of group) alone.push({ one, ended: await run([one]) });
  const failed = alone.filter((each) => each.ended.trouble !== null);
  if (failed.length === 0)
    tell([file], { ...ended, trouble: `${ended.trouble} together with ${group.slice(1).join(', ')}` });
  for (const each of failed) tell([each.one], each.ended);
}

function run(group: readonly string[]): Promise<Ended> {
  const start = performance.now();
  const secondsMax = Number(SECONDS_MAX) * group.length;
  const files = group.length === 1 ? group : [SEVERAL_FILES, ...group];
  const test = spawn(process.execPath, ['--enable-source-maps', ...files], {
    cwd: PACKAGE_FOLDER,
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(secondsMax) },
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
  let timer = setTimeout(hung, secondsMax * 1000 + LAST_WORDS_MILLISECONDS);
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

function tell(group: readonly string[], { output, seconds, trouble }: Ended): void {
  number += 1;
  const file = group.join(' ');
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
