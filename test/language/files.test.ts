// Reading of files: missing values, quotes, line ends, blank lines, ragged rows, encodings, compression, detection.
import { gzipSync } from 'node:zlib';
import { zipOf } from '../workers/input/xlsx/zip-writer.ts';
import { golden } from './golden.ts';

const PASS = 'operations: []';
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

golden('texts that mean "missing"', [
  {
    name: 'quoted and unquoted empty fields are the same',
    template: 'operations: [{fill_empty: {columns: [a, b], value: none}}]',
    input: 'a,b\n"",\n,""\nx,y\n',
    output: 'a,b\nnone,none\nnone,none\nx,y\n',
  },
  {
    name: 'other texts, as they are written and no others',
    template: 'input: {null_values: ["", "NULL", "-"]}\noperations: [{fill_empty: {columns: "*", value: none}}]',
    input: 'a,b\nNULL,-\n"NULL",null\n,--\n',
    output: 'a,b\nnone,none\nnone,null\nnone,--\n',
  },
  {
    name: 'without the empty text in the list an empty cell is an empty text',
    template:
      'input: {null_values: ["n/a"]}\noperations: [{set: {columns: {b: "a == \\"\\" ? \\"empty\\" : is_blank(a) ? \\"null\\" : a"}}}]',
    input: 'a,x\n,1\nn/a,2\nz,3\n',
    output: 'a,x,b\n,1,empty\n,2,null\nz,3,z\n',
  },
  {
    name: 'nothing is inferred',
    template: 'operations: [{filter: {where: "true"}}]',
    input: 'id,n,d,e,p,b\n007,1E5,01.02.2026,12345678901234567890,+49 30 1,TRUE\n',
    output: 'id,n,d,e,p,b\n007,1E5,01.02.2026,12345678901234567890,+49 30 1,TRUE\n',
  },
]);

golden('quotes', [
  {
    name: 'how a field was quoted never shows',
    template: PASS,
    input: 'a,"b"\n"x","y ""z"""\n"1,2","l1\nl2"\n',
    output: 'a,b\nx,"y ""z"""\n"1,2","l1\nl2"\n',
  },
  {
    name: 'a quote inside an unquoted field is a letter',
    template: PASS,
    input: 'a,b\n5" pipe,x\n',
    output: 'a,b\n"5"" pipe",x\n',
  },
  {
    name: 'text after a closing quote: the field is taken as it stands, and counted',
    template: PASS,
    input: 'a,b\n"x" y,1\n2,"p,q" r\n',
    output: 'a,b\n"""x"" y",1\n2,"""p,q"" r"\n',
    errors: ['input: STRAY_QUOTE 2 1 2'],
  },
  {
    name: 'stray_quotes fail',
    template: 'input: {csv: {stray_quotes: fail}}\noperations: []',
    input: 'a,b\n"x" y,1\n',
    error: 'MALFORMED_FILE',
  },
  {
    name: 'no quotes at all',
    template: "input: {csv: {quote: ''}}\noperations: []",
    input: 'a,b\n"x",y\n',
    output: 'a,b\n"""x""",y\n',
  },
  {
    name: 'single quotes',
    template: 'input: {csv: {quote: "\'"}}\noperations: []',
    input: "a,b\n'x,1',y\n",
    output: 'a,b\n"x,1",y\n',
  },
  { name: 'a quote that is not closed', template: PASS, input: 'a,b\n"x,y\n1,2\n', error: 'MALFORMED_FILE' },
  ...['\n', '\r\n', '\r'].map((end) => ({
    name: `a quote that is not closed on its line is an ordinary character: ${JSON.stringify(end)}`,
    template: 'input: {csv: {delimiter: ","}}\noperations: []',
    input: ['id,name', '1,Zoe', '2,"Jon', '3,Bob', '4,"Ann"', '5,"', '6,"x,y"', ''].join(end),
    output: 'id,name\n1,Zoe\n2,"""Jon"\n3,Bob\n4,Ann\n5,""""\n6,"x,y"\n',
    errors: ['input: STRAY_QUOTE 2 2 5'],
  })),
  {
    name: 'such quotes in more rows than are read again',
    template: 'input: {csv: {delimiter: ","}}\noperations: []',
    input: `id,name\n${'1,"Jon\n2,"Ann"\n'.repeat(1001)}`,
    error: 'MALFORMED_FILE',
  },
  {
    name: 'such a quote in a row of another length',
    template: 'input: {csv: {ragged: reject}}\noperations: [{slice: {limit: 3}}]',
    input: 'id,name\n1,"Jon,3\n2,Bob\n3,"Ann"\n4,"Zoe"\n',
    output: 'id,name\n2,Bob\n3,Ann\n4,Zoe\n',
  },
  {
    name: 'such a quote above the header, and with a delimiter that is not ASCII',
    template: 'input: {csv: {delimiter: "¦", header_row: 1}}\noperations: []',
    input: 'x¦"Jon\n3¦"Ann"\nid¦name\n1¦2\n',
    error: 'MALFORMED_FILE',
  },
  {
    name: 'line breaks and doubled quotes inside a quoted field that is closed',
    template: PASS,
    input: 'a,b\n"x\n""y"" z",1\n',
    output: 'a,b\n"x\n""y"" z",1\n',
    errors: [],
  },
]);

