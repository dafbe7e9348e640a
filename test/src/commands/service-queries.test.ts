// `templates`, `usage`, `get` and `wait` against the real service, and errors of the connection in plain words.
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { ConnectionLostError } from '../../../src/client/answers.ts';
import { connectionFailure } from '../../../src/client/node/template-run-client.ts';
import { PICK, template } from '../../blackbox/catalog-folder.ts';
import { startService } from '../../blackbox/service.ts';
import { cli } from './command-line.ts';

const STRICT = template([{ op: 'parse_number', columns: ['amount'], on_error: 'reject' }]);
const service = await startService(t, { accounts: { acme: { templates: { pick: PICK, strict: STRICT } } } });
const folder = t.testdir({ 'in.csv': 'id,amount\n1,2\n3,x\n', 'wrong.csv': 'id\n1\n' });
const at = (name: string): string => join(folder, name);
const key = at('api.key');
writeFileSync(key, service.catalog.key('acme'));
const access = ['--url', service.url, '--key', key];

async function runId(templateId: string, file: string): Promise<string> {
  const { stdout } = await cli('send', templateId, at(file), '-o', at('sent.csv'), '--json', ...access);
  return (JSON.parse(stdout) as { run: { id: string } }).run.id;
}

t.test('the Templates of the account', async (t) => {
  const { status, stdout } = await cli('templates', ...access);
  t.equal(status, 0);
  t.match(stdout, /^TEMPLATE +NAME +OUTPUT +DESCRIPTION\npick .*csv/);
  t.match(JSON.parse((await cli('templates', '--json', ...access)).stdout), [{ id: 'pick' }, { id: 'strict' }]);
});

t.test('the usage', async (t) => {
  const { used } = JSON.parse((await cli('usage', '--json', ...access)).stdout) as { used: number };
  await runId('pick', 'in.csv');
  t.match((await cli('usage', ...access)).stdout, new RegExp(`^Runs in this period +${used + 1}$`, 'm'));
});

t.test('a Run, and its files', async (t) => {
  const id = await runId('strict', 'in.csv');
  for (const command of ['get', 'wait']) {
    const shown = await cli(command, id, ...access);
    t.match(shown, { status: 0, stderr: '' });
    t.match(
      shown.stdout,
      new RegExp(`^${id}: succeeded, 1 rows written, output .* bytes\\), rejected rows .*, kept until `),
    );
    const fetched = await cli(command, id, '-o', at('out.csv'), '--rejects', at('rejects.csv'), '--json', ...access);
    t.equal((JSON.parse(fetched.stdout) as { id: string }).id, id);
    t.equal(readFileSync(at('out.csv'), 'utf8'), 'id,amount\n1,2\n');
    t.match(readFileSync(at('rejects.csv'), 'utf8'), /\n2,.*NOT_A_NUMBER,3,x\n$/);
    t.match(await cli(command, id, '-o', '-', ...access), {
      stdout: 'id,amount\n1,2\n',
      stderr: new RegExp(`^${id}: `),
    });
    t.match(await cli(command, id, '--rejects', '-', ...access), {
      stdout: /\n2,.*NOT_A_NUMBER,3,x\n$/,
      stderr: new RegExp(`^${id}: `),
    });
    t.match(await cli(command, id, '-o', '-', '--rejects', '-', ...access), { status: 2, stdout: '' });
  }
  const plain = await runId('pick', 'in.csv');
  t.match(await cli('get', plain, '--rejects', at('none.csv'), ...access), {
    status: 1,
    stderr: 'The Run has no rejected rows.\n',
  });
});

t.test('a Run that is unknown, wrong usage', async (t) => {
  t.match(await cli('get', 'run_unknown', ...access), { status: 1, stderr: /^RUN_NOT_FOUND: .*request/ });
  t.match(await cli('wait', ...access), { status: 2, stderr: /Write RUN\./ });
  t.match(await cli('templates', 'more', ...access), {
    status: 2,
    stderr: /"more" is one argument more than this command takes/,
  });
  t.match(await cli('usage', '--key', key), { status: 2, stderr: /Write --url/ });
});

interface Teardown {
  teardown(end: () => void): void;
}

async function listening(t: Teardown, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('what is wrong with the address is said in plain words', async (t) => {
  const ask = (url: string) => cli('usage', '--url', url, '--key', key, '--retries', '0');
  const closed = net.createServer();
  const free = await new Promise<string>((resolve) => {
    closed.listen(0, '127.0.0.1', () => {
      const { port } = closed.address() as AddressInfo;
      closed.close(() => resolve(`127.0.0.1:${port}`));
    });
  });
  t.match(await ask(`http://${free}`), {
    status: 1,
    stderr: new RegExp(`No service listens at ${free}: the connection was refused`),
  });
  t.match(await ask('http://nowhere.invalid'), {
    status: 1,
    stderr: /The host name in nowhere\.invalid (is unknown|cannot be looked up)/,
  });
  const plain = await listening(t, http.createServer((_, answer) => answer.end()) as Server);
  t.match(await ask(`https://${plain}`), { status: 1, stderr: /does not speak TLS.*write http:\/\// });
  const other = await listening(
    t,
    net.createServer((socket) => socket.end('SSH-2.0-other\r\n')),
  );
  t.match(await ask(`http://${other}`), { status: 1, stderr: /does not answer in HTTP\..*write https:\/\// });
  t.match(await ask(free), {
    status: 2,
    stderr: new RegExp(`--url needs a scheme: write http://${free} or https://${free}\\.`),
  });
  t.match(await ask('http://'), { status: 2, stderr: /--url is not an address/ });
});

t.test('a certificate that is not accepted is not tried again', (t) => {
  const url = new URL('https://runs.example.com/api/v1/usage');
  const error = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  const told = connectionFailure(error, url);
  t.notOk(told instanceof ConnectionLostError);
  t.match(told, {
    code: error.code,
    message: /certificate of runs\.example\.com is not accepted: self-signed .*NODE_EXTRA_CA_CERTS/,
  });
  t.ok(connectionFailure(Object.assign(new Error('x'), { code: 'ECONNRESET' }), url) instanceof ConnectionLostError);
  t.end();
});
