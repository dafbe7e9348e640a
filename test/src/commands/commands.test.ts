// The command line from outside: `init`, `keys`, `accounts`, help and usage errors; the settings of `serve`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { digestOf } from '../../../src/admission/authenticate.ts';
import { type AccountText, changeFile, FileBusyError } from '../../../src/catalog/account-editor.ts';
import { parseUsage } from '../../../src/commands/accounts.ts';
import { UsageError } from '../../../src/commands/command.ts';
import { readServeConfig } from '../../../src/config.ts';
import { parseBytes } from '../../../src/setting-reader.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { cli, cliOnTerminal, type Outcome } from './command-line.ts';

const CLI = new URL('../../../src/cli.js', import.meta.url).pathname;

function account(catalog: string, id: string): AccountText {
  return JSON.parse(readFileSync(join(catalog, 'accounts', `${id}.json`), 'utf8')) as AccountText;
}

t.test('help, version and usage errors', async (t) => {
  t.match(await cli('--help'), { status: 0, stdout: /keys .*issue/, stderr: '' });
  t.match(await cli('--version'), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/ });
  t.match(execFileSync(process.execPath, [CLI, '--version'], { encoding: 'utf8' }), /^\d+\.\d+\.\d+\n$/);
  t.match(await cli(), { status: 2, stdout: '' });
  t.match(await cli('keyz'), { status: 2, stderr: /unknown command keyz\. Did you mean "keys"\?/ });
  t.match(await cli('draft'), { status: 2, stderr: /unknown command draft\. Write template-run template draft\.\n/ });
  t.match(await cli('list'), { status: 2, stderr: /Write template-run keys list or template-run accounts list\.\n/ });
  t.match(await cli('Validate'), { status: 2, stderr: /Write template-run template check\.\n/ });
  t.match(await cli('toString'), { status: 2, stderr: /unknown command toString\.\n/ });
  t.equal((await cli('version')).stdout, (await cli('--version')).stdout);
  t.match(await cli('keys', '--help'), { status: 0, stdout: /^Usage: template-run keys issue/ });
  t.match(await cli('help', 'keys'), { status: 0, stdout: /^Usage: template-run keys issue/ });
  t.match(await cli('keys', 'isue'), { status: 2, stderr: /Did you mean "issue"\?/ });
  t.match(await cli('keys', 'issue'), { status: 2, stderr: /ACCOUNT is missing/ });
  t.match(await cli('keys', 'issue', 'a'), { status: 2, stderr: /Write --catalog DIR, or set TEMPLATE_RUN_CATALOG/ });
  t.match(await cli('keys', 'issue', 'a', '--catalg', 'x'), {
    status: 2,
    stderr: /--catalg\. Did you mean "--catalog"\?/,
  });
  t.match(await cli('keys', 'issue', 'a', '--catalog'), { status: 2, stderr: /--catalog needs a value/ });
  t.match(await cli('keys', 'list', 'a', 'b', '--catalog', 'x'), {
    status: 2,
    stderr: /"b" is one argument more than this command takes/,
  });
});

