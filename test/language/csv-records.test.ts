// CSV records and fixed columns with unusual ends and delimiters. They are read, or refused with a message that says what to
// declare.
import t from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { golden } from './golden.ts';

const PASS = 'operations: []';

golden('marks inside of cells are no delimiter of several characters', [
  {
    name: 'cells that begin with a mark',
    template: 'operations: []\noutput: {format: csv, formula_guard: "off"}',
    input: 'no|code|n\n1,00|="007"|x\n2,00|="008"|y\n3,00|="009"|z\n',
    output: 'no,code,n\n"1,00","=""007""",x\n"2,00","=""008""",y\n"3,00","=""009""",z\n',
  },
  {
    name: 'cells of the last column that all begin with a mark',
    template: 'operations: []\noutput: {format: csv, formula_guard: "off"}',
    input: 'no|code\n1,00|=1\n2,00|=2\n3,00|=3\n',
    output: 'no,code\n"1,00",=1\n"2,00",=2\n"3,00",=3\n',
  },
  {
    name: 'cells that end with a mark, and a record that is too short',
    template: 'operations: []',
    input: 'no|key|n\n1|a=|x\n2|b=|y\n3|c=\n4|d=|z\n',
    output: 'no,key,n\n1,a=,x\n2,b=,y\n3,c=,\n4,d=,z\n',
  },
  {
    name: 'two marks within one cell of each record',
    template: 'operations: []',
    input: 'no|path|n\n1|a::b|x\n2|c::d|y\n3|e::f|z\n',
    output: 'no,path,n\n1,a::b,x\n2,c::d,y\n3,e::f,z\n',
  },
  {
    name: 'a delimiter of several characters, one of which is also in cells',
    template: 'operations: []',
    input: 'id~|~name~|~n\n1~|~a|b~|~x\n2~|~c~|~y\n3~|~d~|~z\n',
    output: 'id,name,n\n1,a|b,x\n2,c,y\n3,d,z\n',
  },
]);

golden('delimiters of several characters', [
  ...['||', '::', '~|~', '##'].map((delimiter) => ({
    name: `detected: ${delimiter}`,
    template: PASS,
    input: `id${delimiter}name${delimiter}n\n1${delimiter}Ann${delimiter[0]}Bo${delimiter}2\n2${delimiter}Bob${delimiter}3\n`,
    output: `id,name,n\n1,Ann${delimiter[0]}Bo,2\n2,Bob,3\n`,
    errors: [],
  })),
  {
    name: 'below a title, with CRLF and quotes',
    template: PASS,
    input: 'Sales report\r\nid||name||n\r\n1||"Ann||Bo"||2\r\n2||Bob||3\r\n',
    output: 'id,name,n\n1,Ann||Bo,2\n2,Bob,3\n',
  },
  {
    name: 'declared',
    template: 'input: {csv: {delimiter: "||"}}\noperations: []',
    input: 'id||name\n1||a|b\n2\n3||x||y\n',
    output: 'id,name\n1,a|b\n2,\n3,x\n',
    errors: ['input: SHORT_ROW 1 2', 'input: RAGGED_ROW 1 3'],
  },
  {
    name: 'records of different lengths: nobody can say',
    template: PASS,
    input: 'id||name||n\n1||Ann|Bo||2\n2||Bob\n',
    error:
      'MALFORMED_FILE: The fields seem to be separated by "||", but the records would then have different numbers of fields. ' +
      'Declare it in the Template: input.csv.delimiter: "||", or the single character if every second column is empty.',
  },
  {
    name: 'two semicolons side by side are an empty column, where all rows have one',
    template: PASS,
    input: 'a;;b\n1;;2\n3;x;4\n',
    output: 'a,column_2,b\n1,,2\n3,x,4\n',
  },
]);

const separated = (settings: string): string => `input: {csv: {${settings}}}\noutput: {format: ndjson}`;

