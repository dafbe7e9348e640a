// The steps of "From an unknown file to a tested Template" in docs/how-to/studio.md work as written. The pictures of that page
// are made here: TEMPLATE_RUN_TEST_PICTURES=docs/how-to.
// With all tests only: a browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { until } from '../../blackbox/client.ts';
import { cli } from '../commands/command-line.ts';
import { clickFix, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const STATEMENT = readFileSync('examples/files/bank-statement.csv', 'utf8');

const PICTURES = process.env['TEMPLATE_RUN_TEST_PICTURES'];

async function picture(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.mouse.move(0, 0);
  await page.locator('footer [data-busy=false]').waitFor();
  if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `studio-${theme}.png`), caret: 'hide' });
}

test('an unknown file becomes a tested Template', { skip: NO_BROWSER }, async (t) => {
  const names = { templateName: 'bank.yaml', sampleName: 'bank-statement.csv' };
  const studio = await startStudio(t, { template: null, sample: STATEMENT, ...names });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByText('A Run would write 7 rows.').waitFor();
  const suggestions = page.getByRole('region', { name: 'Suggestions' });
  await picture(page, 'light');
  await suggestions.getByRole('button', { name: /^Apply stop_when/ }).click();
  await page.getByText('A Run would write 6 rows.').waitFor();
  await suggestions.getByRole('button', { name: 'Apply parse_date buchungstag' }).click();
  await page.locator('.grid .column-name', { hasText: 'buchungstag:date' }).waitFor();
  // A column gets another name, and a click corrects the step that uses the old one.
  await page.locator('.cm-line', { hasText: '{name: betrag_eur' }).click();
  await page.keyboard.press('Home');
  for (let times = 0; times < '- {name: betrag_eur'.length; times++) await page.keyboard.press('ArrowRight');
  for (let times = 0; times < 'betrag_eur'.length; times++) await page.keyboard.press('Backspace');
  await page.keyboard.insertText('amount');
  await page.getByText(/"betrag_eur".*Did you mean "amount"\?/).waitFor();
  await clickFix(page, 'Write "amount"');
  await page.getByText('A Run would write 6 rows.').waitFor();
  await page
    .getByRole('button', { name: /parse_number/ })
    .first()
    .click();
  await page.locator('.cell.decimal.changed', { hasText: '-1234.56' }).click();
  await page.getByRole('region', { name: 'Trace of a cell' }).waitFor();
  // The details do not hide the cell that they are about.
  const right = async (): Promise<number> => {
    const box = await page.locator('.grid [data-active=true]').boundingBox();
    return box === null ? Number.POSITIVE_INFINITY : box.x + box.width;
  };
  const details = (await page.locator('aside').boundingBox())!.x;
  t.ok((await until(right, (edge) => edge <= details)) <= details);
  await picture(page, 'dark');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: '+ Test (2)' }).click();
  await page.getByText(/^Added the test/).waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  t.strictSame(problems, []);
  t.match((await cli('template', 'test', studio.templatePath)).stdout, 'ok');
});
