// The console in a browser: a key, files, their reports, previews and outputs, by keys and in both themes; the key is not
// stored, and nothing goes elsewhere.
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

/** One column of each type. */
const TYPES = [
  step('cast', { columns: { id: 'integer', ok: 'boolean', ratio: 'number' } }),
  step('parse_date', { columns: 'day', formats: ['yyyy-MM-dd'] }),
  step('parse_number', { columns: 'amount' }),
];

const TYPED_ROWS = Array.from({ length: 30_000 }, (_, row) => {
  const name = row % 3 === 0 ? '' : `Ad\u00e9 & <${row}>`;
  return `${row},${name},2024-02-0${(row % 9) + 1},-${row}.5,${row % 2 === 0},0.25`;
});
const TYPED = {
  name: 'typed.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(`id,name,day,amount,ok,ratio\n${TYPED_ROWS.join('\n')}\n`),
};

const service = await startService(
  t,
  {
    accounts: {
      acme: {
        keys: { full: { scopes: ALL_SCOPES }, noUsage: { scopes: ['templates:read', 'runs:write'] } },
        templates: {
          numbers: template([step('parse_number', { columns: 'amount', on_error: 'reject' })], { name: 'Numbers' }),
          pick: { ...PICK, name: 'Pick', description: 'Keeps the amounts.' },
          columns: {
            ...template([step('parse_number', { columns: 'betrag' })], { name: 'Columns' }),
            input: {
              columns: [
                { name: 'betrag', match: ['Betrag', 'Umsatz'] },
                { name: 'note', required: false },
              ],
            },
          },
          xlsx: template(TYPES, { name: 'Workbook', output: { format: 'xlsx' } }),
          parquet: template(TYPES, { name: 'Columns of types', output: { format: 'parquet' } }),
          ndjson: template(TYPES, { name: 'Lines', output: { format: 'ndjson' } }),
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
  await page.getByLabel('Files', { exact: true }).setInputFiles(file);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
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
  t.notMatch(script.text, /localStorage|document\.cookie|indexedDB/, 'it keeps nothing beyond the tab');
});

t.test('a file is sent, and its report, preview, output and rejected rows are there', options, async (t) => {
  for (const theme of ['light', 'dark'] as const) {
    const { page, context, problems } = await openPage(t, address, theme, ready);
    t.strictSame(await axeFindings(page), [], `${theme}: the key`);
    await enter(page);
    await page.getByText(/Runs used until/).waitFor();
    await send(page, 'numbers');
    const run = page.getByRole('article', { name: 'Run 1' });
    await run.getByText('1: succeeded, 1 row written').waitFor();
    await run.getByText('Report').focus();
    await page.keyboard.press('Enter');
    t.match(
      await run.locator('details').getByRole('table').innerText(),
      /parse_number\s+2\s+1\s+\d+\s+NOT_A_NUMBER 1 times: 2/,
    );
    await run.getByRole('button', { name: 'Preview' }).focus();
    await page.keyboard.press('Enter');
    const preview = run.getByRole('region', { name: 'Preview of the output' });
    await preview.getByRole('cell', { name: '2.50' }).waitFor();
    t.equal(await preview.getByRole('table').innerText(), 'id\tamount\n1\t2.50');
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
    const kept = (await page.evaluate('JSON.stringify([localStorage, sessionStorage])')) as string;
    t.notMatch(kept, service.catalog.key('acme'), 'the key is not stored');
    t.notMatch(kept, /2\.50/, 'and no row');
    t.equal(page.url(), address);
    t.strictSame(await context.cookies(), []);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await page.locator(ready).waitFor();
    t.equal(await page.locator(ready).inputValue(), '');
    t.equal(await page.getByRole('article').count(), 0);
    t.equal(await page.evaluate('sessionStorage.length'), 0, 'the Runs are forgotten, too');
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
  await run.getByRole('alert').getByText('Check that you chose the right file').waitFor();
});

t.test('a usage that cannot be read is told, and Runs go on', options, async (t) => {
  const { page } = await openPage(t, address, 'light', ready);
  const body = JSON.stringify({ error: 'API_KEY_INVALID', message: 'It was revoked.', request_id: 'r-1' });
  await page.route('**/api/v1/usage', (route) => route.fulfill({ status: 401, contentType: 'application/json', body }));
  await enter(page);
  await page.getByRole('alert').getByText('It was revoked.').waitFor();
  await page.getByRole('alert').getByText('If you ask for help, send this too: API_KEY_INVALID, request r-1').waitFor();
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
  await first.getByText(/is being sent, [1-9][\d.]* kB of [\d.]+ MB/).waitFor();
  t.ok(await first.getByRole('progressbar').isVisible());
  await first.getByRole('button', { name: 'Cancel file 1' }).click();
  await first.getByText('1: was cancelled').waitFor();
  await throttle.send('Network.emulateNetworkConditions', { ...network, uploadThroughput: -1 });
  await send(page, 'slow', large);
  const second = page.getByRole('article', { name: 'Run 2' });
  await second.getByText('2: is being processed').waitFor();
  await second.getByRole('button', { name: 'Cancel file 2' }).click();
  await second.getByText('2: was cancelled').waitFor();
  t.strictSame(problems, []);
});

t.test('the columns that a Template needs are shown, to holders of a key only', options, async (t) => {
  const path = '/console/templates/columns';
  t.equal((await service.client().as().get(path)).status, 401);
  t.equal((await service.client().get('/console/templates/none')).status, 404);
  t.strictSame((await service.client().get(path)).json, {
    columns: [
      { headers: ['Betrag', 'Umsatz'], isRequired: true },
      { headers: ['note'], isRequired: false },
    ],
  });
  const { page, problems } = await openPage(t, address, 'light', ready);
  await enter(page);
  await page.getByLabel('Template').selectOption('columns');
  const columns = page.getByRole('region', { name: 'Columns' });
  await columns.getByText('The file needs these columns: Betrag (or Umsatz)').waitFor();
  await columns.getByText('It may also have these: note').waitFor();
  await page.getByLabel('Template').selectOption('pick');
  await page.getByText('Keeps the amounts.').waitFor();
  await columns.getByText('The file needs these columns: id, amount').waitFor();
  t.equal(await page.getByRole('link', { name: 'Documentation' }).getAttribute('href'), 'docs');
  t.strictSame(problems, []);
});

t.test('several files are dropped, and sent one after the other by keys, on a narrow screen', options, async (t) => {
  const { page, problems } = await openPage(t, address, 'dark', ready);
  await page.setViewportSize({ width: 420, height: 800 });
  await enter(page);
  await page.getByLabel('Template').selectOption('numbers');
  await page.evaluate(`{
    const files = new DataTransfer();
    for (const name of ['a.csv', 'b.csv', 'c.csv']) files.items.add(new File(['id,amount\\n1,2\\n'], name));
    const drop = new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true });
    document.querySelector('.drop').dispatchEvent(drop);
  }`);
  const chosen = page.getByRole('list', { name: 'Chosen files' });
  await chosen.getByText('c.csv').waitFor();
  t.equal(await chosen.getByText('14 bytes').count(), 3);
  t.strictSame(await axeFindings(page), []);
  await page.getByRole('button', { name: 'Remove file 2' }).press('Enter');
  await page.getByRole('button', { name: 'Send 2 files' }).press('Enter');
  await page.getByText('2 of 2 files are done.').waitFor();
  t.equal(await page.getByText('succeeded, 1 row written').count(), 2);
  t.equal(await chosen.count(), 0);
  t.strictSame(await axeFindings(page), []);
  const overflow = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
  t.ok(overflow <= 0, 'the page does not scroll sideways');
  t.strictSame(problems, []);
});

t.test('a workbook, Parquet and NDJSON are previewed as tables', options, async (t) => {
  const { page, problems } = await openPage(t, address, 'light', ready);
  await enter(page);
  const files = [
    { ...TYPED, buffer: Buffer.from(`${TYPED.buffer.toString().split('\n').slice(0, 4).join('\n')}\n`) },
    TYPED,
  ];
  for (const format of ['xlsx', 'parquet', 'ndjson']) {
    for (const file of files) {
      const before = await page.getByRole('article').count();
      await send(page, format, file);
      const run = page.getByRole('article', { name: `Run ${before + 1}`, exact: true });
      await run.getByRole('button', { name: 'Preview' }).click();
      const preview = run.getByRole('region', { name: 'Preview of the output' });
      await preview.waitFor();
      const [header, ...rows] = (await preview.getByRole('table').innerText()).split('\n');
      t.equal(header, 'id\tname\tday\tamount\tok\tratio', format);
      t.strictSame(
        rows.slice(0, 3),
        [
          `0\t\t2024-02-01\t-0.5\ttrue\t0.25`,
          `1\tAd\u00e9 & <1>\t2024-02-02\t-1.5\tfalse\t0.25`,
          `2\tAd\u00e9 & <2>\t2024-02-03\t-2.5\ttrue\t0.25`,
        ],
        format,
      );
      t.equal(rows.length, file === TYPED ? 50 : 3);
      await run.getByText(file === TYPED ? 'The first 50 rows.' : 'These are all rows.').waitFor();
    }
  }
  t.strictSame(await axeFindings(page), []);
  t.strictSame(problems, []);
});

t.test('the Runs of the tab survive a reload', options, async (t) => {
  const { page, problems } = await openPage(t, address, 'light', ready);
  await enter(page);
  await send(page, 'numbers');
  const first = page.getByRole('article', { name: 'Run 1' });
  await first.getByText('1: succeeded').waitFor();
  await send(page, 'pick', { ...FILE, buffer: Buffer.from('id\n1\n') });
  const second = page.getByRole('article', { name: 'Run 2' });
  await second.getByText('2: failed').waitFor();
  await page.reload();
  await first.getByText('1: succeeded, 1 row written').waitFor();
  // The list of Templates needs the key, which is not entered yet.
  await first.getByText(', Numbers').waitFor();
  await second.getByText('TEMPLATE_COLUMNS_MISSING').waitFor();
  await first.getByText('Enter the key to see and download the output.').waitFor();
  t.strictSame(await axeFindings(page), []);
  await enter(page);
  await first.getByRole('button', { name: 'Preview' }).click();
  await first.getByRole('cell', { name: '2.50' }).waitFor();
  await send(page, 'numbers');
  await page.getByRole('article', { name: 'Run 3' }).getByText('3: succeeded').waitFor();
  t.strictSame(
    problems.filter((text) => !text.includes('status of 422')),
    [],
  );
});

t.test('Runs that another version of the page has kept do not prevent the page', options, async (t) => {
  const { page, problems } = await openPage(t, address, 'light', ready);
  const file = { fileName: 'a.csv', template: 'pick', totalBytes: 1, state: 'succeeded', error: null };
  for (const kept of [5, 'x', {}, [1], [null], [{}], [{ ...file, run: { output: null, report: {} } }]]) {
    const text = JSON.stringify(kept);
    await page.evaluate(`sessionStorage.setItem('template-run-console', ${JSON.stringify(text)})`);
    await page.reload();
    await page.locator(ready).waitFor();
    t.equal(await page.locator(ready).count(), 1, text);
    t.equal(await page.getByRole('article').count(), 0, text);
  }
  t.strictSame(problems, []);
});

t.test('the start page has no findings of axe-core', options, async (t) => {
  const { page, problems } = await openPage(t, service.url, 'light', 'main a');
  t.strictSame(await axeFindings(page), []);
  t.strictSame(problems, []);
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
