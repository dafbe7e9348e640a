// `template diff`: shows the effect of a change to a Template. Applies both versions to the inputs of all their tests
// and to sample files, and compares the rows, independent of the output format.
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { explainTemplate } from '../../workers/plan/explain.ts';
import { lineDiff } from '../template-tests/line-diff.ts';
import { type RunTest, rowsOf, type TemplateTest, type TestInput, testInput } from '../template-tests/run-tests.ts';
import type { TestEngine } from '../template-tests/test-engine.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, parseFlags, UsageError } from './command.ts';
import { checkReadable, refuseSecondStandardInput, STANDARD_INPUT } from './local-input.ts';
import {
  localSecrets,
  problemLines,
  readLocalTables,
  readTemplateFile,
  type TemplateFile,
  testedFile,
} from './template-file.ts';
import { DIFF_FLAGS } from './template-flags.ts';
import { Progress, printable, progressShown } from './terminal.ts';

/** An input to which both Templates were applied, and the lines that differ; an empty list means no change. */
interface Compared {
  readonly of: string;
  readonly changes: readonly string[];
  /** The error code with which both Templates failed. Such an input says little about the change. */
  readonly failed?: string;
}

/** Writes differences to standard output; with --json as one line. */
export async function diffTemplates(args: readonly string[], io: CommandIo, engine: TestEngine): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, DIFF_FLAGS);
  const [oldPath, newPath, ...samples] = positionals;
  if (oldPath === undefined || newPath === undefined) throw new UsageError('Write the old and the new Template file.');
  refuseSecondStandardInput(positionals);
  const before = await readTemplateFile(oldPath);
  const after = await readTemplateFile(newPath);
  const broken = [before, after].filter(({ template }) => template === null);
  if (broken.length > 0) {
    io.stderr.write(broken.map(problemLines).join(''));
    return EXIT_FAILED;
  }
  const local = engine.forAccount(readLocalTables(values.get('tables') ?? null), localSecrets(values.get('secrets')));
  const run: RunTest = (test) => local.run(test);
  const compared: Compared[] = [{ of: 'columns', changes: changedLines(columnsText(before), columnsText(after)) }];
  let current = '';
  const describe = (seconds: number): string => `${printable(current)}being compared, ${seconds} s`;
  const progress = new Progress(io.stderr, describe, progressShown(switches));
  try {
    for (const [of, input] of await inputsOf(before, after, samples)) {
      current = `${of}: `;
      compared.push({
        of,
        ...(typeof input === 'string' ? { changes: [input] } : await compare(before, after, input, run)),
      });
    }
  } finally {
    progress.end();
  }
  const changed = compared.filter(({ changes }) => changes.length > 0);
  io.stdout.write(switches.has('json') ? `${JSON.stringify(compared)}\n` : diffText(compared, changed));
  return changed.length > 0 ? EXIT_FAILED : EXIT_OK;
}

/** The required columns of a file and the output columns, one per line. */
function columnsText({ template }: TemplateFile): string {
  const { file_columns: fileColumns, output } = explainTemplate(template!);
  return [
    ...fileColumns.map(
      ({ name, ifMissing }) => `reads ${JSON.stringify(name)}${ifMissing === 'fail' ? '' : ' if it exists'}`,
    ),
    ...output.columns.map(({ name, type }) => `writes ${JSON.stringify(name)} ${type}`),
    `writes ${output.format}\n`,
  ].join('\n');
}

/** If both Templates have a test of the same name, the input of the new one is used. */
async function inputsOf(
  before: TemplateFile,
  after: TemplateFile,
  samples: readonly string[],
): Promise<ReadonlyMap<string, TestInput | string>> {
  const inputs = new Map<string, TestInput | string>();
  for (const file of [before, after]) {
    for (const [index, test] of (file.template!.tests as readonly TemplateTest[]).entries()) {
      inputs.set(`test ${test.name ?? index + 1}`, await testInput(testedFile(file), test));
    }
  }
  for (const path of samples) inputs.set(`sample ${path}`, await sampleInput(path));
  return inputs;
}

async function sampleInput(path: string): Promise<TestInput> {
  try {
    if (path !== STANDARD_INPUT) checkReadable(path);
    const input = await (path === STANDARD_INPUT ? buffer(process.stdin) : readFile(path));
    return { input, ending: extname(path).slice(1).toLowerCase(), delimiter: null, headerRow: null, tables: {} };
  } catch (error) {
    throw new UsageError(`A sample cannot be read: ${(error as Error).message}`, false);
  }
}

async function compare(
  before: TemplateFile,
  after: TemplateFile,
  input: TestInput,
  run: RunTest,
): Promise<Omit<Compared, 'of'>> {
  const [old, now] = [await resultOf(before, input, run), await resultOf(after, input, run)];
  const changes = changedLines(old.lines, now.lines);
  if (changes.length > 0) return { changes };
  if (old.bytes === null || now.bytes === null) return { changes, failed: old.lines.slice(0, old.lines.indexOf(':')) };
  if (Buffer.compare(old.bytes, now.bytes) === 0) return { changes };
  const sizes = `${old.bytes.length} bytes before, ${now.bytes.length} after`;
  return { changes: [`the rows are equal, but the output files differ (${sizes})`] };
}

function changedLines(old: string, now: string): string[] {
  return old === now ? [] : lineDiff(old, now);
}

/** Rows as lines, or the failure as one line. */
async function resultOf(
  file: TemplateFile,
  input: TestInput,
  run: RunTest,
): Promise<{ readonly lines: string; readonly bytes: Uint8Array | null }> {
  const { source, format } = file;
  const { failure, output, rejects } = await run({ source, format, ...input });
  if (failure !== null) return { lines: `${failure.code}: ${failure.message}\n`, bytes: null };
  const rows = await rowsOf(testedFile(file), input, run);
  const lines = [...rows.map((row) => JSON.stringify(row)), ...rejectedLines(rejects)];
  return { lines: lines.map((line) => `${line}\n`).join(''), bytes: output };
}

/** Rejected rows without the header, which a Template that rejects nothing does not write. */
function rejectedLines(rejects: Uint8Array | null): string[] {
  const lines = rejects === null ? [] : Buffer.from(rejects).toString().split('\n').slice(1, -1);
  return lines.map((line) => `rejected: ${line}`);
}

function diffText(compared: readonly Compared[], changed: readonly Compared[]): string {
  const blocks = changed.map(({ of, changes }) => `${of}\n${changes.map((line) => `  ${line}\n`).join('')}`);
  const runs = compared.length - 1;
  const summary = `${changed.filter(({ of }) => of !== 'columns').length} of ${runs} ${runs === 1 ? 'input' : 'inputs'} changed`;
  const failed = compared.filter((each) => each.failed !== undefined);
  const failures = failed.map((each) => `${each.of}: both Templates fail with ${each.failed}\n`);
  return `${blocks.join('')}${failures.join('')}${summary}\n`;
}
