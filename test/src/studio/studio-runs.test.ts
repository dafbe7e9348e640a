// The page runs the tests of the Template and the whole file, whose output the browser saves.
// With all tests only: a browser.
import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = `format: 1
operations:
  - {text: {columns: name, steps: [upper]}}
output: {format: csv}
tests:
  - name: capital letters
    input: {text: "name\\nada\\n"}
    expect: {rows: [{name: ADA}]}
  - name: wrong
    input: {text: "name\\neve\\n"}
    expect: {rows: [{name: Eve}]}
`;

const SAMPLE = `name\n${'ada\n'.repeat(3_000)}`;

const options = { skip: NO_BROWSER };

test('tests run in the page, by keys and in both themes', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.getByRole('button', { name: 'Run tests' }).focus();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'Tests' });
  await panel.getByText('passed: capital letters').waitFor();
  t.match(await panel.innerText(), /failed: wrong[\s\S]*EVE/);
  await page.getByText('1 of 2 tests failed.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('the output of the whole file is downloaded, or the reason is shown', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const download = await started;
  t.equal(download.suggestedFilename(), 'sample-output.csv');
  const saved = readFileSync(await download.path(), 'utf8');
  t.equal(saved.replaceAll('\r', ''), `name\n${'ADA\n'.repeat(3_000)}`);
  await page.getByText('The output is saved as sample-output.csv.').waitFor();
  t.strictSame(problems, []);
  await page.locator('.cm-line', { hasText: 'upper' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.insertText('- {parse_number: {columns: name}}');
  await page.getByText(/A Run would end here/).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByText(/^TEMPLATE_ROW_ERROR: /).waitFor();
});
