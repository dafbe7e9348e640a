// `template test`: runs the tests that stand in Template files through the engine.
import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { parseTemplate } from '../../workers/template/template-text.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { differences, type Expectation, type TestOutcome } from './template-expectation.ts';
import { problemLines, readTemplateFile, type TemplateFile } from './template-file.ts';

/** One Run of a test. */
export interface TestRun {
  readonly source: string;
  readonly format: 'json' | 'yaml';
  readonly input: Uint8Array;
  /** The file's ending without the dot. */
  readonly ending: string;
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  /** Reference tables as CSV by their catalog name. */
  readonly tables: Readonly<Record<string, Uint8Array>>;
}

/** What a Template of a test is applied to. */
export type TestInput = Omit<TestRun, 'source' | 'format'>;

/** Applies a Template with the engine. Faults of ours are thrown. */
export type RunTest = (run: TestRun) => Promise<TestOutcome>;

export interface TestResult {
  readonly test: string;
  readonly passed: boolean;
  readonly differences: readonly string[];
}

/** A test as the Template's schema has it. */
export interface TemplateTest {
  readonly name?: string;
  readonly input: {
    readonly text?: string;
    readonly file?: string;
    readonly format?: string;
    readonly delimiter?: string;
    readonly header_row?: number;
  };
  readonly tables?: Readonly<Record<string, string>> | undefined;
  readonly expect: Omit<Expectation, 'file' | 'match'> & {
    readonly file?: string;
    readonly match?: Expectation['match'];
  };
}

/** The command, with the engine that it runs tests on. */
export async function testFiles(args: readonly string[], io: CommandIo, run: RunTest): Promise<number> {
  const { positionals, switches } = parseFlags(args, JSON_FLAGS);
  if (positionals.length === 0) throw new UsageError('Write one or more Template files.');
  let status = EXIT_OK;
  for (const path of positionals) {
    const file = await readTemplateFile(path);
    if (file.template === null) {
      io.stderr.write(problemLines(file));
      status = EXIT_FAILED;
      continue;
    }
    const results = await runTests(file, run);
    if (results.some(({ passed }) => !passed)) status = EXIT_FAILED;
    io.stdout.write(
      switches.has('json') ? `${JSON.stringify({ file: path, tests: results })}\n` : resultText(path, results),
    );
  }
  return status;
}

/** Runs the tests of a sound Template. What a test names but cannot be read makes it fail. */
export async function runTests(file: TemplateFile, run: RunTest): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const [index, test] of (file.template!.tests as readonly TemplateTest[]).entries()) {
    const found = await runTest(file, test, run);
    results.push({ test: test.name ?? `test ${index + 1}`, passed: found.length === 0, differences: found });
  }
  return results;
}

async function runTest(file: TemplateFile, { input, tables, expect }: TemplateTest, run: RunTest): Promise<string[]> {
  const parts = await testInput(file, { input, tables });
  if (typeof parts === 'string') return [parts];
  const golden = expect.file === undefined ? undefined : await contentOf(file, undefined, expect.file);
  if (typeof golden === 'string') return [golden];
  const outcome = await run({ source: file.source, format: file.format, ...parts });
  const rows = expect.rows === undefined || outcome.failure !== null ? null : await rowsOf(file, parts, run);
  const { file: _, match = 'exact', ...rest } = expect;
  return differences({ ...rest, ...(golden === undefined ? {} : { file: golden }), match }, outcome, rows);
}

/** What a test runs over, for any Template; or why it cannot be had. */
export async function testInput(
  file: TemplateFile,
  { input, tables = {} }: Pick<TemplateTest, 'input' | 'tables'>,
): Promise<TestInput | string> {
  const content = await contentOf(file, input.text, input.file);
  if (typeof content === 'string') return content;
  return {
    input: content,
    ending: input.format ?? (input.file === undefined ? 'csv' : extname(input.file).slice(1).toLowerCase()),
    delimiter: input.delimiter ?? null,
    headerRow: input.header_row ?? null,
    tables: Object.fromEntries(Object.entries(tables).map(([name, text]) => [name, Buffer.from(text)])),
  };
}

/** The content, or why it cannot be had. Files are named from the Template's own folder. */
async function contentOf(file: TemplateFile, text?: string, path?: string): Promise<Uint8Array | string> {
  if (path === undefined) return Buffer.from(text ?? '');
  try {
    return await readFile(resolve(dirname(file.path), path));
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`;
  }
}

/** The rows that the Template makes, by its own operations and columns, written as JSON. */
export async function rowsOf(file: TemplateFile, parts: TestInput, run: RunTest): Promise<unknown[]> {
  const read = parseTemplate(file.source, file.format);
  if ('problems' in read) throw new Error('a sound Template cannot be read again');
  const whole = read.text.root.value as { readonly output?: { readonly columns?: unknown } };
  const columns = whole.output?.columns ?? null;
  const output = { format: 'json', columns, formula_guard: 'off', json: { decimals: 'string' } };
  const source = JSON.stringify({ ...whole, output });
  const { output: bytes, failure } = await run({ source, format: 'json', ...parts });
  if (failure !== null || bytes === null) throw new Error('the Run failed when its rows were written as JSON');
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown[];
}

function resultText(path: string, results: readonly TestResult[]): string {
  const lines = results.flatMap(({ test, passed, differences: found }) => [
    `${passed ? 'ok    ' : 'FAILED'} ${path}: ${test}`,
    ...found.map((line) => `  ${line}`),
  ]);
  return results.length === 0 ? `${path}: no tests\n` : `${lines.join('\n')}\n`;
}
