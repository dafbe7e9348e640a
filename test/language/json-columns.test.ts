// parse_json, to_json and flatten_json: JSON in and out of cells.
import { golden } from './golden.ts';

golden('JSON in cells', [
  {
    name: 'parsed JSON nests in a JSON output, digits as written',
    template: `operations: [{parse_json: {columns: [d]}}]
output: {format: ndjson}`,
    input: 'id\td\n1\t{"a": [1.50, "x"], "b": null}\n2\tnull\n',
    output: '{"id":"1","d":{"a": [1.50, "x"], "b": null}}\n{"id":"2","d":null}\n',
  },
  {
    name: 'what is no JSON ends the Run',
    template: 'operations: [{parse_json: {columns: [d]}}]',
    input: 'd\tx\n{}\t1\n{\t2\n',
    error: 'TEMPLATE_ROW_ERROR',
  },
  {
    name: 'into, only some rows, flagged',
    template: 'operations: [{parse_json: {columns: [d], into: j, where: x != "2", on_error: flag}}]',
    input: 'd\tx\n[]\t1\n[]\t2\n[\t3\n',
    output: 'd,x,j,_issues\n[],1,[],\n[],2,,\n[,3,,d:BAD_JSON\n',
    errors: ['parse_json: BAD_JSON 1 3'],
  },
  {
    name: 'an object of columns, nested JSON and nulls included',
    template: `operations:
  - parse_json: {columns: [d]}
  - cast: {columns: {n: integer}}
  - to_json: {columns: [n, d, t], into: all}
  - select: {columns: [all]}`,
    input: 'n\td\tt\n5\t[1]\t"q" \\\n\t\té\n',
    output: '"{""n"":5,""d"":[1],""t"":""\\""q\\"" \\\\""}"\n"{""n"":null,""d"":null,""t"":""é""}"\n'.replace(
      /^/,
      'all\n',
    ),
  },
  {
    name: 'paths: keys with dots, items, values of all kinds, what is not there',
    template: `operations:
  - flatten_json:
      column: j
      fields: {'["a.b"]': a, 'c[1][0]': b, 'c.x': none, 'd.e.f': deep, g: g, '[0]': item}
  - drop: {columns: [j]}`,
    input: 'j\tx\n{"a.b": "q\\u00e9", "c": [0, [true]], "d": {"e": {"f": {"h": -1e5}}}, "g": ""}\t1\n[7]\t2\n7\t3\n',
    output: 'x,a,b,none,deep,g,item\n1,qé,true,,"{""h"": -1e5}",,\n2,,,,,,7\n3,,,,,,\n',
  },
  {
    name: 'one error for a cell, however many fields',
    template: 'operations: [{flatten_json: {column: j, fields: {a: a, b: b}, on_error: drop_row}}]',
    input: 'j\tx\n{"a":1,"b":2}\t1\n{\t2\n',
    output: 'j,x,a,b\n"{""a"":1,""b"":2}",1,1,2\n',
    errors: ['flatten_json: BAD_JSON 1 2'],
  },
  {
    name: 'paths that are none',
    template: 'operations: [{flatten_json: {column: j, fields: {"a..b": a, "[x]": b, "a[": c}}}]',
    problems: [
      '/operations/0/flatten_json/fields/a..b BAD_PATH',
      '/operations/0/flatten_json/fields/[x] BAD_PATH',
      '/operations/0/flatten_json/fields/a[ BAD_PATH',
    ],
  },
]);

golden('values of JSON in expressions', [
  {
    name: 'keep the digits of whole numbers and the order of keys',
    template: `
operations:
  - {parse_json: {columns: j}}
  - {set: {columns: {o: j, id: j.id, t: 'string(j.id)', big: 'j.id > 9007199254740993', u: 'j.u'}}}`,
    input: `j
"{""b"": ""x\\""}\\\\"" , ""10"":[ ],""1"":[1.5, {}],""id"":9007199254740994,""u"":18446744073709551615}"
"{""id"": -9223372036854775808, ""u"": 1e20, ""z"": 123456789012345678901234567890}"
"{""id"":7,""u"":null,""id"":9007199254740993 }"
`,
    output: `j,o,id,t,big,u
"{""b"": ""x\\""}\\\\"" , ""10"":[ ],""1"":[1.5, {}],""id"":9007199254740994,""u"":18446744073709551615}","{""b"":""x\\""}\\\\"",""10"":[],""1"":[1.5,{}],""id"":9007199254740994,""u"":18446744073709551615}",9007199254740994,9007199254740994,true,18446744073709551615
"{""id"": -9223372036854775808, ""u"": 1e20, ""z"": 123456789012345678901234567890}","{""id"":-9223372036854775808,""u"":100000000000000000000,""z"":1.2345678901234568e+29}",-9223372036854775808,-9223372036854775808,false,100000000000000000000
"{""id"":7,""u"":null,""id"":9007199254740993 }","{""id"":9007199254740993,""u"":null}",9007199254740993,9007199254740993,false,
`,
  },
]);

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const DEEP = `j\n${nested(201)}\n${nested(2_000_000)}\n${nested(3)}\n`;

