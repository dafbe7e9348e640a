// Runs test files: `node dist/test/run-tests.js [--jobs=N] [--tap=FILE] [--costliest=N] [--last=PATH] [--alone=PATH] [--checked-kernels]
// [FILE or FOLDER]...`.
// Several processes run beside each other, each with many files in turn, because loading tap, the engine and the kernels takes
// longer than most files take to run. tap's own runner starts a process for each file.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Report } from './runner/report.ts';
import { TestProcess } from './runner/test-process.ts';
import { isLong } from './sweep.ts';

const PACKAGE_FOLDER = join(import.meta.dirname, '..', '..');
const ALL = 'dist/test';

/** Time limit of a file unless it sets a longer one, in seconds. Files take 1 to 30 s, and many times that on a busy machine. */
const SECONDS_MAX = Number(process.env['TAP_TIMEOUT'] ?? 600);

/** Processes for each core: half of the files wait for servers, timers and disks. */
const JOBS_PER_CORE = 2;

/** Files that compute all the time. Every second job takes them first, so that files that wait run beside them. */
const COMPUTING_FOLDERS = ['language', 'workers'].map((folder) => join(ALL, folder, '/'));

/** Files that need a separate process: they measure its memory, or change global state that other files would see. */
const OWN_PROCESS = /\bmemoryUsage\b|\bprocess\.(?:on|chdir)\(|\bprocess\.env\[[^\]]*\] = /;

/** A line at the head of a file whose tests take long: `npm test` leaves the file out, and prints the reason. */
const ALL_TESTS_ONLY = /^\/\/ With all tests only: (.+)\.$/m;

/** Those of these files that mostly wait, for leases, stalls and nodes: one at a time runs beside the others. */
const MOSTLY_WAITING = /^\/\/ With all tests only: (?:faults that only time limits detect|several nodes)/m;

const { values, positionals } = parseArgs({
  options: {
    jobs: { type: 'string', short: 'j' },
    last: { type: 'string', multiple: true },
    alone: { type: 'string', multiple: true },
    tap: { type: 'string' },
    costliest: { type: 'string' },
    // Kernels that check each address: fixtures/checked-kernels.ts.
    'checked-kernels': { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const report = new Report((text) => process.stdout.write(text));
const isNamed = positionals.length > 0;
const files = (isNamed ? positionals : [ALL]).flatMap(testsAt).filter(isWanted);
const startsWithOneOf = (file: string, paths: readonly string[] = []): boolean =>
  paths.some((path) => file.startsWith(path));
const isAlone = (file: string): boolean => startsWithOneOf(file, values.alone);
const isLast = (file: string): boolean => isAlone(file) || startsWithOneOf(file, values.last);
const isBeside = (file: string): boolean => !isLast(file) && MOSTLY_WAITING.test(textOf(file));

await Promise.all([
  runAll(
    files.filter((file) => !isLast(file) && !isBeside(file)),
    Number(values.jobs ?? availableParallelism() * JOBS_PER_CORE),
  ),
  runAll(files.filter(isBeside), 1),
]);
// After the other files: files that measure the memory of a service get a core each, files that measure time get the whole
// machine.
await runAll(
  files.filter((file) => isLast(file) && !isAlone(file)),
  availableParallelism(),
);
await runAll(files.filter(isAlone), 1);
report.end(performance.now() / 1000, Number(values.costliest ?? 0));
if (values.tap !== undefined) report.writeTap(values.tap);
process.exitCode = report.isPassed ? 0 : 1;

function newProcess(): TestProcess {
  const preload = join(import.meta.dirname, 'fixtures', 'checked-kernels.js');
  const nodeOptions = values['checked-kernels'] ? ['--import', pathToFileURL(preload).href] : [];
  return new TestProcess(PACKAGE_FOLDER, SECONDS_MAX * 1000, nodeOptions);
}

/** The test files in a folder, or the file itself. A source stands for its built file. */
function testsAt(path: string): string[] {
  const built = path.replace(/^(?=test\b)/, 'dist/').replace(/\.ts$/, '.js');
  const found = statSync(join(PACKAGE_FOLDER, built), { throwIfNoEntry: false });
  if (found === undefined) {
    process.stderr.write(`There is no test file or folder ${path}. After adding one, run \`npm run build:quick\`.\n`);
    process.exit(2);
  }
  if (found.isFile()) return [built];
  return readdirSync(join(PACKAGE_FOLDER, built), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => join(built, name))
    .sort();
}

function textOf(file: string): string {
  return readFileSync(join(PACKAGE_FOLDER, file), 'utf8');
}

/** `npm test` leaves out files that take long; a file or folder that is named in the arguments runs completely. */
function isWanted(file: string): boolean {
  const [, reason] = ALL_TESTS_ONLY.exec(textOf(file)) ?? [];
  if (isLong || isNamed || reason === undefined) return true;
  report.leftOut(file, reason);
  return false;
}

async function runAll(all: readonly string[], jobs: number): Promise<void> {
  const isComputing = (file: string): boolean => startsWithOneOf(file, COMPUTING_FOLDERS);
  const computing = longestFirst(all.filter(isComputing));
  const others = longestFirst(all.filter((file) => !isComputing(file)));
  const job = async (_: unknown, index: number): Promise<void> => {
    const [first, second] = index % 2 === 0 ? [computing, others] : [others, computing];
    const shared = newProcess();
    for (;;) {
      const file = first.shift() ?? second.shift();
      if (file === undefined) break;
      await runFile(file, shared);
    }
    await shared.end();
  };
  await Promise.all(Array.from({ length: jobs }, job));
}

/** Files that take minutes are first, so that none of them runs alone at the end. */
function longestFirst(all: readonly string[]): string[] {
  const isLongest = (file: string): boolean => ALL_TESTS_ONLY.test(textOf(file));
  return [...all.filter(isLongest), ...all.filter((file) => !isLongest(file))];
}

async function runFile(file: string, shared: TestProcess): Promise<void> {
  const text = textOf(file);
  const isOwn = OWN_PROCESS.test(text) || ALL_TESTS_ONLY.test(text);
  const testProcess = isOwn ? newProcess() : shared;
  report.ran(file, await testProcess.run(file));
  if (isOwn) await testProcess.end();
}
