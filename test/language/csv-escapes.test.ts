// Backslash escapes of CSV: read where they are declared or evident, refused where they would be a guess.
import { golden } from './golden.ts';

const PASS = 'operations: []';
const ESCAPES = 'input: {csv: {escape: "\\\\"}}\noperations: []';
const NO_ESCAPES = 'input: {csv: {escape: ""}}\noperations: []';

const ADVICE =
  'Write input.csv.escape: "\\\\" into the Template, or input.csv.escape: "" where a backslash is an ordinary character.';
const likelyAt = (line: number) =>
  `MALFORMED_FILE: Line ${line} begins a row in which backslashes seem to escape quotes, delimiters or line breaks, but ` +
  `no escape character is declared. ${ADVICE}`;

/** Rows without evidence, longer than the first part of a file that detection examines. */
const manyRows = (row: string) => row.repeat(20_000);

golden('escapes in quoted cells', [
  ...[PASS, ESCAPES].flatMap((template) =>
    [',', ';', '\t', '|'].flatMap((delimiter) =>
      ['\n', '\r\n'].map((end) => ({
        name: `${JSON.stringify(delimiter + end)}, ${template}`,
        template: `${template}\noutput: {format: csv, csv: {line_end: lf}}`.replace(
          '\noutput: {format: csv, csv: {line_end: lf}}',
          '',
        ),
        input: ['a,b,c', '"1","x 5\\"","y"', '"2","say \\"hi, there\\", Joe","z"', '']
          .join(end)
          .replaceAll(',', delimiter),
        output: ['a,b,c', '1,"x 5""",y', '2,"say ""hi, there"", Joe",z', '']
          .join('\n')
          .replaceAll('hi, there', `hi${delimiter} there`)
          .replaceAll('"", Joe', `""${delimiter} Joe`),
        errors: [],
      })),
    ),
  ),
  {
    name: 'a backslash, a line break, a doubled quote, and a backslash before any other character',
    template: ESCAPES,
    input: 'a,b\n"x\\\\","1\\\n2"\n"a ""b""","C:\\new\\temp"\n',
    output: 'a,b\nx\\,"1\n2"\n"a ""b""",C:\\new\\temp\n',
  },
  {
    name: 'text after a closing quote is counted as without escapes',
    template: ESCAPES,
    input: 'a,b\n"x" y,1\n',
    output: 'a,b\n"""x"" y",1\n',
    errors: ['input: STRAY_QUOTE 1 1'],
  },
  { name: 'a quote that is not closed', template: ESCAPES, input: 'a,b\n1,"x\\"\n2,3\n', error: 'MALFORMED_FILE' },
  {
    name: 'a backslash at the end of cells is none, where the quotes are in order without escapes',
    template: PASS,
    input: 'a,b\n"C:\\","x"\n"D:\\","y"\n',
    output: 'a,b\nC:\\,x\nD:\\,y\n',
    errors: [],
  },
]);

golden('escapes in cells without quotes', [
  {
    name: 'the delimiter, line breaks and NULL of MySQL',
    template: PASS,
    input: 'id\tnote\tn\n1\tone\\\ntwo\t\\N\n2\ttab\\\there\t5\n3\tback\\\\slash\t\n',
    output: 'id,note,n\n1,"one\ntwo",\n2,tab\there,5\n3,back\\slash,\n',
    errors: [],
  },
  {
    name: 'the letters of ClickHouse and PostgreSQL, in a file that is cut by tabs',
    template: ESCAPES,
    input: 'a\tb\nx\\ny\\rz\tp\\tq\\b\\x\n\\N\t\\Nx\n',
    output: 'a,b\n"x\ny\rz",p\tq\b\\x\n,\\Nx\n',
  },
  {
    name: 'letters are ordinary ones in other files',
    template: ESCAPES,
    input: 'a,b\nC:\\new\\temp,x\\,y\n\\N,\n',
    output: 'a,b\nC:\\new\\temp,"x,y"\n,\n',
  },
  {
    name: 'without quotes',
    template: `input: {csv: {escape: "\\\\", quote: ""}}\n${PASS}`,
    input: 'a,b\n"x\\n\\"y,z"\n',
    output: 'a,b\n"""x\n""y","z"""\n',
  },
  {
    name: 'NULL is the text of null_values where empty cells are texts',
    template:
      'input: {null_values: ["\\\\N"], csv: {escape: "\\\\"}}\noperations: [{set: {columns: {b: "a == null ? \\"null\\" : \\"text\\""}}}]',
    input: 'a,c\n\\N,1\n,2\n',
    output: 'a,c,b\n,1,null\n,2,text\n',
  },
  { name: 'a last line without a line end', template: ESCAPES, input: 'a,b\n1,x\\', output: 'a,b\n1,x\\\n' },
]);

golden('rows that only escapes would explain', [
  {
    name: 'a quote after a backslash, after the part of the file that is looked at',
    template: PASS,
    input: `a,b\n${manyRows('"1","2"\n')}"3","x \\"y\\" z"\n`,
    error: likelyAt(20_002),
  },
  {
    name: 'a delimiter after a backslash',
    template: PASS,
    input: `a\tb\n${manyRows('1\t2\n')}3\tx\\\ty\n`,
    error: likelyAt(20_002),
  },
  {
    name: 'a line break after a backslash, CRLF',
    template: PASS,
    input: `a\tb\tc\r\n${manyRows('1\t2\t3\r\n')}3\tx\\\r\ny\t4\r\n`,
    error: likelyAt(20_002),
  },
  {
    name: 'quotes that take up other rows',
    template: PASS,
    input: `a,b\n${manyRows('1,2\n')}3,"x \\""\n4,"y"\n`,
    error: 'MALFORMED_FILE',
  },
  {
    name: 'with a delimiter that is not ASCII',
    template: 'input: {csv: {delimiter: "¦"}}\noperations: []',
    input: 'a¦b\n1¦2\n3¦x\\¦y\n',
    error: likelyAt(3),
  },
  {
    name: 'a backslash is an ordinary character where the Template says so',
    template: NO_ESCAPES,
    input: 'a,b\n"x \\"y",1\nC:\\,2,3\nD:\\\n',
    output: 'a,b\n"""x \\""y""",1\nC:\\,2\nD:\\,\n',
    errors: ['input: STRAY_QUOTE 1 1', 'input: RAGGED_ROW 1 2', 'input: SHORT_ROW 1 3'],
  },
  {
    name: 'with a delimiter of several characters',
    template: 'input: {csv: {escape: "\\\\", delimiter: "||"}}\noperations: []',
    problems: ['/input/csv/delimiter BAD_VALUE'],
  },
]);
