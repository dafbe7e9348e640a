// Workbooks and ZIP archives over HTTP: which cells are read and as what, what is counted, and what is refused.
// With all tests only: files of all formats over HTTP.
import t, { type Test } from 'tap';
import { skipUnlessLong } from '../sweep.ts';
import { rowsOf, type WrittenCell, type WrittenWorkbook, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { plan, step, template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { field, file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const INPUTS: Record<string, object> = {
  plain: {},
  second: { sheet: 2 },
  named: { sheet: 'Orders' },
  folded: { sheet: 'Umsätze groß' },
  lacking: { sheet: 'Missing' },
  list: { sheet: ['Jan', 2], sheet_into: 'month' },
  every: { sheet: '*', sheet_into: 'month' },
  table: { table: 'Orders' },
  notable: { table: 'Nothing' },
  fill: { merged: 'fill' },
  skip: { hidden: 'skip' },
  fillskip: { merged: 'fill', hidden: 'skip' },
  tableskip: { table: 'Orders', hidden: 'skip' },
  fourth: { csv: { header_row: 3 } },
  headless: { csv: { header_row: 'none' } },
  nulls: { null_values: ['', 'n/a', '0'] },
  strict: { csv: { ragged: 'fail' } },
};
const templates: Record<string, object> = {};
for (const [name, input] of Object.entries(INPUTS)) templates[name] = template([], { input });
templates['found'] = template([], { input: { columns: [{ name: 'id' }, { name: 'amount' }], other_columns: 'drop' } });
templates['optional'] = template([], { input: { sheet_into: 'month' } });
templates['parsed'] = template([
  step('parse_number', { columns: 'amount', decimal: ',', grouping: '.' }),
  step('parse_date', { columns: 'on', formats: ['dd.MM.yyyy'] }),
]);
templates['bad'] = template([step('parse_number', { columns: 'amount', decimal: ',' })]);
const service = await startService(t, {
  plans: { small: plan({ rows_max: 3 }) },
  accounts: { acme: { templates }, small: { plan: 'small', templates } },
});
const acme = service.client();

const HEADER: readonly WrittenCell[] = ['id', 'amount'];

async function upload(name: string, bytes: Buffer, ...fields: (readonly [string, string])[]): Promise<Answer> {
  return await acme.upload(name, [...fields.map(([key, value]) => field(key, value)), file(bytes)]);
}

async function output(t: Test, answer: Answer): Promise<string> {
  expectRun(t, answer, 201, 'succeeded');
  return (await acme.get(`/api/v1/runs/${answer.run.id}/output`)).text;
}

async function expectRows(t: Test, name: string, given: WrittenWorkbook, expected: string): Promise<Answer> {
  const answer = await upload(name, workbookOf(given));
  t.equal(await output(t, answer), expected);
  return answer;
}

t.test('cells have their canonical texts', async (t) => {
  const formats = [14, 22, 20, '0%', '[h]:mm'];
  const styled = (style: number, value: number): WrittenCell => ({ xml: ` s="${style}"><v>${value}</v></c>` });
  const cells = [
    '007',
    1234.0999999999999,
    true,
    styled(1, 45_000),
    styled(2, 45_000.5),
    styled(3, 0.5),
    styled(4, 0.19),
    styled(5, 1.25),
  ];
  const rows = rowsOf([['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], cells]);
  const answer = await expectRows(
    t,
    'plain',
    { rows, formats },
    'a,b,c,d,e,f,g,h\n007,1234.1,true,2023-03-15,2023-03-15T12:00:00,12:00:00,0.19,1.25\n',
  );
  const report = answer.json['report'] as { input: Record<string, unknown> };
  t.match(report.input, { type: 'xlsx', delimiter: null, header_row: 0, errors: {} });
});

t.test('what is parsed is taken as it is, a text by the rules that the Template names', async (t) => {
  const rows = rowsOf([
    ['amount', 'on'],
    [1234.5, { xml: ' s="1"><v>45000</v></c>' }],
    ['1.234,5', '15.03.2023'],
  ]);
  await expectRows(t, 'parsed', { rows, formats: [14] }, 'amount,on\n1234.5,2023-03-15\n1234.5,2023-03-15\n');
});

t.test('the header row is found below titles, and blank rows are skipped', async (t) => {
  const given = { rows: rowsOf([['Report'], [], ['', null, null], HEADER, ['1', 2], [], ['3', 4]], 2) };
  await expectRows(t, 'found', given, 'id,amount\n1,2\n3,4\n');
  const answer = await expectRows(t, 'plain', given, 'id,amount\n1,2\n3,4\n');
  t.match(answer.json['report'], { rows_read: 2, input: { header_row: 4 } });
});

t.test('group titles above the names of columns are joined with them', async (t) => {
  const rows = rowsOf([
    ['', 'Amount', '', 'Tax'],
    ['id', 'net', 'gross', 'rate'],
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
  const csv = ',Amount,,Tax\nid,net,gross,rate\n1,2,3,4\n5,6,7,8\n';
  await expectRows(t, 'plain', { rows }, await output(t, await upload('plain', Buffer.from(csv))));
});

t.test('a header of several rows gives joined names', async (t) => {
  const rows = rowsOf([
    ['Sales'],
    [],
    ['', 2025, null, 2026],
    ['town', 'net', 'gross', 'net', 'gross'],
    ['Rome', 1, 2, 3, 4],
  ]);
  const output = 'town,2025 net,2025 gross,2026 net,2026 gross\nRome,1,2,3,4\n';
  const answer = await expectRows(t, 'plain', { rows }, output);
  t.match(answer.json['report'], { rows_read: 1, input: { header_row: 3, header_lines: 2 } });
  const merges = '<mergeCells count="2"><mergeCell ref="B3:C3"/><mergeCell ref="D3:E3"/></mergeCells>';
  await expectRows(t, 'fill', { rows, after: merges }, output);
});

t.test('header_row of the request, then of the Template, counts rows of the sheet from 0', async (t) => {
  const rows = rowsOf([['x'], [], ['p', 'q'], HEADER, ['1', 2]]);
  await expectRows(t, 'fourth', { rows }, 'id,amount\n1,2\n');
  t.equal(await output(t, await upload('fourth', workbookOf({ rows }), ['header_row', '2'])), 'p,q\nid,amount\n1,2\n');
  await expectRows(t, 'headless', { rows: rowsOf([['1', 2], ['3']]) }, 'column_1,column_2\n1,2\n3,\n');
  expectError(t, await upload('plain', workbookOf({ rows }), ['header_row', '1']), 400, 'MALFORMED_FILE');
  expectError(t, await upload('plain', workbookOf({ rows }), ['header_row', '9']), 400, 'MALFORMED_FILE');
  expectError(t, await upload('plain', workbookOf({ rows }), ['header_row', '-1']), 422, 'INVALID_PARSE_PARAMS');
});

t.test('errors and formulas without a value are null, and counted with their rows', async (t) => {
  const rows = rowsOf([
    ['a', 'b'],
    [1, { xml: ' t="e"><v>#N/A</v></c>' }],
    [{ xml: '><f>B9</f></c>' }, { xml: '><f>1+1</f><v>2</v></c>' }],
    [{ xml: ' t="e"><f>1/0</f><v>#DIV/0!</v></c>' }, null],
  ]);
  const answer = await expectRows(t, 'plain', { rows }, 'a,b\n1,\n,2\n,\n');
  t.strictSame((answer.json['report'] as { input: { errors: object } }).input.errors, {
    XLSX_ERROR: { count: 2, rows: [1, 3] },
    NO_CACHED_VALUE: { count: 1, rows: [2] },
  });
});

t.test('null_values, and cells beyond the header', async (t) => {
  await expectRows(t, 'nulls', { rows: rowsOf([HEADER, ['n/a', 0], ['0', 'x']]) }, 'id,amount\n,\n,x\n');
  const far = rowsOf([HEADER, ...Array.from({ length: 600 }, (): WrittenCell[] => ['1', 2]), ['3', 4, 5]]);
  const answer = await upload('plain', workbookOf({ rows: far }));
  expectRun(t, answer, 201, 'succeeded');
  t.match(answer.json['report'], { input: { errors: { RAGGED_ROW: { count: 1, rows: [601] } } } });
  const refused = await upload('strict', workbookOf({ rows: far }));
  expectError(t, refused, 400, 'MALFORMED_FILE');
  t.match(refused.json['message'], /Sheet 1, at row 602, column C/);
});

t.test('sheets: the first visible one with cells, one by number or name, several, and what is missing', async (t) => {
  const sheet = (name: string, id: number, state?: string) => ({
    name,
    rows: rowsOf([HEADER, [id, 1]]),
    ...(state === undefined ? {} : { state }),
  });
  const given = {
    name: 'CanaryHidden',
    state: 'hidden',
    rows: rowsOf([HEADER, [0, 0]]),
    moreSheets: [{ name: 'Empty', rows: '' }, sheet('Jan', 1), sheet('ORDERS', 2), sheet('Secret', 3, 'veryHidden')],
  };
  await expectRows(t, 'plain', given, 'id,amount\n1,1\n');
  await expectRows(t, 'named', given, 'id,amount\n2,1\n');
  await expectRows(t, 'every', given, 'id,amount,month\n1,1,Jan\n2,1,ORDERS\n');
  const folded = { rows: rowsOf([HEADER, [0, 0]]), moreSheets: [sheet('UMSÄTZE GROSS', 4)] };
  await expectRows(t, 'folded', folded, 'id,amount\n4,1\n');
  const second = { rows: rowsOf([HEADER, [0, 0]]), moreSheets: [sheet('Jan', 1), sheet('Feb', 2)] };
  await expectRows(t, 'second', second, 'id,amount\n1,1\n');
  await expectRows(
    t,
    'list',
    { ...second, name: 'Jan', moreSheets: [sheet('Feb', 2)] },
    'id,amount,month\n0,0,Jan\n2,1,Feb\n',
  );
  t.equal(await output(t, await upload('optional', Buffer.from('a\n1\n'))), 'a,month\n1,\n');
  const lacking = await upload('lacking', workbookOf(second));
  expectError(t, lacking, 422, 'TEMPLATE_COLUMNS_MISSING');
  t.match(lacking.json['message'], /"Missing"/);
  expectError(t, await upload('second', workbookOf({ rows: rowsOf([HEADER]) })), 422, 'TEMPLATE_COLUMNS_MISSING');
  const other = {
    rows: rowsOf([HEADER, [0, 0]]),
    moreSheets: [
      {
        name: 'Other',
        rows: rowsOf([
          ['id', 'Canary'],
          [1, 2],
        ]),
      },
    ],
  };
  expectError(t, await upload('every', workbookOf(other)), 422, 'TEMPLATE_COLUMNS_MISSING');
  expectError(t, await upload('plain', workbookOf({ rows: '' })), 400, 'MALFORMED_FILE');
});

t.test('a table’s own cells, without its totals', async (t) => {
  const rows = rowsOf([
    ['title', 'b', 'c'],
    ['x', 'id', 'amount'],
    ['x', 1, 2],
    ['x', 3, 4],
    ['x', 'sum', 6],
    ['x', 'y', 'z'],
  ]);
  const others = [
    {
      name: 'xl/worksheets/_rels/sheet1.xml.rels',
      content: '<Relationships><Relationship Id="t" Type="u/table" Target="../tables/t.xml"/></Relationships>',
    },
    { name: 'xl/tables/t.xml', content: '<table displayName="orders" ref="B2:C5" totalsRowCount="1"/>' },
  ];
  await expectRows(t, 'table', { rows, others }, 'id,amount\n1,2\n3,4\n');
  expectError(t, await upload('notable', workbookOf({ rows, others })), 422, 'TEMPLATE_COLUMNS_MISSING');
});

t.test('merged cells have their value in the first one, or in all', async (t) => {
  const given = {
    rows: rowsOf([HEADER, ['g', 1], [null, 2], ['h', 'w'], ['k', 5]]),
    after:
      '<mergeCells count="3"><mergeCell ref="A2:A3"/><mergeCell ref="A4:B4"/><mergeCell ref="A5:A5000000"/></mergeCells>',
  };
  await expectRows(t, 'plain', given, 'id,amount\ng,1\n,2\nh,w\nk,5\n');
  await expectRows(t, 'fill', given, 'id,amount\ng,1\ng,2\nh,h\nk,5\n');
});

t.test('hidden rows and columns are read like others, or left out', async (t) => {
  const given = {
    before: '<cols><col min="2" max="2" hidden="1"/></cols>',
    rows: `${rowsOf([
      ['id', 'x', 'amount'],
      [1, 2, 3],
    ])}<row r="3" hidden="1"><c><v>9</v></c></row>${rowsOf([[4, 5, 6]], 4)}`,
  };
  await expectRows(t, 'plain', given, 'id,x,amount\n1,2,3\n9,,\n4,5,6\n');
  await expectRows(t, 'skip', given, 'id,amount\n1,3\n4,6\n');
});

t.test('a merged range whose first cell is hidden keeps its value in the cells that are not', async (t) => {
  const byRow = {
    rows:
      `${rowsOf([HEADER])}<row r="2" hidden="1"><c r="A2"><v>7</v></c><c r="B2"><v>1</v></c></row>` +
      `${rowsOf(
        [
          [null, 2],
          [null, 3],
          [8, 4],
        ],
        3,
      )}`,
    after: '<mergeCells><mergeCell ref="A2:A4"/></mergeCells>',
  };
  await expectRows(t, 'fillskip', byRow, 'id,amount\n7,2\n7,3\n8,4\n');
  const byColumn = {
    before: '<cols><col min="1" max="1" hidden="1"/></cols>',
    rows: rowsOf([
      ['no', 'id', 'amount'],
      ['g', null, 2],
      ['x', 3, 4],
    ]),
    after: '<mergeCells><mergeCell ref="A2:B2"/></mergeCells>',
  };
  await expectRows(t, 'fillskip', byColumn, 'id,amount\ng,2\n3,4\n');
});

t.test('a hidden column of a table is no column', async (t) => {
  const others = [
    {
      name: 'xl/worksheets/_rels/sheet1.xml.rels',
      content: '<Relationships><Relationship Id="t" Type="u/table" Target="../tables/t.xml"/></Relationships>',
    },
    { name: 'xl/tables/t.xml', content: '<table displayName="orders" ref="B2:D4"/>' },
  ];
  for (const [hidden, expected] of [
    [2, 'x,amount\n2,3\n5,6\n'],
    [3, 'id,amount\n1,3\n4,6\n'],
    [4, 'id,x\n1,2\n4,5\n'],
  ] as const) {
    const before = `<cols><col min="${hidden}" max="${hidden}" hidden="1"/></cols>`;
    const rows = rowsOf([[null], [null, 'id', 'x', 'amount'], [null, 1, 2, 3], [null, 4, 5, 6]]);
    await expectRows(t, 'tableskip', { before, rows, others }, expected);
  }
});

t.test('a note beside the header is no column in which sheets differ, a column with cells is', async (t) => {
  const sheets = (second: readonly (readonly WrittenCell[])[]) => ({
    name: 'Jan',
    rows: rowsOf([HEADER, [1, 2]]),
    moreSheets: [{ name: 'Feb', rows: rowsOf(second) }],
  });
  const noted = sheets([
    [...HEADER, null, 'Status: final'],
    [3, 4],
  ]);
  await expectRows(t, 'every', noted, 'id,amount,month\n1,2,Jan\n3,4,Feb\n');
  const wider = sheets([
    [...HEADER, null, 'extra'],
    [3, 4, null, 5],
  ]);
  expectError(t, await upload('every', workbookOf(wider)), 422, 'TEMPLATE_COLUMNS_MISSING');
  const beside = sheets([
    [...HEADER, 'extra'],
    [3, 4],
  ]);
  expectError(t, await upload('every', workbookOf(beside)), 422, 'TEMPLATE_COLUMNS_MISSING');
});

t.test('row errors name rows, never cells; rows over the ceiling are 413', async (t) => {
  const bytes = workbookOf({ rows: rowsOf([HEADER, [1, 2], [2, 'CanaryCell']]) });
  const answer = await upload('bad', bytes);
  expectRun(t, answer, 201, 'failed');
  t.match(answer.run.error, { code: 'TEMPLATE_ROW_ERROR', message: /row 2/ });
  const rows = (count: number): Buffer =>
    workbookOf({ rows: rowsOf([HEADER, ...Array.from({ length: count }, (_, id): WrittenCell[] => [id, 1])]) });
  expectRun(t, await service.client('small').upload('plain', [file(rows(3))]), 201, 'succeeded');
  expectError(t, await service.client('small').upload('plain', [file(rows(4))]), 413, 'ROW_LIMIT_EXCEEDED');
});

t.test(
  'a large workbook goes through the spool, whatever the borders of its pieces',
  { skip: skipUnlessLong },
  async (t) => {
    const count = 60_000;
    const text = (row: number): string => `CanaryCell ${row} ${'ü'.repeat(row % 50)} ${Math.sin(row)}`;
    const long = (row: number): string => `${row}${'long '.repeat(row % 20_000 === 0 ? 300_000 : 0)}`;
    const rows: string[] = ['<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>'];
    const strings = ['id', 'amount', 'text'].map((name) => `<si><t>${name}</t></si>`);
    let expected = 'id,amount,text\n';
    for (let row = 0; row < count; row++) {
      rows.push(
        `<row><c t="s"><v>${row + 3}</v></c><c><v>${row}</v></c><c t="inlineStr"><is><t>${long(row)}</t></is></c></row>`,
      );
      strings.push(`<si><t>${text(row)}</t></si>`);
      expected += `${text(row)},${row},${long(row)}\n`;
    }
    for (const isStored of [true, false]) {
      const bytes = workbookOf({ strings: strings.join(''), rows: rows.join(''), entry: { isStored } });
      t.ok((await output(t, await upload('plain', bytes))) === expected, 'every cell is there');
    }
  },
);

t.test('what is broken is 400 with the place, and nothing of the file', async (t) => {
  const sound = workbookOf({ rows: rowsOf([HEADER, ['CanaryCell', 2]]) });
  for (const length of [30, 200, Math.floor(sound.length / 2), sound.length - 1]) {
    expectError(t, await upload('plain', sound.subarray(0, length)), 400, 'MALFORMED_FILE');
  }
  const broken = workbookOf({
    rows: `${rowsOf([HEADER, ['CanaryCell', 2]])}<row r="3"><c r="C3" t="s"><v>7</v></c></row>`,
  });
  const answer = await upload('plain', broken);
  expectError(t, answer, 400, 'MALFORMED_FILE');
  t.match(answer.json['message'], /Sheet 1, at row 3, column C/);
});

t.test('nothing of them is logged', (t) => checkLogs(t, service));
