// Outputs: CSV and TSV settings, the formula guard, encodings, JSON layouts, nesting, columns.
import { golden } from './golden.ts';

const TYPED = `
  - {cast: {columns: {n: decimal, i: integer, f: number, b: boolean, d: date, z: datetime}}}`;
const ROW = 't,n,i,f,b,d,z\nx,1.50,7,0.5,true,2026-01-31,2026-01-31T12:00:00Z\n,,,,,,\n';

golden('CSV', [
  {
    name: 'the defaults',
    template: `operations:${TYPED}`,
    input: ROW,
    output: 't,n,i,f,b,d,z\nx,1.50,7,0.5,true,2026-01-31,2026-01-31T12:00:00Z\n,,,,,,\n',
  },
  {
    name: 'German',
    template: `operations:${TYPED}
output: {csv: {delimiter: ";", decimal: ",", date_format: dd.MM.yyyy, boolean: [ja, nein], "null": "-", line_ending: crlf}}`,
    input: ROW,
    output: 't;n;i;f;b;d;z\r\nx;1,50;7;0,5;ja;31.01.2026;2026-01-31T12:00:00Z\r\n-;-;-;-;-;-;-\r\n',
  },
  {
    name: 'a decimal comma in a file of commas is quoted',
    template: 'operations: [{parse_number: {columns: [n]}}]\noutput: {csv: {decimal: ","}}',
    input: 'n,x\n1.50,1\n7,2\n',
    output: 'n,x\n"1,50",1\n7,2\n',
  },
  {
    name: 'all quoted',
    template: 'operations: [{parse_number: {columns: [n]}}]\noutput: {csv: {quoting: all}}',
    input: 't,n\na"b,1\n,\n',
    output: '"t","n"\n"a""b","1"\n"",""\n',
  },
  {
    name: 'texts quoted',
    template: 'operations: [{parse_number: {columns: [n]}}]\noutput: {csv: {quoting: text}}',
    input: 't,n\na,1\n,2\n',
    output: '"t","n"\n"a",1\n,2\n',
  },
  {
    name: 'texts quoted: null differs from the empty text, and a text from the word for null',
    template: `
input: {null_values: ["-"]}
operations: [{set: {columns: {e: '""', n: 't == "a" ? null : t'}}}]
output: {csv: {quoting: text, "null": "NULL"}}`,
    input: 't,x\na,-\n,NULL\n',
    output: '"t","x","e","n"\n"a",NULL,"",NULL\n"","NULL","",""\n',
  },
  {
    name: 'minimal quotes nothing that does not need it',
    template: 'operations: []',
    input: "a;b\n x ;y,z\n#1;a'b\n",
    output: 'a,b\n x ,"y,z"\n#1,a\'b\n',
  },
  {
    name: 'a line break in a cell',
    template: 'operations: []',
    input: 'a,b\n"x\r\ny","u\rv"\n',
    output: 'a,b\n"x\r\ny","u\rv"\n',
  },
  {
    name: 'no header',
    template: 'operations: []\noutput: {csv: {header: false}}',
    input: 'a,b\n1,2\n',
    output: '1,2\n',
  },
  {
    name: 'a byte order mark',
    template: 'operations: []\noutput: {csv: {bom: true}}',
    input: 'a,b\n1,2\n',
    output: '\uFEFFa,b\n1,2\n',
  },
  {
    name: 'headers are quoted as cells are',
    template: 'operations: [{rename: {columns: {a: "x,y", b: "say \\"b\\""}}}]',
    input: 'a,b\n1,2\n',
    output: '"x,y","say ""b"""\n1,2\n',
  },
  {
    name: 'tabs',
    template: 'operations: []\noutput: {format: tsv}',
    input: 'a,b\n1,"2,3"\n"x\ty",z\n',
    output: 'a\tb\n1\t2,3\n"x\ty"\tz\n',
  },
  {
    name: 'columns of the output',
    template: 'operations: []\noutput: {columns: [c, a]}',
    input: 'a,b,c\n1,2,3\n',
    output: 'c,a\n3,1\n',
  },
  {
    name: 'all but some columns',
    template: 'operations: []\noutput: {columns: {except: [b]}}',
    input: 'a,b,c\n1,2,3\n',
    output: 'a,c\n1,3\n',
  },
  {
    name: 'a column that is not there',
    template: 'operations: [{select: {columns: [a]}}]\noutput: {columns: [b]}',
    problems: ['/output/columns/0 UNKNOWN_COLUMN'],
  },
  {
    name: 'characters that an encoding lacks',
    template: 'operations: []\noutput: {csv: {encoding: windows-1252}}',
    input: 'a,b\n😀,1\n',
    error: 'TEMPLATE_CHECK_FAILED',
  },
]);

