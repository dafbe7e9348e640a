// `init`: writes a catalog with a demo account and the plans and Templates of examples/catalog, and prints the
// account's key.
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AccountEditError, addAccount, issueKey } from '../catalog/account-editor.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import { makeFolder } from '../runtime/data-directory.ts';
import { note, positionals, withCatalogFailures } from './catalog-changes.ts';
import { type Command, parseFlags } from './command.ts';

/** The demo account. examples/catalog contains its Templates in a folder of this name, and its plan in plans.json. */
const DEMO_ACCOUNT = 'demo';
const DEMO_PLAN = 'demo';

export const command: Command = {
  name: 'init',
  usage: `template-run init DIR

Writes a catalog into the folder DIR, which must be new or empty, and prints the API key of its account "demo" once on
standard output.`,
  run(args, io) {
    const flags = parseFlags(args, {});
    const { DIR } = positionals(flags, ['DIR']);
    return withCatalogFailures(io, async () => {
      await makeCatalog(DIR);
      const { key } = await issueKey(DIR, DEMO_ACCOUNT);
      io.stdout.write(`${key}\n`);
      note(io, flags, `The catalog is in ${DIR}. Start: template-run serve --catalog ${DIR} --data DIR\n`);
    });
  },
};

async function makeCatalog(directory: string): Promise<void> {
  // The folder will contain secrets and digests of API keys.
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