golden('line ends and blank lines', [
  { name: 'mixed', template: PASS, input: 'a,b\r\n1,2\n3,4\r5,6', output: 'a,b\n1,2\n3,4\n5,6\n' },
  { name: 'blank lines are skipped', template: PASS, input: 'a,b\n\n1,2\n\r\n\n3,4\n\n', output: 'a,b\n1,2\n3,4\n' },
  {
    name: 'in a file of one column they are nulls, and written so that they can be read again',
    template: 'operations: [{set: {columns: {n: run.row}}}]',
    input: 'a\nx\n\ny\n',
    output: 'a,n\nx,1\n,2\ny,3\n',
  },
  { name: 'one column comes out as it went in', template: PASS, input: 'a\nx\n\ny\n', output: 'a\nx\n""\ny\n' },
  {
    name: 'source rows do not count blank lines',
    template: 'operations: [{set: {columns: {n: run.row}}}]',
    input: 'a,b\n\n1,2\n\n3,4\n',
    output: 'a,b,n\n1,2,1\n3,4,2\n',
  },
]);

golden('ragged rows', [
  {
    name: 'short ones are filled and counted, empty extra fields are nothing, others are dropped and counted',
    template: PASS,
    input: 'a,b,c\n1\n1,2\n1,2,3,\n1,2,3,,\n1,2,3,4\n',
    output: 'a,b,c\n1,,\n1,2,\n1,2,3\n1,2,3\n1,2,3\n',
    errors: ['input: SHORT_ROW 2 1 2', 'input: RAGGED_ROW 1 5'],
  },
  {
    name: 'fail: too short',
    template: 'input: {csv: {ragged: fail}}\noperations: []',
    input: 'a,b\n1,2\n1\n',
    error: 'MALFORMED_FILE',
  },
  {
    name: 'fail: too long',
    template: 'input: {csv: {ragged: fail}}\noperations: []',
    input: 'a,b\n1,2,3\n',
    error: 'MALFORMED_FILE',
  },
]);

