// The end of a node after a signal, and its messages when it cannot start.
// With all tests only: attacks and faults of the machine.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FOLDER_MARK } from '../../src/outputs/folder-place.ts';
import { isOnRedis } from '../fixtures/test-stores.ts';
import { type CatalogDescription, PICK, template } from './catalog-folder.ts';
import { pause, until } from './client.ts';
import { expectNew } from './expect.ts';
import { file } from './multipart.ts';
import { COMMAND, Service, startService } from './service.ts';
import { SLOW, slowUpload } from './slow-run.ts';

const catalog: CatalogDescription = { accounts: { acme: { templates: { pick: PICK, slow: SLOW } } } };
/** Its output is a file, and more than the system keeps on its way to a client that does not read. */
const LONG_CSV = `id,amount\n${`1,${'x'.repeat(1000)}\n`.repeat(20_000)}`;

for (const drain of [0, 400]) {
  t.test(
    `SIGTERM with everything under way, --drain-ms ${drain}: in time, no error in the log, no file left`,
    async (t) => {
      const service = await startService(t, catalog, { 'drain-ms': drain });
      const client = service.client();
      const done = await client.upload('pick', [file(LONG_CSV)]);
      expectNew(t, done);
      const outputs = isOnRedis ? join(service.dataFolder, '../outputs') : join(service.dataFolder, 'outputs');
      // A fleet marks the folder that its nodes share.
      const kept = readdirSync(outputs).filter((name) => name !== FOLDER_MARK);
      t.equal(kept.length, 1, 'its output is a file');
      const slow = client.upload('slow', slowUpload(400_000));
      const half = client.hold('pick', [file(LONG_CSV)], 2_000_000);
      const headers = { authorization: `Bearer ${client.key}` };
      const download = http.get(`${service.url}/api/v1/runs/${done.run.id}/output`, { headers, agent: false });
      const [response] = (await once(download, 'response')) as [http.IncomingMessage];
      const isCut = new Promise((resolve) => response.on('error', () => {}).on('close', resolve));
      await until(
        () => service.quotaUsed(),
        (used) => used === 3,
      );
      service.signal('SIGTERM');
      // The response depends on whether the upload is still arriving or the Run has started.
      const { status, run } = await slow;
      t.ok(status === 503 || run.error?.code === 'RUN_INTERRUPTED', String(status));
      t.equal((await half.answer).status, 503);
      t.equal(await service.exited(), 0);
      response.resume();
      await isCut;
      t.strictSame(
        service.events.filter(({ level, event }) => level !== 'info' && event !== 'slow_http_library'),
        [],
        'in time, as it was not stopped by force',
      );
      t.match(service.events.at(-1), { event: 'stopped' });
      for (const folder of ['outputs', 'spool', 'spill'])
        t.strictSame(readdirSync(join(service.dataFolder, folder)), []);
    },
  );
}

/** Takes more than the 2 s after which a Template is given up. */
const LONG_CHECK = template(
  Array.from({ length: 700 }, (_, index) => ({
    op: 'replace',
    columns: 'a',
    mode: 'regex',
    find: `^x${index}(?:${'a{1,10}b?|'.repeat(110)}z)$`,
    replace: '',
  })),
);

for (const delay of [0, 300, 1_500]) {
  t.test(
    `SIGTERM ${delay} ms after the node began to start ends it before it has checked its catalog`,
    { skip: process.platform !== 'linux' },
    async (t) => {
      const templates = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, LONG_CHECK]));
      const service = new Service({ accounts: { acme: { templates } } });
      t.teardown(() => service.remove());
      const child = service.beside();
      let output = '';
      child.stdout.on('data', (text) => {
        output += text;
      });
      const ended = once(child, 'close');
      const caught = (): bigint => {
        const [, mask = '0'] = /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
        return BigInt(`0x${mask}`);
      };
      // SIGHUP is bit 0, and the last that it begins to listen to; Node itself listens to SIGTERM.
      t.ok(await until(async () => (caught() & 1n) !== 0n, Boolean), 'it listens to signals');
      // While its threads start too, or a moment later while a Template is checked.
      await pause(delay);
      child.kill('SIGTERM');
      t.strictSame(await ended, [0, null], 'status 0, and no signal');
      // The service has not waited for its checks of ten seconds, and has not reported a refused catalog.
      t.strictSame(output.match(/"event":"\w+"/g), ['"event":"stopped"']);
    },
  );
}

