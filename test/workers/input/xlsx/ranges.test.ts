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

test('names that are no range of the sheets', async (t) => {
  for (const table of ['Broken', 'Sum', 'Nothing', 'B2:A1', 'ZZZZ1:ZZZZ2'])
    t.equal(
      await readAs({ table }),
      `TEMPLATE_COLUMNS_MISSING: The workbook lacks the table or name "${table}", which the Template reads.`,
    );
  t.match(await readAs({ table: 'Second', sheet: 'One' }), /lacks the table or name "Second"/);
});