golden('record separators', [
  ...['a\u001fb\u001e1\u001f2\u001e', 'a,b\u001e1,2\u001e\n'].map((input) => ({
    name: JSON.stringify(input),
    template: PASS,
    input,
    output: 'a,b\n1,2\n',
  })),
  { name: 'in a cell', template: PASS, input: 'a,b\n1,x\u001ey\n', output: 'a,b\n1,x\u001ey\n' },
  {
    name: 'with line breaks and quotes in cells',
    template: separated('record_separator: "##"'),
    input: 'a;b;c##\r\n1;x\ny;z##2;"p##q";r\n\n##3;"say ""hi"" ";it\'s "so"##',
    output:
      '{"a":"1","b":"x\\ny","c":"z"}\n{"a":"2","b":"p##q","c":"r"}\n{"a":"3","b":"say \\"hi\\" ","c":"it\'s \\"so\\""}\n',
  },
  ...['"a"bc', '"a"b"c"', '"a" "b"', '"a"b""', '"a""b"c"d'].map((cell) => ({
    name: `text after a closing quote, as with line breaks: ${cell}`,
    template: separated(`record_separator: "##", delimiter: ","`),
    input: `h,i,j##${cell},d",z##1,2,3##`,
    output: `${JSON.stringify({ h: cell, i: 'd"', j: 'z' })}\n{"h":"1","i":"2","j":"3"}\n`,
    errors: ['input: STRAY_QUOTE 1 1'],
  })),
  {
    name: 'a line break in the text after a closing quote is a space',
    template: separated(`record_separator: "##", delimiter: ","`),
    input: 'h,i##"a"\n"b"\nc\n,z##1,2##',
    output: '{"h":"\\"a\\" \\"b\\" c","i":"z"}\n{"h":"1","i":"2"}\n',
    errors: ['input: STRAY_QUOTE 1 1'],
  },
  {
    name: 'with a long delimiter, and no separator at the end',
    template: separated('record_separator: "#~#", delimiter: "|~|"'),
    input: 'a|~|b#~#1#|~|2|#~#3|~|',
    output: '{"a":"1#","b":"2|"}\n{"a":"3","b":null}\n',
  },
  {
    name: 'without quotes',
    template: separated('record_separator: "~", delimiter: ",", quote: ""'),
    input: 'a,b~"1,2"~',
    output: '{"a":"\\"1","b":"2\\""}\n',
  },
  {
    name: 'with spaces before quotes',
    template: separated('record_separator: "~"'),
    input: 'a,b~1, "x,y"~2, z~',
    output: '{"a":"1","b":"x,y"}\n{"a":"2","b":" z"}\n',
  },
  {
    name: 'of lines',
    template: 'input: {format: lines, csv: {record_separator: "~"}}\noutput: {format: ndjson}',
    input: 'one, "two"\nmore~three~',
    output: '{"column_1":"one, \\"two\\"\\nmore"}\n{"column_1":"three"}\n',
  },
  {
    name: 'of JSON texts',
    template: PASS,
    input: '\u001e{"a":1}\n\u001e{"a":2}\n',
    error:
      'MALFORMED_FILE: The file begins with the control character 0x1E, as a JSON text sequence does. Remove this ' +
      'character before each record, and send the file again as NDJSON.',
  },
  {
    name: 'that contain the delimiter',
    template: separated('record_separator: "##", delimiter: "#"'),
    problems: ['/input/csv/record_separator BAD_VALUE'],
  },
  {
    name: 'with comments',
    template: separated('record_separator: "##", comment: "%"'),
    problems: ['/input/csv/record_separator BAD_VALUE'],
  },
]);

golden('records across pieces of the file', [
  {
    name: 'a separator between two pieces',
    template: separated('record_separator: "##", delimiter: ","'),
    input: `a,b##${'1,#x##'.repeat(30_000)}`,
    output: '{"a":"1","b":"#x"}\n'.repeat(30_000),
  },
]);

const fixed = (more: string) =>
  `input: {fixed: {columns: [{name: n, start: 1, length: 3}, {name: k, start: 4, length: 2}]${more}}}\noperations: []`;

golden('records of fixed columns without line ends', [
  {
    name: 'of a length',
    template: fixed(', record_length: 6'),
    input: 'AAA01xÄÖÜ02yC  03z',
    output: 'n,k\nAAA,01\nÄÖÜ,02\nC,03\n',
  },
  {
    name: 'with a line end at the end',
    template: fixed(', record_length: 5'),
    input: 'AAA01BBB02\r\n',
    output: 'n,k\nAAA,01\nBBB,02\n',
  },
  {
    name: 'a last record that is too short',
    template: fixed(', record_length: 5'),
    input: 'AAA01BB',
    error:
      'MALFORMED_FILE: Record 2 is the last one and has 2 characters. input.fixed.record_length says 5 characters: correct it, ' +
      'or leave it out where each line is a record.',
  },
  {
    name: 'a line end inside a record',
    template: fixed(', record_length: 5'),
    input: 'AAA01BB\nB02',
    error: 'MALFORMED_FILE',
  },
  {
    name: 'without the length',
    template: fixed(''),
    input: 'AAA01BBB02',
    error:
      'MALFORMED_FILE: The file is one line, which continues after the last column of input.fixed. Its records seem to have no ' +
      'line ends. Write their length in characters into the Template: input.fixed.record_length.',
  },
  {
    name: 'one line that is slightly too long',
    template: fixed(''),
    input: 'AAA01x\n',
    output: 'n,k\nAAA,01\n',
    errors: ['input: RAGGED_ROW 1 1'],
  },
  {
    name: 'a column after the end of the record',
    template: fixed(', record_length: 4'),
    problems: ['/input/fixed/columns/1/length BAD_VALUE'],
  },
]);

