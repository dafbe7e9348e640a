// Steps of a Template are added, edited and removed with the page's forms: by mouse, by keyboard alone, in both themes
// and on a narrow screen.
// With all tests only: a browser.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { test } from 'tap';
import { cli } from '../commands/command-line.ts';
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

const editorText = (page: Page): Promise<string> => page.locator('.cm-content').innerText();

test('a step is added, edited and taken back by mouse', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: '+ Step' }).click();
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('number');
  await page.getByRole('button', { name: /^parse_number/ }).click();
  const form = page.getByRole('form', { name: 'Add parse_number' });
  await form.getByText('Still needed: columns.').waitFor();
  t.ok(await form.getByRole('button', { name: 'Apply' }).isDisabled(), 'nothing can be applied yet');
  await form.getByRole('checkbox', { name: 'amount', exact: true }).check();
  await form.getByRole('textbox', { name: 'decimal', exact: true }).fill(',');
  await form.getByRole('textbox', { name: 'grouping', exact: true }).fill('.');
  // The rows are those of the edited step before it is applied.
  await page.locator('.cell.decimal.changed', { hasText: '1234.50' }).waitFor();
  t.notMatch(await editorText(page), /parse_number/, 'the text is not changed yet');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'parse_number' }).waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  const added = TEMPLATE.replace(
    '# why\n',
    '# why\n  - {parse_number: {columns: amount, decimal: ",", grouping: "."}}\n',
  );
  t.equal(readFileSync(studio.templatePath, 'utf8'), added);
  t.equal((await cli('template', 'check', studio.templatePath)).status, 0);
  // Edit opens the same form with the values of the step.
  await page.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('form', { name: 'Edit parse_number' });
  t.equal(await edit.getByRole('textbox', { name: 'decimal', exact: true }).inputValue(), ',');
  t.ok(await edit.getByRole('checkbox', { name: 'amount', exact: true }).isChecked());
  await edit.getByRole('textbox', { name: 'scale' }).fill('x');
  await edit.getByText('scale: write a whole number.').waitFor();
  t.ok(await edit.getByRole('button', { name: 'Apply' }).isDisabled());
  await edit.getByRole('textbox', { name: 'scale' }).fill('1');
  await edit.getByText('scale: write a whole number.').waitFor({ state: 'detached' });
  await edit.getByRole('combobox', { name: 'rounding' }).selectOption('half_up');
  await page.locator('.cell.decimal.changed', { hasText: /^1234\.5, changed$/ }).waitFor();
  await edit.getByRole('button', { name: 'Apply' }).click();
  const edited = '{columns: amount, decimal: ",", grouping: ".", scale: 1, rounding: half_up}';
  await page.locator('.cm-line', { hasText: edited }).waitFor();
  await page.getByRole('button', { name: 'Delete the step' }).click();
  await page.locator('.cm-line', { hasText: 'parse_number' }).waitFor({ state: 'detached' });
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+z');
  await page.locator('.cm-line', { hasText: edited }).waitFor();
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await page.locator('.cm-line', { hasText: 'parse_number' }).waitFor({ state: 'detached' });
  t.equal((await editorText(page)).trim(), TEMPLATE.trim(), 'undo takes back each edit of a form');
  t.strictSame(problems, []);
});

