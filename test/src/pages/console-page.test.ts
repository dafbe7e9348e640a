// The console in a browser: a key, a file, its report, a preview and the output, by keys and in both themes; nothing of it
// stays, and nothing goes elsewhere.
// With all tests only: a browser.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { ALL_SCOPES, PICK, step, template } from '../../blackbox/catalog-folder.ts';
import { checkLogs, startService } from '../../blackbox/service.ts';
import { SLOW } from '../../blackbox/slow-run.ts';
import { axeFindings, NO_BROWSER, openPage } from '../studio/browser.ts';

const options = { skip: NO_BROWSER };
const ROWS = 200_000;
const FILE = { name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from('id,amount\n1,2.50\n2,x\u00e9\n') };
/** In bytes a second: slow enough that a part of an upload can be seen. */
const SLOW_WAY = 60_000;

const service = await startService(
  t,
  {
    accounts: {
      acme: {
        keys: { full: { scopes: ALL_SCOPES }, noUsage: { scopes: ['templates:read', 'runs:write'] } },
        templates: {
          numbers: template([step('parse_number', { columns: 'amount', on_error: 'reject' })], { name: 'Numbers' }),
          pick: { ...PICK, name: 'Pick' },
          slow: SLOW,
        },
      },
    },
  },
  { console: 'yes' },
);
const address = `${service.url}/console`;
const ready = 'input[type=password]';

async function enter(page: Page, key = service.catalog.key('acme')): Promise<void> {
  await page.getByLabel('API key').last().fill(key);
  await page.keyboard.press('Enter');
}

async function send(page: Page, template: string, file = FILE): Promise<void> {
  await page.getByLabel('Template').selectOption(template);
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await page.getByRole('button', { name: 'Send' }).click();
}

t.test('it is off by default, and served under a strict policy where it is on', async (t) => {
  const without = await startService(t, { accounts: { acme: {} } });
  for (const path of ['/console', '/console/page.js', '/console/page.css'])
    t.equal((await without.client().as().get(path)).status, 404, path);
  const page = await service.client().as().get('/console');
  const policy = String(page.headers['content-security-policy']);
  const [, nonce] = /'nonce-([\w-]{22})'/.exec(policy) ?? [];
  t.equal(
    policy,
    `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; ` +
      "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  );
  t.equal(page.text.split(`nonce="${nonce}"`).length - 1, 2, 'the script and the style');
  t.notMatch(page.text, /NONCE_OF_THIS_ANSWER/);
  const script = await service.client().as().get('/console/page.js');
  t.match(script, { status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } });
  t.notMatch(script.text, /localStorage|sessionStorage|document\.cookie|indexedDB/, 'it keeps nothing');
});

t.test('a file is sent, and its report, preview, output and rejected rows are there', options, async (t) => {
  for (const theme of ['light', 'dark'] as const) {
    const { page, context, problems } = await openPage(t, address, theme, ready);
    t.strictSame(await axeFindings(page), [], `${theme}: the key`);
    await enter(page);
    await page.getByText(/Runs used until/).waitFor();
    await send(page, 'numbers');
    const run = page.getByRole('article', { name: 'Run 1' });
    await run.getByText('1: succeeded, 1 rows written').waitFor();
    await run.getByText('Report').focus();
    await page.keyboard.press('Enter');
    t.match(await run.getByRole('table').innerText(), /parse_number\s+2\s+1\s+\d+\s+NOT_A_NUMBER 1 times: 2/);
    await run.getByRole('button', { name: 'Preview' }).focus();
    await page.keyboard.press('Enter');
    t.equal(await run.locator('pre').innerText(), 'id,amount\n1,2.50\n');
    t.strictSame(await axeFindings(page), [], `${theme}: a Run`);
    for (const [button, content] of [
      ['Download the output', /^id,amount\n1,2\.50\n$/],
      ['Download the rejected rows', /x\u00e9/],
    ] as const) {
      const downloading = page.waitForEvent('download');
      await run.getByRole('button', { name: button }).click();
      const download = await downloading;
      t.match(download.suggestedFilename(), /^Numbers-run_\w+.*\.csv$/);
      t.match(readFileSync(await download.path(), 'utf8'), content, button);
    }
    const kept = 'JSON.stringify([localStorage.length, sessionStorage.length, document.cookie, location.href])';
    t.equal(await page.evaluate(kept), JSON.stringify([0, 0, '', address]), 'the browser keeps nothing');
    t.strictSame(await context.cookies(), []);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await page.locator(ready).waitFor();
    t.equal(await page.locator(ready).inputValue(), '');
    t.equal(await page.getByRole('article').count(), 0);
    t.strictSame(problems, [], theme);
  }
});

