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