test('a step is added and edited by keyboard alone', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.keyboard.press('F6');
  await page.keyboard.press('a');
  await page.locator('input[type=search]:focus').waitFor();
  // A name of another program is found, too.
  await page.keyboard.type('formula');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Add set' });
  await form.locator('select:focus').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await form.getByRole('combobox', { name: 'columns 1, from' }).waitFor();
  // The button keeps the focus after the new entry: its inputs and its own button are before it.
  for (let back = 0; back < 3; back++) await page.keyboard.press('Shift+Tab');
  t.equal(await page.evaluate('document.activeElement.ariaLabel'), 'columns 1, from');
  await page.keyboard.type('who');
  await page.keyboard.press('Tab');
  await page.keyboard.type('lower(name)');
  await page.locator('.cell', { hasText: /^bob/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.cm-line', { hasText: '{set: {columns: {who: "lower(name)"}}}' }).waitFor();
  await page.locator('.steps [aria-current]:focus', { hasText: 'set' }).waitFor();
  await page.keyboard.press('e');
  await page.getByRole('form', { name: 'Edit set' }).locator('select:focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.steps [aria-current]:focus', { hasText: 'set' }).waitFor();
  await page.keyboard.press('Delete');
  await page.locator('.cm-line', { hasText: 'lower(name)' }).waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('a value that has no input is shown as YAML, and mistakes are shown in the form', options, async (t) => {
  const template = `format: 1
operations:
  - check_totals:
      checks:
        - expr: count()  # rows
          between: [1, 5]
      on_error: fail
output: {format: csv}
`;
  const studio = await startStudio(t, { template, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: /^1 check_totals/ }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const yaml = page.getByRole('textbox', { name: 'between, as YAML' });
  await yaml.fill('[1, ');
  await page.getByText(/^between: Not valid YAML/).waitFor();
  await yaml.fill('[1, 9]');
  await page.getByText(/^between: Not valid YAML/).waitFor({ state: 'detached' });
  const expression = page.getByRole('textbox', { name: 'expr', exact: true });
  await expression.fill('count( ');
  await page.locator('.step-form .footer .error p').waitFor();
  await expression.fill('count()');
  await page.locator('.step-form .footer .error p').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  await page.locator('.cm-line', { hasText: 'between: [1, 9]' }).waitFor();
  t.equal((await editorText(page)).trim(), template.replace('[1, 5]', '[1, 9]').trim());
  t.strictSame(problems, []);
});

test('how the file is read and the result is written are set with forms', options, async (t) => {
  const sample = 'List of orders\nprinted on Monday\n\nname;amount\nAda;1\nBob;2\n';
  const template = 'format: 1\n# Steps.\noperations: []\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.steps button.step:focus').or(page.locator('.steps button.step')).first().focus();
  await page.keyboard.press('e');
  const form = page.getByRole('form', { name: 'Edit input' });
  await form.waitFor();
  t.strictSame(await axeFindings(page), []);
  const csv = form.getByRole('group', { name: 'csv' });
  await csv.getByRole('combobox', { name: 'Kind of delimiter' }).selectOption('text');
  await csv.getByRole('textbox', { name: 'delimiter', exact: true }).fill(';');
  // Row 2 is blank: the header has one column more.
  await csv.getByRole('combobox', { name: 'Kind of header_row', exact: true }).selectOption('number');
  await csv.getByRole('textbox', { name: 'header_row', exact: true }).fill('4');
  // The rows follow before it is applied.
  await page.locator('.grid [role=columnheader]', { hasText: 'Ada' }).waitFor();
  await csv.getByRole('textbox', { name: 'header_row', exact: true }).fill('3');
  await page.locator('.grid [role=columnheader]', { hasText: 'name' }).waitFor();
  t.notMatch(await editorText(page), /delimiter/, 'the text is not changed yet');
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'input:' }).waitFor();
  await page.getByRole('button', { name: 'Output…' }).click();
  const output = page.getByRole('form', { name: 'Edit output' });
  await output.getByRole('combobox', { name: 'format', exact: true }).selectOption('ndjson');
  t.strictSame(await axeFindings(page), []);
  await output.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'ndjson' }).waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  t.equal(
    readFileSync(studio.templatePath, 'utf8'),
    'format: 1\n# Steps.\ninput: {csv: {delimiter: ";", header_row: 3}}\noperations: []\noutput: {format: ndjson}\n',
  );
  t.strictSame(problems, []);
});