/** Standard error of `serve` that does not start, and its status. */
function failedStart(t: Test, before: readonly string[], flags: readonly string[]): [number | null, string] {
  const service = new Service(catalog);
  t.teardown(() => service.remove());
  const places = ['--catalog', service.catalog.folder, '--data', service.dataFolder, '--workers', '1'];
  const args = ['-u', 'NODE_OPTIONS', ...before, COMMAND, 'serve', ...places, ...flags];
  const { status, stderr } = spawnSync('env', args, { encoding: 'utf8' });
  return [status, stderr];
}

const WITHOUT_LOW_PORTS = ['setpriv', '--bounding-set', '-net_bind_service'];
const LISTEN =
  "require('node:net').createServer().on('error', ({code}) => console.log(code)).listen(81, '127.0.0.1', () => process.exit())";
const isRefused =
  spawnSync(WITHOUT_LOW_PORTS[0]!, [...WITHOUT_LOW_PORTS.slice(1), process.execPath, '-e', LISTEN], {
    encoding: 'utf8',
  }).stdout?.trim() === 'EACCES';

t.test('a port that the process may not have is not told as a taken one', { skip: !isRefused }, async (t) => {
  const [status, stderr] = failedStart(t, [...WITHOUT_LOW_PORTS, process.execPath], ['--port', '81']);
  t.equal(status, 1);
  t.match(
    stderr,
    /^template-run serve: cannot listen on 127\.0\.0\.1:81: permission denied: .*CAP_NET_BIND_SERVICE[^\n]*\n$/,
  );
});

t.test('an address of another machine is told as such', async (t) => {
  const [status, stderr] = failedStart(t, [process.execPath], ['--port', '0', '--host', '192.0.2.1']);
  t.equal(status, 1);
  t.match(stderr, /^template-run serve: cannot listen on 192\.0\.2\.1:0: this machine does not have this address\n$/);
});

/** Makes Node report version 24 and its binary interface, by which uWebSockets.js chooses its binary. */
const DISGUISE = `data:text/javascript,Object.defineProperty(process, 'versions', ${"{value: {...process.versions, node: '24.1.0', modules: '137'}}"})`;

t.test('where uWebSockets.js has no binary, the HTTP server of Node is used, and the log says why', async (t) => {
  const service = new Service(catalog, {}, { TEMPLATE_RUN_HTTP_LIBRARY: 'auto' }, [
    '--import',
    DISGUISE,
    COMMAND,
    'serve',
  ]);
  t.teardown(() => service.remove());
  await service.start();
  const [warning] = service.events.filter(({ event }) => event === 'slow_http_library');
  t.match(warning, {
    level: 'warn',
    http_library: 'node',
    reason: /has no binary that loads in Node 24\.1\.0 on .* official package/,
  });
  t.match(
    service.events.find(({ event }) => event === 'listening'),
    { http_library: 'node' },
  );
  // A sum of all nodes.
  t.ok((await service.metric('template_run_http_library_info{library="node"}')) >= 1);
});

t.test('--http-library uws refuses to start where the library does not load: one sentence', async (t) => {
  const flags = ['--port', '0', '--http-library', 'uws'];
  const [status, stderr] = failedStart(t, [process.execPath, '--import', DISGUISE], flags);
  t.equal(status, 1);
  t.match(
    stderr,
    /^template-run serve: the HTTP library uWebSockets\.js has no binary that loads in Node 24\.1\.0 on [^\n]*\n$/,
  );
});

t.test('the lock asks for no Node that the service does without', async (t) => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: true; engines?: { node?: string } }>;
  };
  const newer = Object.entries(lock.packages).filter(
    ([, { dev, engines }]) => dev !== true && /^>= *2[1-9]/.test(engines?.node ?? ''),
  );
  t.strictSame(
    newer.map(([name]) => name),
    [],
    'npm would warn of it on Node 20, for which uWebSockets.js has binaries',
  );
});