golden('JSON that is nested deeper than 200 is BAD_JSON wherever it is read', [
  {
    name: 'the limit itself',
    template: 'operations: [{parse_json: {columns: j}}, {set: {columns: {j: "j[0][0]"}}}]',
    input: `j\n${nested(200)}\n`,
    output: `j\n${nested(198)}\n`,
  },
  ...[
    ['parse_json: {columns: j, on_error: drop_row}', 'j\n[[[]]]\n'],
    ['cast: {columns: {j: json}, on_error: drop_row}', 'j\n[[[]]]\n'],
    ['flatten_json: {column: j, fields: {"[0][0]": a}, on_error: drop_row}', 'j,a\n[[[]]],[]\n'],
    ['explode: {column: j, json: true, on_error: drop_row}', 'j\n[[]]\n'],
    ['validate: {rules: [{column: j, check: type, type: json, on_error: drop_row}]}', 'j\n[[[]]]\n'],
  ].map(([operation, output]) => ({
    name: operation!,
    template: `operations: [{${operation}}]`,
    input: DEEP,
    output: output!,
    errors: [`${operation!.split(':')[0]}: BAD_JSON 2 1 2`],
  })),
]);

golden('a JSON column contains valid JSON, or null', [
  {
    name: 'nothing that is no JSON can be kept',
    template: `
operations:
  - {parse_json: {columns: j, on_error: keep}}
  - {cast: {columns: {k: json}, on_error: keep}}
  - {set: {columns: {id: 'j.id'}}}
output: {format: ndjson}`,
    input: 'j\tk\n1,"admin":true\t{\n{"id":7}\t[1]\n\t\n',
    output: '{"j":null,"k":null,"id":null}\n{"j":{"id":7},"k":[1],"id":7}\n{"j":null,"k":null,"id":null}\n',
    errors: ['parse_json: BAD_JSON 1 1', 'cast: BAD_JSON 1 1'],
  },
  {
    name: 'cells that cannot be computed in a column that becomes JSON',
    template: `
operations:
  - {set: {columns: {a: '[10 / int(n)]'}, on_error: keep}}
  - {set: {columns: {b: 'dyn([int(n)])'}, on_error: keep}}
output: {format: ndjson}`,
    input: 'n,a,b\n5,raw,raw\nx,raw,raw\n0,raw,raw\n',
    output: '{"n":"5","a":[2],"b":[5]}\n{"n":"x","a":null,"b":null}\n{"n":"0","a":null,"b":[0]}\n',
    errors: ['set: NOT_A_NUMBER 1 2', 'set: EXPR_DIV_ZERO 1 3', 'set: NOT_A_NUMBER 1 2'],
  },
  {
    name: 'JSON and texts that stay what they are can be kept',
    template: `
operations:
  - {parse_json: {columns: j}}
  - {set: {columns: {j: '[10 / int(n)]', t: 'string(10 / int(n))'}, on_error: keep}}
output: {format: ndjson}`,
    input: 'n\tj\tt\n0\t{"a":1}\traw\n5\t{"a":1}\traw\n',
    output: '{"n":"0","j":{"a":1},"t":"raw"}\n{"n":"5","j":[2],"t":"2"}\n',
  },
]);

golden('JSON values one after the other', [
  {
    name: 'pages that hold their records in an object are not joined',
    template: 'input: {json: {records: /items}}\noperations: []',
    input: '{"items":[{"a":1}]}\n{"items":[{"a":2}]}\n',
    error:
      'MALFORMED_FILE: Line 2, column 1: the end of the file is expected after its JSON, and another value begins. If the ' +
      'list of records is inside an object, the file holds one such object. Write one record per line, for example ' +
      "with jq -c '.KEY[]', and leave out input.json.records.",
  },
  {
    name: 'that command makes a file that can be read',
    template: 'operations: []',
    input: '{"a":1}\n{"a":2}\n',
    output: 'a\n1\n2\n',
  },
]);

golden('NaN and Infinity', [
  {
    name: 'are null if the Template says so, also inside objects and lists',
    template: 'input: {json: {nan: blank}}\noperations: []\noutput: {format: ndjson}',
    input: '[{"a":NaN,"b":{"c":[-Infinity,1]},"d":"NaN"},{"a":Infinity,"b":-1,"d":"\\"NaN"}]',
    output: '{"a":null,"b":{"c":[null,1]},"d":"NaN"}\n{"a":null,"b":-1,"d":"\\"NaN"}\n',
  },
  {
    name: 'are null in lists of lists and in named columns',
    template:
      'input: {json: {nan: blank}, columns: [{name: a}], other_columns: drop}\noperations: []\noutput: {format: ndjson}',
    input: '[["a","b"],[NaN,NaN],[1,2]]',
    output: '{"a":null}\n{"a":1}\n',
  },
  {
    name: 'refuse the file otherwise',
    template: 'operations: []',
    input: '[{"a":NaN}]',
    error:
      'MALFORMED_FILE: Line 1, column 7: a value is expected. NaN and Infinity are not JSON. Write null instead, or read them as null (input.json.nan: blank).',
  },
]);
