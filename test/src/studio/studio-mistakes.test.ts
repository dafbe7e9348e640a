// A mistake in the text does not freeze the page: the steps above it stay live, and the mistake is marked at its step
// and its line.
// With all tests only: a browser.
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = `format: 1
operations:
  - {rename: {columns: {name: person}}}
  - {sort: {by: person}}
  - {drop: {columns: amount}}
output: {format: csv}
`;

const SAMPLE = 'name,amount\nEve,1\nAda,2\n';

const options = { skip: NO_BROWSER };

/** Replaces a line of the text by keys. */
async function rewrite(page: Page, before: string, after: string): Promise<void> {
  await page.locator('.cm-line', { hasText: before }).click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.insertText(after);
}

test('steps above a mistake stay live, and it is marked at its step and line', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const steps = page.getByRole('navigation', { name: 'Steps' });
  await rewrite(page, 'sort', '  - {sort: {by: persn}}');
  await steps.locator('.mistake', { hasText: 'sort' }).waitFor();
  await steps.locator('.waiting', { hasText: 'drop' }).waitFor();
  await page.getByText(/^1 problem\. Line 4: /).waitFor();
  // The rows are those after the last valid step.
  await page.locator('.column-name', { hasText: 'person' }).waitFor();
  t.equal(await page.getByText('of the last text that was valid').count(), 0);
  // A step above the mistake is changed, and its rows follow.
  await rewrite(page, 'rename', '  - {rename: {columns: {name: someone}}}');
  await page.locator('.column-name', { hasText: 'someone' }).waitFor();
  // The step with the mistake leads to its line, by mouse and by keys.
  await steps.getByRole('button', { name: /sort \(mistake\)/ }).click();
  await page.locator('.cm-activeLine', { hasText: 'sort' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('.cm-activeLine', { hasText: 'drop' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  // Columns are completed at the mistake, from the last valid step.
  await rewrite(page, 'sort', '  - {sort: {by: so');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: /^someone/ }).click();
  await page.keyboard.insertText('}}');
  await steps.getByRole('button', { name: /^2 sort/ }).waitFor();
  await steps.getByRole('button', { name: /^3 drop/ }).waitFor();
  await page.getByText('A Run would write 2 rows.').waitFor();
  t.strictSame(problems, []);
});

test('a mistake of YAML is explained in plain words', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page } = await openPage(t, studio.address);
  await rewrite(page, 'drop', '   - {drop: {columns: amount}}');
  await page.getByText(/^1 problem\. Line 5: this list item is not indented like the others\./).waitFor();
  await page.getByRole('button', { name: /^2 sort/ }).waitFor();
  await page.locator('.column-name', { hasText: 'person' }).waitFor();
  // A new page shows the steps above the mistake too.
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  await page.reload();
  await page.getByRole('button', { name: /^2 sort/ }).waitFor();
});

test('a step without its "- " is named, and the steps above it stay live', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const steps = page.getByRole('navigation', { name: 'Steps' });
  await rewrite(page, 'drop', '  drop: {columns: amount}');
  await page.getByText(/^1 problem\. Line 5: this line lacks its "- "\./).waitFor();
  await steps.getByRole('button', { name: /^2 sort/ }).waitFor();
  t.equal(await steps.locator('.mistake').count(), 0, 'no valid step is marked');
  await page.locator('.column-name', { hasText: 'person' }).waitFor();
  t.strictSame(problems, []);
});

test('after an open quote, the name of a step is its own line', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page } = await openPage(t, studio.address);
  const steps = page.getByRole('navigation', { name: 'Steps' });
  await rewrite(page, 'sort', '  - {sort: {by: "person}}');
  await steps.locator('.mistake', { hasText: '"person}}…' }).waitFor();
  t.equal(await steps.getByText('amount').count(), 0);
});

test('the next line after a step is indented like it', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE.replace('output: {format: csv}\n', ''), sample: SAMPLE });
  const { page } = await openPage(t, studio.address);
  await page.locator('.cm-line', { hasText: 'drop' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('- {slice: {limit: 1}}');
  await page.getByText('A Run would write 1 row.').waitFor();
});

test(
  'a comment after the last step or below it does not change the indentation of the next line',
  options,
  async (t) => {
    const template = TEMPLATE.replace('amount}}\n', 'amount}}  # evidence\n  # - {skipped: {}}\n');
    const studio = await startStudio(t, { template, sample: SAMPLE });
    const { page } = await openPage(t, studio.address);
    for (const [line, step, rows] of [
      ['drop', 'slice: {limit: 1}', '1 row'],
      ['skipped', 'filter: {where: "false"}', '0 rows'],
    ] as const) {
      await page.locator('.cm-line', { hasText: line }).click();
      await page.keyboard.press('End');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.insertText(`- {${step}}`);
      await page.getByText(`A Run would write ${rows}.`).waitFor();
    }
  },
);