t.test('a catalog from nothing: init, accounts, keys', async (t) => {
  const catalog = join(t.testdir(), 'catalog');
  const init = await cli('init', catalog);
  t.match(init, { status: 0, stdout: /^trs_demo\.1_[0-9A-Za-z]{32}\n$/ });
  t.equal(account(catalog, 'demo').keys[0]?.sha256, digestOf(init.stdout.trim()));
  t.ok(readdirSync(join(catalog, 'templates/demo')).length >= 3, 'with Templates');
  t.match(await cli('init', catalog), { status: 1, stderr: /is not empty/ });

  const flags = ['--catalog', catalog];
  t.match(await cli('accounts', 'add', 'acme', '--plan', 'startr', ...flags), {
    status: 1,
    stderr: /Did you mean "starter"/,
  });
  t.match(await cli('accounts', 'add', 'ac me', '--plan', 'starter', ...flags), {
    status: 1,
    stderr: /is not a valid account id/,
  });
  t.equal((await cli('accounts', 'add', 'acme', '--plan', 'starter', '--started', '2026-01-31', ...flags)).status, 0);
  t.match(await cli('accounts', 'add', 'acme', '--plan', 'starter', ...flags), {
    status: 1,
    stderr: /acme already exists/,
  });
  t.equal(account(catalog, 'acme').subscription?.started_at, '2026-01-31T00:00:00.000Z');
  t.equal(statSync(join(catalog, 'accounts/acme.json')).mode & 0o777, 0o600);

  const issued = await cli(
    'keys',
    'issue',
    'acme',
    '--scopes',
    'runs:read,templates:read',
    '--expires',
    '90d',
    ...flags,
  );
  t.match(issued, { status: 0, stdout: /^trs_acme\.1_/ });
  t.match((await cli('keys', 'issue', 'acme', ...flags)).stdout, /^trs_acme\.2_/);
  t.notMatch(readFileSync(join(catalog, 'accounts/acme.json'), 'utf8'), issued.stdout.trim(), 'only its digest');
  t.match(await cli('keys', 'issue', 'acme', '--expires', '2020-01-01', ...flags), {
    status: 2,
    stderr: /in the past/,
  });
  t.match(await cli('keys', 'issue', 'acme', '--scopes', 'run:read', ...flags), {
    status: 2,
    stderr: /mean "runs:read"/,
  });
  t.match(await cli('keys', 'issue', 'nobody', ...flags), { status: 1, stderr: /no account nobody/ });
  t.equal((await cli('keys', 'revoke', 'acme', '1', ...flags)).status, 0);
  t.match(await cli('keys', 'revoke', 'acme', '5', ...flags), { status: 1, stderr: /no key "5"; it has 1, 2/ });
  t.match((await cli('keys', 'list', 'acme', ...flags)).stdout, /\n1 +revoked +runs:read,templates:read .*\n2 +live /);
  t.ok(account(catalog, 'acme').keys[0]?.revoked_at);
  t.match((await cli('keys', 'issue', 'acme', ...flags)).stdout, /^trs_acme\.3_/, 'an id is not given twice');

  t.equal((await cli('accounts', 'deactivate', 'acme', ...flags)).status, 0);
  t.equal((await cli('accounts', 'subscription', 'acme', '--status', 'cancelled', ...flags)).status, 0);
  t.match((await cli('accounts', 'list', ...flags)).stdout, /\nacme +inactive +starter, cancelled +3\n/);
  t.match(await cli('accounts', 'subscription', 'acme', '--none', '--plan', 'demo', ...flags), { status: 2 });
  t.equal((await cli('accounts', 'subscription', 'acme', '--none', ...flags)).status, 0);
  t.match(JSON.parse((await cli('accounts', 'show', 'acme', ...flags)).stdout), {
    account: 'acme',
    subscription: null,
  });
  t.match(await cli('accounts', 'list', '--catalog', join(catalog, 'none')), { status: 1 });
});

t.test('accounts says what is missing in its flags', async (t) => {
  const catalog = join(t.testdir(), 'catalog');
  await cli('init', catalog);
  const accounts = (...args: readonly string[]) => cli('accounts', ...args, '--catalog', catalog);
  t.match(await accounts('add', 'acme'), { status: 2, stderr: /Write --plan PLAN\./ });
  t.match(await accounts('add', 'acme', '--plan', 'starter', '--started', 'yesterday'), {
    status: 2,
    stderr: /--started must be a date such as 2026-01-31 or 2026-01-31T00:00:00Z\./,
  });
  t.equal((await accounts('add', 'acme', '--plan', 'starter')).status, 0);
  t.match(await accounts('deactivate', 'acme'), { status: 0, stderr: 'Account acme is inactive.\n' });
  t.match(await accounts('activate', 'acme'), { status: 0, stderr: 'Account acme is active.\n' });
  t.match(await accounts('subscription', 'acme'), { status: 2, stderr: /Write --none, or at least one of --plan/ });
  t.equal((await accounts('subscription', 'acme', '--none')).status, 0);
  t.match((await accounts('list')).stdout, /\nacme +active +none +0\n/);
  t.match(JSON.parse((await accounts('list', '--json')).stdout)[0], { account: 'acme', subscription: null, keys: 0 });
  t.match(await accounts('subscription', 'acme', '--status', 'active'), {
    status: 2,
    stderr: /The account has no subscription yet: write --plan PLAN\./,
  });
  t.equal((await accounts('subscription', 'acme', '--plan', 'starter')).status, 0);
  t.equal(account(catalog, 'acme').subscription?.status, 'active');
  t.equal((await accounts('subscription', 'acme', '--started', '2026-01-31')).status, 0);
  t.match(account(catalog, 'acme').subscription, { plan: 'starter', started_at: '2026-01-31T00:00:00.000Z' });
  t.match(await cli('accounts', 'list', '--catalog', join(catalog, 'none')), {
    status: 1,
    stderr: /none does not exist\./,
  });
});

