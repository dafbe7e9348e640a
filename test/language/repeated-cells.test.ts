// Workbooks in which a row has the same cell twice, or two rows have the same number: no cell is lost without being counted.
import { workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { golden } from './golden.ts';

const PASS = 'operations: []';

/** Cells of a row, each as `A1=7`: a number, an error such as `#N/A`, or another text. `A1=` is a cell without a value. */
function row(number: number, cells: string): string {
  const written = cells.split(' ').map((cell) => {
    const [reference, value] = cell.split('=') as [string, string];
    if (value === '') return `<c r="${reference}"/>`;
    if (value.startsWith('#')) return `<c r="${reference}" t="e"><v>${value}</v></c>`;
    if (/^\d+$/.test(value)) return `<c r="${reference}"><v>${value}</v></c>`;
    return `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
  });
  return `<row r="${number}">${written.join('')}</row>`;
}

const HEADER = row(1, 'A1=id B1=name');

golden('cells that a row has twice', [
  {
    name: 'filled cells before the last one are counted',
    template: PASS,
    input: workbookOf({
      rows: HEADER + row(2, 'A2=1 B2=x') + row(3, 'A3=2 A3=3 B3=y') + row(4, 'A4=4 B4=a B4=b A4=5 B4=c'),
    }),
    output: 'id,name\n1,x\n3,y\n5,c\n',
    errors: ['input: DUPLICATE_KEY 4 2 3'],
  },
  {
    name: 'cells in another order are not lost',
    template: PASS,
    input: workbookOf({ rows: HEADER + row(2, 'B2=x A2=1') + row(3, 'B3=y A3=2 B3=z') }),
    output: 'id,name\n1,x\n2,z\n',
    errors: ['input: DUPLICATE_KEY 1 2'],
  },
  {
    name: 'an empty cell replaces nothing, and an error does',
    template: PASS,
    input: workbookOf({ rows: HEADER + row(2, 'A2=1 A2= B2=x') + row(3, 'A3= A3=2 B3=y B3=#N/A') }),
    output: 'id,name\n1,x\n2,\n',
    errors: ['input: XLSX_ERROR 1 2', 'input: DUPLICATE_KEY 1 2'],
  },
  {
    name: 'in a merged range that is filled',
    template: `input: {merged: fill}\n${PASS}`,
    input: workbookOf({
      rows: HEADER + row(2, 'A2=1 A2=2 B2=x') + row(3, 'B3=y'),
      after: '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>',
    }),
    output: 'id,name\n2,x\n2,y\n',
    errors: ['input: DUPLICATE_KEY 1 1'],
  },
  {
    name: 'in the header row',
    template: PASS,
    input: workbookOf({ rows: row(1, 'A1=id A1=no B1=name') + row(2, 'A2=1 B2=x') + row(3, 'A3=2 B3=y') }),
    error: 'MALFORMED_FILE: The header row of sheet 1 has the same cell twice.',
  },
]);

const TABLE = [
  {
    name: 'xl/worksheets/_rels/sheet1.xml.rels',
    content: '<Relationships><Relationship Id="t" Type="u/table" Target="../tables/t.xml"/></Relationships>',
  },
  { name: 'xl/tables/t.xml', content: '<table displayName="orders" ref="A1:B3"/>' },
];
const SAME_NUMBER = HEADER + row(2, 'A2=1 B2=x') + row(2, 'A2=2 B2=y') + row(3, 'A3=3 B3=z');

golden('rows whose numbers do not ascend', [
  {
    name: 'each is the next row',
    template: PASS,
    input: workbookOf({ rows: SAME_NUMBER + row(1, 'A1=4 B1=w') }),
    output: 'id,name\n1,x\n2,y\n3,z\n4,w\n',
    errors: [],
  },
  {
    name: 'in a table, its last rows would be lost',
    template: `input: {table: orders}\n${PASS}`,
    input: workbookOf({ rows: SAME_NUMBER, others: TABLE }),
    error:
      'MALFORMED_FILE: The workbook is damaged: the row numbers of a sheet with a table do not ascend. (Sheet 1, at row 2, column A or after it.)',
  },
]);
