// Errors in rows of a workbook: the report and the message tell where a spreadsheet program shows the cell.
// With all tests only: files of all formats over HTTP.
import t from 'tap';
import { rowsOf, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { step, template } from './catalog-folder.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const parse = (on_error: string): object => step('parse_number', { columns: 'amount', decimal: '.', on_error });
const templates = {
  counted: template([parse('blank')], { input: { sheet: '*' } }),
  sorted: template([step('sort', { by: [{ column: 'id', order: 'desc' }] }), parse('blank')], {
    input: { sheet: '*' },
  }),
  ended: template([parse('fail')], { input: { sheet: 2 } }),
  skipping: template([parse('blank')], { input: { hidden: 'skip' } }),
};
const service = await startService(t, { accounts: { acme: { templates } } });
const acme = service.client();

const HEADER = ['id', 'amount'];
const jan = rowsOf([['Report'], [], HEADER, [1, 2], [], [2, 'CanaryCell'], [], [], [3, 4]], 2);
/** A comment makes the row another reader's. */
const odd = '<row r="12"><!-- x --><c r="A12"><v>4</v></c><c r="B12" t="e"><v>#N/A</v></c></row>';
const feb = rowsOf([HEADER, [5, 6], [6, 'CanaryCell']]);
const workbook = workbookOf({ rows: `${jan}${odd}`, moreSheets: [{ name: 'Feb', rows: feb }] });

const JAN = { row: 2, sheet: 1, sheet_row: 7 };
const ERROR = { row: 4, sheet: 1, sheet_row: 12 };
const FEB = { row: 6, sheet: 2, sheet_row: 3 };

t.test('the report tells the sheet and its row, also after a sort', async (t) => {
  for (const name of ['counted', 'sorted']) {
    const { json } = await acme.upload(name, [file(workbook)]);
    t.match(json['report'], { input: { errors: { XLSX_ERROR: { rows: [4] } } } }, name);
    t.strictSame((json['report'] as { input: { places: unknown } }).input.places, [JAN, ERROR, FEB], name);
  }
});

t.test('rows that are hidden are counted as the program counts them', async (t) => {
  const hidden = '<row r="2" hidden="1"><c r="A2"><v>1</v></c></row>';
  const rows = `${rowsOf([HEADER])}${hidden}${rowsOf(
    [
      [3, 4],
      [5, 'CanaryCell'],
    ],
    3,
  )}`;
  const { json } = await acme.upload('skipping', [file(workbookOf({ rows }))]);
  t.match(json['report'], { input: { places: [{ row: 2, sheet: 1, sheet_row: 4 }] } });
});

t.test('the row that ends a Run', async (t) => {
  const { json } = await acme.upload('ended', [file(workbook)]);
  t.match(json, {
    error: { code: 'TEMPLATE_ROW_ERROR', message: /NOT_A_NUMBER in row 2 of the data\. \(Sheet 2, row 3\.\)$/ },
  });
  t.match(json['report'], { input: { places: [{ row: 2, sheet: 2, sheet_row: 3 }] } });
});

t.test('a file without errors, and one that is no workbook, have none', async (t) => {
  const sound = await acme.upload('counted', [file(workbookOf({ rows: rowsOf([HEADER, [1, 2]]) }))]);
  t.notOk('places' in (sound.json['report'] as { input: object }).input);
  const csv = await acme.upload('counted', [file('id,amount\n1,x\n')]);
  t.match(csv.json['report'], { operations: [{ errors: { NOT_A_NUMBER: { rows: [1] } } }] });
  t.notOk('places' in (csv.json['report'] as { input: object }).input);
});

t.test('nothing of them is logged', (t) => checkLogs(t, service));
