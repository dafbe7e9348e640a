// `template test`: runs the tests that stand in Template files through the engine.
import { type RunTest, runTests, type TestResult } from '../template-tests/run-tests.ts';
import { type CommandIo, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { JSON_FLAGS } from './json-flag.ts';
import { problemLines, readTemplateFile, testedFile } from './template-file.ts';

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
    const results = await runTests(testedFile(file), run);
    if (results.some(({ passed }) => !passed)) status = EXIT_FAILED;
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
