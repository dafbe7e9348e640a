// The reference of the API: it contains the whole OpenAPI document and has a policy that allows no other content. In a
// browser, it is read by keys, in both themes, and sends no requests.
// With all tests only: a browser.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { element, textOf } from '../../../src/pages/html-page.ts';
import type { ApiDocument } from '../../../src/pages/reference/reference-page.ts';
import { apiDocument } from '../../../src/routes/index.ts';
import { template } from '../../blackbox/catalog-folder.ts';
import { startService } from '../../blackbox/service.ts';
import { axeFindings, NO_BROWSER, openPage } from '../studio/browser.ts';

const options = { skip: NO_BROWSER };
const document = apiDocument() as ApiDocument;
const service = await startService(t, { accounts: { acme: { templates: { pass: template([]) } } } });
/** The samples in Python use a package that may not be installed. */
const HAS_REQUESTS = spawnSync('python3', ['-c', 'import requests']).status === 0;
const page = await service.client().as().get('/docs');

t.test('it is served without a key, under a policy of its own for each answer', async (t) => {
  t.equal(page.status, 200);
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  const policy = String(page.headers['content-security-policy']);
  t.match(policy, /^default-src 'none'; style-src 'nonce-[\w-]{22}'; base-uri 'none'; .*trusted-types 'none'$/);
  t.notMatch(policy, /script-src|connect-src|unsafe|\*/);
  t.match(page.headers, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  const again = await service.client().as().get('/docs');
  t.not(again.headers['content-security-policy'], policy);
  t.notMatch(again.text, /NONCE_OF_THIS_ANSWER/);
  t.notMatch(page.text, /<script|<img|<iframe|\son\w+=|\sstyle=|https?:\/\/(?!runs\.example\.com)/);
  const head = await service.client().as().request('HEAD', '/docs');
  t.equal(head.status, 200);
  t.equal(head.headers['content-length'], String(Buffer.byteLength(page.text)), 'HEAD has the length of the page');
  t.equal((await service.client().as().request('POST', '/docs')).status, 405);
});

t.test('its style is CSS without escapes', async (t) => {
  const [, css] = /<style[^>]*>([\s\S]*?)<\/style>/.exec(page.text)!;
  t.notMatch(css, /&(?:quot|#39|lt|gt|amp);/);
  t.match(css, /["']/, 'it has quotes');
});

t.test('every operation, answer, schema, field and header of the document is on it', async (t) => {
  const words = page.text.replaceAll(/<\/?code>/g, '');
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { operationId, summary, responses } of Object.values(methods)) {
      t.ok(page.text.includes(`id="${operationId}"`), operationId);
      for (const text of [path, summary]) t.ok(page.text.includes(textOf(text)), text);
      for (const line of Object.values(responses).flatMap(({ description }) => description.split(/\n+(?:- )?/)))
        t.ok(words.includes(textOf(line.replaceAll('`', ''))), line);
    }
  }
  for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
    t.ok(page.text.includes(`id="schema-${name}"`), name);
    for (const field of Object.keys(properties)) t.ok(page.text.includes(`<code>${field}</code>`), field);
  }
  for (const name of Object.keys(document.components.headers)) t.ok(page.text.includes(`id="header-${name}"`), name);
});

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};

function plainText(html: string): string {
  return html.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (entity) => ENTITIES[entity]!);
}

t.test('each operation has samples, which work', async (t) => {
  const origin = 'https://runs.example.com';
  const key = service.catalog.key('acme');
  const folder = t.testdir({ 'orders.csv': 'id\n1\n' });
  const env = { ...process.env, TEMPLATE_RUN_API_KEY: key };
  const samplesIn = (operationId: string): readonly string[] => {
    const section = page.text.slice(page.text.indexOf(`<section id="${operationId}"`));
    const samples = section.slice(section.indexOf('<h3>Samples</h3>'), section.indexOf('<h3>Answers</h3>'));
    return [...samples.matchAll(/<pre><code>([\s\S]*?)<\/code>/g)].map(([, text]) => plainText(text!));
  };
  const run = async (program: string, args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { cwd: folder, env })).stdout;
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  for (const id of ids) t.equal(samplesIn(id).length, 3, id);
  for (const language of [0, 1, 2]) {
    let runId = '';
    const tried = async (operationId: string): Promise<string> => {
      const text = samplesIn(operationId)
        [language]!.replaceAll(origin, service.url)
        .replaceAll('TEMPLATE_ID', 'pass')
        .replaceAll('RUN_ID', runId);
      if (language === 0) return await run('bash', ['-c', text]);
      if (language === 1) return await run(process.execPath, ['--input-type=module', '-e', text]);
      return await run('python3', ['-c', text]);
    };
    if (language === 2 && !HAS_REQUESTS) continue;
    t.match(await tried('list_templates'), 'pass');
    runId = /run_\w+/.exec(await tried('create_run'))![0];
    t.match(await tried('get_run'), runId);
    await tried('get_run_output');
    t.equal(readFileSync(join(folder, 'output.csv'), 'utf8').trim(), 'id\n1');
    for (const id of ['get_usage', 'start', 'openapi']) t.match(await tried(id), '{', id);
  }
});

t.test('every link on it leads somewhere', async (t) => {
  const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, target]) => target!);
  t.ok(links.length > 100, `${links.length} links`);
  for (const target of new Set(links)) {
    if (target.startsWith('#')) t.ok(page.text.includes(`id="${target.slice(1)}"`), target);
    else
      t.equal(
        (
          await service
            .client()
            .as()
            .get(new URL(target, `${service.url}/docs`).pathname)
        ).status,
        200,
        target,
      );
  }
});

t.test('what stands in the document cannot become markup', async (t) => {
  t.equal(
    textOf(element('p', { title: '"><script>' }, '<b> & "x"', null, [1, element('i', {}, "it's")])),
    '<p title="&quot;&gt;&lt;script&gt;">&lt;b&gt; &amp; &quot;x&quot;1<i>it&#39;s</i></p>',
  );
});

t.test('--docs no takes it away', async (t) => {
  const without = await startService(t, { accounts: { acme: {} } }, { docs: 'no' });
  t.equal((await without.client().as().get('/docs')).status, 404);
});

t.test('in a browser: by keys, in both themes, without a request or a word of the console', options, async (t) => {
  for (const theme of ['light', 'dark'] as const) {
    const { page, context, problems } = await openPage(t, `${service.url}/docs`, theme, 'main section');
    const asked: string[] = [];
    context.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    t.equal(await page.evaluate('location.hash'), '#reference', 'past the contents');
    await page.getByRole('navigation').getByRole('link', { name: 'Apply a Template' }).focus();
    await page.keyboard.press('Enter');
    t.ok(await page.getByRole('heading', { name: 'Apply a Template to an uploaded file' }).isVisible());
    await page.locator('#create_run summary', { hasText: 'JavaScript' }).focus();
    await page.keyboard.press('Enter');
    t.ok(await page.locator('#create_run pre', { hasText: 'fetch(' }).isVisible(), 'a sample is opened');
    const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    t.equal(paper, theme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 29)', 'its own style is in force');
    t.strictSame(await axeFindings(page), [], theme);
    await page.setViewportSize({ width: 320, height: 640 });
    t.ok(((await page.evaluate('document.documentElement.scrollWidth')) as number) <= 320, 'it fits a narrow window');
    t.strictSame(asked, [`${service.url}/docs`]);
    t.strictSame(problems, []);
  }
});
