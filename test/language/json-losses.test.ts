// Cells of JSON that are replaced or changed while the file is read: they are counted, or the file is refused.
import { golden } from './golden.ts';

const PASS = 'operations: []\noutput: {format: ndjson}';

golden('keys that a record has twice', [
  {
    name: 'filled values before the last one are counted',
    template: PASS,
    input: '[{"a":1,"b":"x"},{"a":1,"a":2,"b":"x"},{"a":1,"a":null,"b":1,"b":2,"b":3}]',
    output: '{"a":1,"b":"x"}\n{"a":2,"b":"x"}\n{"a":null,"b":3}\n',
    errors: ['input: DUPLICATE_KEY 4 2 3'],
  },
  {
    name: 'null and the empty text are not lost',
    template: PASS,
    input: '{"a":null,"a":1}\n{"a":"","a":2}\n',
    output: '{"a":1}\n{"a":2}\n',
    errors: [],
  },
  {
    name: 'in any order, and written with escapes',
    template: PASS,
    input: '{"a":1,"b":2,"c":3}\n{"c":1,"b":2,"a":3,"b":4}\n{"a":1,"\\u0061":2,"c":3}\n',
    output: '{"a":1,"b":2,"c":3}\n{"a":3,"b":4,"c":1}\n{"a":2,"b":null,"c":3}\n',
    errors: ['input: DUPLICATE_KEY 2 2 3'],
  },
  {
    name: 'in nested objects that become columns',
    template: `input: {json: {flatten: "."}}\n${PASS}`,
    input: '{"a":{"x":1,"x":2}}\n{"a":{"x":3},"a":{"x":4}}\n',
    output: '{"a.x":2}\n{"a.x":4}\n',
    errors: ['input: DUPLICATE_KEY 2 1 2'],
  },
  {
    name: 'a nested object that is a cell keeps both',
    template: PASS,
    input: '{"a":{"x":1,"x":2}}\n',
    output: '{"a":{"x":1,"x":2}}\n',
    errors: [],
  },
  {
    name: 'columns that are not used',
    template: `input: {columns: [{name: b}], other_columns: drop}\n${PASS}`,
    input: '{"a":1,"a":2,"b":3}\n',
    output: '{"b":3}\n',
    errors: [],
  },
]);

const REASON =
  'contains half of a surrogate pair (an escape from \\ud800 to \\udfff without its other half), which is not a character.';

golden('halves of surrogate pairs', [
  {
    name: 'in cells of records',
    template: PASS,
    input: '{"a":"x"}\n{"a":"y\\ud800"}\n{"a":"\\ud83d\\ude00"}\n{"a":"\\ude00\\ud83d"}\n',
    output: '{"a":"x"}\n{"a":"y\ufffd"}\n{"a":"😀"}\n{"a":"\ufffd\ufffd"}\n',
    errors: ['input: LONE_SURROGATE 2 2 4'],
  },
  {
    name: 'in cells of lists',
    template: PASS,
    input: '[["a"],["x"],["\\udfff"]]',
    output: '{"a":"x"}\n{"a":"\ufffd"}\n',
    errors: ['input: LONE_SURROGATE 1 2'],
  },
  {
    name: 'in a nested list, which keeps its escapes',
    template: PASS,
    input: '{"a":["\\ud800"]}\n',
    output: '{"a":["\\ud800"]}\n',
    errors: [],
  },
  {
    name: 'in a nested list, taken out by flatten_json',
    template: `operations: [{flatten_json: {column: a, fields: {x: x, y: y}}}]\noutput: {format: ndjson}`,
    input: '{"a":{"x":"\\ud800","y":"z"}}\n{"a":{"x":"\\ud83d\\ude00","y":"\\n"}}\n',
    output:
      '{"a":{"x":"\\ud800","y":"z"},"x":"\ufffd","y":"z"}\n{"a":{"x":"\\ud83d\\ude00","y":"\\n"},"x":"😀","y":"\\n"}\n',
    errors: ['flatten_json: LONE_SURROGATE 1 1'],
  },
  {
    name: 'U+FFFD itself',
    template: PASS,
    input: '{"a":"\ufffd \\ufffd"}\n',
    output: '{"a":"\ufffd \ufffd"}\n',
    errors: [],
  },
  {
    name: 'in a key',
    template: PASS,
    input: '[{"a":1},\n {"\\ud800":1}]',
    error: `MALFORMED_FILE: Line 2, column 3: a key ${REASON}`,
  },
  {
    name: 'in a key before a line break',
    template: PASS,
    input: '[{"a\\udfff"\n:1}]',
    error: `MALFORMED_FILE: Line 1, column 3: a key ${REASON}`,
  },
  {
    name: 'in a header',
    template: PASS,
    input: '[["a","\\ud800"],\n[1,2]]',
    error: `MALFORMED_FILE: Line 1, column 16: the header before this place ${REASON}`,
  },
]);
