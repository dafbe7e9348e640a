// Files that are opened in the page: another sample, and a reference table that is joined by a form.
// With all tests only: a browser.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { workbookOf } from '../../workers/input/xlsx/workbook-writer.ts';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { PROGRAM, startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations:\n  - {text: {columns: name, steps: [trim]}}\noutput: {format: csv}\n';

const SAMPLE = 'name,country code\n Ada ,GB\nBob,DE\n';

const options = { skip: NO_BROWSER };

test('another sample is opened, and the Template stays', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, context, problems } = await openPage(t, studio.address);
  await page.locator('[role=rowheader]', { hasText: '2' }).click();
  await page.getByRole('button', { name: '+ Test (1)' }).waitFor();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open sample…' }).press('Enter');
  const buffer = Buffer.from('name;size\nCid;1\nDan;2\nEve;3\n');
  await (await chooser).setFiles({ name: 'März (2).csv', mimeType: 'text/csv', buffer });
  await page.locator('header .sample', { hasText: 'März (2).csv, 3 rows, whole' }).waitFor();
  await page.locator('.grid [role=gridcell]', { hasText: 'Eve' }).waitFor();
  await page.locator('.grid .column-name', { hasText: 'size' }).waitFor();
  await page.getByText('A Run would write 3 rows.').waitFor();
  t.ok(await page.getByRole('button', { name: '+ Test' }).isDisabled(), 'the marks were those of the other sample');
  t.strictSame(await axeFindings(page), []);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  t.match(readFileSync(await (await download).path(), 'utf8'), 'Eve,3');
  // Another window shows the name of the sample whose rows it shows, and marks none of them.
  const other = await context.newPage();
  await other.goto(studio.address);
  await other.locator('header .sample', { hasText: 'März (2).csv, 3 rows' }).waitFor();
  await other.locator('[role=rowheader]', { hasText: '2' }).click();
  const next = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open sample…' }).press('Enter');
  await (await next).setFiles({
    name: 'März (2).txt',
    mimeType: 'text/csv',
    buffer: Buffer.from('name;size\nFay;4\n'),
  });
  await page.locator('header .sample', { hasText: 'März (2).txt, 1 row' }).waitFor();
  await other.locator('header .sample', { hasText: 'März (2).txt, 1 row' }).waitFor();
  await other.locator('.grid [role=gridcell]', { hasText: 'Fay' }).waitFor();
  t.ok(await other.getByRole('button', { name: '+ Test' }).isDisabled());
  await other.close();
  // A reload shows the same sample.
  await page.reload();
  await page.locator('header .sample', { hasText: 'März (2).txt' }).waitFor();
  t.strictSame(problems, []);
});

test('a file that cannot be read is made readable by the form of the input', options, async (t) => {
  const studio = await startStudio(t, { template: null, sample: 'a,b\n1;2\n3;4\n5;6\n' });
  const { page, problems } = await openPage(t, studio.address, 'light', 'footer');
  await page.getByText('A Run would end here. MALFORMED_FILE').waitFor();
  await page.getByText('The sample cannot be read with these settings. Press Edit at step 0').waitFor();
  t.equal(await page.getByText('No steps yet').count(), 0);
  await page.locator('button.step', { hasText: 'input (cannot be read)' }).focus();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await page.keyboard.press('e');
  const csv = page.getByRole('form', { name: 'Edit input' }).getByRole('group', { name: 'csv' });
  await csv.getByRole('combobox', { name: 'Kind of delimiter' }).selectOption('text');
  await csv.getByRole('textbox', { name: 'delimiter', exact: true }).fill(';');
  await page.locator('.grid [role=columnheader]', { hasText: 'column_2' }).waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('A Run would write 4 rows.').waitFor();
  await page.getByText('No steps yet').waitFor();
  t.strictSame(problems, []);
});

test('the steps stay in the list if another sample lacks a column', options, async (t) => {
  const template = `format: 1
input:
  columns: [{name: name}, {name: size}]
operations:
  - {parse_number: {columns: size}}
  - {sort: {by: [size]}}
output: {format: csv}
`;
  const studio = await startStudio(t, { template, sample: 'name,size\nBob,1\n' });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByText('A Run would write 1 row.').waitFor();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open sample…' }).click();
  const buffer = Buffer.from('name,width\nEve,3\nFay,4\nGus,5\nHal,6\n');
  await (await chooser).setFiles({ name: 'other.csv', mimeType: 'text/csv', buffer });
  await page.getByText('"size" is missing in the sample').waitFor();
  for (const operation of ['parse_number', 'sort'])
    await page.locator('button.step', { hasText: `${operation} (not run)` }).waitFor();
  t.equal(await page.getByText('No steps yet').count(), 0);
  t.equal(await page.getByText('no value in 4 rows').count(), 0, 'the missing column is not a blank one');
  t.strictSame(await axeFindings(page), []);
  const again = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open sample…' }).click();
  await (await again).setFiles({ name: 'third.csv', mimeType: 'text/csv', buffer: Buffer.from('name,size\nIda,2\n') });
  await page.getByText('A Run would write 1 row.').waitFor();
  await page.locator('button.step', { hasText: 'parse_number' }).click();
  t.strictSame(problems, []);
});