golden('rows of several lengths in a file without a header', [
  {
    name: 'the widest of the first rows says how many columns there are',
    template: 'input: {csv: {header_row: none, delimiter: ","}}\noperations: []',
    input: 'H,1\nD,2,3,4,,\nT,5\n',
    output: 'column_1,column_2,column_3,column_4\nH,1,,\nD,2,3,4\nT,5,,\n',
    errors: ['input: SHORT_ROW 2 1 3'],
  },
  {
    name: 'a wider row after them is counted',
    template: 'input: {csv: {header_row: none, delimiter: ";"}}\noperations: [{filter: {where: \'column_1 == "0"\'}}]',
    input: `${'1;2\n'.repeat(20_000)}0;1;2\n`,
    output: 'column_1,column_2\n0,1\n',
    errors: ['input: RAGGED_ROW 1 20001'],
  },
  {
    name: 'with a delimiter that is not ASCII, and another quote',
    template: `input: {csv: {header_row: none, delimiter: "¦", quote: "'"}}\noperations: []`,
    input: "1\r\n'2¦'¦3\r\n",
    output: 'column_1,column_2\n1,\n2¦,3\n',
    errors: ['input: SHORT_ROW 1 1'],
  },
]);

/** Texts of single bytes, or of ASCII followed by UTF-16, and the line of the first NUL byte. */
const NUL_BYTES_IN_TEXTS: readonly (readonly [name: string, input: Buffer, line: number])[] = [
  ['two in a short file', Buffer.from('id,city,since\n7,b,1999\0\n8,\0,2003\n'), 2],
  ['after each third character', Buffer.from('ab,\0cd,\0ef\nab,\0cd,\0ef\n'), 1],
  ['before each line break', Buffer.from(`id,city\n${'7,Berlin\0\n8,Paris1\0\n'.repeat(50)}`), 2],
  [
    'rows of UTF-16 after a header of ASCII',
    Buffer.concat([Buffer.from('number,name,place of birth,born\n'), Buffer.from('1,a,b,2\n'.repeat(90), 'utf16le')]),
    2,
  ],
];

golden('NUL bytes', [
  {
    name: 'left out where the Template says so',
    template: 'input: {csv: {nul_bytes: drop}}\noperations: []',
    input: 'a\0,b\n\0\n1,\0\n\x002,3\n',
    output: 'a,b\n1,\n2,3\n',
  },
  ...['', 'input: {csv: {encoding: auto}}\n'].flatMap((input) =>
    NUL_BYTES_IN_TEXTS.map(([name, bytes, line]) => ({
      name: `are no UTF-16: ${name}${input === '' ? '' : ', auto'}`,
      template: `${input}operations: []`,
      input: bytes,
      error: `MALFORMED_FILE: Line ${line} contains a NUL byte, so the file is not text. Write input.csv.nul_bytes: drop into the Template to leave NUL bytes out.`,
    })),
  ),
  {
    name: 'in a text of another encoding without its name',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: Buffer.from('a,b\nM\xfcller\0,\xe9t\xe9\nJ\xf6rg,\0\n', 'latin1'),
    error:
      'MALFORMED_FILE: The file is not valid UTF-8, and lines with letters beyond ASCII contain NUL bytes, as in a file that is not text. If it is text, declare its encoding in the Template (input.csv.encoding), and write input.csv.nul_bytes: drop to leave NUL bytes out.',
  },
  {
    name: 'in a text of another encoding whose name is declared',
    template: 'input: {csv: {encoding: windows-1252, nul_bytes: drop}}\noperations: []',
    input: Buffer.from('a,b\nM\xfcller\0,\xe9t\xe9\nJ\xf6rg,\0\n', 'latin1'),
    output: 'a,b\nMüller,été\nJörg,\n',
  },
]);

