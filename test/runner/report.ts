// Output of the runner: a line for each file; at the end each failure with its place, the expected and actual values, and the
// command that runs the test again. On request, the same as TAP for other programs.
import { writeFileSync } from 'node:fs';
import type { Failure, TestCost } from './messages.ts';
import type { FileRun } from './test-process.ts';

export class Report {
  readonly #write: (text: string) => void;
  readonly #failed: { readonly file: string; readonly run: FileRun }[] = [];
  readonly #tap: string[] = [];
  readonly #fileCosts: TestCost[] = [];
  readonly #testCosts: TestCost[] = [];
  #files = 0;
  #passed = 0;
  #failures = 0;
  #skipped = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  get isPassed(): boolean {
    return this.#failures === 0 && this.#files > 0;
  }

  /** A file that `npm test` leaves out. */
  leftOut(file: string, reason: string): void {
    this.#skipped += 1;
    this.#write(`skipped ${sourceOf(file)}: ${reason}: npm run test:all\n`);
    this.#tap.push(`ok ${this.#tap.length + 1} - ${sourceOf(file)} # SKIP ${reason}`);
  }

  ran(file: string, run: FileRun): void {
    const { failures, skipped, passed } = run.result;
    this.#files += 1;
    const name = sourceOf(file);
    this.#fileCosts.push({ name, processorSeconds: run.result.processorSeconds });
    for (const test of run.result.tests) this.#testCosts.push({ ...test, name: `${name}: ${test.name}` });
    this.#passed += passed;
    this.#failures += failures.length;
    this.#skipped += skipped.length;
    const isPassed = failures.length === 0;
    if (!isPassed) this.#failed.push({ file, run });
    const counts = countsText(passed, failures.length, skipped.length);
    this.#write(
      `${isPassed ? 'ok    ' : 'not ok'} ${run.seconds.toFixed(1).padStart(6)} s  ${sourceOf(file)}: ${counts}\n`,
    );
    for (const { name, reason } of skipped) this.#write(`# skipped: ${name}: ${reason}\n`);
    this.#tap.push(tapOf(this.#tap.length + 1, file, run));
  }

  /** @param costliest number of files and tests to list, by processor time in descending order */
  end(seconds: number, costliest: number): void {
    for (const { file, run } of this.#failed) this.#write(failedText(file, run));
    for (const costs of [this.#fileCosts, this.#testCosts]) {
      const sorted = costs.toSorted((a, b) => b.processorSeconds - a.processorSeconds);
      for (const cost of sorted.slice(0, costliest)) {
        this.#write(`# ${cost.processorSeconds.toFixed(1).padStart(6)} s of processor time: ${cost.name}\n`);
      }
    }
    const processorSeconds = this.#fileCosts.reduce((sum, cost) => sum + cost.processorSeconds, 0);
    const times = `${seconds.toFixed(0)} s, ${processorSeconds.toFixed(0)} s of processor time`;
    this.#write(`\n# ${this.#files} files in ${times}\n`);
    this.#write(`# ${countsText(this.#passed, this.#failures, this.#skipped)}\n`);
  }

  writeTap(path: string): void {
    writeFileSync(path, `TAP version 14\n${this.#tap.join('\n')}\n1..${this.#tap.length}\n`);
  }
}

/** Name of the source of a test file: people edit sources, and the runner accepts their names too. */
export function sourceOf(file: string): string {
  return file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}

function countsText(passed: number, failed: number, skipped: number): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function failedText(file: string, { result, filesBefore }: FileRun): string {
  const failures = result.failures.map(
    ({ name, place, details }) =>
      `\nFAILED ${sourceOf(file)}: ${name}\n${place === null ? '' : `  at ${place}\n`}${indented(details, 2)}\n`,
  );
  const command = `  run again: node dist/test/run-tests.js ${sourceOf(file)}\n`;
  // Files in a process share its modules: an earlier file may have changed their state.
  const together =
    filesBefore.length === 0
      ? ''
      : `  if it passes alone: node dist/test/run-tests.js --jobs=1 ${[...filesBefore, file].map(sourceOf).join(' ')}\n`;
  return `${failures.join('')}${command}${together}`;
}

/** A file is a subtest with one point for all passed checks, and one for each failed or skipped check. */
function tapOf(number: number, file: string, { result, seconds }: FileRun): string {
  const points: string[] = [];
  const point = (text: string): void => void points.push(text.replace('#N', String(points.length + 1)));
  if (result.passed > 0) point(`    ok #N - ${result.passed} checks`);
  for (const { name, reason } of result.skipped) point(`    ok #N - ${escaped(name)} # SKIP ${escaped(reason)}`);
  for (const failure of result.failures) point(`    not ok #N - ${escaped(failure.name)}\n${tapDiagnosis(failure)}`);
  const state = result.failures.length === 0 ? 'ok' : 'not ok';
  return [
    `# Subtest: ${sourceOf(file)}`,
    ...points,
    `    1..${points.length}`,
    `${state} ${number} - ${sourceOf(file)} # time=${Math.round(seconds * 1000)}ms`,
  ].join('\n');
}

/** YAML in which the values are JSON strings. */
function tapDiagnosis({ place, details }: Failure): string {
  const lines = ['---', `at: ${JSON.stringify(place)}`, `details: ${JSON.stringify(details)}`, '...'];
  return indented(lines.join('\n'), 6);
}

function escaped(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}

function indented(text: string, spaces: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));
}