t.test('wrong arguments of studio, run and inspect', async (t) => {
  const folder = t.testdir({ 'a.yaml': 'operations: []\n', 'a.csv': 'a\n1\n' });
  const [yaml, csv] = ['a.yaml', 'a.csv'].map((name) => join(folder, name)) as [string, string];
  const cases: readonly (readonly [said: string, ...args: readonly string[]])[] = [
    ['Write a Template file and a sample file.', 'studio', yaml],
    ['Write a Template file and a sample file.', 'studio', yaml, csv, csv],
    ["a.txt: a Template's name ends in .json, .yaml or .yml.", 'studio', 'a.txt', csv],
    ['The studio reads the sample several times: write a file, not "-".', 'studio', yaml, '-'],
    ['--like takes a file, not "-".', 'studio', yaml, csv, '--like', '-'],
    ['--port takes a number up to 65535.', 'studio', yaml, csv, '--port', '65536'],
    ['--port takes a number up to 65535.', 'studio', yaml, csv, '--port', 'any'],
    ['--workers takes a whole number.', 'run', '--workers', 'x', yaml, csv],
    ['--workers takes a number of at least 1.', 'run', '--workers', '0', yaml, csv],
    ['--memory-budget takes a size of at least ', 'run', '--memory-budget', '1KiB', yaml, csv],
    ['--json takes no value.', 'inspect', '--json=yes', csv],
  ];
  for (const [said, ...args] of cases) {
    const { status, stdout, stderr } = await cli(...args);
    t.equal(status, 2, args.join(' '));
    t.ok(stderr.includes(said), `${said} in: ${stderr}`);
    t.equal(stdout, '');
  }
});