golden('encodings and compression', [
  { name: 'byte order mark', template: PASS, input: '\uFEFFa,b\nä,2\n', output: 'a,b\nä,2\n' },
  { name: 'byte order mark before a quote', template: PASS, input: '\uFEFF"a","b"\n1,2\n', output: 'a,b\n1,2\n' },
  { name: 'UTF-16', template: PASS, input: utf16('a;b\nä€;😀\n'), output: 'a,b\nä€,😀\n' },
  {
    name: 'windows-1252, its marks above 0x7F included',
    template: 'input: {csv: {encoding: windows-1252}}\noperations: []',
    input: Buffer.from([0x61, 0x2c, 0x62, 10, 0x80, 0x2c, 0xe4, 10, 0x96, 0x2c, 0x93, 0x94, 10]),
    output: 'a,b\n€,ä\n–,“”\n',
  },
  {
    name: 'not UTF-8, and nothing said of it',
    template: PASS,
    input: Buffer.from([0x61, 0x2c, 0x62, 10, 0xe4, 0x2c, 0x31, 10]),
    error: 'MALFORMED_FILE',
  },
  {
    name: 'a list: the first in which the whole file is valid',
    template: 'input: {csv: {encoding: [utf-8, windows-1252]}}\noperations: []',
    input: Buffer.from('a,b\n\xe4,\x80\n', 'latin1'),
    output: 'a,b\nä,€\n',
  },
  {
    name: 'a list: UTF-8 is valid',
    template: 'input: {csv: {encoding: [utf-8, windows-1252]}}\noperations: []',
    input: 'a,b\nä,€\n',
    output: 'a,b\nä,€\n',
  },
  {
    name: 'an invalid byte further down: nothing stays of the first try',
    template: 'input: {csv: {encoding: [utf-8, windows-1252]}}\noperations: [{set: {columns: {n: run.row}}}]',
    input: Buffer.from(`a,b\n${'x,y,z\n'.repeat(3)}${'x,y\n'.repeat(20_000)}\xe4,1\n`, 'latin1'),
    output: `a,b,n\n${Array.from({ length: 20_003 }, (_, row) => `x,y,${row + 1}\n`).join('')}ä,1,20004\n`,
    errors: ['input: RAGGED_ROW 3 1 2 3'],
  },
  {
    name: 'a list of which none is right',
    template: 'input: {csv: {encoding: [utf-8, shift_jis]}}\noperations: []',
    input: Buffer.from('a,b\nf\xfcr,M\xfcll\n', 'latin1'),
    error:
      'MALFORMED_FILE: Line 2 is not valid UTF-8. Most likely it is windows-1252: write input.csv.encoding: windows-1252 into the Template.',
  },
  {
    name: 'auto',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 10, 0xec, 0xe8, 0xf0, 10]),
    output: 'Привет\nмир\n',
  },
  {
    name: 'auto: an invalid byte after all that was looked at first',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: Buffer.from(`a,b\n${'x,y\n'.repeat(30_000)}M\xfcller,Stra\xdfe\n`, 'latin1'),
    output: `a,b\n${'x,y\n'.repeat(30_000)}Müller,Straße\n`,
  },
  {
    name: 'auto: UTF-8 is UTF-8',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: 'a,b\nMüller,€\n',
    output: 'a,b\nMüller,€\n',
  },
  {
    name: 'auto: UTF-16 without a mark',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: Buffer.from('a,b\nMüller,Łódź\n', 'utf16le'),
    output: 'a,b\nMüller,Łódź\n',
  },
  {
    name: 'auto: UTF-16 of kana without a mark, in a short file',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: Buffer.from('なまえ,とし\nさとう,30\nすずき,4\n', 'utf16le'),
    output: 'なまえ,とし\nさとう,30\nすずき,4\n',
  },
  {
    name: 'auto: UTF-16 of Chinese characters without a mark, in a short file',
    template: 'input: {csv: {encoding: auto}}\noperations: []',
    input: Buffer.from('姓名,年龄\n张三,30\n', 'utf16le').swap16(),
    output: '姓名,年龄\n张三,30\n',
  },
  {
    name: 'the most likely encoding is named where none is',
    template: PASS,
    input: Buffer.from('a,b\nM\xfcller,Stra\xdfe\n', 'latin1'),
    error:
      'MALFORMED_FILE: Line 2 is not valid UTF-8. Most likely it is windows-1252: write input.csv.encoding: windows-1252 into the Template.',
  },
  {
    name: 'a byte order mark of UTF-8 before what is not',
    template: 'input: {csv: {encoding: [utf-8, windows-1252]}}\noperations: []',
    input: Buffer.concat([Buffer.from('\uFEFF'), Buffer.from('a,b\n\xe4,1\n', 'latin1')]),
    output: 'a,b\nä,1\n',
  },
  {
    name: 'a code page of DOS',
    template: 'input: {csv: {encoding: cp850}}\noperations: []',
    input: Buffer.from([0x61, 10, 0x84, 0x94, 0x81, 0xe1, 10]),
    output: 'a\näöüß\n',
  },
  {
    name: 'a byte that the encoding lacks',
    template: 'input: {csv: {encoding: windows-1253}}\noperations: []',
    input: Buffer.from('stra\xdfe\nK\xd2ln stra\xdfe\nM\xfcller f\xfcr\n', 'latin1'),
    error:
      'MALFORMED_FILE: Line 2 is not valid windows-1253. Most likely it is windows-1252: write input.csv.encoding: windows-1252 into the Template.',
  },
  {
    name: 'names that are none',
    template: 'input: {csv: {encoding: [utf-8, windws-1252, latin1, cp1252, auto]}}\noperations: []',
    problems: ['/input/csv/encoding/1 BAD_VALUE', '/input/csv/encoding/3 BAD_VALUE', '/input/csv/encoding/4 BAD_VALUE'],
  },
  {
    name: 'an empty list',
    template: 'input: {csv: {encoding: []}}\noperations: []',
    problems: ['/input/csv/encoding BAD_TYPE'],
  },
  { name: 'gzip', template: PASS, input: gzipSync('a,b\n1,2\n'), output: 'a,b\n1,2\n' },
  {
    name: 'gzip of several members',
    template: PASS,
    input: Buffer.concat([gzipSync('a,b\n1,'), gzipSync('2\n3,4\n')]),
    output: 'a,b\n1,2\n3,4\n',
  },
  { name: 'gzip cut off', template: PASS, input: gzipSync('a,b\n1,2\n').subarray(0, 20), error: 'MALFORMED_FILE' },
  { name: 'empty', template: PASS, input: '', error: 'MALFORMED_FILE: The file is empty.' },
  { name: 'blank lines only', template: PASS, input: '\n\r\n\n', error: 'MALFORMED_FILE' },
  { name: 'markup', template: PASS, input: '<!DOCTYPE html><html></html>', error: 'UNSUPPORTED_FILE_TYPE' },
]);

