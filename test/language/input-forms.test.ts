// Declared forms of input files: lines, headers of several lines, and comment lines.
import { workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { golden } from './golden.ts';

const none = 'operations: []';

/** A sheet of texts. An empty row is left out of the sheet. */
function sheetOf(rows: readonly (readonly string[])[]): Buffer {
  const cells = (row: readonly string[]) => row.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('');
  const written = rows.map((row, index) => (row.length === 0 ? '' : `<row r="${index + 1}">${cells(row)}</row>`));
  return workbookOf({ rows: written.join('') });
}

golden('input.format: lines', [
  {
    name: 'each line is a cell, whatever stands in it; a blank one is null',
    template: `input: {format: lines}\n${none}`,
    input: 'a,b\n"c;d\n\ne\tf"\n',
    output: 'column_1\n"a,b"\n"""c;d"\n""\n"e\tf"""\n',
  },
  {
    name: 'what looks like JSON is a line too; a column is declared by its place',
    template: `input: {format: lines, columns: [{name: line, match: [{position: 1}]}]}
operations:
  - extract: {column: line, pattern: '"code":(?P<c>\\d+)', into: {c: code}}`,
    input: '{"code":1}\n{"code":22}\n',
    output: 'line,code\n"{""code"":1}",1\n"{""code"":22}",22\n',
  },
  {
    name: 'a header where it is given, and comments above it',
    template: `input: {format: lines, csv: {header_row: 0, comment: "//"}}\n${none}`,
    input: '// by hand\r\nLog, raw\r\n/x\r\n// more\r\n/',
    output: '"Log, raw"\n/x\n/\n',
  },
  {
    name: 'mistakes',
    template: `input: {format: lines, csv: {delimiter: ";"}, fixed: {columns: [{name: a, start: 1, length: 2}]}}\n${none}`,
    problems: ['/input/format BAD_VALUE', '/input/csv/delimiter BAD_VALUE'],
  },
  {
    name: 'fixed columns want their places',
    template: `input: {format: fixed}\n${none}`,
    problems: ['/input/format BAD_VALUE'],
  },
  {
    name: 'fixed columns with comments',
    template: `input: {format: fixed, fixed: {columns: [{name: a, start: 1, length: 2}, {name: b, start: 3, length: 2}]}, csv: {header_row: none, comment: "*"}}\n${none}`,
    input: '*head\n1 x \n*\n2 y \n',
    output: 'a,b\n1,x\n2,y\n',
  },
]);

golden('input.csv.header_rows', [
  {
    name: 'two lines that detection would not join: joined titles',
    template: `input: {csv: {header_rows: 2}}\n${none}`,
    input: 'net,gross\n2023,2024\n1,2\n3,4\n',
    output: 'net 2023,gross 2024\n1,2\n3,4\n',
  },
  {
    name: 'the last of them is given, and the one above it is skipped',
    template: `input: {csv: {header_row: 2, header_rows: 2}}\n${none}`,
    input: 'x,y\nNet,\na,b\n1,2\n',
    output: 'Net a,b\n1,2\n',
  },
  {
    name: 'one line: nothing is joined, though it looks so',
    template: `input: {csv: {header_rows: 1}}\n${none}`,
    input: 'Price,,Stock\nnet,gross,left\n1.50,2,3\n2.50,3,4\n',
    output: 'net,gross,left\n1.50,2,3\n2.50,3,4\n',
  },
  {
    name: 'mistakes',
    template: `input: {csv: {header_row: 0, header_rows: 2}}\n${none}`,
    problems: ['/input/csv/header_rows BAD_VALUE'],
  },
  {
    name: 'of a workbook, found',
    template: `input: {csv: {header_rows: 2}}\n${none}`,
    input: sheetOf([
      ['net', 'gross'],
      ['2023', '2024'],
      ['a', 'b'],
      ['c', 'd'],
    ]),
    output: 'net 2023,gross 2024\na,b\nc,d\n',
  },
  {
    name: 'of a workbook, given',
    template: `input: {csv: {header_rows: 2, header_row: 3}}\n${none}`,
    input: sheetOf([['Report'], [], ['net', 'gross'], ['2023', '2024'], ['a', 'b']]),
    output: 'net 2023,gross 2024\na,b\n',
  },
  {
    name: 'of a workbook whose header row is blank',
    template: `input: {csv: {header_rows: 2, header_row: 1}}\n${none}`,
    input: sheetOf([['Report'], [], ['net', 'gross']]),
    error: 'MALFORMED_FILE: The header row of sheet 1 is a blank row.',
  },
  {
    name: 'no header, no lines of it',
    template: `input: {csv: {header_row: none, header_rows: 2}}\n${none}`,
    problems: ['/input/csv/header_rows BAD_VALUE'],
  },
]);

golden('input.csv.comment', [
  {
    name: 'above the header, between rows, at the end; inside quotes it is text',
    template: `input: {csv: {comment: "#"}}\n${none}`,
    input: '# made by hand, "today"\n#\nid,note\n1,"a\n# no comment\nb"\n# 2,gone\n3,x # stays\n#4',
    output: 'id,note\n1,"a\n# no comment\nb"\n3,x # stays\n',
  },
  {
    name: 'a mark of two characters of which one is a delimiter too; CR alone ends lines',
    template: `input: {csv: {comment: ";;", delimiter: ";"}}\n${none}`,
    input: 'a;b;c\r;;x\r;2;3\r1;;\r;;\r',
    output: 'a,b,c\n,2,3\n1,,\n',
  },
  {
    name: 'in a file of one column a comment is no row',
    template: `input: {csv: {comment: "#"}}\n${none}`,
    input: 'id\n#1\n2\n\n#\n3\n',
    output: 'id\n2\n""\n3\n',
  },
  {
    name: 'after spaces before quotes, and with a delimiter of two bytes',
    template: `input: {csv: {comment: "#", delimiter: "¦"}}\n${none}`,
    input: 'a¦b\n1¦"x\n#y"\n#z\n2¦¦\n',
    output: 'a,b\n1,"x\n#y"\n2,\n',
    errors: [],
  },
  {
    name: 'records above the header are counted without them, and those below the table too',
    template: `input:
  csv: {comment: "#", header_row: 1}
  preamble: {year: {record: 0, field: 2}}
  footer: {sum: {record: 0, field: 2}}
operations:
  - set: {columns: {y: run.meta.year, s: run.meta.sum}}`,
    input: '# x\nYear,2026\n# y\na,b\n1,2\nsum,9\n# end\n',
    output: 'a,b,y,s\n1,2,2026,9\nsum,9,2026,9\n',
  },
  {
    name: 'nothing but comments',
    template: `input: {csv: {comment: "#"}}\n${none}`,
    input: '# x\n# y\n',
    error: 'MALFORMED_FILE',
  },
]);

golden('columns declared by their names alone', [
  {
    name: 'beside others with settings',
    template: `input: {columns: [b, {name: c, match: [C]}, {name: d, required: false}], other_columns: drop}
output: {format: ndjson}`,
    input: 'a,b,C\n1,2,3\n',
    output: '{"b":"2","c":"3","d":null}\n',
  },
  {
    name: 'a name twice',
    template: 'input: {columns: [a, {name: a}]}',
    problems: ['/input/columns/1/name DUPLICATE_COLUMN'],
  },
]);
