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
  await apply.press('Enter');
  await page.locator('.cell.decimal.changed', { hasText: '1234.50' }).first().waitFor();
  await page.locator('.steps [aria-current]', { hasText: '2parse_number' }).waitFor();
  await apply.waitFor({ state: 'detached' });
  // The focus stays in the list.
  await list.locator('button.apply:focus').waitFor();
  const date = list.getByRole('button', { name: /^Dismiss parse_date day/ });
  await date.press('Enter');
  await date.waitFor({ state: 'detached' });
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Control+z');
  await page.getByRole('button', { name: /^2 parse_number/ }).waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('a draft without active steps becomes a Template: first a step, then its comments', options, async (t) => {
  const sample = 'name,flag,paid\nAda,n/a,£584\nBob,n/a,"£1,164"\nCid,,\nDan,n/a,£10\n';
  const studio = await startStudio(t, { template: null, sample });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  await list.getByRole('button', { name: /^Apply parse_number/ }).waitFor();
  await page.locator('.cell', { hasText: /^Cid/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Drop rows with this value…' }).click();
  await page.getByRole('form', { name: 'Add filter' }).getByRole('button', { name: 'Apply' }).click();
  await page.getByText('A Run would write 3 rows.').waitFor();
  await list.getByRole('button', { name: /^Apply parse_number/ }).click();
  await page.locator('.steps [aria-current]', { hasText: '2parse_number' }).waitFor();
  // Texts that mean that a value is missing are a suggestion, too.
  await list.getByText('3 cells of 1 column').waitFor();
  await list.getByRole('button', { name: /^Apply blank_if flag/ }).click();
  await page.locator('.steps [aria-current]', { hasText: '3blank_if' }).waitFor();
  await page.getByText('A Run would write 3 rows.').waitFor();
  const text = await page.locator('.cm-content').innerText();
  t.equal(text.match(/^operations:/gm)?.length, 1);
  t.strictSame(problems, []);
});

test('suggestions that are applied at once follow each other', options, async (t) => {
  const studio = await startStudio(t, { template: EMPTY, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  await list.getByRole('button', { name: /^Apply parse_date day/ }).waitFor();
  // Both clicks come before the rows of the first step.
  await page.evaluate(`{
    const apply = (name) => [...document.querySelectorAll('button.apply')].find((button) => button.ariaLabel.startsWith(name));
    apply('Apply parse_number').click();
    apply('Apply parse_date').click();
  }`);
  await page.locator('.steps ol', { hasText: /2parse_number.*3parse_date/ }).waitFor();
  t.strictSame(problems, []);
});

test('similar values are suggested, reviewed, and suggested no more after their step', options, async (t) => {
  const towns = ['Hamburg', 'Hamburg', 'Hamburg', 'hamburg ', 'Stuttgart', 'Stuttgart', 'Stuttgart', 'Stuttgat'];
  const sample = `town,code\n${towns.map((town, index) => `${town},A-${index % 2}`).join('\n')}\n`;
  const template = 'format: 1\noperations:\n  - {copy: {from: code, to: again}}\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  await list.getByText('1 group of values that differ only in case').waitFor();
  await list.getByText('1 group of values with a similarity of at least 0.93').waitFor();
  t.notMatch(await list.innerText(), /map_values code/, 'codes are not similar values');
  await list.getByRole('button', { name: 'Review map_values town, map: {Stuttgat: Stuttgart}' }).click();
  const review = page.getByRole('region', { name: 'Similar values' });
  await review.getByRole('checkbox', { name: 'Stuttgart (3), Stuttgat (1)' }).waitFor();
  t.strictSame(await axeFindings(page), []);
  await list.getByRole('button', { name: 'Apply map_values town, map: {Stuttgat: Stuttgart}' }).click();
  await page.locator('.steps [aria-current]', { hasText: '2map_values town' }).waitFor();
  await list.getByText('1 group of values with a similarity').waitFor({ state: 'detached' });
  await list.getByRole('button', { name: /^Apply map_values town, map: \{"hamburg/ }).click();
  await page.locator('.steps [aria-current]', { hasText: '3map_values town' }).waitFor();
  await list.getByText('1 group of values that differ only in case').waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('columns without a value or with one value are suggested, and no check of a total', options, async (t) => {
  const sample = 'name,amount,currency,note\nAda,1.50,EUR,\nBob,2.25,EUR,\nCid,3.00,EUR,\nTotal,6.75,EUR,\n';
  const template = 'format: 1\noperations:\n  - {copy: {from: amount, to: again}}\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  await list.getByText('no value in 4 rows').waitFor();
  await list.getByText('the same value in all 4 rows').waitFor();
  await list.getByRole('button', { name: /^Apply stop_when/ }).waitFor();
  t.notMatch(await list.innerText(), /check_totals|run\.meta/);
  await list.getByRole('button', { name: 'Apply drop note' }).click();
  await page.locator('.steps [aria-current]', { hasText: '2drop note' }).waitFor();
  await list.getByText('no value in 4 rows').waitFor({ state: 'detached' });
  await list.getByRole('button', { name: 'Dismiss drop currency' }).click();
  await list.getByText('the same value in all 4 rows').waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('an applied step with an expression is not suggested again', options, async (t) => {
  const rows = Array.from({ length: 9 }, (_, index) => `${index},1${index}.50,${index % 2 === 0 ? 'S' : 'H'},true`);
  const sample = `id,amount,s_h,paid\n${rows.join('\n')}\n`;
  // In block style, as in other Templates.
  const template =
    'format: 1\noperations:\n  - parse_number:\n      columns: amount\n  - validate:\n      rules:\n        - column: id\n          check: unique\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  const sign = list.getByRole('button', { name: /^Apply set/ });
  await sign.click();
  await page
    .locator('.cell', { hasText: /^-10\.50/ })
    .first()
    .waitFor();
  await page.locator('.steps [aria-current]', { hasText: '3set' }).waitFor();
  const cast = list.getByRole('button', { name: /^Apply cast/ });
  await cast.click();
  await page.locator('.steps [aria-current]', { hasText: '4cast' }).waitFor();
  // The suggestions after the last step: a check of another column is offered, although the Template has a check.
  await list.getByRole('button', { name: /^Apply validate.*s_h/ }).click();
  await page.locator('.steps [aria-current]', { hasText: '5validate' }).waitFor();
  const answers = page.waitForResponse(
    (response) => response.url().endsWith('/api/suggestions') && response.request().postDataJSON().step === 3,
  );
  await page.getByRole('button', { name: /^3 set/ }).click();
  await answers;
  t.equal(await sign.count(), 0);
  t.equal(await cast.count(), 0);
  t.notMatch(await list.innerText(), /validate/);
  t.strictSame(problems, []);
});

test('comments of a draft follow the rows that are left', options, async (t) => {
  const studio = await startStudio(t, { template: null, sample: STATEMENT });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  // Counts are those of the rows at that moment.
  await page.getByText('A Run would write 7 rows.').waitFor();
  // Held back, because the suggestions for the rows that are left replace the comments soon.
  let release = (): void => {};
  const seen = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/suggestions', async (route) => {
    await seen;
    await route.continue();
  });
  await list.getByRole('button', { name: /^Apply stop_when/ }).click();
  await page.getByText('A Run would write 6 rows.').waitFor();
  await list.getByText('when drafted').first().waitFor();
  release();
  await list.getByText(/^5 of 6 read/).waitFor();
  await page.getByRole('button', { name: /^6 parse_number/ }).click();
  const date = list.getByRole('listitem').filter({ hasText: 'parse_date' });
  // With the total, a Run would have ended at this step.
  await date.getByText(/^5 of 5 read/).waitFor();
  await date.getByRole('button', { name: /^Apply/ }).click();
  await page.locator('.steps [aria-current]', { hasText: 'parse_date' }).waitFor();
  const steps = await page.locator('.steps ol').innerText();
  t.match(
    steps,
    /stop_when[\s\S]*6\s*parse_number[\s\S]*7\s*parse_date/,
    'the step follows the one that removed the rows',
  );
  await date.waitFor({ state: 'detached' });
  await list.getByRole('button', { name: /^Apply text/ }).click();
  await page.locator('.steps [aria-current]', { hasText: /^8\s*text/ }).waitFor();
  t.strictSame(problems, []);
});

test('a comment of a draft is never applied above its place', options, async (t) => {
  const studio = await startStudio(t, { template: null, sample: STATEMENT });
  const { page, problems } = await openPage(t, studio.address);
  const list = page.getByRole('region', { name: 'Suggestions' });
  await page.getByText('A Run would write 7 rows.').waitFor();
  await list.getByRole('button', { name: /^Apply stop_when/ }).click();
  await page.locator('.steps [aria-current]', { hasText: /^2\s*stop_when/ }).waitFor();
  await page.getByText('A Run would write 6 rows.').waitFor();
  // Above it, a repeated header is removed, which is no date.
  await list.getByRole('button', { name: /^Apply parse_date/ }).click();
  await page.locator('.steps [aria-current]', { hasText: /^6\s*parse_date\s*buchungstag/ }).waitFor();
  await page.getByText('A Run would write 6 rows.').waitFor();
  t.strictSame(problems, []);
});