golden('quotes after a space, the first of them at any place', [
  ...[0, 499, 500, 5_000, 100_000].flatMap((rows) =>
    ['\n', '\r\n'].map((end) => ({
      name: `after ${rows} rows, ${JSON.stringify(end)}`,
      template: PASS,
      input: [
        'id; text',
        ...new Array<string>(rows).fill('1; word'),
        '2; "Anna; A."',
        '3;  "B ""b"""',
        '4; x "y"',
        '',
      ].join(end),
      output: `id, text\n${'1, word\n'.repeat(rows)}2,Anna; A.\n3,"B ""b"""\n4," x ""y"""\n`,
      errors: [],
    })),
  ),
  {
    name: 'text after the closing quote: the cell stays as it is',
    template: PASS,
    input: `id, text\n${'1, word\n'.repeat(20_000)}2, "a" b\n`,
    output: `id, text\n${'1, word\n'.repeat(20_000)}2," ""a"" b"\n`,
    errors: [],
  },
  {
    name: 'in a reference table',
    template: 'tables: {t: {ref: t}}\noperations: [{join: {table: t, on: [id], columns: [" name"]}}]',
    tables: {
      t: `id, name\n${'1, word\n'.repeat(20_000).replaceAll('1', () => '1')}2, "Anna, A."\n`.replace(
        /(1, word\n)+/,
        '1, word\n'.repeat(1),
      ),
    },
    input: 'id\n2\n',
    output: 'id, name\n2,"Anna, A."\n',
  },
]);

const HEADS = Array.from({ length: 600 }, (_, index) => `H,${index}\n`).join('');
const WIDE = (input: string, column = 'c6') =>
  `input: {csv: {header_row: none, columns: 6${input}}, columns: [{name: a, match: [{position: 1}]}, {name: ${column}, match: [{position: 6}]}], other_columns: drop}\noperations: [{filter: {where: a == "D"}}]`;

golden('the number of columns of a file without a header', [
  {
    name: 'is that of the first records by default',
    template: 'input: {csv: {header_row: none}}\noperations: [{filter: {where: column_1 == "D"}}]',
    input: `${HEADS}D,1,a,b,c,6\n`,
    output: 'column_1,column_2\nD,1\n',
  },
  { name: 'is declared', template: WIDE(''), input: `${HEADS}D,1,a,b,c,6\n`, output: 'a,c6\nD,6\n' },
  {
    name: 'is declared, and the first records have one field',
    template: WIDE(', delimiter: ","'),
    input: `${HEADS.replaceAll(',', '')}D,1,a,b,c,"6,"\n`,
    output: 'a,c6\nD,"6,"\n',
  },
  {
    name: 'is declared, and no delimiter is found',
    template: WIDE(''),
    input: `${HEADS.replaceAll(',', '')}D,1,a,b,c,6\n`,
    error:
      'MALFORMED_FILE: The Template declares 6 columns (input.csv.columns), but the first records of the file have one field each with every delimiter that was tried. Declare the delimiter in the Template: input.csv.delimiter.',
  },
  {
    name: 'is declared for a delimiter of several characters',
    template: WIDE(', delimiter: "||"'),
    input: `${HEADS.replaceAll(',', '||')}D||1||a||b||c||6\n`,
    output: 'a,c6\nD,6\n',
  },
  {
    name: 'is declared, and rows are wider: surplus fields are rejected',
    template: `defaults: {on_error: reject}\n${WIDE('')}`,
    input: 'H,1\nD,1,a,b,c,6,7\nD,1,a,b,c,6\n',
    output: 'a,c6\nD,6\n',
  },
  {
    name: 'is declared, and the first row is wider: it has surplus fields like any other',
    template: 'defaults: {on_error: reject}\ninput: {csv: {header_row: none, columns: 2}}\noperations: []',
    input: 'H,1,2\nD,1\nD,1,2\n',
    output: 'column_1,column_2\nD,1\n',
  },
  {
    name: 'is declared, and the first row is wider, of a delimiter of several characters',
    template:
      'defaults: {on_error: reject}\ninput: {csv: {header_row: none, columns: 2, delimiter: "||"}}\noperations: []',
    input: 'H||1||2\nD||1\nD||1||2\n',
    output: 'column_1,column_2\nD,1\n',
  },
  {
    name: 'is declared for lists of JSON',
    template: WIDE(''),
    input: '[["H"],["D",1,2,3,4,5]]',
    output: 'a,c6\nD,5\n',
  },
  {
    name: 'needs a file without a header',
    template: 'input: {csv: {columns: 6}}\noperations: []',
    input: 'a\n1\n',
    problems: ['/input/csv/columns BAD_VALUE'],
  },
  {
    name: 'is known in fixed columns',
    template:
      'input: {csv: {header_row: none, columns: 6}, fixed: {columns: [{name: a, start: 1, length: 1}]}}\noperations: []',
    input: 'a\n1\n',
    problems: ['/input/csv/columns BAD_VALUE'],
  },
]);