golden('detection', [
  {
    name: 'semicolons and decimal commas',
    template: PASS,
    input: 'd;v\n1;2,50\n3;4,00\n',
    output: 'd,v\n1,"2,50"\n3,"4,00"\n',
  },
  { name: 'tabs', template: PASS, input: 'a\tb\n1\t2,3\n', output: 'a,b\n1,"2,3"\n' },
  { name: 'pipes', template: PASS, input: 'a|b\n1|2\n', output: 'a,b\n1,2\n' },
  { name: 'a mark of several bytes', template: PASS, input: 'a¦b\n1¦"2¦3"\n', output: 'a,b\n1,2¦3\n' },
  {
    name: 'one column of names keeps its spaces',
    template: PASS,
    input: 'name\nAda Lovelace\nBob\n',
    output: 'name\nAda Lovelace\nBob\n',
  },
  { name: 'one column of times', template: PASS, input: 'at\n12:30\n13:45\n', output: 'at\n12:30\n13:45\n' },
  {
    name: 'words above the table',
    template: 'input: {columns: [{name: amount, match: [Betrag]}]}\noperations: []',
    input: 'Kontoauszug;;\nKonto;DE1;\n\nTag;Text;Betrag\n01.02.2026;a;1,00\n',
    output: 'Tag,Text,amount\n01.02.2026,a,"1,00"\n',
  },
  { name: 'headers with gaps', template: PASS, input: 'a,,,b\n1,2,3,4\n', output: 'a,column_2,column_3,b\n1,2,3,4\n' },
  { name: 'data alone has no header', template: PASS, input: '1,2\n3,4\n', output: 'column_1,column_2\n1,2\n3,4\n' },
  {
    name: 'a delimiter at the end of every row',
    template: PASS,
    input: 'a,b,c\n1,2,3,\n4,5,6,\n',
    output: 'a,b,c\n1,2,3\n4,5,6\n',
  },
  { name: 'a row with a field too many', template: PASS, input: 'a,b\nx,y,z\n', output: 'a,b\nx,y\n' },
  {
    name: 'rows with fields too many',
    template: PASS,
    input: 'a,b\n1,2,3\n4,5,6\n7,8,9\n',
    output: 'a,b\n1,2\n4,5\n7,8\n',
  },
  { name: 'a header alone', template: PASS, input: 'a,b\n', output: 'a,b\n' },
  { name: 'a header alone, without a line end', template: PASS, input: 'a,b', output: 'a,b\n' },
]);

