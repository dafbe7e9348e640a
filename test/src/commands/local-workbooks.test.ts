// Output of `inspect` and `run` for local workbooks: sheets with sizes and kinds, the chosen sheet and the reason, wrong cells.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { flatFile } from '../../workers/input/parquet/sample-files.ts';
import { rowsOf, type WrittenCell, workbookOf } from '../../workers/input/xlsx/workbook-writer.ts';
import { cli } from './command-line.ts';

const folder = t.testdir();
const at = (name: string) => join(folder, name);

const data = (rows: number): WrittenCell[][] => Array.from({ length: rows }, (_, row) => [row, `text ${row}`, true]);

async function inspect(...args: string[]): Promise<{ status: number; lines: Record<string, unknown>[] }> {
  const { status, stdout } = await cli('inspect', ...args);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { status, lines };
}

writeFileSync(
  at('cover.xlsx'),
  workbookOf({
    name: 'Cover',
    rows: rowsOf([[null, 'Report'], [], [null, 'of the year']], 2),
    moreSheets: [
      { name: 'Data', rows: rowsOf([['Titles above'], [], ['id', 'note', 'is paid'], ...data(200)], 3) },
      { name: 'Old', rows: rowsOf([['a'], [{ xml: ' t="e"><v>#N/A</v></c>' }]]), state: 'hidden' },
      { name: 'Empty', rows: '' },
      { name: 'Broken', rows: '<row r="1"><c r="A1"><v>1</x></c></row>', state: 'veryHidden' },
    ],
  }),
);

t.test('all sheets with their sizes and kinds, also those that are not read', async (t) => {
  const { status, lines } = await inspect('--explain', at('cover.xlsx'));
  t.equal(status, 0);
  t.match(lines[0], {
    header_row: 1,
    sheets: [
      { number: 1, name: 'Cover', visibility: 'visible', read: true, rows: 4, columns: 2, kinds: [{}, { text: 2 }] },
      {
        number: 2,
        name: 'Data',
        visibility: 'visible',
        read: false,
        rows: 205,
        columns: 3,
        kinds: [{ text: 2, number: 200 }, { text: 201 }, { text: 1, boolean: 200 }],
      },
      { name: 'Old', visibility: 'hidden', rows: 2, columns: 1, kinds: [{ text: 1 }] },
      { name: 'Empty', visibility: 'visible', rows: 0, columns: 0, kinds: [] },
      { name: 'Broken', visibility: 'very_hidden', error: 'MALFORMED_FILE', message: /Sheet 5, at row 1, column A/ },
    ],
    explanation: {
      sheet: { confidence: 0, runner_up: 2, reason: /first visible sheet with cells, 2.*sheet 2 has 604/ },
    },
  });
});

t.test('--sheet selects a sheet by number or name, and its header row is counted as in the sheet', async (t) => {
  for (const sheet of ['2', 'Data', 'data']) {
    const { lines } = await inspect('--explain', '--sheet', sheet, at('cover.xlsx'));
    t.match(lines[0], {
      header_row: 4,
      rows: 200,
      columns: { names: ['id', 'note', 'is paid'], kinds: [{ number: 200 }, { text: 200 }, { boolean: 200 }] },
      sheets: [{ read: false }, { read: true }],
      explanation: {
        sheet: { confidence: 1, runner_up: null, reason: /declared/ },
        header_row: { confidence: 0.9, runner_up: 2, reason: /^1 of the 1 columns.*above the table/ },
      },
    });
  }
  const missing = await inspect('--sheet', '9', at('cover.xlsx'));
  t.equal(missing.status, 1);
  t.match(missing.lines[0], { error: 'TEMPLATE_COLUMNS_MISSING', message: /sheet number 9/ });
});

t.test('many files of several types in one call, each with its explanation', async (t) => {
  writeFileSync(at('a.csv'), 'a;b\n1;2\n');
  writeFileSync(at('a.json'), '[{"a":1}]');
  writeFileSync(at('a.parquet'), flatFile());
  writeFileSync(at('a.xlsx'), workbookOf({ rows: rowsOf([['a', 'b'], ...data(3)]) }));
  const names = ['a.csv', 'a.json', 'cover.xlsx', 'a.parquet', 'a.xlsx'];
  const { lines } = await inspect('--explain', ...names.map(at));
  t.strictSame(
    lines.map(({ explanation }) => Object.keys(explanation as object)),
    [
      ['delimiter', 'header_row'],
      ['records', 'header_row'],
      ['sheet', 'header_row'],
      ['header_row'],
      ['sheet', 'header_row'],
    ],
  );
  t.match(lines[3], { type: 'parquet', explanation: { header_row: { confidence: 1, reason: /schema/ } } });
  t.match(lines[4], { explanation: { sheet: { confidence: 1, runner_up: null } } });
  t.notOk('sheets' in lines[0]!);
});

t.test('run names the rows of a sheet in which cells were wrong', async (t) => {
  writeFileSync(
    at('parse.yaml'),
    'input: {sheet: "*"}\noperations:\n  - {parse_number: {columns: n, decimal: ".", on_error: blank}}\n',
  );
  const rows = rowsOf([['Title'], [], ['id', 'n'], [1, 'x'], [2, 3], [3, 'y']]);
  writeFileSync(at('wrong.xlsx'), workbookOf({ rows, moreSheets: [{ name: 'Two', rows }] }));
  const { status, stderr } = await cli('run', at('parse.yaml'), at('wrong.xlsx'), '-o', at('wrong.csv'));
  t.equal(status, 0);
  t.match(stderr, /1 parse_number: NOT_A_NUMBER 4 times, first in sheet 1 rows 4 6, sheet 2 rows 4 6$/m);
});

t.test('a sheet that does not exist: the message names the sheets of the workbook', async (t) => {
  for (const setting of ['sheet: Nope', 'table: "Nope!B5"', 'table: Nope']) {
    writeFileSync(at('nope.yaml'), `input: {${setting}}\noperations: []\n`);
    const { status, stderr } = await cli('run', at('nope.yaml'), at('cover.xlsx'));
    t.equal(status, 1);
    t.match(
      stderr,
      /lacks the .*"Nope.*", which the Template reads\. Its sheets: "Cover", "Data", "Old", "Empty", "Broken"\./,
    );
  }
});
