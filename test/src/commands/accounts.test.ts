// Lists of accounts and keys as JSON, and how an account is removed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { digestOf } from '../../../src/admission/authenticate.ts';
import { cli } from './command-line.ts';

t.test('lists as JSON; an account is removed, with its files only where that is said', async (t) => {
  const catalog = join(t.testdir(), 'catalog');
  await cli('init', catalog);
  const flags = ['--catalog', catalog];
  await cli('accounts', 'add', 'acme', '--plan', 'starter', ...flags);
  const issued = await cli('keys', 'issue', 'acme', ...flags);
  const accounts = JSON.parse((await cli('accounts', 'list', '--json', ...flags)).stdout);
  t.match(accounts, [
    { account: 'acme', active: true, subscription: { plan: 'starter' }, keys: 1 },
    { account: 'demo', keys: 1 },
  ]);
  const keys = await cli('keys', 'list', 'acme', '--json', ...flags);
  t.match(JSON.parse(keys.stdout), [{ id: '1', state: 'live', revoked_at: null }]);
  t.notMatch(keys.stdout, digestOf(issued.stdout.trim()), 'without its digest');

  t.match(await cli('accounts', 'remove', 'nobody', ...flags), { status: 1, stderr: /no account nobody/ });
  t.equal((await cli('accounts', 'remove', 'acme', ...flags)).status, 0);
  t.match(await cli('accounts', 'remove', 'demo', ...flags), { status: 1, stderr: /templates\/demo.*--with-files/ });
  t.ok(readdirSync(join(catalog, 'templates/demo')).length >= 3, 'nothing is removed');
  t.equal((await cli('accounts', 'remove', 'demo', '--with-files', ...flags)).status, 0);
  t.strictSame(readdirSync(join(catalog, 'accounts')), []);
  t.strictSame(readdirSync(join(catalog, 'templates')), []);
  t.equal((await cli('accounts', 'list', '--json', ...flags)).stdout, '[]\n');
});