t.test("catalog check says what is wrong, with the engine's own checker", { skip: skipUnlessLong }, async (t) => {
  const catalog = t.testdir({
    'plans.json': '{"p": {}}',
    accounts: { 'a.json': '{}' },
    tables: { a: { 'suppliers.csv': 'id' } },
    templates: {
      a: {
        'fine.json':
          '{"format": 1, "tables": {"s": {"ref": "suppliers"}}, "operations": [{"op": "drop", "columns": "x"}], "output": {"format": "csv"}}',
        'table.yaml': 'format: 1\ntables:\n  s: {ref: supplier}\noperations: []\noutput: {format: csv}\n',
        'wrong.yaml': 'format: 1\noperations: [{op: dropp}]\noutput: {format: csv}\n',
      },
    },
  });
  const refused = await cli('catalog', 'check', catalog);
  t.match(refused, { status: 1, stderr: '' });
  t.match(refused.stdout, /^templates\/a\/table\.yaml:3:\d+ \/tables\/s\/ref: .*Did you mean "suppliers"\?$/m);
  t.match(refused.stdout, /^templates\/a\/wrong\.yaml:2:\d+ \/operations\/0.*Did you mean "drop"\?$/m);
  t.notMatch(refused.stdout, /fine/);
  rmSync(join(catalog, 'templates/a/table.yaml'));
  rmSync(join(catalog, 'templates/a/wrong.yaml'));
  t.match(await cli('catalog', 'check', catalog), {
    status: 0,
    stdout: '',
    stderr: /valid, 1 account, 1 Template, 0 tests passed/,
  });
  const told = (await cliOnTerminal({ NO_COLOR: '1' }, 'catalog', 'check', catalog)).stderr;
  // The progress line of a slow check has been removed.
  t.match(told, /^(?:\r\u001b\[K.*: being checked, \d+ s|\r\u001b\[K)*[^\r]*: valid, 1 [^\r]*\n$/);
  const tested = (expected: string): string =>
    JSON.stringify({
      format: 1,
      operations: [{ op: 'drop', columns: 'x' }],
      output: { format: 'csv' },
      tests: [{ name: 'drops', input: { text: 'x,y\n1,2\n' }, expect: { text: expected } }],
    });
  writeFileSync(join(catalog, 'templates/a/tested.json'), tested('y\n2\n'));
  t.match(await cli('catalog', 'check', catalog), { status: 0, stderr: /2 Templates, 1 test passed/ });
  const file = join(catalog, 'templates/a/tested.json');
  t.match(await cli('template', 'test', file), { status: 0, stdout: /^ok +.*tested\.json: drops\n$/ });
  writeFileSync(file, tested('y\n3\n'));
  t.match(await cli('template', 'test', file), { status: 1, stdout: /^FAILED .*tested\.json: drops\n/ });
  t.match(await cli('catalog', 'check', catalog), {
    status: 1,
    stdout: /^templates\/a\/tested\.json \/tests: drops: /,
  });
  t.match(await cli('catalog', 'chek', catalog), { status: 2, stderr: /Did you mean "check"/ });
  t.match(await cli('catalog', 'check', join(catalog, 'none')), {
    status: 1,
    stdout: /the catalog's folder does not exist/,
  });
});

t.test('keys issued at once by several processes are all kept', { skip: skipUnlessLong }, async (t) => {
  const catalog = join(t.testdir(), 'catalog');
  await cli('init', catalog);
  const children = Array.from({ length: 6 }, async () => {
    const args = [CLI, 'keys', 'issue', 'demo', '--catalog', catalog];
    return (await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit'))[0] as number;
  });
  t.ok((await Promise.all(children)).every((status) => status === 0));
  const ids = account(catalog, 'demo').keys.map((key) => Number(key.id));
  t.strictSame(
    ids,
    Array.from({ length: 7 }, (_, index) => index + 1),
  );
  t.strictSame(readdirSync(join(catalog, 'accounts')), ['demo.json'], 'no lock and no half file remains');
});

t.test("a file is changed anew when an editor came between, and a dead process's lock is broken", async (t) => {
  const directory = t.testdir({ 'a.json': 'one', '.a.json.lock': '999999999' });
  const path = join(directory, 'a.json');
  let calls = 0;
  await changeFile(path, (text) => {
    calls += 1;
    if (calls === 1) writeFileSync(path, 'from an editor');
    return `${text} and more`;
  });
  t.equal(readFileSync(path, 'utf8'), 'from an editor and more');
  await changeFile(join(directory, 'new.json'), (text) => {
    if (text === null) writeFileSync(join(directory, 'new.json'), 'made meanwhile');
    return text ?? 'lost';
  });
  t.equal(readFileSync(join(directory, 'new.json'), 'utf8'), 'made meanwhile');
  const restless = changeFile(path, (text) => {
    writeFileSync(path, `${text}.`);
    return 'lost';
  });
  await t.rejects(restless, FileBusyError);
  t.strictSame(readdirSync(directory).sort(), ['a.json', 'new.json']);
});

t.test('usage comes from a running node', async (t) => {
  const text = [
    '# HELP template_run_quota_used Runs charged or reserved',
    'template_run_quota_used{account="b"} 3',
    'template_run_quota_used{node="x",account="a"} 10 1700000000000',
    'template_run_quota_limit{account="a"} 100',
    'template_run_quota_limit{account="b"} +Inf',
    'template_run_other{account="c"} 1',
  ].join('\n');
  t.strictSame(parseUsage(text), [
    { account: 'a', used: 10, limit: 100 },
    { account: 'b', used: 3, limit: null },
  ]);
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/metrics' ? 200 : 404;
    response.end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (url: string): Promise<Outcome> => cli('accounts', '--ops', url);
  t.match(await ask(address), { status: 0, stdout: /a +10 +100\nb +3 +none\n$/ });
  t.match(await ask(`${address}/other`), { status: 1, stderr: /answers 404/ });
  t.match(await ask('http://127.0.0.1:9'), { status: 1, stderr: /does not answer/ });
  t.match(await ask('nonsense'), { status: 2, stderr: /--ops needs a scheme: write http:/ });
});

t.test('settings of serve', async (t) => {
  const base = ['--catalog', 'c', '--data', 'd'];
  const config = readServeConfig(base, {});
  t.match(config, { host: '127.0.0.1', port: 8080, baseUrl: null, workers: availableParallelism(), opsPort: null });
  t.match(config, { diskFloorBytes: 1024 ** 3, waitMilliseconds: 30_000, runTimeoutMilliseconds: 600_000 });
  t.match(config, {
    uploadTimeoutMilliseconds: 3_600_000,
    retentionMilliseconds: 1_800_000,
    drainMilliseconds: 30_000,
  });
  t.match(config, { metricsOnApiPort: false, connectionsMax: null, connectionsPerAddressMax: null });
  t.ok(config.memoryBudgetBytes >= 52 * 1024 ** 2);
  const env = {
    TEMPLATE_RUN_CATALOG: 'e',
    TEMPLATE_RUN_MEMORY_BUDGET: '256MiB',
    TEMPLATE_RUN_PORT: '1',
    TEMPLATE_RUN_HOST: '',
  };
  const mixed = readServeConfig(['--port=0', '--data', 'd', '--base-url', 'https://x.example:8443/'], env);
  t.match(mixed, { catalogDirectory: 'e', memoryBudgetBytes: 256 * 1024 ** 2, port: 0, host: '127.0.0.1' });
  t.equal(mixed.baseUrl, 'https://x.example:8443');
  const bad = [
    '--host',
    '0.0.0.0',
    '--port',
    '70000',
    '--memory-budget',
    '1MiB',
    '--disk-floor',
    'lots',
    '--workers',
    '0',
  ];
  const refusal = t.throws(() => readServeConfig([...bad, '--log-level', 'inf'], {}), UsageError) as Error;
  for (const wanted of [
    /--catalog is required/,
    /--data is required/,
    /--port must be a whole number from 0 to 65535/,
    /--memory-budget is too small for one Run: write 52MiB or more/,
    /--disk-floor must be a size: write bytes, or such as 256MiB/,
    /--workers must be a whole number from 1/,
    /--log-level must be one of .* Did you mean "info"\?/,
    /With --host 0\.0\.0\.0 write --base-url too/,
  ]) {
    t.match(refusal.message, wanted);
  }
  t.throws(() => readServeConfig([...base, 'extra'], {}), /flags only/);
  t.throws(() => readServeConfig([...base, '--metrics-on-api-port', 'maybe'], {}), /must be one of yes, no/);
  for (const other of 'ftp://x https://x/p https://x/p/ https://x? https://x# https://u@x x.example'.split(' ')) {
    t.throws(() => readServeConfig([...base, '--base-url', other], {}), /must be an http or https origin/, other);
  }
  t.throws(() => readServeConfig(base, { TEMPLATE_RUN_WAIT_MS: '1s' }), /TEMPLATE_RUN_WAIT_MS \(--wait-ms\) must be/);
  t.throws(() => readServeConfig([...base, '--memory-buget', '1'], {}), /Did you mean "--memory-budget"/);
  const sizes = {
    '1GiB': 1024 ** 3,
    '1.5 kib': 1536,
    '2GB': 2e9,
    '17': 17,
    '1XB': null,
    '-1': null,
    '': null,
    '1e3': null,
  };
  for (const [text, bytes] of Object.entries(sizes)) t.equal(parseBytes(text), bytes, text);
});
