// The profile of a column filters the table, its values become steps, and similar values become one value.
// With all tests only: a browser.
import { test } from 'tap';
import { axeFindings, NO_BROWSER, openPage } from './browser.ts';
import { startStudio } from './studio-process.ts';

const TEMPLATE = 'format: 1\noperations:\n  - {copy: {from: city, to: town}}\noutput: {format: csv}\n';

const SAMPLE = 'city,amount\nKöln,1\nkoln,2\nBonn,3\nKöln,4\n,5\n"Bonn, ",6\nParis,7\n';

const options = { skip: NO_BROWSER };

test('a click on a value shows its rows and offers a step', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.grid .column-name', { hasText: 'city' }).click();
  const profile = page.getByRole('region', { name: 'Profile of a column' });
  await profile.getByRole('button', { name: 'Köln' }).click();
  await page.locator('.grid[aria-rowcount="3"]').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await profile.getByRole('button', { name: 'blank' }).click();
  await page.locator('.grid[aria-rowcount="2"]').waitFor();
  // A second click shows all rows again, by keys.
  await profile.getByRole('button', { name: 'blank' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.grid[aria-rowcount="8"]').waitFor();
  await profile.getByRole('button', { name: 'Paris' }).click();
  const bar = page.getByRole('group', { name: 'Rows with a value' });
  await bar.getByRole('button', { name: 'Drop them as a step…' }).click();
  await page.getByRole('form', { name: 'Add filter' }).getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: `{filter: {where: 'city == "Paris"', mode: drop}}` }).waitFor();
  await page.getByText('A Run would write 6 rows.').waitFor();
  await bar.waitFor({ state: 'detached' });
  t.strictSame(problems, []);
});

test('a click on a range shows its rows, and it becomes a step', options, async (t) => {
  const sample = `day,amount\n${Array.from({ length: 50 }, (_, index) => `2026-01-${String((index % 28) + 1).padStart(2, '0')},${index}.50`).join('\n')}\n`;
  const template =
    'format: 1\noperations:\n  - {parse_date: {columns: day, formats: [yyyy-MM-dd]}}\n  - {parse_number: {columns: amount}}\noutput: {format: csv}\n';
  const studio = await startStudio(t, { template, sample });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.grid .column-name', { hasText: 'amount' }).click();
  const profile = page.getByRole('region', { name: 'Profile of a column' });
  const ranges = profile.getByRole('table', { name: /^Ranges/ });
  const range = ranges.getByRole('button', { name: /^8\.7 to below/ });
  const count = Number(
    await ranges.getByRole('row').filter({ hasText: '8.7 to below' }).locator('td.number').innerText(),
  );
  await range.click();
  await page.locator(`.grid[aria-rowcount="${count + 1}"]`).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await page
    .getByRole('group', { name: 'Rows with a value' })
    .getByRole('button', { name: 'Keep these rows as a step…' })
    .click();
  await page.getByRole('form', { name: 'Add filter' }).getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'amount >= 8.7d && amount <' }).waitFor();
  await page.getByText(`A Run would write ${count} rows.`).waitFor();
  // The first range of dates, by keys.
  await page.locator('.grid .column-name', { hasText: 'day' }).click();
  await ranges.getByRole('button').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('.facet-bar', { hasText: 'day: below 2026-01-' }).waitFor();
  t.strictSame(problems, []);
});

