// `template test`: runs the tests in Template files through the engine.
import { parseTemplate } from '../../workers/template/template-text.ts';
import { type RunTest, runTests, type TestResult } from '../template-tests/run-tests.ts';
import { TestEngine } from '../template-tests/test-engine.ts';
import { type Annotation, annotationLine, wantsAnnotations } from './annotations.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, parseFlags, UsageError } from './command.ts';
import { refuseSecondStandardInput, withTemporaryFolder } from './local-input.ts';
import { problemLines, readTemplateFile, type TemplateFile, testedFile } from './template-file.ts';
import { TEST_FLAGS } from './template-flags.ts';
import { Progress, printable, progressShown } from './terminal.ts';

/** Calls `body` with an engine for tests, whose files are in a temporary folder. */
export function withTestEngine<Result>(body: (engine: TestEngine) => Promise<Result>): Promise<Result> {
  return withTemporaryFolder('template-run-test-', (folder) => TestEngine.with(folder, body));
}

/** The command, given a function that runs tests on an engine. */
export async function testFiles(args: readonly string[], io: CommandIo, run: RunTest): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, TEST_FLAGS);
  if (positionals.length === 0) throw new UsageError('Write one or more Template files.');
  const asAnnotations = wantsAnnotations(values);
  let status = EXIT_OK;
  refuseSecondStandardInput(positionals);
  let current = '';
  const describe = (seconds: number): string => `${printable(current)}: being tested, ${seconds} s`;
  const progress = new Progress(io.stderr, describe, progressShown(switches));
  try {
    for (const path of positionals) {
      current = path;
      const file = await readTemplateFile(path);
      const results = file.template === null ? null : await runTests(testedFile(file), run);
      progress.clear();
      if (results === null) {
        if (asAnnotations) io.stdout.write(file.problems.map(problemAnnotation(path)).join(''));
        else io.stderr.write(problemLines(file));
      } else if (asAnnotations) io.stdout.write(testAnnotations(file, results));
      else io.stdout.write(resultText(path, results, switches));
      if (results === null || results.some(({ passed }) => !passed)) status = EXIT_FAILED;
    }
  } finally {
    progress.end();
  }
  return status;
}

function resultText(path: string, results: readonly TestResult[], switches: ReadonlySet<string>): string {
  if (switches.has('json')) return `${JSON.stringify({ file: path, tests: results })}\n`;
  const isQuiet = switches.has('quiet');
  if (results.length === 0) return isQuiet ? '' : `${path}: no tests\n`;
  const lines = results
    .filter(({ passed }) => !passed || !isQuiet)
    .flatMap(({ test, passed, differences: found }) => [
      `${passed ? 'ok    ' : 'FAILED'} ${path}: ${test}`,
      ...found.map((line) => `  ${line}`),
    ]);
  return lines.map((line) => `${line}\n`).join('');
}

function problemAnnotation(file: string): (problem: TemplateFile['problems'][number]) => string {
  return ({ code, ...problem }) => annotationLine({ level: 'error', file, title: code, ...problem });
}

/** One annotation for each difference, at the line of its test. */
function testAnnotations({ path, source, format }: TemplateFile, results: readonly TestResult[]): string {
  const read = parseTemplate(source, format);
  if ('problems' in read) throw new Error('a checked Template cannot be read');
  const found = results.flatMap(({ test, differences }, index): Annotation[] => {
    const { line, column } = read.text.problem(`/tests/${index}`, '', '');
    return differences.map((message) => ({ level: 'error', file: path, line, column, title: test, message }));
  });
  return found.map(annotationLine).join('');
}
