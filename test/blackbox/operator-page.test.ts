// The operator's page on --ops-port: current activity of the node, without any content of uploads.
import t from 'tap';
import { Fleet } from '../fixtures/fleet.ts';
import { skipWithoutRedis } from '../fixtures/redis-server.ts';
import { skipBehindBalancer } from '../fixtures/test-stores.ts';
import { axeFindings, NO_BROWSER, openPage } from '../src/studio/browser.ts';
import { skipUnlessLong } from '../sweep.ts';
import { type CatalogDescription, CatalogFolder, PICK, plan, step, template } from './catalog-folder.ts';
import { Client, until } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { CANARY, file } from './multipart.ts';
import { startService } from './service.ts';
import { SLOW, slowUpload } from './slow-run.ts';

/** Enough for some seconds of work. */
const SLOW_ROWS = 40_000;
const CSV = 'id,amount,CanaryColumn\n001,1.50,CanaryCell\n';
const FAILING = template([
  step('map_values', { columns: ['id'], map: { x: 'y' }, default: 'error', on_error: 'fail' }),
]);
const catalog: CatalogDescription = {
  plans: { few: plan({ runs_per_period: 10 }) },
  accounts: { acme: { plan: 'few', templates: { pick: PICK, failing: FAILING, slow: SLOW } } },
};
const service = await startService(t, catalog, { 'ops-port': 0 });
const client = service.client();
const opsPort = Number(service.events.find(({ event }) => event === 'listening')?.['ops_port']);
const operator = new Client(opsPort);

/** Text of the page without its tags and style. */
async function shown(of: Client = operator): Promise<string> {
  const { text } = await of.get('/');
  return text
    .replace(/<style.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

t.test('an idle node', async (t) => {
  const page = await operator.get('/');
  t.equal(page.status, 200);
  t.match(page.headers['content-type'], /^text\/html/);
  t.match(page.headers, { refresh: '5', 'cache-control': 'private, no-store' });
  t.match(page.headers['content-security-policy'], /^default-src 'none'; style-src 'nonce-[\w-]{22}'; base-uri/);
  const text = await shown();
  for (const line of [
    'This node accepts Runs.',
    'No upload and no Run is in progress.',
    'No Run failed in the last hour.',
    'No request was refused in the last hour.',
    'Accounts: 1. Templates: 3.',
  ])
    t.ok(text.includes(line), line);
  t.equal((await operator.get('/paused')).headers['refresh'], undefined, 'stays as it is');
  t.notMatch((await client.get('/')).text, /Runs in progress/, 'the API port does not serve it');
});

const skip = skipBehindBalancer('the page is that of one node');
t.test('Runs, failures, refusals and usage, without a word of the files', { skip }, async (t) => {
  const held = await service.letIn(() => client.hold('pick', [file(CSV)], -20));
  expectRun(t, await client.upload('failing', [file(CSV)]), 201, 'failed');
  expectError(t, await client.upload('nothing', [file(CSV)]), 404, 'TEMPLATE_NOT_FOUND');
  expectError(t, await client.as(`trs_nobody.1_${'a'.repeat(43)}`).get('/api/v1/templates'), 401, 'API_KEY_INVALID');
  const text = await until(shown, (text) => text.includes('API_KEY_INVALID'));
  t.match(text, /Runs in progress: 1 .*acme pick uploading \d/);
  t.match(text, /Failed Runs .*TEMPLATE_ROW_ERROR 1 .* ago acme failing/);
  t.match(text, /Refused requests .*TEMPLATE_NOT_FOUND 1 .* ago acme /);
  t.match(text, /Refused requests .*API_KEY_INVALID 1 /);
  t.match(text, /Usage in this billing period .*acme 1 10/);
  t.notMatch(text, new RegExp(CANARY, 'i'));
  expectRun(t, await held.finish(), 201, 'succeeded');
  t.match(await until(shown, (text) => text.includes('progress: 0')), /Runs in progress: 0/);
});

t.test('a long Run shows how many rows it has read', { skip }, async (t) => {
  const upload = client.upload('slow', slowUpload(SLOW_ROWS));
  const rowsOf = (text: string): number => Number(/acme slow running .*? [KM]iB (\d+)/.exec(text)?.[1] ?? 0);
  const rows = rowsOf(await until(shown, (text) => rowsOf(text) > 0));
  t.ok(rows > 0 && rows <= SLOW_ROWS, `${rows} rows`);
  t.ok((await upload).status < 300);
});

t.test('the live nodes of a fleet', { skip: skipWithoutRedis || skipUnlessLong }, async (t) => {
  const fleet = await Fleet.start(t, catalog);
  const differing = new CatalogFolder(`${t.testdir({})}/catalog`, { accounts: {} });
  const third = await fleet.add({ 'ops-port': 0, catalog: differing.folder });
  const ofThird = new Client(Number(third.events.find(({ event }) => event === 'listening')?.['ops_port']));
  const page = (): Promise<string> => shown(ofThird);
  const text = await until(page, (text) => text.includes('Live nodes: 3.'));
  t.equal(text.match(/[\w-]+ \([0-9a-f]{8}\) \d+\.\d s ago differs from that of this node/g)?.length, 2, text);
  t.match(text, /\([0-9a-f]{8}\), this node \d/);
  await fleet.nodes[0]!.remove();
  t.match(await until(page, (text) => text.includes('Live nodes: 2.')), 'Live nodes: 2.');
});

t.test('a catalog that is refused: its files and reasons', async (t) => {
  service.catalog.write('templates/acme/bad.yaml', 'format: 1\noperations:\n  - {nonsense: {}}\n');
  const text = await until(shown, (text) => text.includes('is not used'));
  t.match(text, /The current content of the catalog folder is not used: .*templates\/acme\/bad\.yaml.*nonsense/);
  service.catalog.remove('templates/acme/bad.yaml');
  t.notMatch(await until(shown, (text) => !text.includes('is not used')), /bad\.yaml/);
});

t.test(
  'in a browser: nothing for axe-core to find, in both themes',
  { skip: NO_BROWSER || skipUnlessLong },
  async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      const { page, problems } = await openPage(t, `http://127.0.0.1:${opsPort}/paused`, theme, 'h1');
      t.strictSame(await axeFindings(page), []);
      t.strictSame(problems, []);
      await page.getByRole('link', { name: 'Refresh every 5 seconds' }).click();
      await page.getByRole('link', { name: 'Stop refreshing' }).click();
      await page.getByRole('link', { name: 'Refresh every 5 seconds' }).waitFor();
    }
  },
);
