// `init`: writes a catalog with a demo account, the plans and Templates of examples/catalog, and prints the account's key.
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AccountEditError, addAccount } from '../catalog/account-editor.ts';
import { issueKey } from '../catalog/issue-key.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { makeFolder } from '../runtime/make-folder.ts';
import { positionals } from './catalog-flag.ts';
import type { Command } from './command.ts';
import { withCatalogFailures } from './failures.ts';
import { parseFlags } from './flags.ts';

/** Its templates lie under the account's name in examples/catalog, and its plan in its plans.json. */
const DEMO_ACCOUNT = 'demo';
const DEMO_PLAN = 'demo';

export const command: Command = {
  name: 'init',
  usage: `template-run init DIR

Writes a catalog into the folder DIR, which must be new or empty, and prints the API key of its account "demo" once on
standard output.`,
  run(args, io) {
    const { DIR } = positionals(parseFlags(args, {}), ['DIR']);
    return withCatalogFailures(io, async () => {
      await makeCatalog(DIR);
      const { key } = await issueKey(DIR, DEMO_ACCOUNT);
      io.stdout.write(`${key}\n`);
      io.stderr.write(`The catalog is in ${DIR}. Start: template-run serve --catalog ${DIR} --data DIR\n`);
    });
  },
};

async function makeCatalog(directory: string): Promise<void> {
  // Secrets and digests of keys will lie in it.
  makeFolder(directory, 0o700);
  if ((await readdir(directory)).length > 0)
    throw new AccountEditError(`${directory} is not empty: name a new folder.`);
  const examples = fileURLToPath(new URL('examples/catalog/', PACKAGE_FOLDER));
  for (const name of ['plans.json', 'templates', 'tables']) {
    await cp(join(examples, name), join(directory, name), { recursive: true }).catch((fault: NodeJS.ErrnoException) => {
      if (fault.code !== 'ENOENT' || name === 'plans.json') throw fault;
    });
  }
  for (const folder of ['accounts', 'templates', 'tables', 'secrets']) {
    makeFolder(join(directory, folder), 0o700);
  }
  await addAccount(directory, DEMO_ACCOUNT, {
    name: 'Demo',
    active: true,
    subscription: {
      plan: DEMO_PLAN,
      status: 'active',
      started_at: `${new Date().toISOString().slice(0, 10)}T00:00:00Z`,
    },
    keys: [],
  });
}
