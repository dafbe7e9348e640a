// Menus of columns and cells open the forms of steps, and the chosen step and the cursor of the text go together.
// With all tests only: a browser.
import { test } from 'tap';
import { until } from '../../blackbox/client.ts';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = `format: 1
operations:
  # Blanks of the export.
  - {text: {columns: name, steps: [trim]}}  # why
  # - {drop: {columns: note}}
output: {format: csv}
`;

const SAMPLE = 'name,amount,note\n Ada ,"1.234,50",x\nBob,"7,00",\n';

const options = { skip: NO_BROWSER };

test('steps are added from the menus of columns and cells', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'Menu of amount' }).click();
  await page.getByRole('menuitem', { name: 'Read as number…' }).click();
  const form = page.getByRole('form', { name: 'Add parse_number' });
  // The marks are guessed from the cells.
  t.equal(await form.getByRole('textbox', { name: 'decimal', exact: true }).inputValue(), ',');
  await page.locator('.cell.decimal.changed', { hasText: '1234.50' }).waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'parse_number' }).waitFor();
  // Opens the menu of a cell with the mouse.
  await page.locator('.cell', { hasText: /^Bob/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Drop rows with this value…' }).click();
  await page.getByRole('form', { name: 'Add filter' }).getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: `{filter: {where: 'name == "Bob"', mode: drop}}` }).waitFor();
  await page.getByText('A Run would write 1 row.').waitFor();
  t.strictSame(await axeFindings(page), []);
  // Opens the menu of a header with keys.
  await page.locator('.grid [data-active=true]').focus();
  await page.keyboard.press('Control+ArrowUp');
  await page.locator('.grid [role=columnheader]:focus').waitFor();
  await page.keyboard.press('m');
  const menu = page.getByRole('menu', { name: 'Column name' });
  await menu.locator('[role=menuitem]:focus').waitFor();
  t.strictSame(await axeFindings(page), [], 'axe-core finds nothing in a menu');
  await page.keyboard.press('Escape');
  await page.locator('.grid [role=columnheader]:focus').waitFor();
  await page.keyboard.press('m');
  // A letter leads to the next entry that begins with it.
  await page.keyboard.press('s');
  await page.keyboard.press('s');
  await page.locator('[role=menuitem]:focus', { hasText: 'Sort' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('form', { name: 'Add sort' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('form').waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('a column is renamed by its menu and by typing its name', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'Menu of amount' }).click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
  const form = page.getByRole('form', { name: 'Add rename' });
  await form.locator('input:focus').waitFor();
  await page.keyboard.type('total');
  await page.locator('.grid .column-name', { hasText: 'total' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.cm-line', { hasText: '{rename: {columns: {amount: total}}}' }).waitFor();
  t.strictSame(problems, []);
});

test('the chosen step and the line of the cursor go together', options, async (t) => {
  const template = TEMPLATE.replace('output:', '  - {sort: {by: amount}}\noutput:');
  const studio = await startStudio(t, { template, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.cm-activeLine', { hasText: 'sort' }).waitFor();
  await page.getByRole('button', { name: /^1 text name/ }).click();
  await page.locator('.cm-activeLine', { hasText: 'trim' }).waitFor();
  await page.locator('.cm-line', { hasText: 'sort' }).click();
  await page.locator('.steps [aria-current]', { hasText: 'sort amount' }).waitFor();
  t.strictSame(problems, []);
});

test('a column that a form adds is scrolled into view', options, async (t) => {
  const names = Array.from({ length: 12 }, (_, index) => `column_number_${index}`);
  const studio = await startStudio(t, {
    template: 'format: 1\noperations: []\noutput: {format: csv}\n',
    sample: `${names.join(',')}\n${names.map(() => 'Ann Lee').join(',')}\n`,
  });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'Menu of column_number_0' }).click();
  await page.getByRole('menuitem', { name: 'Copy…' }).click();
  const added = page.locator('.grid .column-name', { hasText: 'column_number_0_copy' });
  await added.waitFor();
  const details = (await page.locator('aside').boundingBox())!.x;
  const left = async (): Promise<number> => (await added.boundingBox())?.x ?? Number.POSITIVE_INFINITY;
  t.ok((await until(left, (x) => x < details)) < details);
  await page.getByRole('button', { name: 'Apply' }).click();
  // The column of a step is shown, however long its counts are.
  await page.locator('.steps .subject', { hasText: 'column_number_0' }).waitFor();
  t.strictSame(problems, []);
});

test('a row becomes a test by its menu', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('[role=rowheader]', { hasText: '2' }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: '+ Test' }).click();
  await page.getByText(/^Added the test/).waitFor();
  await page.getByRole('button', { name: 'Run tests' }).click();
  await page.getByText('All tests passed.').waitFor();
  t.strictSame(problems, []);
});

test('a step that is moved by keys stays chosen', options, async (t) => {
  const steps = ['{text: {columns: name, steps: [trim]}}', '{sort: {by: name}}', '{drop: {columns: note}}'];
  const template = `format: 1\noperations:\n${steps.map((step) => `  - ${step}\n`).join('')}output: {format: csv}\n`;
  const studio = await startStudio(t, { template, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: /^1 text/ }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.steps [aria-current]', { hasText: '1text' }).waitFor();
  for (const place of [2, 3]) {
    await page.keyboard.press('Alt+ArrowDown');
    await page.locator('.steps [aria-current]:focus', { hasText: `${place}text` }).waitFor();
  }
  t.strictSame(problems, []);
});