golden('records of different types', [
  {
    name: 'the details as the table, the others as values',
    template: `input:
  csv: {header_row: none, columns: 4}
  columns: [{name: type, match: [{position: 1}]}, {name: item, match: [{position: 3}]}, {name: price, match: [{position: 4}]}]
  other_columns: drop
  preamble: {customer: {pattern: "^H,[^,]*,(.*)$"}}
  footer: {total: {pattern: "^T,[^,]*,(.*)$"}}
operations:
  - filter: {where: type == "D"}
  - set: {columns: {customer: run.meta.customer}}
  - parse_number: {columns: price}
  - check_totals: {checks: [{expr: sum(price), equals: {meta: total}}]}
  - drop: {columns: type}`,
    input: 'H,2026-10-01,ACME\nD,1,Widget,9.50\nD,2,"Bolt, long",0.50\nT,2,10.00\n',
    output: 'item,price,customer\nWidget,9.50,ACME\n"Bolt, long",0.50,ACME\n',
  },
  {
    name: 'a value of the record above',
    template: `input: {csv: {header_row: none}, columns: [{name: type, match: [{position: 1}]}, {name: second, match: [{position: 2}]}], other_columns: drop}
operations:
  - set: {columns: {order: 'type == "H" ? second : null'}}
  - fill_down: {columns: order}
  - filter: {where: type == "D"}`,
    input: 'H,7\nD,a\nD,b\nH,8\nD,c\nT,3\n',
    output: 'type,second,order\nD,a,7\nD,b,7\nD,c,8\n',
  },
]);

t.test(
  'the report of a failed Run does not count what was left out, because that depends on the arrival of bytes',
  async (t) => {
    const input = { csv: { comment: '#' } };
    const file = 'a,b\n#\n1,x\n#\n2,y\n';
    const failing = await applyTemplate({ input, operations: [{ op: 'parse_number', columns: 'b' }] }, file);
    t.equal(failing.outcome.failure?.code, 'TEMPLATE_ROW_ERROR');
    t.notOk('comment_lines' in failing.outcome.report.input);
    t.equal((await applyTemplate({ input, operations: [] }, file)).outcome.report.input.comment_lines, 2);
  },
);

golden('a column without a value', [
  {
    name: 'is no delimiter of two characters',
    template: 'operations: []',
    input: 'id|note|amount\n1||3.0\n2||4\n',
    output: 'id,note,amount\n1,,3.0\n2,,4\n',
  },
  {
    name: 'is no delimiter of two characters below a title',
    template: 'operations: []',
    input: 'Report\nid|note|amount\n1||3.0\n2||4\n',
    output: 'id,note,amount\n1,,3.0\n2,,4\n',
  },
  {
    name: 'a delimiter of two characters, of which one is in a cell',
    template: 'operations: []',
    input: 'a||b||c\n1||2||3\n4||5|x||6\n',
    output: 'a,b,c\n1,2,3\n4,5|x,6\n',
  },
  {
    name: 'keeps its name, also if the first row has a text above numbers',
    template: 'operations: []',
    input: 'id,note\nBonn,\n7,\n7,\n3.0,\n',
    output: 'id,note\nBonn,\n7,\n7,\n3.0,\n',
  },
]);
