// `catalog check`: says everything that is wrong with a catalog folder.

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

export const command: Command = {
  name: 'catalog',
  usage: `template-run catalog check [DIR]

Checks plans, accounts, keys, Templates, tables and secrets. Problems go to standard output, one a line; exit status 1 when
there are any. DIR may also be in TEMPLATE_RUN_CATALOG.`,
  async run(args, io) {
    const [action = '', ...rest] = args;
    if (action !== 'check') throw new UsageError(`Write catalog check DIR.${suggestion(action, ['check'])}`);
    const flags = parseFlags(rest, {});
    const fallback = io.env[environmentName('catalog')];
    const directory = flags.positionals.length === 0 && fallback ? fallback : positionals(flags, ['DIR']).DIR;
    let testsLeftOut = 0;
    // The engine has no runner for tests yet: they are counted, and said to be left out.
    const countTests: TestTemplate<Template> = async ({ checked }) => {
      testsLeftOut += checked.tests.length;
      return { tests: 0, problems: [] };
    };
    const check = await checkCatalog(directory, checkForCatalog, countTests);
    for (const problem of check.problems) io.stdout.write(`${problemText(problem)}\n`);
    if (check.more > 0) io.stdout.write(`and ${check.more} more\n`);
    if (check.problems.length > 0) return EXIT_FAILED;
    io.stderr.write(`${directory}: sound, ${check.accounts} accounts, ${check.templates} Templates.\n`);
    if (testsLeftOut > 0) io.stderr.write(`${testsLeftOut} tests of Templates were not run.\n`);
    return EXIT_OK;
  },
};
