// The client for Python on faulty connections, with the scenarios of faults.test.ts, and its command line.
// With all tests only: a second client, in Python.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { type Service, startService } from '../../blackbox/service.ts';
import { FaultProxy } from '../../fixtures/fault-proxy.ts';
import { sweep } from '../../sweep.ts';
import {
  accountOf,
  accounts,
  chargedOnce,
  checkBytes,
  each,
  GIVEN_UP,
  GIVEN_UP_FILE,
  GIVEN_UP_MILLISECONDS_MAX,
  IDLE_MILLISECONDS,
  RETRIES,
  usedAtLast,
  WAIT_MILLISECONDS,
} from './fault-rig.ts';
import { scenario } from './scenarios.ts';
import { refusal, runAnswer, ScriptedService } from './scripted-service.ts';

const CLIENT = 'examples/clients/python/template_run.py';
const DRIVER = 'test/src/client/drive_client.py';

/** With those in which the service is killed they are 200. */
const SCENARIOS = sweep({ short: 8, long: 180 });
const KILLS = sweep({ short: 1, long: 20 });

/** All kinds of bad ways, each with its waits, on a machine with other things to do. */
t.setTimeout(1_200_000);

const OLDEST = 'import sys; sys.exit(sys.version_info < (3, 9))';
const skip = spawnSync('python3', ['-c', OLDEST]).status === 0 ? false : 'Python 3.9 or later is not installed';

/** Without this variable, Python would write compiled files into the package. */
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };

