// `template test`: runs the tests in Template files through the engine.
import { parseTemplate } from '../../workers/template/template-text.ts';
import { type RunTest, runTests, type TestResult } from '../template-tests/run-tests.ts';
import { type Annotation, annotationLine, wantsAnnotations } from './annotations.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, parseFlags, UsageError } from './command.ts';
import { refuseSecondStandardInput } from './local-input.ts';
import { problemLines, readTemplateFile, type TemplateFile, testedFile } from './template-file.ts';
import { TEST_FLAGS } from './template-flags.ts';

/** The command, given a function that runs tests on an engine. */
export async function testFiles(args: readonly string[], io: CommandIo, run: RunTest): Promise<number> {
  const { positionals, switches, values } = parseFlags(args, TEST_FLAGS);
  if (positionals.length === 0) throw new UsageError('Write one or more Template files.');
  const asAnnotations = wantsAnnotations(values);
  let status = EXIT_OK;
  refuseSecondStandardInput(positionals);
  for (const path of positionals) {
    const file = await readTemplateFile(path);
    if (file.template === null) {
      if (asAnnotations) io.stdout.write(file.problems.map(problemAnnotation(path)).join(''));
      else io.stderr.write(problemLines(file));
      status = EXIT_FAILED;
      continue;
    }
    const results = await runTests(testedFile(file), run);
    if (results.some(({ passed }) => !passed)) status = EXIT_FAILED;
    if (asAnnotations) io.stdout.write(testAnnotations(file, results));
    else
      io.stdout.write(
        switches.has('json') ? `${JSON.stringify({ file: path, tests: results })}\n` : resultText(path, results),
      );
  }
  return status;
}

function resultText(path: string, results: readonly TestResult[]): string {
  const lines = results.flatMap(({ test, passed, differences: found }) => [
    `${passed ? 'ok    ' : 'FAILED'} ${path}: ${test}`,
    ...found.map((line) => `  ${line}`),
  ]);
  return results.length === 0 ? `${path}: no tests\n` : `${lines.join('\n')}\n`;
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