golden('no rows', [
  {
    name: 'every operation gives its columns without a row',
    template: `operations:
  - {parse_number: {columns: [amount]}}
  - {parse_date: {columns: [day], formats: [dd.MM.yyyy]}}
  - {set: {columns: {double: "amount * 2"}}}
  - {split_column: {column: name, by: {separator: " "}, into: [first, last]}}
  - {filter: {where: "amount > 0d"}}
  - {sort: {by: [amount]}}
  - {dedupe: {}}`,
    input: 'day,name,amount\n',
    output: 'day,first,last,amount,double\n',
  },
  {
    name: 'aggregate over nothing gives no group',
    template: 'operations: [{aggregate: {group_by: [a], metrics: [{fn: count, as: n}]}}]',
    input: 'a,b\n',
    output: 'a,n\n',
  },
  { name: 'JSON', template: 'operations: []\noutput: {format: json}', input: 'a,b\n', output: '[]\n' },
  { name: 'NDJSON', template: 'operations: []\noutput: {format: ndjson}', input: 'a,b\n', output: '' },
]);

const ARCHIVE = zipOf([
  { name: 'export/Orders.csv', content: 'a,b\n1,2\n' },
  { name: 'export/lines.ndjson', content: '{"a":7,"b":8}\n' },
  { name: 'readme.txt', content: 'hello' },
]);
const chosen = (name: string): string => `input: {archive_file: "${name}"}`;
const noMatch = (number: string, name: string): string =>
  `UNSUPPORTED_FILE_TYPE: The file is a ZIP archive in which ${number} of 3 match "${name}" (input.archive_file). Exactly one must match.`;

golden('a file of a ZIP archive', [
  { name: 'by its name', template: chosen('orders.csv'), input: ARCHIVE, output: 'a,b\n1,2\n' },
  { name: 'by a pattern', template: chosen('L*s.*json'), input: ARCHIVE, output: 'a,b\n7,8\n' },
  { name: 'an only file', template: chosen('*'), input: zipOf([{ name: 'x', content: 'a\n1\n' }]), output: 'a\n1\n' },
  { name: 'of which there is none', template: chosen('*.xlsx'), input: ARCHIVE, error: noMatch('no file', '*.xlsx') },
  {
    name: 'of which there are several',
    template: chosen('*r*'),
    input: ARCHIVE,
    error: `${noMatch('2 files', '*r*')} To read all of them, write input.archive_files: "*r*".`,
  },
  {
    name: 'parts may not overlap',
    template: chosen('orders*s.csv'),
    input: ARCHIVE,
    error: noMatch('no file', 'orders*s.csv'),
  },
  { name: 'without a name', template: PASS, input: ARCHIVE, error: 'UNSUPPORTED_FILE_TYPE' },
  { name: 'a wrong declaration', template: 'input: {archive_file: 3}', problems: ['/input/archive_file BAD_TYPE'] },
  { name: 'any other file is read as always', template: chosen('*.csv'), input: 'a\n1\n', output: 'a\n1\n' },
]);
