// Undo, redo and the history of the page: every change has a name, by mouse, by keys and together with the editor's own undo.
// With all tests only: a browser.
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations:\n  - {sort: {by: name}}\noutput: {format: csv}\n';

const SAMPLE = 'name,amount\nAda,1\nBob,2\nCid,3\n';

const options = { skip: NO_BROWSER };

const textOf = async (page: Page): Promise<string> =>
  (await page.locator('.cm-line').allInnerTexts()).map((line) => line.trimEnd()).join('\n');

test('changes are named, undone and done again', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  const redo = page.getByRole('button', { name: 'Redo', exact: true });
  t.ok((await undo.isDisabled()) && (await redo.isDisabled()));
  await page.locator('.cell', { hasText: /^Bob/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Drop rows with this value…' }).click();
  await page.getByRole('form', { name: 'Add filter' }).getByRole('button', { name: 'Apply' }).click();
  await page.getByText('A Run would write 2 rows.').waitFor();
  await page.locator('.steps [aria-current]', { hasText: 'filter' }).focus();
  await page.keyboard.press('x');
  await page.getByText('A Run would write 3 rows.').waitFor();
  await page.getByRole('button', { name: 'History', exact: true }).click();
  const history = page.getByRole('region', { name: 'History' });
  t.strictSame(await history.getByRole('button').allInnerTexts(), [
    'Turn off filter name == "Bob"',
    'Add filter name == "Bob"',
    'Start',
  ]);
  // Keys outside of the text.
  await page.locator('.grid [data-active=true]').focus();
  await page.keyboard.press('Control+z');
  await page.getByText('A Run would write 2 rows.').waitFor();
  await history.locator('[aria-current]', { hasText: 'Add filter' }).waitFor();
  await page.keyboard.press('Control+Shift+z');
  await page.getByText('A Run would write 3 rows.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await history.getByRole('button', { name: 'Start' }).click();
  await page.getByText('unsaved changes').waitFor({ state: 'detached' });
  t.equal(await textOf(page), TEMPLATE);
  t.ok(await undo.isDisabled());
  t.match(await history.getByRole('button').first().innerText(), '(undone)');
  await redo.click();
  await page.locator('.cm-line', { hasText: 'filter' }).waitFor();
  // The answer for the restored text moves the choice of the step, and a key pressed before it may be lost.
  await page.getByText('A Run would write 2 rows.').waitFor();
  // Another change replaces those that were undone.
  await page.getByRole('button', { name: /^1 sort/ }).press('Delete');
  await history.locator('[aria-current]', { hasText: 'Delete sort name' }).waitFor();
  t.strictSame(await history.getByRole('button').allInnerTexts(), [
    'Delete sort name',
    'Add filter name == "Bob"',
    'Start',
  ]);
  await page.setViewportSize({ width: 420, height: 800 });
  t.strictSame(await axeFindings(page), [], 'narrow');
  t.strictSame(problems, []);
});

test('a form that is open never writes into another step', options, async (t) => {
  const template = 'format: 1\noperations:\n  - sort: {by: name}\n  - sort: {by: amount}\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: /^1 sort/ }).focus();
  await page.keyboard.press('d');
  await page.getByRole('button', { name: /^3 sort amount/ }).focus();
  await page.keyboard.press('e');
  const form = page.getByRole('form', { name: 'Edit sort' });
  await form.waitFor();
  // Undo takes the duplicate back, so the third step is gone.
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText('unsaved changes').waitFor({ state: 'detached' });
  t.equal(await textOf(page), template);
  // The same by typing: the line above the edited step is deleted.
  await page.getByRole('button', { name: /^2 sort amount/ }).focus();
  await page.keyboard.press('e');
  await form.waitFor();
  await page.locator('.cm-line', { hasText: 'by: name' }).click();
  await page.keyboard.press('Control+Shift+k');
  await form.getByText('The text has changed at this place.').waitFor();
  t.ok(await form.getByRole('button', { name: 'Apply' }).isDisabled());
  t.strictSame(await axeFindings(page), []);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.cm-line', { hasText: 'by: amount' }).waitFor();
  t.strictSame(problems, []);
});

test('typing is one change for each line, and the editor undoes it too', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'History', exact: true }).click();
  const history = page.getByRole('region', { name: 'History' });
  await page.locator('.cm-line').first().click();
  await page.keyboard.press('End');
  await page.keyboard.type('  # mine');
  await history.locator('[aria-current]', { hasText: 'Type in line 1' }).waitFor();
  t.equal(await history.getByRole('button').count(), 2);
  await page.keyboard.press('Control+z');
  await history.locator('[aria-current]', { hasText: 'Start' }).waitFor();
  t.equal(await textOf(page), TEMPLATE);
  await page.keyboard.press('Control+y');
  await history.locator('[aria-current]', { hasText: 'Type in line 1' }).waitFor();
  t.strictSame(problems, []);
});

test('the history is shown beside an open form', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'Delete the step' }).click();
  await page.getByText('A Run would write 3 rows.').waitFor();
  await page.getByRole('button', { name: '+ Step' }).click();
  await page.getByRole('button', { name: /^drop / }).click();
  const form = page.getByRole('form', { name: 'Add drop' });
  await form.waitFor();
  await page.getByRole('button', { name: 'History', exact: true }).click();
  const history = page.getByRole('region', { name: 'History' });
  await history.waitFor();
  t.ok(await form.isVisible(), 'the form stays');
  t.strictSame(await axeFindings(page), []);
  await history.getByRole('button', { name: 'Start' }).click();
  await form.waitFor({ state: 'detached' });
  await page.locator('.cm-line', { hasText: 'sort' }).waitFor();
  t.strictSame(problems, []);
});