test('similar values are reviewed and become a step', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.grid .column-name', { hasText: 'city' }).click();
  await page.getByRole('button', { name: 'Similar values…' }).click();
  const review = page.getByRole('region', { name: 'Similar values' });
  await review.getByRole('checkbox', { name: 'Köln (2), koln (1)' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await review.getByRole('textbox', { name: 'New value of Bonn' }).fill('Bonn am Rhein');
  await review.getByRole('button', { name: 'Make it a step…' }).click();
  const form = page.getByRole('form', { name: 'Add map_values' });
  await page.locator('.cell.changed', { hasText: 'Bonn am Rhein' }).first().waitFor();
  await form.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.cm-line', { hasText: 'map_values' }).waitFor();
  t.match(
    await page.locator('.cm-line', { hasText: 'map_values' }).innerText(),
    /\{map_values: \{columns: city, map: \{koln: Köln, Bonn: Bonn am Rhein, "Bonn, ": Bonn am Rhein\}\}\}/,
  );
  t.strictSame(problems, []);
});

const TOWNS = [
  ...Array.from({ length: 6 }, () => 'Hamburg'),
  'Hambrug',
  'HAMBURG',
  ...Array.from({ length: 4 }, () => 'Stuttgart'),
  'Stuttgat',
  'Stuttgart-Nord',
  'Paris',
  'Parma',
];

test('values with a similar spelling are reviewed by keys alone, and become one step', options, async (t) => {
  const sample = `city,amount\n${TOWNS.map((town, index) => `${town},${index}`).join('\n')}\n`;
  const studio = await startStudio(t, { template: TEMPLATE, sample });
  const { page, problems } = await openPage(t, studio.address);
  await page.locator('.grid .column-name', { hasText: 'city' }).click();
  await page.getByRole('button', { name: 'Similar values…' }).focus();
  await page.keyboard.press('Enter');
  const review = page.getByRole('region', { name: 'Similar values' });
  await review.getByText('1 group in up to 2,000 rows.').waitFor();
  await review.locator('select:focus').waitFor();
  await page.keyboard.press('ArrowDown');
  const hamburg = review.getByRole('checkbox', { name: 'Hamburg (6), Hambrug (1), HAMBURG (1)' });
  await hamburg.waitFor();
  t.equal(await hamburg.isChecked(), false, 'similar values may be different things');
  await review.getByText('2 groups in up to 2,000 rows.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  // A higher threshold leaves the longer name out.
  await page.keyboard.press('Tab');
  const threshold = review.getByRole('slider', { name: /^Minimum similarity/ });
  await review.locator('input[type=range]:focus').waitFor();
  for (let percent = 91; percent <= 95; percent++) await page.keyboard.press('ArrowRight');
  t.equal(await threshold.inputValue(), '95');
  await review.getByRole('checkbox', { name: 'Stuttgart (4), Stuttgat (1)' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await review.locator('button:focus', { hasText: 'Select all' }).waitFor();
  t.equal(await hamburg.isChecked(), true);
  await hamburg.focus();
  await page.keyboard.press('Space');
  t.equal(await hamburg.isChecked(), false);
  await review.getByRole('button', { name: 'Keep Stuttgat' }).focus();
  await page.keyboard.press('Enter');
  await review.getByRole('button', { name: 'Make it a step…' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('form', { name: 'Add map_values' }).getByRole('button', { name: 'Apply' }).click();
  const line = page.locator('.cm-line', { hasText: 'map_values' });
  await line.waitFor();
  t.match(await line.innerText(), /\{map_values: \{columns: city, map: \{Stuttgart: Stuttgat\}\}\}/);
  t.strictSame(problems, []);
});

test('similar values fit a narrow page', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  await page.setViewportSize({ width: 420, height: 800 });
  await page.locator('.grid .column-name', { hasText: 'city' }).click();
  await page.getByRole('button', { name: 'Similar values…' }).click();
  const review = page.getByRole('region', { name: 'Similar values' });
  await review.getByRole('combobox', { name: 'Method' }).selectOption('similarity');
  await review.getByRole('checkbox', { name: 'Bonn (1), Bonn,  (1)' }).waitFor();
  t.strictSame(await axeFindings(page), []);
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= 420'));
  t.strictSame(problems, []);
});

test('rows with a value are shown and dropped by keyboard alone', options, async (t) => {
  const studio = await startStudio(t, { template: TEMPLATE, sample: SAMPLE });
  const { page, problems } = await openPage(t, studio.address);
  const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent');
  /** Moves the focus as a user does, until it is on the element. */
  const tabTo = async (text: RegExp): Promise<void> => {
    for (let presses = 0; presses < 60 && !text.test(await focused()); presses++) await page.keyboard.press('Tab');
    t.match(await focused(), text);
  };
  await page.locator('.grid [role=columnheader]', { hasText: 'city' }).waitFor();
  await page.keyboard.press('F6');
  await page.keyboard.press('F6');
  await page.locator('.grid :focus').waitFor();
  await page.keyboard.press('Home');
  await page.keyboard.press('Control+ArrowUp');
  await page.keyboard.press('Enter');
  const profile = page.getByRole('region', { name: 'Profile of a column' });
  await profile.waitFor();
  await tabTo(/^Paris$/);
  await page.keyboard.press('Enter');
  await page.locator('.grid[aria-rowcount="2"]').waitFor();
  t.match(await focused(), /^Paris$/, 'the focus stays on the value');
  const bar = page.getByRole('group', { name: 'Rows with a value' });
  await bar.waitFor();
  await tabTo(/^Drop them as a step…$/);
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Add filter' });
  await form.locator(':focus').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.cm-line', { hasText: `{filter: {where: 'city == "Paris"', mode: drop}}` }).waitFor();
  await page.locator('.steps [aria-current]:focus', { hasText: 'filter' }).waitFor();
  await page.getByText('A Run would write 6 rows.').waitFor();
  t.strictSame(problems, []);
});
