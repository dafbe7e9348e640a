// Where the folders of a node lie: a catalog and data in each other are refused at start.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Service } from './service.ts';

const COMMAND = fileURLToPath(new URL('../../src/cli.js', import.meta.url));

/** One that starts ends by SIGTERM, with status 0, on a machine that is not very busy. */
const PATIENCE_MILLISECONDS = 15_000;

function serve(catalog: string, data: string) {
  const args = [COMMAND, 'serve', '--catalog', catalog, '--data', data, '--port', '0', '--workers', '1'];
  const options = { encoding: 'utf8', timeout: PATIENCE_MILLISECONDS } as const;
  return spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], options);
}

t.test('a data folder and a catalog that lie in each other are refused at start', async (t) => {
  const service = new Service({ accounts: { acme: {} } });
  t.teardown(() => service.remove());
  const { folder } = service.catalog;
  const { dataFolder } = service;
  symlinkSync(folder, join(dataFolder, 'link'));
  const before = readdirSync(folder);
  for (const [catalog, data] of [
    [folder, folder],
    [folder, join(folder, 'tables/new/data')],
    [folder, join(dataFolder, 'link/data')],
    [join(dataFolder, 'spool/catalog'), dataFolder],
  ] as const) {
    const { status, stderr } = serve(catalog, data);
    t.equal(status, 2, stderr);
    t.match(stderr, /^template-run serve: the data folder \S+ and the catalog \S+ lie in each other: [^\n]*\n$/);
  }
  t.strictSame(readdirSync(folder), before, 'nothing is made');
  cpSync(folder, join(dataFolder, 'catalog'), { recursive: true });
  const beside = serve(join(dataFolder, 'catalog'), dataFolder);
  t.match(beside, { stdout: /"event":"listening"/ }, 'a catalog beside the folders of the data is taken');
});
