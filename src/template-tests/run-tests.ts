// Runs the tests in a Template. The caller provides the engine and the files that the tests use.
import { extname } from 'node:path';
import { parseTemplate } from '../../workers/template/template-text.ts';
import { differences, type Expectation, type TestOutcome } from './template-expectation.ts';

/** One Run of a test. */
export interface TestRun {
  readonly source: string;
  readonly format: 'json' | 'yaml';
  readonly input: Uint8Array;
  /** The file extension without the dot. */
  readonly ending: string;
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  /** Reference tables as CSV, by catalog name. */
  readonly tables: Readonly<Record<string, Uint8Array>>;
}

/** The input to which a Template is applied in a test. */
export type TestInput = Omit<TestRun, 'source' | 'format'>;

/** Applies a Template with the engine. Throws faults of the program. */
export type RunTest = (run: TestRun) => Promise<TestOutcome>;

/** A valid Template with its tests. */
export interface TestedTemplate {
  readonly source: string;
  readonly format: 'json' | 'yaml';
  readonly tests: readonly TemplateTest[];
  /** The content of a file used by a test, or the reason why it is not available. */
  readonly read: (path: string) => Promise<Uint8Array | string>;
}

export interface TestResult {
  readonly test: string;
  readonly passed: boolean;
  readonly differences: readonly string[];
}

/** A test as defined by the Template's schema. */
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

/** Runs the tests of a valid Template. A test fails if a file that it uses cannot be read. */
export async function runTests(file: TestedTemplate, run: RunTest): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const [index, test] of file.tests.entries()) {
    const found = await runTest(file, test, run);
    results.push({ test: test.name ?? `test ${index + 1}`, passed: found.length === 0, differences: found });
  }
  return results;
}

async function runTest(file: TestedTemplate, { input, tables, expect }: TemplateTest, run: RunTest): Promise<string[]> {
  const parts = await testInput(file, { input, tables });
  if (typeof parts === 'string') return [parts];
  const golden = expect.file === undefined ? undefined : await contentOf(file, undefined, expect.file);
  if (typeof golden === 'string') return [golden];
  const outcome = await run({ source: file.source, format: file.format, ...parts });
  const rows = expect.rows === undefined || outcome.failure !== null ? null : await rowsOf(file, parts, run);
  const { file: _, match = 'exact', ...rest } = expect;
  return differences({ ...rest, ...(golden === undefined ? {} : { file: golden }), match }, outcome, rows);
}

/** The input of a test, independent of the Template; or the reason why it is not available. */
export async function testInput(
  file: TestedTemplate,
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

/** The content, or the reason why it is not available. */
async function contentOf(file: TestedTemplate, text?: string, path?: string): Promise<Uint8Array | string> {
  return path === undefined ? Buffer.from(text ?? '') : file.read(path);
}

/**
 * The rows that the Template produces with its operations and columns, written as JSON instead of its output format.
 */
export async function rowsOf(
  file: Pick<TestedTemplate, 'source' | 'format'>,
  parts: TestInput,
  run: RunTest,
): Promise<unknown[]> {
  const read = parseTemplate(file.source, file.format);
  if ('problems' in read) throw new Error('a valid Template cannot be read again');
  const whole = read.text.root.value as { readonly output?: { readonly columns?: unknown } };
  const columns = whole.output?.columns ?? null;
  const output = { format: 'json', columns, formula_guard: 'off', json: { decimals: 'string' } };
  const source = JSON.stringify({ ...whole, output });
  const { output: bytes, failure } = await run({ source, format: 'json', ...parts });
  if (failure !== null || bytes === null) throw new Error('the Run failed when its rows were written as JSON');
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown[];
}
