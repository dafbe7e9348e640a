// Suggestions are listed with their evidence beside the steps, applied and dismissed with one click or key, and made
// again for the columns after each step.
// With all tests only: a browser.
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const STATEMENT = readFileSync('examples/files/bank-statement.csv', 'utf8');

const EMPTY = 'format: 1\noperations:\n  - {copy: {from: total, to: again}}\noutput: {format: csv}\n';

const SAMPLE = 'name,total,day\nAda,"1.234,50",31.12.2025\nBob,"7,00",30.12.2025\nEve,"8,25",29.12.2025\n';

const options = { skip: NO_BROWSER };

test('the comments of a draft are a list, by mouse', options, async (t) => {
  const studio = await startStudio(t, { template: null, sample: STATEMENT });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  await list.getByText('1 row at the end, whose amounts are not the sums of the cells above').waitFor();
  await page.getByText('A Run would write 7 rows.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await list.getByRole('button', { name: /^Apply stop_when/ }).click();
  await page.getByText('A Run would write 6 rows.').waitFor();
  await page.locator('.steps [aria-current]', { hasText: 'stop_when' }).waitFor();
  await list.getByRole('button', { name: /^Apply stop_when/ }).waitFor({ state: 'detached' });
  await list.getByRole('button', { name: /^Apply parse_date buchungstag/ }).click();
  await page.locator('.steps ol', { hasText: 'parse_date buchungstag' }).waitFor();
  await list.getByRole('button', { name: /^Dismiss text/ }).click();
  t.notMatch(await page.locator('.cm-content').innerText(), /# - \{text/);
  t.strictSame(problems, []);
});

test('suggestions are made for the columns after the step, by keys', options, async (t) => {
  const studio = await startStudio(t, { template: EMPTY, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  // The column that the step has made is suggested too.
  const apply = list.getByRole('button', { name: /^Apply parse_number \[total, again\]/ });
  await apply.waitFor();
  t.match(await list.innerText(), /3 of 3 read/);
  await apply.focus();
  await page.keyboard.press('Enter');
  await page.locator('.cell.decimal.changed', { hasText: '1234.50' }).first().waitFor();
  await page.locator('.steps [aria-current]', { hasText: '2parse_number' }).waitFor();
  await apply.waitFor({ state: 'detached' });
  // The focus stays in the list.
  await list.locator('button.apply:focus').waitFor();
  const date = list.getByRole('button', { name: /^Dismiss parse_date day/ });
  await date.focus();
  await page.keyboard.press('Enter');
  await date.waitFor({ state: 'detached' });
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Control+z');
  await page.getByRole('button', { name: /^2 parse_number/ }).waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});
