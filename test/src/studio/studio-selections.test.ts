// Menus on several selected columns, on rows, and on a selected part of a cell, by mouse and by keys.
// With all tests only: a browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { cli } from '../commands/command-line.ts';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations:\n  - {copy: {from: name, to: label}}\noutput: {format: csv}\n';

const SAMPLE = 'name,amount,note\nInvoice 17 of May,1,x\nInvoice 18 of June,2,y\nTotal,,z\nInvoice 19 of July,3,x\n';

const options = { skip: NO_BROWSER };

test('several columns are selected and become one step', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const head = (name: string) =>
    page.locator('.grid [role=columnheader]', { has: page.locator('.column-name', { hasText: name }) });
  await head('amount').click({ modifiers: ['Control'] });
  await head('label').click({ modifiers: ['Shift'] });
  t.equal(await page.locator('[role=columnheader][aria-selected=true]').count(), 3);
  t.equal(await page.getByRole('region', { name: 'Profile of a column' }).count(), 0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  // The column is selected no more, by keys.
  await page.locator('.grid [data-active=true]').focus();
  await page.keyboard.press('Control+ArrowUp');
  await page.keyboard.press('End');
  await page.locator('.grid [role=columnheader]:focus', { hasText: 'label' }).waitFor();
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowLeft');
  await page.locator('.grid [role=columnheader]:focus', { hasText: 'note' }).waitFor();
  await page.keyboard.press('m');
  const menu = page.getByRole('menu', { name: '2 columns' });
  await menu.locator('[role=menuitem]:focus').waitFor();
  t.strictSame(await axeFindings(page), [], 'menu');
  await menu.getByRole('menuitem', { name: 'Merge into one…' }).click();
  const form = page.getByRole('form', { name: 'Add merge_columns' });
  await page.locator('.cell', { hasText: /^2 y$/ }).waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page
    .locator('.cm-line', { hasText: '{merge_columns: {columns: [amount, note], into: amount_note}}' })
    .waitFor();
  await page.locator('[role=columnheader][aria-selected=true]').waitFor({ state: 'detached' });
  // A column is selected from its menu, as on a screen without keys.
  await page.getByRole('button', { name: 'Menu of name' }).click();
  await page.getByRole('menuitem', { name: 'Select this column' }).click();
  await page.getByRole('button', { name: 'Menu of label' }).click();
  await page.getByRole('menuitem', { name: 'Select it, too' }).click();
  await page.getByRole('button', { name: 'Menu of label' }).click();
  await page.getByRole('menuitem', { name: 'Keep only these…' }).click();
  await page.getByRole('form', { name: 'Add select' }).getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: '{select: {columns: [name, label]}}' }).waitFor();
  await page.locator('.grid[aria-colcount="3"]').waitFor();
  t.strictSame(problems, []);
});

test('a row starts or stops the table, and rows like it are dropped', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('[role=rowheader]', { hasText: '2' }).click({ button: 'right' });
  const menu = page.getByRole('menu', { name: 'Row 2' });
  await menu.locator('[role=menuitem]:focus').waitFor();
  t.strictSame(await axeFindings(page), []);
  await menu.getByRole('menuitem', { name: 'Start the table here…' }).click();
  await page.getByRole('form', { name: 'Add slice' }).getByRole('button', { name: 'Apply' }).click();
  await page.getByText('A Run would write 3 rows.').waitFor();
  await page.locator('.grid[aria-rowcount="4"]').waitFor();
  // The total has no amount, and other rows have one.
  await page.locator('.cell', { hasText: /^z$/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Drop rows like this…' }).click();
  await page.getByRole('form', { name: 'Add filter' }).getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: '{filter: {where: "is_blank(amount)", mode: drop}}' }).waitFor();
  await page.getByText('A Run would write 2 rows.').waitFor();
  await page.locator('[role=rowheader]', { hasText: '4' }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Mark for a test' }).click();
  await page.getByRole('button', { name: '+ Test (1)' }).waitFor();
  t.strictSame(problems, []);
});

