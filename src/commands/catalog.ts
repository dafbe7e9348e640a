// `catalog check`: says everything that is wrong with a catalog folder, its Templates' tests included.
import { join } from 'node:path';
import { suggestion } from '../../workers/template/suggestion.ts';
import type { Template } from '../../workers/template/template.ts';
import type { TestTemplate } from '../catalog/check-catalog.ts';
import { checkCatalog } from '../catalog/check-catalog.ts';
import { checkForCatalog } from '../catalog/engine-checker.ts';
import { problemText } from '../catalog/problems.ts';
import { environmentName } from '../config.ts';
import { positionals } from './catalog-flag.ts';
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { parseFlags } from './flags.ts';
import { runTests } from './template-test.ts';
import { TestEngine } from './test-engine.ts';

export const command: Command = {
  name: 'catalog',
  usage: `template-run catalog check [DIR]

Checks plans, accounts, keys, Templates, tables and secrets, and runs the Templates' tests. Problems go to standard
output, one a line; exit status 1 when there are any. DIR may also stand behind --catalog or in TEMPLATE_RUN_CATALOG.`,
  async run(args, io) {
    const [action = '', ...rest] = args;
    if (action !== 'check') throw new UsageError(`Write catalog check DIR.${suggestion(action, ['check'])}`);
    const flags = parseFlags(rest, { catalog: { kind: 'value' } });
    const fallback = flags.values.get('catalog') ?? io.env[environmentName('catalog')];
    const directory = flags.positionals.length === 0 && fallback ? fallback : positionals(flags, ['DIR']).DIR;
    const check = await TestEngine.with((engine) =>
      checkCatalog(directory, checkForCatalog, testsOn(engine, directory)),
    );
    for (const problem of check.problems) io.stdout.write(`${problemText(problem)}\n`);
    if (check.more > 0) io.stdout.write(`and ${check.more} more\n`);
    if (check.problems.length > 0) return EXIT_FAILED;
    const { accounts, templates, tests } = check;
    io.stderr.write(`${directory}: sound, ${accounts} accounts, ${templates} Templates, ${tests} tests passed.\n`);
    return EXIT_OK;
  },
};

function testsOn(engine: TestEngine, directory: string): TestTemplate<Template> {
  return async ({ file, source, format, checked }, { tables, secretsDirectory }) => {
    const accountEngine = engine.forAccount(Object.fromEntries(tables), secretsDirectory);
    const path = join(directory, file);
    const results = await runTests({ path, source, format, template: checked, problems: [] }, (run) =>
      accountEngine.run(run),
    );
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
