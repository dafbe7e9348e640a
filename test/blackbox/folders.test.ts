// The folders of a node: a catalog inside the data folder, or the reverse, is refused at start.
import { spawn } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { Service } from './service.ts';

const COMMAND = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
const LISTENING = /"event":"listening"/;

interface End {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a service and ends it once it listens. */
function serve(catalog: string, data: string): Promise<End> {
  const args = [COMMAND, 'serve', '--catalog', catalog, '--data', data, '--port', '0', '--workers', '1'];
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (LISTENING.test(stdout)) child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

t.test(
  'a data folder inside the catalog, or a catalog inside the data folder, is refused at start',
  { skip: skipUnlessLong },
  async (t) => {
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
      const { status, stderr } = await serve(catalog, data);
      t.equal(status, 2, stderr);
      t.match(
        stderr,
        /^template-run serve: the data folder \S+ and the catalog \S+ are one inside the other: [^\n]*\n$/,
      );
    }
    t.strictSame(readdirSync(folder), before, 'nothing is made');
    cpSync(folder, join(dataFolder, 'catalog'), { recursive: true });
    const beside = await serve(join(dataFolder, 'catalog'), dataFolder);
    t.match(beside, { status: 0, stdout: LISTENING }, 'a catalog beside the folders of the data is taken');
  },
);
