// Files without a declared delimiter: no cell is dropped because of a delimiter that was only detected.
import { golden } from './golden.ts';

const PASS = 'operations: []';

const BETRAG = 'input: {columns: [{name: Betrag}]}\noperations: []';

const UNFIT =
  'MALFORMED_FILE: The header row and the data rows do not contain the same delimiter: the delimiter or the header row cannot ' +
  'be detected. Declare them in the Template (input.csv.delimiter, input.csv.header_row) or send delimiter and header_row ' +
  'with the file.';

golden('one column whose cells hold delimiters', [
  ...[BETRAG, PASS, 'input: {csv: {header_row: 0}}\noperations: []'].map((template) => ({
    name: `decimal commas: ${template}`,
    template,
    input: 'Betrag\n1,50\n2,75\n',
    output: 'Betrag\n"1,50"\n"2,75"\n',
    errors: [],
  })),
  {
    name: 'signs, thousands, currencies, whole numbers and empty cells beside them',
    template: BETRAG,
    input: 'Betrag\r\n-1.234,50\r\n3\r\n\r\n"2,75"\r\n1 000,00 €\r\n',
    output: 'Betrag\n"-1.234,50"\n3\n""\n"2,75"\n"1 000,00 €"\n',
  },
  {
    name: 'below words with commas',
    template: BETRAG,
    input: 'Export, May 2026\n\nBetrag\n1,50\n2,75\n',
    output: 'Betrag\n"1,50"\n"2,75"\n',
  },
  {
    name: 'names and sentences',
    template: 'input: {columns: [{name: name}]}\noperations: []',
    input: 'name\nLovelace, Ada\nBabbage, Charles\nBob\n',
    output: 'name\n"Lovelace, Ada"\n"Babbage, Charles"\nBob\n',
  },
  {
    name: 'a delimiter in a few cells, each of the usual ones',
    template: PASS,
    input: 'note\nx\na,b\ny\nc;d\nz\ne\tf\n|\n',
    output: 'note\nx\n"a,b"\ny\nc;d\nz\ne\tf\n|\n',
  },
  {
    name: 'a delimiter that comes after what was looked at',
    template: PASS,
    input: `note\n${'word\n'.repeat(20_000)}a,b\n`,
    output: `note\n${'word\n'.repeat(20_000)}"a,b"\n`,
    errors: [],
  },
  {
    name: 'two columns of decimal commas are cut at semicolons',
    template: BETRAG,
    input: 'Tag;Betrag\n1,5;2,5\n3,5;4,5\n',
    output: 'Tag,Betrag\n"1,5","2,5"\n"3,5","4,5"\n',
  },
  { name: 'a delimiter after each cell', template: PASS, input: 'a\n1;\n2;\n', output: 'a\n1\n2\n' },
]);

golden('a header and rows that do not fit together', [
  { name: 'semicolons below commas', template: PASS, input: 'a,b,c\n1;2;3\n4;5;6\n', error: UNFIT },
  { name: 'with decimal commas', template: PASS, input: 'a,b,c\n1;2,5;3\n4;5,5;6\n7;8,5;9\n', error: UNFIT },
  { name: 'commas below semicolons', template: PASS, input: 'a;b;c\n1,2,3\n4,5,6\n', error: UNFIT },
  { name: 'tabs below commas', template: PASS, input: 'a,b,c\n1\t2\t3\n4\t5\t6\n', error: UNFIT },
  { name: 'pipes below a name', template: BETRAG, input: 'Betrag\n1|2|3\n4|5|6\n', error: UNFIT },
  {
    name: 'a declared header row above the table',
    template: 'input: {csv: {header_row: 0}}\noperations: []',
    input: 'Report\na;b;c\n1;2;3\n',
    error: UNFIT,
  },
  {
    name: 'what is declared is obeyed: cells beyond the header are counted',
    template: 'input: {csv: {delimiter: ";", header_row: 0}}\noperations: []',
    input: 'a,b,c\n1;2;3\n4;5;6\n',
    output: '"a,b,c"\n1\n4\n',
    errors: ['input: RAGGED_ROW 2 1 2'],
  },
  {
    name: 'most rows beyond the header',
    template: PASS,
    input: `a,b\n${'1,2,3\n'.repeat(4)}${'1,2\n'.repeat(3)}`,
    error:
      'MALFORMED_FILE: 4 of 7 data rows have filled fields beyond the 2 columns of the header row: the detected ' +
      'delimiter or header row is wrong. Declare them in the Template (input.csv.delimiter, input.csv.header_row) or send ' +
      'delimiter and header_row with the file.',
  },
  {
    name: 'after what was looked at, and before what the Template lacks',
    template: 'input: {columns: [{name: z}]}\noperations: []',
    input: `a,b\n${'1,2\n'.repeat(17_000)}${'1,2,3\n'.repeat(17_001)}`,
    error: 'MALFORMED_FILE',
  },
  {
    name: 'not more than half of them',
    template: PASS,
    input: `a,b\n${'1,2,3\n'.repeat(4)}${'1,2\n'.repeat(4)}`,
    output: `a,b\n${'1,2\n'.repeat(8)}`,
    errors: ['input: RAGGED_ROW 4 1 2 3 4'],
  },
  {
    name: 'declared: all of them',
    template: 'input: {csv: {delimiter: ","}}\noperations: []',
    input: `a,b\n${'1,2,3\n'.repeat(5)}`,
    output: `a,b\n${'1,2\n'.repeat(5)}`,
    errors: ['input: RAGGED_ROW 5 1 2 3 4 5'],
  },
  {
    name: 'one wide row',
    template: PASS,
    input: 'a,b\n1,2\n3,4,5,6\n7,8\n',
    output: 'a,b\n1,2\n3,4\n7,8\n',
    errors: ['input: RAGGED_ROW 1 2'],
  },
  { name: 'a delimiter inside a quoted header', template: PASS, input: '"a;b"\n1\n2\n', output: 'a;b\n1\n2\n' },
]);