t.test('a wrong key, a file without its columns, a key that may not read', options, async (t) => {
  const { page } = await openPage(t, address, 'light', ready);
  await enter(page, 'trs_wrong');
  await page.getByRole('alert').getByText('API_KEY_INVALID').waitFor();
  await enter(page, service.catalog.key('acme', 'noUsage'));
  await page.getByRole('button', { name: 'Send' }).waitFor();
  t.equal(await page.getByText(/Runs used until/).count(), 0, 'the usage is left out');
  t.equal(await page.getByRole('alert').count(), 0, 'which is not an error');
  await send(page, 'pick', { ...FILE, buffer: Buffer.from('id\n1\n') });
  const run = page.getByRole('article', { name: 'Run 1' });
  await run.getByRole('alert').getByText('TEMPLATE_COLUMNS_MISSING').waitFor();
  t.match(await run.getByRole('status').innerText(), /1: failed/);
  await page.reload();
  await page.locator(ready).waitFor();
  t.equal(await page.getByRole('article').count(), 0, 'the key and the Runs are gone with the page');
});

t.test('a usage that cannot be read is told, and Runs go on', options, async (t) => {
  const { page } = await openPage(t, address, 'light', ready);
  const body = JSON.stringify({ error: 'API_KEY_INVALID', message: 'It was revoked.', request_id: 'r-1' });
  await page.route('**/api/v1/usage', (route) => route.fulfill({ status: 401, contentType: 'application/json', body }));
  await enter(page);
  await page.getByRole('alert').getByText('API_KEY_INVALID: It was revoked.').waitFor();
  await page.unroute('**/api/v1/usage');
  await send(page, 'pick');
  await page.getByText(/Runs used until/).waitFor();
  t.equal(await page.getByRole('alert').count(), 0, 'and forgotten when it could be read');
});

t.test('how much was sent is seen, and an upload and a Run can be cancelled', options, async (t) => {
  const { page, context, problems } = await openPage(t, address, 'light', ready);
  await enter(page);
  const throttle = await context.newCDPSession(page);
  const network = { offline: false, latency: 0, downloadThroughput: -1 };
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await throttle.send('Network.enable');
  await throttle.send('Network.emulateNetworkConditions', { ...network, uploadThroughput: SLOW_WAY });
  const rows = Array.from({ length: ROWS }, (_, row) => `${row},\u00c9t\u00e9 \u00e0 la ${row}`).join('\n');
  const large = { ...FILE, buffer: Buffer.from(`n,text\n${rows}\n`) };
  await send(page, 'slow', large);
  const first = page.getByRole('article', { name: 'Run 1' });
  await first.getByText(new RegExp(`is being sent, [1-9]\\d* of ${large.buffer.length} bytes`)).waitFor();
  t.ok(await first.getByRole('progressbar').isVisible());
  await first.getByRole('button', { name: 'Cancel' }).click();
  await first.getByText('1: was cancelled').waitFor();
  await throttle.send('Network.emulateNetworkConditions', { ...network, uploadThroughput: -1 });
  await send(page, 'slow', large);
  const second = page.getByRole('article', { name: 'Run 2' });
  await second.getByText('2: is being processed').waitFor();
  await second.getByRole('button', { name: 'Cancel' }).click();
  await second.getByText('2: was cancelled').waitFor();
  t.strictSame(problems, []);
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
