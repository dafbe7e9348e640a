// The studio's page in a browser: a Template is written, its rows change, an error is found, a test is made, all is saved; by
// keys alone too, in both themes, and without a word of the browser's console.
// With all tests only: a browser.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { test } from 'tap';
import { cli } from '../commands/command-line.ts';
import { axeFindings, clickFix, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const BANK = readFileSync('examples/catalog/templates/demo/bank-statement.yaml', 'utf8');
const STATEMENT = readFileSync('examples/files/bank-statement.csv', 'utf8');

const options = { skip: NO_BROWSER };

function cellTexts(page: Page, column: number): Promise<string[]> {
  return page.locator(`.grid [role=gridcell][aria-colindex="${column}"]`).allTextContents();
}

/** Scrolls, and returns when every row in view is shown with its cells. */
async function scrollUntilShown(page: Page, top: number, left: number): Promise<void> {
  const grid = page.locator('.grid');
  await grid.evaluate((box, place) => box.scrollTo(place.left, place.top), { top, left });
  while ((await rowsMissing(grid)) > 0) await page.evaluate('new Promise((shown) => requestAnimationFrame(shown))');
}

/** Number of rows in view that the grid does not show, or not with all their cells. */
function rowsMissing(grid: Locator): Promise<number> {
  return grid.evaluate((box) => {
    const first = Math.ceil(box.scrollTop / 26);
    const last = Math.min(1_999, Math.floor((box.scrollTop + box.clientHeight - 70) / 26) - 1);
    let missing = last < first ? 1 : 0;
    for (let row = first; row <= last; row++) {
      const shown = box.querySelector(`[role=row][aria-rowindex="${row + 2}"]`);
      const cells = shown?.querySelectorAll('[role=gridcell]').length ?? 0;
      if (cells < 5 || shown!.textContent!.includes('…')) missing++;
    }
    return missing;
  });
}

async function rewrite(page: Page, line: Locator, text: string): Promise<void> {
  await line.click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.insertText(text.trimStart());
}

test('type, see the rows change, find the error, make a test, save', options, async (t) => {
  const template = BANK.slice(0, BANK.indexOf('tests:'));
  const studio = await startStudio(t, { template, sample: STATEMENT });
  const { page, problems } = await openPage(t, studio.address);
  const steps = page.getByRole('navigation', { name: 'Steps' });
  await steps.getByRole('button', { name: /^8 parse_number/ }).click();
  await page.locator('.cell.decimal.changed').first().waitFor();
  t.strictSame((await cellTexts(page, 7)).slice(0, 2), ['-1234.56, changed', '-48.20, changed']);
  await page.locator('footer', { hasText: 'A Run would write 5 rows.' }).waitFor();
  const line = page.locator('.cm-line', { hasText: 'collapse_spaces' });
  const written = await line.innerText();
  await rewrite(page, line, written.replace('collapse_spaces', 'collapse_spaces, upper'));
  await page.locator('.cell', { hasText: 'MUSTER ENERGIE GMBH' }).first().waitFor();
  t.ok(await page.getByTitle('not saved').isVisible(), 'the text is not saved');
  await rewrite(page, line, written.replace('party', 'partty'));
  await page
    .getByText(/"partty" is missing in the sample/)
    .first()
    .waitFor();
  // One click fixes it.
  await clickFix(page, 'Write "party"');
  await page.getByText(/A Run would write 5 rows/).waitFor();
  await page.locator('.cell', { hasText: 'Muster Energie GmbH' }).first().waitFor();
  // The cursor of the text has chosen the step of its line.
  await steps.getByRole('button', { name: /^8 parse_number/ }).click();
  // The way of a cell.
  await page.locator('.cell.decimal.changed').first().click();
  const trace = page.getByRole('region', { name: 'Trace of a cell' });
  t.match(await trace.innerText(), /input -1\.234,56[\s\S]*parse_number -1234\.56 changed/);
  // A test of two rows, without what they say.
  await page.locator('.cell.number', { hasText: /^1$/ }).click();
  await page.locator('.cell.number', { hasText: /^2$/ }).click();
  await page.getByRole('button', { name: '+ Test (2)' }).click();
  await page.getByText(/^Added the test/).waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  const saved = readFileSync(studio.templatePath, 'utf8');
  t.match(saved, /\ntests:\n {2}- name: "rows of a sample, scrambled/);
  t.notMatch(saved, /Muster|DE8937040044053201/);
  const tested = await cli('template', 'test', studio.templatePath);
  t.equal(tested.status, 0, tested.stdout);
  t.strictSame(problems, []);
});

test('by keys alone', options, async (t) => {
  const studio = await startStudio(t, { template: BANK, sample: STATEMENT });
  const { page, problems } = await openPage(t, studio.address);
  const focused = (): Promise<string> => page.evaluate('document.activeElement.innerText');
  await page.keyboard.press('F6');
  t.match(await focused(), /^12/, 'F6 leads to the last step');
  for (let step = 11; step >= 8; step--) {
    await page.keyboard.press('ArrowUp');
    await page.locator(`.steps [aria-current] .number >> text="${step}"`).waitFor();
  }
  await page.locator('.cell.decimal.changed').first().waitFor();
  await page.keyboard.press('F6');
  await page.locator('.grid [data-active=true]:focus').waitFor();
  for (const key of ['Control+Home', 'End', 'ArrowLeft', 'ArrowDown']) await page.keyboard.press(key);
  await page.locator('.grid [data-active=true]:focus').filter({ hasText: '-48.20' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Trace of a cell' }).waitFor();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: '+ Test (1)' }).waitFor();
  await page.keyboard.press('Control+ArrowUp');
  await page.locator('.grid [role=columnheader]:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Profile of a column' }).waitFor();
  await page.keyboard.press('Shift+F6');
  await page.keyboard.press('x');
  await page.locator('.steps .off', { hasText: 'parse_number (off)' }).waitFor();
  await page.locator('footer', { hasText: /1 problem\. .*EXPR_TYPE/ }).waitFor();
  // The focus stays on the step, so the same key enables it again.
  await page.keyboard.press('x');
  await page.locator('.steps .live[aria-current]:focus', { hasText: 'parse_number' }).waitFor();
  await page.keyboard.press('x');
  await page.locator('.steps .off:focus', { hasText: 'parse_number (off)' }).waitFor();
  await page.keyboard.press('F6');
  await page.keyboard.press('F6');
  await page.locator('.cm-content:focus').waitFor();
  await page.keyboard.press('Control+z');
  await page.locator('.steps .off').waitFor({ state: 'detached' });
  // Tab leads out of the editor, so the keyboard focus is not trapped.
  await page.keyboard.press('Tab');
  t.equal(await page.locator('.cm-content:focus').count(), 0);
  t.strictSame(problems, []);
});

test('rows whose request another page has ended are asked for again', options, async (t) => {
  const studio = await startStudio(t, { template: BANK, sample: STATEMENT });
  const { page } = await openPage(t, studio.address);
  let ended = 0;
  await page.route('**/api/evaluate', (route) => {
    if (ended++ > 0) return route.continue();
    return route.fulfill({ json: { problems: [], watched: null, failure: null, isStale: true, isHead: false } });
  });
  await page.getByRole('button', { name: /^8 parse_number/ }).click();
  // A profile belongs to one step, so the response before the click has no profile for this step.
  await page.locator('.grid [role=columnheader] .counts').first().waitFor();
  t.equal(ended, 2);
});

test('what another program writes is shown, and never lost', options, async (t) => {
  const studio = await startStudio(t, { template: BANK, sample: STATEMENT });
  const { page } = await openPage(t, studio.address);
  writeFileSync(studio.templatePath, `# theirs\n${BANK}`);
  await page.locator('.cm-line', { hasText: '# theirs' }).waitFor();
  await page.locator('.cm-line').first().click();
  await page.keyboard.type('# mine ');
  writeFileSync(studio.templatePath, `# theirs again\n${BANK}`);
  await page.keyboard.press('Control+s');
  await page.getByRole('alert').waitFor();
  t.match(readFileSync(studio.templatePath, 'utf8'), /^# theirs again\n/);
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  t.match(readFileSync(studio.templatePath, 'utf8'), /# mine/);
});

test('axe-core finds nothing, in both themes', options, async (t) => {
  const studio = await startStudio(t, { template: BANK, sample: STATEMENT });
  const { page } = await openPage(t, studio.address);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.getByRole('button', { name: /^8 parse_number/ }).click();
    await page.locator('.cell.decimal.changed').first().click();
    await page.getByRole('region', { name: 'Trace of a cell' }).waitFor();
    t.strictSame(await axeFindings(page), [], theme);
  }
});

test('2,000 rows and 500 columns are scrolled without cells that are missing', options, async (t) => {
  const columns = Array.from({ length: 500 }, (_, index) => `c${index}`);
  const rows = Array.from({ length: 2_000 }, (_, row) => columns.map((_, column) => `${row}.${column}`).join(','));
  const sample = `${columns.join(',')}\n${rows.join('\n')}\n`;
  const studio = await startStudio(t, { template: 'format: 1\noperations: []\n', sample });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.grid[aria-rowcount="2001"][aria-colcount="501"]').waitFor();
  t.ok((await page.locator('.grid [role=gridcell]').count()) < 2_000, 'only what can be seen is made');
  await page.locator('.grid[aria-busy=false]').waitFor();
  for (const [row, column] of [
    [1_000, 250],
    [1_999, 499],
    [3, 499],
    [1_500, 0],
  ] as const) {
    await scrollUntilShown(page, row * 26, column * 150);
    const cell = page.getByRole('gridcell', { name: `${row}.${column}`, exact: true });
    await cell.waitFor();
    t.ok(await cell.isVisible(), `the cell ${row}.${column} is shown`);
  }
  t.strictSame(problems, []);
});

test('a page that is opened while the text has problems, and a sample that is gone for a while', options, async (t) => {
  const sample = 'name,note\n Ada ,"two\nlines"\n';
  const studio = await startStudio(t, { template: 'format: 1\noperations: [{', sample });
  const { page } = await openPage(t, studio.address);
  await page.reload();
  await page.locator('.cell', { hasText: 'two↵lines' }).waitFor();
  await page.getByText(/problems?\. Line 2: .*SYNTAX/).waitFor();
  const samplePath = join(dirname(studio.templatePath), 'sample.csv');
  rmSync(samplePath);
  writeFileSync(studio.templatePath, 'format: 1\noperations: []\n');
  await page.getByText(/SAMPLE_GONE: The sample file no longer exists/).waitFor();
  t.ok(await page.locator('.cell', { hasText: 'two↵lines' }).isVisible(), 'what was there stays');
  writeFileSync(samplePath, `${sample}Eve,\n`);
  await page.getByText('A Run would write 2 rows.').waitFor();
  t.equal(await page.getByText(/SAMPLE_GONE/).count(), 0);
});

test('a test that is made slowly is saved too', options, async (t) => {
  const studio = await startStudio(t, { template: BANK, sample: STATEMENT });
  const { page, problems } = await openPage(t, studio.address);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/test', async (route) => {
    await released;
    await route.continue();
  });
  await page.locator('.cell.number', { hasText: /^1$/ }).click();
  await page.getByRole('button', { name: '+ Test (1)' }).click();
  await page.getByText('The test is being made…').waitFor();
  t.ok(await page.getByRole('button', { name: 'Run tests' }).isDisabled(), 'the tests cannot run without it');
  await page.keyboard.press('Control+s');
  t.notMatch(readFileSync(studio.templatePath, 'utf8'), /scrambled/);
  release();
  await page.getByText('Saved.').waitFor();
  t.match(readFileSync(studio.templatePath, 'utf8'), /- name: "rows of a sample, scrambled/);
  // The text shows the new test, also when new rows of the chosen step arrive.
  await page.locator('footer [data-busy=false]').waitFor();
  const written = await page.locator('.cm-line', { hasText: '- name: "rows of a sample' }).boundingBox();
  const pane = (await page.locator('.cm-scroller').boundingBox())!;
  t.ok(written !== null && written.y >= pane.y && written.y < pane.y + pane.height);
  await page.getByRole('button', { name: 'Run tests' }).click();
  await page.getByText('All tests passed.').waitFor();
  // A test that cannot be made is said.
  await page.unroute('**/api/test');
  await page.route('**/api/test', (route) =>
    route.fulfill({ status: 422, json: { code: 'NO_TEST', message: 'None.' } }),
  );
  await page.locator('.cell.number', { hasText: /^2$/ }).click();
  await page.getByRole('button', { name: '+ Test (1)' }).click();
  await page.getByText('NO_TEST: None.').waitFor();
  // A save that waited for it says so, too.
  let fail = (): void => {};
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  await page.unroute('**/api/test');
  await page.route('**/api/test', async (route) => {
    await failed;
    await route.fulfill({ status: 422, json: { code: 'NO_TEST', message: 'None.' } });
  });
  await page.getByRole('button', { name: '+ Test (1)' }).click();
  await page.getByText('The test is being made…').waitFor();
  await page.keyboard.press('Control+s');
  fail();
  await page.getByText('Saved without the test. NO_TEST: None.').waitFor();
  t.strictSame(
    problems.filter((problem) => !problem.includes('422')),
    [],
  );
});
