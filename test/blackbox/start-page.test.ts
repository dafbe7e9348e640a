// The start page at `/`, and the three lines that `serve` prints on a terminal.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { type CatalogDescription, PICK } from './catalog-folder.ts';
import { until } from './client.ts';
import { COMMAND, checkLogs, Service, startService } from './service.ts';

const catalog: CatalogDescription = { accounts: { acme: { templates: { pick: PICK } }, none: { templates: {} } } };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const OPENAPI = '/api/v1/openapi.json';

const service = await startService(t, catalog, { console: 'yes' });
const anyone = service.client().as();

t.test('a program gets JSON', async (t) => {
  for (const accept of ['*/*', 'application/json', 'text/html;q=0, */*', 'text/plain']) {
    const answer = await anyone.get('/', { accept });
    t.equal(answer.status, 200, accept);
    t.equal(answer.headers['content-type'], 'application/json', accept);
    t.equal(answer.headers.vary, 'Accept');
    t.strictSame(answer.json, { service: 'template-run', docs: '/docs', console: '/console', openapi: OPENAPI });
  }
});

t.test('a browser gets a page, and every link on it leads to a page', async (t) => {
  for (const accept of [BROWSER, 'TEXT/HTML', 'application/json;q=0.5, text/html; q=0.9']) {
    const answer = await anyone.get('/', { accept });
    t.equal(answer.headers['content-type'], 'text/html; charset=utf-8', accept);
    t.equal(answer.headers.vary, 'Accept');
    t.match(answer.headers['content-security-policy'], /^default-src 'none'/);
    const links = [...answer.text.matchAll(/href="([^"]+)"/g)].map(([, target]) => target!);
    t.strictSame(links, ['docs', 'console', OPENAPI.slice(1)]);
    for (const link of links) t.equal((await anyone.get(`/${link}`)).status, 200, link);
  }
});

t.test('pages that are disabled are left out', { skip: skipUnlessLong }, async (t) => {
  const bare = await startService(t, catalog, { docs: 'no' });
  const answer = await bare.client().as().get('/');
  t.strictSame(answer.json, { service: 'template-run', openapi: OPENAPI });
  t.strictSame(
    await bare
      .client()
      .as()
      .get('/docs')
      .then(({ status }) => status),
    404,
  );
});

const skip = spawnSync('script', ['--version']).status === 0 ? false : 'script is not installed';

t.test('on a terminal: three lines, and Ctrl+C stops the service', { skip }, async (t) => {
  const other = new Service(catalog);
  t.teardown(() => other.remove());
  const places = `--catalog ${other.catalog.folder} --data ${other.dataFolder} --workers 1 --port 0`;
  // exec: a shell between the terminal and the service would end by the same signal, with another exit status.
  const command = `exec ${process.execPath} ${COMMAND} serve ${places} --console yes --log-level warn`;
  const terminal = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // The front end that this Node has must not add its warning to the lines.
    env: { ...process.env, TEMPLATE_RUN_HTTP_LIBRARY: 'node' },
  });
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(terminal, 'exit');
  await until(
    async () => output,
    (text) => /Stop: .*\r\n/.test(text) || terminal.exitCode !== null,
  );
  const [first, second, third, ...rest] = output.split('\r\n');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(first!)?.[0];
  t.equal(first, `template-run listens on ${url} (2 accounts, 1 Template)`);
  t.equal(second, `Pages: reference ${url}/docs, console ${url}/console`);
  t.match(third, /^Stop: press Ctrl\+C\. .* \d+ s to end\.$/);
  t.strictSame(rest, [''], 'and no line of JSON');
  t.equal((await fetch(url!)).status, 200);
  terminal.stdin.write('\x03');
  t.strictSame((await ended)[0], 0);
});

t.test('the log', (t) => checkLogs(t, service));