const folder = mkdtempSync(join(tmpdir(), 'template-run-python-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

interface Asked {
  readonly number: number;
  readonly url: string;
  readonly key: string;
  readonly source: string;
  readonly target: string;
  readonly kind: 'path' | 'bytes' | 'stream';
  /** Bytes after which it is given up. */
  readonly cancelAt?: number;
  /** Phase to which the bytes belong. */
  readonly phase?: 'upload' | 'download';
  readonly idleSeconds?: number;
  /** 'pick' unless set. */
  readonly template?: string;
  readonly options?: object;
}

interface Told {
  readonly code?: string;
  /** From the giving up to its end. */
  readonly milliseconds?: number;
  readonly fault?: string;
}

/** One process that does all transfers of a test. */
class Driver {
  readonly #waiting = new Map<number, (told: Told) => void>();
  readonly #python = spawn('python3', [DRIVER], { stdio: ['pipe', 'pipe', 'inherit'], env });

  constructor(t: Test) {
    createInterface(this.#python.stdout).on('line', (line) => {
      const { number, ...told } = JSON.parse(line) as Told & { readonly number: number };
      this.#waiting.get(number)!(told);
    });
    t.teardown(() => this.#python.stdin.end());
  }

  transfer(asked: Asked): Promise<Told> {
    return new Promise((resolve) => {
      this.#waiting.set(asked.number, resolve);
      const settings = { retries: RETRIES, idleSeconds: IDLE_MILLISECONDS / 1000, ...asked };
      this.#python.stdin.write(`${JSON.stringify(settings)}\n`);
    });
  }
}

async function through(
  t: Test,
  driver: Driver,
  service: Service,
  number: number,
  seed: number,
  kill?: () => void,
): Promise<void> {
  const each = scenario(seed, kill !== undefined);
  const proxy = await FaultProxy.open(t, {
    targetPort: () => service.port,
    faults: each.faults,
    ...(kill === undefined ? {} : { kill }),
  });
  const [source, target] = [join(folder, `${seed}-in.csv`), join(folder, `${seed}-out.csv`)];
  writeFileSync(source, each.file);
  const key = service.catalog.key(accountOf(number));
  const kind = (['path', 'bytes', 'stream'] as const)[number % 3]!;
  const told = await driver.transfer({ number, url: proxy.url, key, source, target, kind });
  t.match(told, { code: undefined, fault: undefined }, each.name);
  t.ok(proxy.left < each.faults.length, 'a fault came');
  checkBytes(t, readFileSync(target), each);
  await chargedOnce(t, service, number, each);
  proxy.close();
}

t.test('cuts, resets, stalls, refusals, lost and damaged answers', { skip }, async (t) => {
  const service = await startService(t, { accounts: accounts(SCENARIOS) }, { 'wait-ms': WAIT_MILLISECONDS });
  const driver = new Driver(t);
  await each(SCENARIOS, (number) => through(t, driver, service, number, number));
  t.strictSame(
    readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
    'no part of a file is left',
  );
});

t.test('the service is killed, and its Runs are lost', { skip }, async (t) => {
  const service = await startService(t, { accounts: accounts(KILLS) }, { 'wait-ms': 1 });
  const driver = new Driver(t);
  for (let number = 0; number < KILLS; number += 1) {
    let killed: Promise<void> = Promise.resolve();
    await through(t, driver, service, number, 9000 + number, () => {
      killed = service.crash();
    });
    await killed;
  }
});

t.test('what is given up ends at once, and leaves nothing', { skip }, async (t) => {
  const service = await startService(t, { accounts: accounts(2) });
  const driver = new Driver(t);
  const [source, target] = [join(folder, 'given-up-in.csv'), join(folder, 'given-up-out.csv')];
  writeFileSync(source, GIVEN_UP_FILE);
  for (const [number, { phase, cancelAt, fault, charged }] of GIVEN_UP.entries()) {
    const proxy = await FaultProxy.open(t, { targetPort: () => service.port, faults: [fault] });
    const key = service.catalog.key(accountOf(number));
    const asked = { number, url: proxy.url, key, source, target, kind: 'path', phase, cancelAt } as const;
    // Nothing else would end it while the test lasts.
    const told = await driver.transfer({ ...asked, idleSeconds: 3600 });
    t.match(told, { code: 'CANCELLED', fault: undefined }, phase);
    t.ok(told.milliseconds! < GIVEN_UP_MILLISECONDS_MAX, `${phase}: given up within ${told.milliseconds} ms`);
    t.notOk(readdirSync(folder).some((name) => name.startsWith('given-up-out') || name.endsWith('.part')));
    await usedAtLast(t, service, number, charged);
  }
});

t.test('giving up a TLS connection leaves it one', { skip }, async (t) => {
  const program = `
import socket, ssl, sys
sys.path.insert(0, "examples/clients/python")
from template_run import TemplateRunClient
client = TemplateRunClient("https://127.0.0.1", "trs_key")
mine, theirs = socket.socketpair()
secure = ssl.create_default_context().wrap_socket(mine, server_hostname="a", do_handshake_on_connect=False)
client._connections._hold(secure)
client.cancel()
try:
    secure.write(b"a cell")
except (OSError, ValueError) as error:
    print(type(error).__mro__)
print(theirs.recv(100))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', program], { encoding: 'utf8', env });
  // Python raises ValueError for a socket that has lost its TLS: bytes sent in another way would not be encrypted.
  t.match(stdout, /^\(.*OSError.*\)\nb''\n$/, stderr);
  t.notMatch(stdout, /ValueError/);
});

t.test('errors are told as they are, once', { skip }, async (t) => {
  const { number: _, ...asked } = { number: 0, key: 'trs_key', source: join(folder, 'in.csv'), kind: 'path' } as const;
  writeFileSync(asked.source, 'id,amount\n1,2\n');
  const driver = new Driver(t);
  const cases = [
    [refusal(422, 'TEMPLATE_COLUMNS_MISSING', { columns: ['amount'] }), 'TEMPLATE_COLUMNS_MISSING'],
    [refusal(429, 'RATE_LIMITED', {}, { 'retry-after': '3600' }), 'RATE_LIMITED'],
    [
      runAnswer(201, { status: 'failed', error: { code: 'TEMPLATE_ROW_ERROR', message: 'Row 3.' } }),
      'TEMPLATE_ROW_ERROR',
    ],
    [{ status: 200, body: '<html>' }, 'UNEXPECTED_ANSWER'],
    [runAnswer(201, { id: 1 }), 'UNEXPECTED_ANSWER'],
  ] as const;
  for (const [index, [answer, code]] of cases.entries()) {
    const service = await ScriptedService.open(t, [answer]);
    const told = await driver.transfer({ ...asked, number: index, url: service.url, target: join(folder, 'no.csv') });
    t.match(told, { code, fault: undefined });
    t.equal(service.asked.length, 1, `${code} was asked once`);
  }
  const absent = await driver.transfer({ ...asked, number: 9, url: 'http://127.0.0.1:1', target: '', source: 'no' });
  t.match(absent.fault, /^FileNotFoundError/);
});

t.test('one key for all tries, and the whole form', { skip }, async (t) => {
  const source = join(folder, 'orders "1".csv');
  writeFileSync(source, 'id,amount\n1,2\n');
  const service = await ScriptedService.open(t, [
    refusal(503, 'SERVER_BUSY'),
    { status: 502, body: '<html>a proxy</html>' },
    runAnswer(201, { status: 'failed', error: { code: 'RUN_INTERRUPTED', message: 'It stopped.' } }),
    runAnswer(202, { status: 'running' }),
    refusal(404, 'RUN_NOT_FOUND'),
    refusal(404, 'TEMPLATE_NOT_FOUND'),
  ]);
  const options = { delimiter: ';', header_row: 2 };
  const key = 'trs_key';
  const asked = { number: 0, url: service.url, key, source, target: join(folder, 'x.csv'), kind: 'path' } as const;
  const told = await new Driver(t).transfer({ ...asked, template: 'a b', options });
  t.match(told, { code: 'TEMPLATE_NOT_FOUND', fault: undefined });
  const posts = service.asked.filter(({ line }) => line.startsWith('POST'));
  t.equal(posts.length, 5);
  t.strictSame(new Set(posts.map(({ line }) => line)), new Set(['POST /api/v1/templates/a%20b/runs']));
  t.equal(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size, 1, 'one key');
  for (const { body, headers } of posts) {
    t.match(body, /name="delimiter"\r\n\r\n;\r\n[\s\S]*name="header_row"\r\n\r\n2\r\n/);
    t.match(body, /filename="orders %221%22\.csv"\r\n[^\r]*\r\n\r\nid,amount\n1,2\n\r\n--/);
    t.equal(Number(headers['content-length']), Buffer.byteLength(body));
  }
});

t.test('the command line sends files and tells the usage', { skip }, async (t) => {
  const service = await startService(t, { accounts: { acme: {} } });
  const key = join(folder, 'key');
  writeFileSync(key, `${service.catalog.key('acme')}\n`);
  const [inputs, outputs] = [join(folder, 'inputs'), join(folder, 'outputs')];
  mkdirSync(inputs);
  const files = ['a', 'b'].map((name) => join(inputs, `${name}.csv`));
  for (const file of files) writeFileSync(file, 'id,amount\n1,2\n');
  const run = (...words: readonly string[]) =>
    spawnSync('python3', [CLIENT, ...words], { encoding: 'utf8', env: { ...env, TEMPLATE_RUN_URL: service.url } });
  const sent = run('send', 'pick', ...files, '-o', outputs, '--key', key);
  t.equal(sent.status, 0, sent.stderr);
  t.match(sent.stdout, /a\.csv: 1 rows in .*a\.csv\n/);
  t.equal(readFileSync(join(outputs, 'b.csv'), 'utf8'), 'id,total\n1,2\n');
  t.match(JSON.parse(run('usage', '--key', key).stdout), { used: 2, runs_in_flight: 0 });
  t.equal(run('send', 'pick', files[0]!, '-o', inputs, '--key', key).status, 2, 'no input is written over');
  t.equal(run('send', 'pick', files[0]!, '-o', files[0]!, '--key', key).status, 2);
  t.equal(run('send', 'pick', files[0]!, '-o', outputs).status, 2, 'no key');
  const nowhere = run('send', 'pick', files[0]!, '-o', join(folder, 'missing', 'a.csv'), '--key', key);
  t.equal(nowhere.status, 1);
  t.match(nowhere.stderr, /^[^\n]*No such file or directory[^\n]*\n$/);
  t.match(JSON.parse(run('usage', '--key', key).stdout), { used: 2 }, 'no Run is charged whose output has no place');
  const down = ['--url', 'http://127.0.0.1:1', '--retries', '0'];
  for (const words of [
    ['--key', join(folder, 'none')],
    ['--key', key, ...down],
    ['--key', key, '--url', 'ftp://a'],
  ]) {
    const { status, stdout, stderr } = run('usage', ...words);
    t.match({ status, stdout }, { status: 1, stdout: '' });
    t.match(stderr, /^template_run\.py: [^\n]+\n$/, 'one line, and no traceback');
  }
});

t.test('it is of Python 3.9, and imports its standard library alone', { skip }, async (t) => {
  const program = 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))';
  t.equal(spawnSync('python3', ['-c', program, CLIENT]).status, 0);
  const names = 'import sys; print("\\n".join(sys.stdlib_module_names))';
  const known = new Set(spawnSync('python3', ['-c', names], { encoding: 'utf8' }).stdout.split('\n'));
  if (known.size < 10) return t.comment('this Python has no list of its modules');
  for (const [, name] of readFileSync(CLIENT, 'utf8').matchAll(/^(?:import|from) (\w+)/gm))
    t.ok(known.has(name!), name!);
});