test('a file becomes a table, and is joined by a form', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.setViewportSize({ width: 420, height: 800 });
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Join a file…' }).click();
  const buffer = Buffer.from('Country_Code,country\nGB,Britain\nDE,Germany\n');
  await (await chooser).setFiles({ name: 'Country names.csv', mimeType: 'text/csv', buffer });
  const form = page.getByRole('form', { name: 'Add join' });
  await page.locator('.cell', { hasText: 'Germany' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  // A cancelled form declares no table: without it, a Run would fail.
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.cell', { hasText: 'Germany' }).waitFor({ state: 'detached' });
  t.equal(await page.getByText('unsaved changes').count(), 0);
  t.equal(await page.locator('.cm-line', { hasText: 'tables' }).count(), 0);
  const once = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Join a file…' }).click();
  await (await once).setFiles({ name: 'Country names.csv', mimeType: 'text/csv', buffer });
  await page.getByText('keep it as country_names.csv in a folder').waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page
    .locator('.cm-line', { hasText: 'join: {table: country_names, "on": [{left: country code, right: Country_Code}]}' })
    .waitFor();
  await page.getByText('A Run would write 2 rows.').waitFor();
  await page.locator('.cm-line', { hasText: 'tables: {country_names: {ref: country_names}}' }).waitFor();
  // The saved Template is run with the file under the name that the message told.
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const tables = join(studio.folder, 'tables');
  mkdirSync(tables);
  writeFileSync(join(tables, 'country_names.csv'), buffer);
  const args = [PROGRAM, 'run', studio.templatePath, join(studio.folder, 'sample.csv'), '--tables', tables, '-o', '-'];
  t.match(
    execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    'Bob,DE,Germany',
  );
  // The same table, changed: a new version replaces it.
  const again = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Join a file…' }).click();
  const changed = Buffer.from('Country_Code,country\nGB,Britain\nDE,Deutschland\n');
  await (await again).setFiles({ name: 'Country names.csv', mimeType: 'text/csv', buffer: changed });
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.cell', { hasText: 'Deutschland' }).waitFor();
  t.strictSame(problems, []);
});

test('the form of a join proposes the columns with the same values, or none', options, async (t) => {
  const template = 'format: 1\noperations: []\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample: 'name,town\nAda,GB\nBob,DE\nEve,GB\n' });
  const { page, problems } = await openPage(t, studio.address);
  const join = async (text: string): Promise<void> => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Join a file…' }).click();
    await (await chooser).setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  };
  const form = page.getByRole('form', { name: 'Add join' });
  await join('country,code,currency\nBritain,GB,GBP\nGermany,DE,EUR\nFrance,FR,EUR\n');
  await page.locator('.cell', { hasText: 'Germany' }).waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await form.waitFor({ state: 'detached' });
  await join('colour,code\nred,1\nblue,2\n');
  await form.waitFor();
  t.equal(await form.getByLabel('left', { exact: true }).first().inputValue(), '');
  t.strictSame(problems, []);
});

test('a new draft reads the file with other settings', options, async (t) => {
  const orders = [1, 2, 3].map((id) => ({ id, to: { city: 'Oslo' } }));
  const template = 'format: 1\ninput:\n  columns:\n    - {name: old}\noperations: []\noutput: {format: csv}\n';
  const names = { sampleName: 'orders.json' };
  const studio = await startStudio(t, { template, sample: JSON.stringify({ meta: { a: 1 }, orders }), ...names });
  const { page, problems } = await openPage(t, studio.address, 'light', '.steps button.step');
  await page.locator('.steps').getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('form', { name: 'Edit input' });
  await form.getByRole('textbox', { name: 'flatten', exact: true }).fill('.');
  t.strictSame(await axeFindings(page), []);
  await form.getByRole('button', { name: 'New draft' }).click();
  await page.getByText('The text is a new draft. Undo brings the previous text back.').waitFor();
  await page.locator('.cm-line', { hasText: 'json: {"flatten":"."}' }).waitFor();
  await page.locator('.grid .column-name', { hasText: 'to_city' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.cm-line', { hasText: '- {name: old}' }).waitFor();
  t.strictSame(problems, []);
});

test('the form of the input offers the sheets of a workbook', options, async (t) => {
  const rows =
    '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>';
  const sample = workbookOf({ name: 'Cover', rows, moreSheets: [{ name: "Year's 2026", rows }] });
  const studio = await startStudio(t, { template: TEMPLATE.replace('name', '"*"'), sample, sampleName: 'a.xlsx' });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: /^0 input/ }).click();
  await page.locator('.steps').getByRole('button', { name: 'Edit' }).click();
  await page.locator('#form-sheets option[value="Year\'s 2026"]').waitFor({ state: 'attached' });
  const sheet = page.getByRole('form', { name: 'Edit input' }).getByRole('combobox', { name: 'sheet', exact: true });
  t.equal(await sheet.getAttribute('list'), 'form-sheets');
  t.strictSame(await axeFindings(page), []);
  t.strictSame(problems, []);
});
