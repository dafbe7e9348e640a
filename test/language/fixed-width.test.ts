// Files of fixed columns: positions of cells, line breaks, encodings, lines that are too short or too long, mistakes.
import { golden } from './golden.ts';

const COLUMNS =
  '{columns: [{name: id, start: 1, length: 4}, {name: name, start: 5, length: 6}, {name: amount, start: 12, length: 5}]}';
const template = (csv = '{}', rest = ''): string => `input: {fixed: ${COLUMNS}, csv: ${csv}${rest}}\noperations: []`;

golden('fixed columns', [
  {
    name: 'pad spaces are no part of a cell; what stands in a gap is left out',
    template: template(),
    input: '0001Anna  x 1,50\n0002Bob   y20,00\n',
    output: 'id,name,amount\n0001,Anna,"1,50"\n0002,Bob,"20,00"\n',
  },
  {
    name: 'LF, CRLF and CR; blank lines are skipped; the last line needs no end',
    template: template(),
    input: '1   A      1\r\n\r\n2   B      2\r3   C      3\n\n4   D      4',
    output: 'id,name,amount\n1,A,1\n2,B,2\n3,C,3\n4,D,4\n',
  },
  {
    name: 'short lines are filled with null, and a line of spaces is a row of them',
    template: template(),
    input: '1\n2   B\n                \n',
    output: 'id,name,amount\n1,,\n2,B,\n,,\n',
  },
  {
    name: 'text after the last column is dropped and counted, spaces are nothing',
    template: template(),
    input: '1   A          1\n2   B          2   \n3   C          3 more\n',
    output: 'id,name,amount\n1,A,1\n2,B,2\n3,C,3\n',
    errors: ['input: RAGGED_ROW 1 3'],
  },
  {
    name: 'ragged fail',
    template: template('{ragged: fail}'),
    input: '1   A          1\n\n3   C          3 more\n',
    error: 'MALFORMED_FILE: Line 3 has text after the last column of input.fixed.',
  },
  {
    name: 'characters, not bytes',
    template: template(),
    input: '0001Jürgen  1,50\n0002漢字😀    2,00\n0003Bob     3,00\n',
    output: 'id,name,amount\n0001,Jürgen,"1,50"\n0002,漢字😀,"2,00"\n0003,Bob,"3,00"\n',
  },
  {
    name: 'in another encoding',
    template: template('{encoding: [utf-8, windows-1252]}'),
    input: Buffer.from('0001J\xfcrgen  1,50\n', 'latin1'),
    output: 'id,name,amount\n0001,Jürgen,"1,50"\n',
  },
  {
    name: 'the header row and what stands above it are skipped',
    template: template('{header_row: 2}'),
    input: 'title\n\nid  name   amount\n1   A      1\n',
    output: 'id,name,amount\n1,A,1\n',
  },
  {
    name: 'a header row after the end',
    template: template('{header_row: 5}'),
    input: '1   A      1\n',
    error: 'MALFORMED_FILE: The header row is after the end of the file.',
  },
  {
    name: 'null values',
    template: template('{}', ', null_values: ["", "-"]'),
    input: '1   -      1\n2          2\n3   --     3\n',
    output: 'id,name,amount\n1,,1\n2,,2\n3,--,3\n',
  },
  {
    name: 'columns may overlap, and come in any order',
    template:
      'input: {fixed: {columns: [{name: day, start: 7, length: 2}, {name: date, start: 1, length: 8}]}}\noperations: []',
    input: '20260131\n20260201\n',
    output: 'day,date\n31,20260131\n01,20260201\n',
  },
  {
    name: 'what looks like JSON or CSV is lines',
    template: 'input: {fixed: {columns: [{name: a, start: 1, length: 20}]}}\noperations: []',
    input: 'a;b;c\n1;2;3\n',
    output: 'a\na;b;c\n1;2;3\n',
  },
  {
    name: 'blank lines only',
    template: template(),
    input: '\n\n',
    error: 'MALFORMED_FILE: The file has only blank lines.',
  },
  {
    name: 'a NUL byte',
    template: template(),
    input: '1   A      1\n\n2\0  B      2\n',
    error:
      'MALFORMED_FILE: Line 3 contains a NUL byte, so the file is not text. Write input.csv.nul_bytes: drop into the Template to leave NUL bytes out.',
  },
  {
    name: 'mistakes',
    template:
      'input: {csv: {delimiter: ";"}, fixed: {columns: [{name: a, start: 1, length: 3}, {name: a, start: 65530, length: 20}]}}\noperations: []',
    problems: [
      '/input/csv/delimiter BAD_VALUE',
      '/input/fixed/columns/1/name DUPLICATE_COLUMN',
      '/input/fixed/columns/1/length BAD_VALUE',
    ],
  },
  {
    name: 'more rows than a batch',
    template: template(),
    input: Array.from(
      { length: 20_000 },
      (_, row) => `${String(row % 10_000).padStart(4, '0')}name   ${row % 7}\n`,
    ).join(''),
    output: `id,name,amount\n${Array.from({ length: 20_000 }, (_, row) => `${String(row % 10_000).padStart(4, '0')},name,${row % 7}\n`).join('')}`,
  },
]);