golden('quotes after a space', [
  {
    name: 'a space follows each comma',
    template: 'input: {columns: [{name: id}, {name: name}, {name: note}]}\noperations: []',
    input: 'id, name, note\n1, "Anna, A.", "x"\n2,  "B ""b"" , c", y\n',
    output: 'id,name,note\n1,"Anna, A.",x\n2,"B ""b"" , c", y\n',
    errors: [],
  },
  {
    name: 'with a declared delimiter, line breaks inside quotes, and quotes without a comma in them',
    template: 'input: {csv: {delimiter: ";"}}\noperations: []',
    input: 'a; "b"\n "x;\ny"; "z"\n1; "2"\n',
    output: 'a,b\n"x;\ny",z\n1,2\n',
  },
  {
    name: 'words in quotes after a space stay as they are where they are no field',
    template: PASS,
    input: 'id\tnote\n1\tshe said, "no, thanks"\n2\t "x" and y\n',
    output: 'id,note\n1,"she said, ""no, thanks"""\n2," ""x"" and y"\n',
  },
  {
    name: 'a single quote as the declared one',
    template: `input: {csv: {quote: "'"}}\noperations: []`,
    input: "a, b\n1, 'x, y'\n2, 'z'\n",
    output: 'a, b\n1,"x, y"\n2,z\n',
  },
]);

golden('headers of several lines', [
  {
    name: 'titles of groups are joined with the names below them',
    template: PASS,
    input: 'Sales of May\n\ntown,2025,,2026,\n,net,gross,net,gross\nRome,1,2,3,4\nBari,5,6,7,8\n',
    output: 'town,2025 net,2025 gross,2026 net,2026 gross\nRome,1,2,3,4\nBari,5,6,7,8\n',
    errors: [],
  },
  {
    name: 'a Template that looks for joined names',
    template: 'input: {columns: [{name: 2026 net}], other_columns: drop}\noperations: []',
    input: 'town,2025,,2026,\n,net,gross,net,gross\nRome,1,2,3,4\nBari,5,6,7,8\n',
    output: '2026 net\n3\n7\n',
  },
  {
    name: 'a Template that looks for the names of the last line',
    template: 'input: {columns: [{name: Name}], other_columns: drop}\noperations: []',
    input: 'Dist.,,per\nNo.,Name,pupil\n101,Erie,12.5\n102,Lyons,3\n',
    output: 'Name\nErie\nLyons\n',
  },
  {
    name: 'a declared header row is one line',
    template: 'input: {csv: {header_row: 1}}\noperations: []',
    input: 'town,2025,,2026,\n,net,gross,net2,gross2\nRome,1,2,3,4\n',
    output: 'column_1,net,gross,net2,gross2\nRome,1,2,3,4\n',
  },
  {
    name: 'units, with quotes and line breaks in names, also with the plain reader',
    template: 'input: {csv: {delimiter: "¦"}}\noperations: []',
    input: '"run\ntime"¦load¦"a ""b"""\ns¦(kg)¦%\n1¦20¦3\n2¦21¦4\n',
    output: '"run\ntime s",load (kg),"a ""b"" %"\n1,20,3\n2,21,4\n',
  },
]);

golden('columns without a name', [
  {
    name: 'names of rows in quotes',
    template: PASS,
    input: '"x";"y"\n"r1";1;"a"\n"r2";3;"b"\n',
    output: 'column_1,x,y\nr1,1,a\nr2,3,b\n',
    errors: [],
  },
  {
    name: 'blanks after the last column',
    template: PASS,
    input: '"x";"y"\n"1";"2";" "\n',
    output: 'x,y,column_3\n1,2, \n',
    errors: [],
  },
]);

golden('a lone word above words', [
  { name: 'is no title', template: PASS, input: 'name\nSmith,John\nDoe,Jane\nRoe,Jim\n', error: UNFIT },
  {
    name: 'names that the Template looks for say that it is one',
    template: 'input: {columns: [{name: town}], other_columns: drop}\noperations: []',
    input: 'Staff\nname,town\nAda,London\nBob,Paris\n',
    output: 'town\nLondon\nParis\n',
  },
]);