test('a press on a button is a click, although rows arrive before the release', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  // The rows of the preview have one step more: when it is cancelled, the button below the steps moves up.
  await page.getByRole('button', { name: '+ Step' }).click();
  await page.getByRole('button', { name: /^drop / }).click();
  const form = page.getByRole('form', { name: 'Add drop' });
  await form.getByRole('checkbox', { name: 'note', exact: true }).check();
  await page.locator('.steps button.step', { hasText: 'drop' }).waitFor();
  const answered = page.waitForResponse('**/api/evaluate');
  await page.route(
    '**/api/evaluate',
    async (route) => {
      // Pressed before the answer, released after it.
      await page.getByRole('button', { name: '+ Step' }).hover();
      await page.mouse.down();
      await route.continue();
    },
    { times: 1 },
  );
  await form.getByRole('button', { name: 'Cancel' }).click();
  await (await answered).finished();
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  t.ok(await page.locator('.steps button.step', { hasText: 'drop' }).isVisible(), 'the step is still shown');
  await page.mouse.up();
  await page.getByRole('searchbox', { name: 'Search operations' }).waitFor();
  await page.locator('.steps button.step', { hasText: 'drop' }).waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('axe-core finds nothing in the forms, in both themes and on a narrow screen', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  for (const theme of ['light', 'dark'] as const) {
    const { page } = await openPage(t, studio.address, theme);
    for (const width of [1280, 420]) {
      await page.setViewportSize({ width, height: 800 });
      await page.getByRole('button', { name: '+ Step' }).click();
      t.strictSame(await axeFindings(page), [], `${theme}, ${width}: list of operations`);
      await page.getByRole('button', { name: /^sort/ }).click();
      const form = page.getByRole('form', { name: 'Add sort' });
      await form.getByRole('combobox', { name: 'Kind of by' }).selectOption('a list');
      await form.getByRole('combobox', { name: 'Kind of by 1' }).selectOption('with settings');
      await form.getByRole('combobox', { name: 'column' }).fill('name');
      await form.getByText('More settings').click();
      t.strictSame(await axeFindings(page), [], `${theme}, ${width}: form`);
      const overflow = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
      t.ok(overflow <= 0, `${theme}, ${width}: the page does not scroll sideways`);
      await form.getByRole('button', { name: 'Cancel' }).click();
    }
  }
});

test('settings of several outputs, archives and separators, and a similar row, are written', options, async (t) => {
  const template = 'format: 1\noperations:\n  - {copy: {from: name, to: again}}\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'Output…' }).click();
  const output = page.getByRole('form', { name: 'Edit output' });
  await output.getByRole('button', { name: '+ split_by' }).click();
  const by = output.getByRole('combobox', { name: 'split_by 1' });
  const list = await by.getAttribute('list');
  const listed = page.locator(`#${list} option`);
  const names = await listed.evaluateAll((found) => found.map((each) => each.getAttribute('value')));
  t.strictSame(names, ['name', 'amount', 'note', 'again'], 'the columns of the output are suggested');
  await by.fill('again');
  await output.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'split_by: [again]' }).waitFor();
  await page.getByRole('button', { name: '+ Step' }).click();
  await page.getByRole('button', { name: /^dedupe/ }).click();
  const dedupe = page.getByRole('form', { name: 'Add dedupe' });
  const similar = dedupe.getByRole('group', { name: 'similar', exact: true });
  await similar.getByRole('combobox', { name: 'column', exact: true }).fill('name');
  await similar.getByRole('textbox', { name: 'threshold', exact: true }).fill('0.8');
  await dedupe.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'similar: {column: name, threshold: 0.8}' }).waitFor();
  await page.getByRole('button', { name: /^0 input/ }).click();
  await page.locator('.steps').getByRole('button', { name: 'Edit' }).click();
  const input = page.getByRole('form', { name: 'Edit input' });
  await input.getByRole('group', { name: 'csv' }).getByRole('textbox', { name: 'record_separator' }).fill('##');
  await input.getByRole('textbox', { name: 'archive_files' }).fill('*.csv');
  await input.getByRole('combobox', { name: 'sheet', exact: true }).fill('Year 2026');
  await input.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'record_separator' }).waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').waitFor();
  const checked = await cli('template', 'check', studio.templatePath);
  t.equal(checked.status, 0, checked.stdout + readFileSync(studio.templatePath, 'utf8'));
  t.strictSame(problems, []);
});
