// A text that is not saved survives a closed page and the end of the command.
// With all tests only: a browser.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Dialog } from 'playwright-core';
import { test } from 'tap';
import { until } from '../../blackbox/client.ts';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations:\n  - {text: {columns: name, steps: [trim]}}\noutput: {format: csv}\n';

const SAMPLE = 'name,amount\n Ada ,1\nBob,2\n';

const options = { skip: NO_BROWSER };

const pathOf = (folder: string): string => join(folder, '.template.yaml.unsaved');

test('the text of a command that was killed is offered at the next start', options, async (t) => {
  const killed = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { folder } = killed;
  const { page } = await openPage(t, killed.address);
  await page.locator('.cm-line').first().click();
  await page.keyboard.press('Home');
  await page.keyboard.type('# mine ');
  const kept = async (): Promise<string> => (existsSync(pathOf(folder)) ? readFileSync(pathOf(folder), 'utf8') : '');
  t.equal(await until(kept, (text) => text === `# mine ${TEMPLATE}`), `# mine ${TEMPLATE}`);
  t.equal(statSync(pathOf(folder)).mode & 0o777, 0o600, 'only its owner can read it');
  t.equal(readFileSync(killed.templatePath, 'utf8'), TEMPLATE, 'the Template is unchanged');
  await killed.crash();
  for (const theme of ['light', 'dark'] as const) {
    const next = await startStudio(t, { template: null, sample: SAMPLE, folder });
    const { page: second } = await openPage(t, next.address, theme);
    const dialog = second.getByRole('dialog', { name: 'Restore your unsaved text?' });
    await dialog.getByRole('button', { name: 'Restore' }).waitFor();
    for (let times = 0; times < 3; times++) await second.keyboard.press('Escape');
    // Escape is no decision.
    await dialog.waitFor();
    await second.keyboard.press('Control+s');
    t.ok(existsSync(pathOf(folder)), 'nothing is saved before the decision');
    t.strictSame(await axeFindings(second), [], theme);
    await second.locator('dialog button:focus').waitFor();
    if (theme === 'light') continue;
    // The button that restores has the focus.
    await second.keyboard.press('Enter');
    await second.locator('.cm-line', { hasText: '# mine format: 1' }).waitFor();
    await second.keyboard.press('Control+s');
    await second.getByText('Saved.').waitFor();
    t.equal(readFileSync(next.templatePath, 'utf8'), `# mine ${TEMPLATE}`);
    t.notOk(existsSync(pathOf(folder)), 'a saved text needs no copy');
  }
});

test('a copy that does not reach the server is sent again', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page } = await openPage(t, studio.address);
  await page.route('**/api/recovery', (route) => route.abort(), { times: 2 });
  await page.locator('.cm-line').first().click();
  await page.keyboard.press('Home');
  await page.keyboard.insertText('# mine ');
  const path = pathOf(studio.folder);
  const kept = async (): Promise<string> => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  t.equal(await until(kept, (text) => text !== ''), `# mine ${TEMPLATE}`);
});

test('a second window leaves the text of the first one, and has a copy of its own', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, context, problems } = await openPage(t, studio.address);
  const write = async (window: typeof page, text: string): Promise<void> => {
    await window.locator('.cm-line').first().click();
    await window.keyboard.press('Home');
    await window.keyboard.insertText(text);
  };
  const textOf = (name: string) => async (): Promise<string> => {
    const path = join(studio.folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  await write(page, '# one ');
  const first = textOf('.template.yaml.unsaved');
  t.equal(await until(first, (text) => text !== ''), `# one ${TEMPLATE}`);
  const second = await context.newPage();
  await second.goto(studio.address);
  await second.getByText('another window that is still open').waitFor();
  t.strictSame(await axeFindings(second), []);
  await second.getByRole('button', { name: 'Leave it' }).click();
  await second.getByRole('dialog').waitFor({ state: 'detached' });
  await write(second, '# two ');
  const other = textOf('.template.yaml.2.unsaved');
  t.equal(await until(other, (text) => text !== ''), `# two ${TEMPLATE}`);
  t.equal(await first(), `# one ${TEMPLATE}`);
  await second.keyboard.press('Control+s');
  await second.getByText('Saved.').waitFor();
  t.equal(await until(other, (text) => text === ''), '');
  t.equal(await first(), `# one ${TEMPLATE}`, 'a save removes only the copy of its window');
  await page.bringToFront();
  await page.getByText('Another program has changed the file').waitFor();
  t.strictSame(problems, []);
});

test('leaving asks first, and a text that is not wanted is deleted', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page } = await openPage(t, studio.address);
  await page.locator('.cm-line').first().click();
  await page.keyboard.press('Home');
  await page.keyboard.type('# mine ');
  await page.getByText('unsaved changes').waitFor();
  const asked = new Promise<Dialog>((resolve) => page.once('dialog', resolve));
  // The page stays until the question is answered, so nothing can wait for the end of this reload.
  const reloaded = page.reload().catch(() => null);
  const question = await asked;
  t.equal(question.type(), 'beforeunload');
  await question.accept();
  await reloaded;
  await page.getByRole('button', { name: 'Delete the unsaved text' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const isKept = async (): Promise<boolean> => existsSync(pathOf(studio.folder));
  t.equal(await until(isKept, (kept) => !kept), false);
  t.equal(await page.getByText('unsaved changes').count(), 0);
});

test('a draft says that it was never saved', options, async (t) => {
  const studio = await startStudio(t, { template: null, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByText('draft, never saved').waitFor();
  t.strictSame(await axeFindings(page), []);
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  await page.getByText('draft, never saved').waitFor({ state: 'detached' });
  t.ok(existsSync(studio.templatePath));
  t.notOk(existsSync(pathOf(studio.folder)), 'an untouched draft is not copied');
  t.strictSame(problems, []);
});
