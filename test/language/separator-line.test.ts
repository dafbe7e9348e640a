// The line `sep=;` above a table, as in Excel: it names the delimiter and is not a row.
import { golden } from './golden.ts';

const COPY = 'operations: []';

golden('the line that names the delimiter', [
  {
    name: 'nothing is declared; the rows alone would say another one',
    template: COPY,
    input: 'sep=|\r\na,b|c\r\n1,5|x\r\n2,5|y\r\n',
    output: '"a,b",c\n"1,5",x\n"2,5",y\n',
  },
  {
    name: 'in quotes, in capitals, with delimiters after it, after a byte order mark',
    template: COPY,
    input: '\ufeff"SEP=;";;\na;b;c\n1;2;3\n',
    output: 'a,b,c\n1,2,3\n',
  },
  {
    name: 'a tab, and lines that end with CR',
    template: COPY,
    input: 'sep=\t\ra\tb\r1\t2\r',
    output: 'a,b\n1,2\n',
  },
  {
    name: 'columns that the Template looks for, below a title',
    template: 'input: {columns: [{name: id}, {name: name}], other_columns: drop}',
    input: 'sep=;\nPrices;\nid;name;x\n1;a;b\n',
    output: 'id,name\n1,a\n',
  },
  {
    name: 'a declared delimiter is obeyed',
    template: 'input: {csv: {delimiter: ","}}',
    input: 'sep=;\na,b;c\n1,2;3\n',
    output: 'a,b;c\n1,2;3\n',
  },
  ...[0, 1].map((row) => ({
    name: `header_row: ${row} is the header`,
    template: `input: {csv: {delimiter: ";", header_row: ${row}}}`,
    input: 'sep=;\na;b\n1;2\n',
    output: 'a,b\n1,2\n',
  })),
  {
    name: 'a header further down',
    template: 'input: {csv: {header_row: 3}}',
    input: 'sep=;\nTitle\n\na;b\n1;2\n',
    output: 'a,b\n1,2\n',
  },
  {
    name: 'without a header: it is no row',
    template: 'input: {csv: {header_row: none}}',
    input: 'sep=;\n1;2\n3;4\n',
    output: 'column_1,column_2\n1,2\n3,4\n',
  },
  {
    name: 'one column without a header, of which blank lines are rows',
    template: 'input: {csv: {header_row: none}}',
    input: 'sep=;\n\na\n',
    output: 'column_1\n""\na\n',
  },
  {
    name: 'a header of two lines',
    template: 'input: {csv: {header_rows: 2}}',
    input: 'sep=;\n2025;2026\nnet;net\n1;2\n',
    output: '2025 net,2026 net\n1,2\n',
  },
  {
    name: 'a delimiter of several bytes',
    template: COPY,
    input: 'sep=¦\na¦b\n1¦2\n',
    output: 'a,b\n1,2\n',
  },
  {
    name: 'below a comment, and values above the header',
    template: `input: {csv: {comment: "#"}, preamble: {of: {pattern: "^Of (.*)$"}}}
operations: [{set: {columns: {of: run.meta.of}}}]`,
    input: '# made by a machine\nsep=,\nOf January\na,b\n1,2\n',
    output: 'a,b,of\n1,2,January\n',
  },
  {
    name: 'what only looks like it is a header or a row',
    template: COPY,
    input: 'sep=a,b\n1,2\n',
    output: 'sep=a,b\n1,2\n',
  },
  {
    name: 'a file of lines has it as a line',
    template: 'input: {format: lines}',
    input: 'sep=;\na;b\n',
    output: 'column_1\nsep=;\na;b\n',
  },
]);
