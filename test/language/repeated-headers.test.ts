// Rows that repeat the header, and operations that expect columns.
import { golden } from './golden.ts';

golden('drop_repeated_headers', [
  {
    name: 'also after rename, reorder, copy and texts in upper case; other rows stay',
    template: `input: {csv: {header_row: 0}}
operations:
  - rename: {columns: {Betrag: amount}}
  - reorder: {first: [amount]}
  - copy: {from: Name, to: again}
  - text: {columns: [Name], steps: [upper]}
  - drop_repeated_headers: {}`,
    input: 'Name,Betrag,Name\n1,2,3\nName,Betrag,Name\nName,Betrag,x\n name ,BETRAG,Name\n4,5,6\n',
    output: 'amount,Name,Name_2,again\n2,1,3,1\nBetrag,NAME,x,Name\n5,4,6,4\n',
  },
  {
    name: 'columns of a Template under its own names, numbers read before',
    template: `input: {columns: [{name: day, match: [Buchungstag]}, {name: amount, match: [Umsatz]}]}
operations:
  - parse_number: {columns: [amount], on_error: blank}
  - drop_repeated_headers: {}`,
    input: 'Buchungstag,Umsatz\n1.1.,5\nBuchungstag,Umsatz\n2.1.,7\nday,amount\n',
    output: 'day,amount\n1.1.,5\n2.1.,7\nday,\n',
  },
  {
    name: 'blank headers are blank cells',
    template: 'operations: [{drop_repeated_headers: {}}]',
    input: 'a,,b\n1,2,3\na,,b\na,x,b\n',
    output: 'a,column_2,b\n1,2,3\na,x,b\n',
  },
  {
    name: 'a file without a header has none that is repeated',
    template: 'input: {csv: {header_row: none}}\noperations: [{drop_repeated_headers: {}}]',
    input: 'a,b\na,b\ncolumn_1,column_2\n',
    output: 'column_1,column_2\na,b\na,b\ncolumn_1,column_2\n',
  },
]);

golden('expect_columns', [
  {
    name: 'more columns are allowed in any order unless it says otherwise',
    template: 'operations: [{expect_columns: {columns: [b, a]}}]',
    input: 'a,x,b\n1,2,3\n',
    output: 'a,x,b\n1,2,3\n',
  },
  {
    name: "lacking columns are the file's fault, whatever else is wrong",
    template: 'operations: [{expect_columns: {columns: [a, b, c], order: same, extra: fail}}]',
    input: 'b,x\n1,2\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "a", "c". The file was read with delimiter ",", header row 0, 2 columns.',
  },
  {
    name: 'extra columns by place, never by name',
    template: 'operations: [{expect_columns: {columns: [a, b], extra: fail}}]',
    input: 'a,secret,b,other\n1,2,3,4\n',
    error:
      'TEMPLATE_CHECK_FAILED: 2 columns are not expected: at position 2, 4 of 4. (operation 1 expect_columns (line 1, /operations/0))',
  },
  {
    name: 'the order, with others between',
    template: 'operations: [{expect_columns: {columns: [a, b, c], order: same}}]',
    input: 'a,x,b,c\n1,2,3,4\n',
    output: 'a,x,b,c\n1,2,3,4\n',
  },
  {
    name: 'another order',
    template: 'operations: [{expect_columns: {columns: [a, b, c], order: same}}]',
    input: 'a,c,b\n1,2,3\n',
    error:
      'TEMPLATE_CHECK_FAILED: The columns are not in the expected order: "c" is before "b". (operation 1 expect_columns (line 1, /operations/0))',
  },
  {
    name: 'a column that need not be there may be missing',
    template: `input: {columns: [{name: a}, {name: b, required: false}]}
operations: [{expect_columns: {columns: [a, b], order: same, extra: fail}}]`,
    input: 'a\n1\n',
    output: 'a,b\n1,\n',
  },
  {
    name: 'no row is read before: the columns end the Run first',
    template: `operations: [{parse_number: {columns: [a]}}, {expect_columns: {columns: [a], extra: fail}}]`,
    input: 'a,b\nx,1\n',
    error:
      'TEMPLATE_CHECK_FAILED: 1 column is not expected: at position 2 of 2. (operation 2 expect_columns (line 1, /operations/1))',
  },
]);
