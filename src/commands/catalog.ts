// `catalog check`: reports every problem of a catalog folder, including failing tests of its Templates.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Template } from '../../workers/template/template.ts';
import { CheckThread } from '../catalog/check-thread.ts';
import { checkForTests } from '../catalog/engine-checker.ts';
import { checkCatalog, type TestTemplate } from '../catalog/load-catalog.ts';
import { type CatalogProblem, problemText } from '../catalog/problems.ts';
import type { CheckTemplate } from '../catalog/template-checker.ts';
import { strayFile } from '../catalog/template-gate.ts';
import { environmentName } from '../setting-reader.ts';
import { runTests } from '../template-tests/run-tests.ts';
import type { TestEngine } from '../template-tests/test-engine.ts';
import { annotationLine, FORMAT_FLAGS, wantsAnnotations } from './annotations.ts';
import { CATALOG_FLAG, positionals } from './catalog-changes.ts';
import {
  actionsCommand,
  type Command,
  type CommandIo,
  EXIT_FAILED,
  EXIT_OK,
  parseFlags,
  QUIET_FLAG,
} from './command.ts';
import { testedFile } from './template-file.ts';
import { withTestEngine } from './template-test.ts';
import { Progress, printable, progressShown } from './terminal.ts';

const CHECK_FLAGS = { catalog: CATALOG_FLAG, quiet: QUIET_FLAG, ...FORMAT_FLAGS } as const;

export const command: Command = actionsCommand({
  name: 'catalog',
  actions: {
    check: {
      form: '[DIR]',
      summary: `Checks plans, accounts, keys, Templates, tables and secrets, and runs the Templates' tests.
Problems go to standard output, one per line. Exit status: 0 no problem, 1 a problem, 2 usage.`,
      flags: CHECK_FLAGS,
      run: check,
    },
  },
});

async function check(args: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(args, CHECK_FLAGS);
  const fallback = flags.values.get('catalog') ?? io.env[environmentName('catalog')];
  const directory = flags.positionals.length === 0 && fallback ? fallback : positionals(flags, ['DIR']).DIR;
  const asAnnotations = wantsAnnotations(flags.values);
  const checks = new CheckThread();
  const describe = (seconds: number): string => `${printable(directory)}: being checked, ${seconds} s`;
  const progress = new Progress(io.stderr, describe, progressShown(flags.switches));
  const found = await withTestEngine((engine) =>
    checkCatalog(directory, boundedCheck(checks), testsOn(engine, directory)),
  ).finally(() => {
    progress.end();
    checks.close();
  });
  for (const problem of found.problems) {
    io.stdout.write(asAnnotations ? annotationOf(directory, problem) : `${problemText(problem)}\n`);
  }
  if (found.more > 0) io.stdout.write(`and ${found.more} more\n`);
  if (found.problems.length > 0) return EXIT_FAILED;
  const { accounts, templates, tests } = found;
  const counts = [counted(accounts, 'account'), counted(templates, 'Template'), counted(tests, 'test')].join(', ');
  if (flags.switches.has('quiet')) return EXIT_OK;
  io.stderr.write(`${directory}: valid, ${counts} passed.\n`);
  return EXIT_OK;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function annotationOf(directory: string, { file, pointer, line, column, message }: CatalogProblem): string {
  const title = pointer === '' ? 'catalog check' : pointer;
  return annotationLine({ level: 'error', file: join(directory, file), line, column, title, message });
}

/**
 * Checks Templates the way the service does, so that the results are the same. A valid Template is then compiled here
 * too, because its tests need it.
 */
function boundedCheck(checks: CheckThread): CheckTemplate<Template> {
  return async (source, format, context) => {
    const result = await checks.check(source, format, context);
    return 'problems' in result ? result : checkForTests(source, format, context);
  };
}

function testsOn(engine: TestEngine, directory: string): TestTemplate<Template> {
  return async ({ file, source, format, checked, tests }, { tables, secretsDirectory }) => {
    const stray = strayFile(tests?.files ?? []);
    if (stray !== null)
      return { tests: 0, problems: [{ pointer: '/tests', line: null, column: null, message: stray }] };
    // Tests run in this thread, so the progress line is written between Templates.
    await setImmediate();
    const accountEngine = engine.forAccount(Object.fromEntries(tables), secretsDirectory);
    const path = join(directory, file);
    const tested = testedFile({ path, source, format, template: checked, problems: [] });
    const results = await runTests(tested, (run) => accountEngine.run(run));
    const problems = results.flatMap(({ test, differences }) => {
      return differences.map((difference) => ({
        pointer: '/tests',
        line: null,
        column: null,
        message: `${test}: ${difference}`,
      }));
    });
    return { tests: results.length, problems };
  };
}