golden('formula guard', [
  {
    name: 'auto',
    template: 'operations: []',
    input: 'a,b\n=1+1,@x\n-5,+5\n-x,+49 30 123456\n"\tx",+1-1\n-1.234\u002C50,-SUM(1)\n"-1,5",a=b\n',
    output: "a,b\n'=1+1,'@x\n-5,+5\n'-x,+49 30 123456\n'\tx,'+1-1\n-1.234,50\n\"-1,5\",a=b\n",
  },
  {
    name: 'auto leaves amounts, times and dashes',
    template: 'operations: []',
    input: 'a\tb\n-\t--\n- \t-5 €\n-5€\t-€ 5\n+$5.20\t-12:30\n-1:05:59.5\t-12:3\n-12:60\t-5 EUR\n-€\t-1:A1\n',
    output: "a,b\n-,--\n- ,-5 €\n-5€,-€ 5\n+$5.20,-12:30\n-1:05:59.5,'-12:3\n'-12:60,-5 EUR\n'-€,'-1:A1\n",
  },
  {
    name: 'numbers and dates by their type are never touched',
    template: 'operations: [{parse_number: {columns: [n]}}]\noutput: {formula_guard: strict}',
    input: 'n,t\n-5,-5\n',
    output: "n,t\n-5,'-5\n",
  },
  {
    name: 'off',
    template: 'operations: []\noutput: {formula_guard: "off"}',
    input: 'a,b\n=1,@x\n',
    output: 'a,b\n=1,@x\n',
  },
  {
    name: 'fail',
    template: 'operations: []\noutput: {formula_guard: fail}',
    input: 'a,b\n1,=1\n',
    error: 'TEMPLATE_CHECK_FAILED',
  },
  {
    name: 'headers too',
    template: 'operations: []',
    input: '=a,b\n1,2\n',
    output: "'=a,b\n1,2\n",
  },
]);

golden('JSON', [
  {
    name: 'an array, values by their types',
    template: `operations:${TYPED}\noutput: {format: json}`,
    input: ROW,
    output:
      '[\n{"t":"x","n":1.50,"i":7,"f":0.5,"b":true,"d":"2026-01-31","z":"2026-01-31T12:00:00Z"},\n' +
      '{"t":null,"n":null,"i":null,"f":null,"b":null,"d":null,"z":null}\n]\n',
  },
  {
    name: 'a line for each row, decimals as texts, no nulls',
    template: `operations:${TYPED}\noutput: {format: ndjson, json: {decimals: string, nulls: omit}}`,
    input: ROW,
    output: '{"t":"x","n":"1.50","i":7,"f":0.5,"b":true,"d":"2026-01-31","z":"2026-01-31T12:00:00Z"}\n{}\n',
  },
  {
    name: 'nested by names',
    template: 'operations: []\noutput: {format: ndjson, json: {nest: "."}}',
    input: 'id,a.b,a.c.d,z\n1,2,3,4\n',
    output: '{"id":"1","a":{"b":"2","c":{"d":"3"}},"z":"4"}\n',
  },
  {
    name: 'nested without nulls',
    template: 'operations: []\noutput: {format: ndjson, json: {nest: ".", nulls: omit}}',
    input: 'id,a.b,a.c\n1,,\n2,x,\n',
    output: '{"id":"1"}\n{"id":"2","a":{"b":"x"}}\n',
  },
  {
    name: 'escapes',
    template: 'operations: []\noutput: {format: ndjson}',
    input: 'a,b\n"x""y\\z","l1\nl2\t\u0001"\n',
    output: '{"a":"x\\"y\\\\z","b":"l1\\nl2\\t\\u0001"}\n',
  },
  {
    name: 'whole numbers beyond 53 bits stand as they are',
    template: 'operations: [{cast: {columns: {i: integer}}}]\noutput: {format: ndjson}',
    input: 'i,x\n9007199254740993,1\n',
    output: '{"i":9007199254740993,"x":"1"}\n',
  },
  {
    name: 'layout wins over format',
    template: 'operations: []\noutput: {format: json, json: {layout: ndjson}}',
    input: 'a,b\n1,2\n',
    output: '{"a":"1","b":"2"}\n',
  },
  {
    name: 'no guard in JSON',
    template: 'operations: []\noutput: {format: ndjson}',
    input: 'a,b\n=1,2\n',
    output: '{"a":"=1","b":"2"}\n',
  },
]);
