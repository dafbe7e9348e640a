// The layout of the page: the table is its largest part, panes are resized and hidden, a narrow screen has all parts, and
// the address of a large sample comes before its draft.
// With all tests only: a browser.
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations: []\noutput: {format: csv}\n';

const SAMPLE = 'name,amount\nAda,1\nBob,2\n';

const options = { skip: NO_BROWSER };

async function areaOf(page: Page, selector: string): Promise<number> {
  const box = await page.locator(selector).boundingBox();
  return box === null ? 0 : box.width * box.height;
}

test('panes are resized and hidden, by mouse and by keys', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const parts = await Promise.all(['.table', '.steps', '.source'].map((selector) => areaOf(page, selector)));
  t.ok(parts[0]! > parts[1]! + parts[2]!, 'the table is larger than the steps and the text');
  await page.getByText('No steps yet.').waitFor();
  const border = page.getByRole('separator', { name: 'Size of Steps' });
  const before = Number(await border.getAttribute('aria-valuenow'));
  await border.focus();
  await page.keyboard.press('ArrowRight');
  t.equal(Number(await border.getAttribute('aria-valuenow')), before + 24);
  const place = (await border.boundingBox())!;
  await page.mouse.move(place.x + 4, place.y + 100);
  await page.mouse.down();
  await page.mouse.move(404, place.y + 100);
  await page.mouse.up();
  t.equal(await border.getAttribute('aria-valuenow'), '404');
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.locator('.source').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Steps', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.steps').waitFor({ state: 'hidden' });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  // F6 leads only to parts that are shown.
  await page.keyboard.press('F6');
  await page.locator('.grid [data-active=true]:focus').waitFor();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.locator('.cm-content').waitFor();
  t.strictSame(problems, []);
});

test('columns fit their texts, and a reload keeps sizes', options, async (t) => {
  const sample = 'name,amount\nAda Lovelace; Countess of Lovelace,1\n';
  const studio = await startStudio(t, { template: TEMPLATE, sample });
  const { page, problems } = await openPage(t, studio.address);
  const widthOf = async (name: string): Promise<number> =>
    (await page.locator('.grid [role=columnheader]', { hasText: name }).boundingBox())!.width;
  t.ok((await widthOf('name')) > (await widthOf('amount')) + 50, 'long texts have a wide column');
  const cell = page.locator('.grid [role=gridcell]').first();
  t.ok(await cell.evaluate((box) => box.scrollWidth <= box.clientWidth), 'the text is whole');
  await page.locator('.grid [data-active=true]').focus();
  await page.keyboard.press('Alt+ArrowRight');
  const width = await widthOf('name');
  await page.getByRole('separator', { name: 'Size of Steps' }).press('ArrowRight');
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.reload();
  await page.locator('.grid [role=gridcell]').first().waitFor();
  t.equal(await page.getByRole('separator', { name: 'Size of Steps' }).getAttribute('aria-valuenow'), '284');
  t.equal(await page.locator('.source').isVisible(), false);
  t.equal(await widthOf('name'), width);
  t.strictSame(problems, []);
});

test('columns are widened by mouse and by keys', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const head = page.locator('.grid [role=columnheader]', { hasText: 'name' });
  const next = page.locator('.grid [role=columnheader]', { hasText: 'amount' });
  const place = (await head.boundingBox())!;
  await page.mouse.move(place.x + place.width - 3, place.y + 40);
  await page.mouse.down();
  await page.mouse.move(place.x + 300, place.y + 40);
  await page.mouse.up();
  t.equal((await head.boundingBox())!.width, 300);
  t.equal((await next.boundingBox())!.x, place.x + 300, 'the next column moves');
  t.equal(await page.getByRole('region', { name: 'Profile of a column' }).count(), 0, 'dragging is no click');
  await page.locator('.grid [data-active=true]').focus();
  await page.keyboard.press('Alt+ArrowLeft');
  t.equal((await head.boundingBox())!.width, 276);
  t.strictSame(await axeFindings(page), []);
  t.strictSame(problems, []);
});

test('all parts are on a narrow screen', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.setViewportSize({ width: 420, height: 800 });
  for (const selector of ['.steps', '.grid', '.cm-content']) await page.locator(selector).waitFor();
  const width = await page.evaluate('document.documentElement.scrollWidth');
  t.ok((width as number) <= 420, 'nothing is wider than the screen');
  for (const button of ['Save', 'Run tests', 'Download', '+ Test', '+ Step'])
    t.ok(await page.getByRole('button', { name: button }).isVisible(), button);
  t.strictSame(await axeFindings(page), []);
  t.strictSame(problems, []);
});

test('the page of a large sample opens before its draft is ready', options, async (t) => {
  const sample = `name,amount\n${'Ada Lovelace,"1.234,50"\n'.repeat(120_000)}`;
  const studio = await startStudio(t, { template: null, sample });
  const { page, problems } = await openPage(t, studio.address);
  // The draft may be ready already, but it always arrives.
  await page.locator('.steps', { hasText: 'parse_number' }).waitFor();
  await page.getByRole('progressbar').waitFor({ state: 'detached' });
  await page.getByText('draft, never saved').waitFor();
  t.strictSame(problems, []);
});
