// Ranges of cells, by a defined name or by their addresses.
import { test } from 'tap';
import { applyTemplate } from '../../apply-template.ts';
import { workbookOf } from './workbook-writer.ts';

function rowsOf(...rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]): string =>
    row.map((text) => (text === '' ? '<c/>' : `<c t="inlineStr"><is><t>${text}</t></is></c>`)).join('');
  return rows.map((row) => `<row>${cells(row)}</row>`).join('');
}

const NAMES = [
  `<definedName name="Codes">One!$D$2:$E$4</definedName>`,
  `<definedName name="Second">'It''s &amp; two'!$A$1:$B$2</definedName>`,
  `<definedName name="Broken">#REF!</definedName>`,
  `<definedName name="Sum">SUM(One!$A$1:$B$2)</definedName>`,
];

const BOOK = workbookOf({
  workbookProperties: `<definedNames>${NAMES.join('')}</definedNames>`,
  rows: rowsOf(
    ['Report', '', '', '', ''],
    ['id', 'n', '', 'code', 'text'],
    ['1', '10', '', 'a', 'x'],
    ['2', '20', '', 'b', 'y'],
    ['total', '30', '', '', ''],
  ),
  moreSheets: [{ name: "It's &amp; two", rows: rowsOf(['k', 'v'], ['p', 'q'], ['r', 's']) }],
});

async function readAs(input: object, book = BOOK, format = 'csv'): Promise<string | undefined> {
  const { text, outcome } = await applyTemplate({ input, output: { format } }, book);
  return text ?? `${outcome.failure?.code}: ${outcome.failure?.message}`;
}

test('a defined name', async (t) => {
  t.equal(await readAs({ table: 'codes' }), 'code,text\na,x\nb,y\n', 'regardless of case');
  t.equal(await readAs({ table: 'Second' }), 'k,v\np,q\n', 'on another sheet');
  t.equal(
    await readAs({ table: 'Codes', sheet: 'One' }, BOOK, 'ndjson'),
    '{"code":"a","text":"x"}\n{"code":"b","text":"y"}\n',
  );
});

test('a range of cells', async (t) => {
  t.equal(await readAs({ table: 'a2:$B$4' }), 'id,n\n1,10\n2,20\n');
  t.equal(await readAs({ table: 'A2:B3', sheet: 2 }), 'p,q\nr,s\n');
  t.equal(await readAs({ table: 'D2:E900' }), 'code,text\na,x\nb,y\n', 'rows after the last one do not exist');
});

test('a first cell, a range without a last row, and a range of a named sheet', async (t) => {
  t.equal(await readAs({ table: 'D2' }), 'code,text\na,x\nb,y\n');
  t.equal(await readAs({ table: 'A2:b' }), 'id,n\n1,10\n2,20\ntotal,30\n');
  t.equal(await readAs({ table: "'it''s & two'!$A$2:$B$3" }), 'p,q\nr,s\n');
  t.equal(await readAs({ table: "'It''s & two'!B1" }), 'v\nq\ns\n');
  t.equal(await readAs({ table: 'one!A4:A4' }), '2\n', 'a range of one row is a header without rows');
  t.match(await readAs({ table: 'Four!A1' }), /^TEMPLATE_COLUMNS_MISSING: The workbook lacks the sheet "Four"/);
  for (const table of ['B2:A', 'B0', 'XFE1'])
    t.match(await readAs({ table }), /^TEMPLATE_COLUMNS_MISSING: The workbook lacks the table or name/, table);
});

test('names that are no range of the sheets', async (t) => {
  for (const table of ['Nothing', 'B2:A1', 'ZZZZ1:ZZZZ2'])
    t.equal(
      await readAs({ table }),
      `TEMPLATE_COLUMNS_MISSING: The workbook lacks the table or name "${table}", which the Template reads.`,
    );
  t.match(await readAs({ table: 'Second', sheet: 'One' }), /lacks the table or name "Second"/);
});

test('names that are not one range of cells', async (t) => {
  const formulas = [
    'One!$A:$B',
    '$2:$4',
    'OFFSET(One!$A$1,0,0,2,2)',
    'One!$A$1:$B$2,One!$D$1:$E$2',
    '#REF!',
    'SUM(One!$A$1)',
  ];
  const names = formulas.map((formula, index) => `<definedName name="N${'x'.repeat(index)}">${formula}</definedName>`);
  const book = workbookOf({
    workbookProperties: `<definedNames>${names.join('')}</definedNames>`,
    rows: rowsOf(['id', 'n'], ['1', '10']),
  });
  for (const index of formulas.keys()) {
    const table = `N${'x'.repeat(index)}`;
    const message = `The name "${table}" of the workbook is not one range of cells, such as Sheet1!$A$1:$C$9.`;
    t.equal(await readAs({ table }, book), `TEMPLATE_COLUMNS_MISSING: ${message}`);
  }
});

/** Each of the three sheets has the rows `id` and its number. Sheet numbers of definitions are from 0. */
function bookWith(...definitions: readonly (readonly [sheet: number | null, formula: string])[]): Buffer {
  const names = definitions.map(([sheet, formula]) => {
    const scope = sheet === null ? '' : ` localSheetId="${sheet}"`;
    return `<definedName name="Data"${scope}>${formula}</definedName>`;
  });
  return workbookOf({
    workbookProperties: `<definedNames>${names.join('')}</definedNames>`,
    rows: rowsOf(['id'], ['1']),
    moreSheets: ['Two', 'Three'].map((name, index) => ({ name, rows: rowsOf(['id'], [String(index + 2)]) })),
  });
}

test('names of a sheet', async (t) => {
  const [one, two, three] = ['One!$A$1:$A$2', 'Two!$A$1:$A$2', 'Three!$A$1:$A$2'];
  const book = bookWith([0, one], [1, two], [null, three]);
  t.equal(await readAs({ table: 'Data' }, book), 'id\n3\n', 'the name of the workbook comes before those of sheets');
  t.equal(await readAs({ table: 'data', sheet: 'Two' }, book), 'id\n2\n', 'after that of the sheet that is read');
  t.equal(await readAs({ table: 'Data', sheet: [2, 1] }, book), 'id\n2\n', 'or of the first of these sheets');
  t.equal(await readAs({ table: 'Data', sheet: 3 }, book), 'id\n3\n', 'a sheet without such a name');
  t.equal(await readAs({ table: 'Data' }, bookWith([1, two])), 'id\n2\n', 'the only definition');
  const several = bookWith([0, one], [1, two]);
  t.match(await readAs({ table: 'Data' }, several), /Several sheets define the name "Data"\. Choose one of them with/);
  t.equal(await readAs({ table: 'Data', sheet: 1 }, several), 'id\n1\n');
  t.match(await readAs({ table: 'Data' }, bookWith([0, one], [null, 'Two!$A:$A'])), /is not one range of cells/);
});
