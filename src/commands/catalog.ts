// `catalog check`: says everything that is wrong with a catalog folder, its Templates' tests included.
import { join } from 'node:path';
import type { Template } from '../../workers/template/template.ts';
import type { TestTemplate } from '../catalog/check-catalog.ts';
import { checkCatalog } from '../catalog/check-catalog.ts';
import { CheckThread } from '../catalog/check-thread.ts';
import { checkForTests } from '../catalog/engine-checker.ts';
import { problemText } from '../catalog/problems.ts';
import type { CheckTemplate } from '../catalog/template-checker.ts';
import { strayFile } from '../catalog/template-gate.ts';
import { environmentName } from '../setting-reader.ts';
import { runTests } from '../template-tests/run-tests.ts';
import { TestEngine } from '../template-tests/test-engine.ts';
import { actionsCommand } from './actions.ts';
import { CATALOG_FLAG, positionals } from './catalog-flag.ts';
import { type Command, type CommandIo, EXIT_FAILED, EXIT_OK } from './command.ts';
import { parseFlags } from './flags.ts';
import { testedFile } from './template-file.ts';

const CHECK_FLAGS = { catalog: CATALOG_FLAG } as const;

export const command: Command = actionsCommand({
  name: 'catalog',
  actions: {
    check: {
      form: '[DIR]',
      summary: `Checks plans, accounts, keys, Templates, tables and secrets, and runs the Templates' tests.
Problems go to standard output, one a line; exit status 1 when there are any.`,
      flags: CHECK_FLAGS,
      run: check,
    },
  },
});

async function check(args: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(args, CHECK_FLAGS);
  const fallback = flags.values.get('catalog') ?? io.env[environmentName('catalog')];
  const directory = flags.positionals.length === 0 && fallback ? fallback : positionals(flags, ['DIR']).DIR;
  const checks = new CheckThread();
  const found = await TestEngine.with((engine) =>
    checkCatalog(directory, boundedCheck(checks), testsOn(engine, directory)),
  ).finally(() => checks.close());
  for (const problem of found.problems) io.stdout.write(`${problemText(problem)}\n`);
  if (found.more > 0) io.stdout.write(`and ${found.more} more\n`);
  if (found.problems.length > 0) return EXIT_FAILED;
  const { accounts, templates, tests } = found;
  io.stderr.write(`${directory}: sound, ${accounts} accounts, ${templates} Templates, ${tests} tests passed.\n`);
  return EXIT_OK;
}

/** As the service checks, so that it says what the service would; what passes is made here too, for its tests. */
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