test('a selected part of a cell is extracted, with a pattern that fits other cells', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  // With the keyboard, in the details of the cell.
  await page.locator('.grid [role=gridcell]', { hasText: 'Invoice 18' }).first().click();
  const box = page.getByRole('textbox', { name: 'Text of the cell' });
  await box.focus();
  await page.keyboard.press('Control+Home');
  for (let times = 0; times < 'Invoice '.length; times++) await page.keyboard.press('ArrowRight');
  for (let times = 0; times < '18'.length; times++) await page.keyboard.press('Shift+ArrowRight');
  const part = page.getByRole('group', { name: 'Selected part' });
  await part.getByRole('button', { name: 'Extract this part…' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await part.getByRole('button', { name: 'Extract this part…' }).click();
  const form = page.getByRole('form', { name: 'Add extract' });
  t.equal(await form.getByRole('textbox', { name: 'pattern', exact: true }).inputValue(), 'Invoice ([0-9]+)');
  await page.locator('.cell', { hasText: /^19$/ }).waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'extract' }).waitFor();
  // With the mouse, in the table: a double click selects a word.
  await page
    .locator('.grid [role=gridcell]', { hasText: 'Total' })
    .first()
    .dblclick({ position: { x: 20, y: 12 } });
  await page.locator('.grid [role=gridcell]', { hasText: 'Total' }).first().click({ button: 'right' });
  await page.getByRole('group', { name: 'Selected part: Total' }).waitFor();
  await page.getByRole('menuitem', { name: 'Replace this part…' }).click();
  await page.getByRole('form', { name: 'Add replace' }).waitFor();
  t.strictSame(problems, []);
});

test('a row becomes the header, by keys', options, async (t) => {
  const sample = 'Report of May\n\nshop;amount\nA;1,5\nB;2,5\n';
  const template =
    'format: 1\ninput: {csv: {delimiter: ";", header_row: 0}, columns: [{name: report, match: [Report of May]}]}\n' +
    'operations: []\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.cell', { hasText: /^shop/ }).click();
  await page.keyboard.press('m');
  await page.getByRole('menuitem', { name: 'Use this row as the header…' }).press('Enter');
  const form = page.getByRole('form', { name: 'Edit input' });
  // The table shows the effect before it is applied.
  await page.locator('.grid [role=columnheader]', { hasText: 'shop' }).waitFor();
  t.strictSame(await axeFindings(page), []);
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'input: {csv: {delimiter: ";", header_row: 2}}' }).waitFor();
  await page.getByText('A Run would write 2 rows.').waitFor();
  t.strictSame(problems, []);
});

/** The rows of a CSV text as a workbook. */
async function workbook(t: Test, text: string): Promise<Uint8Array> {
  const folder = t.testdir({
    'rows.csv': text,
    'template.yaml': 'format: 1\ninput: {csv: {header_row: 0}}\noperations: []\noutput: {format: xlsx}\n',
  });
  const [template, rows, output] = ['template.yaml', 'rows.csv', 'rows.xlsx'].map((name) => join(folder, name));
  const { status, stderr } = await cli('run', template!, rows!, '-o', output!);
  t.equal(status, 0, stderr);
  return readFileSync(output!);
}

test('a row of a workbook becomes the header, also with the row above', options, async (t) => {
  const sample = await workbook(t, 'Report of May,,\n,,\n,Net,Gross\nshop,amount,amount\nA,15,16\nB,25,26\n');
  const template = 'format: 1\ninput: {csv: {header_row: 0}}\noperations: []\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample, sampleName: 'sample.xlsx', folder: t.testdir({}) });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.cell', { hasText: /^shop/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Use this row as the header…' }).click();
  const form = page.getByRole('form', { name: 'Edit input' });
  await page.locator('.grid [role=columnheader]', { hasText: 'shop' }).waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.cell', { hasText: /^shop/ }).click();
  await page.keyboard.press('m');
  await page.getByRole('menuitem', { name: 'Use this row and the one above as the header…' }).press('Enter');
  await page.locator('.grid [role=columnheader]', { hasText: 'Gross amount' }).waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'header_row: 3, header_rows: 2' }).waitFor();
  await page.getByText('A Run would write 2 rows.').waitFor();
  t.strictSame(problems, []);
});
