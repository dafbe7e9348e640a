// Harmful Templates: refused by the check, or ended with a clear error in a Run with limited resources.
// With all tests only: attacks and faults of the machine.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { golden } from './golden.ts';

const repeated = (count: number, operation: string) => `operations:\n${`  - ${operation}\n`.repeat(count)}`;
const ROWS = 'a,b\nx,1\n';

golden('growth ends at the ceiling of a cell', [
  {
    name: 'doubling',
    template: repeated(40, "{set: {columns: {a: 'a + a'}}}"),
    input: ROWS,
    error: 'TEMPLATE_ROW_ERROR: Operation 23 set (line 1, /operations/22), column "a": TOO_LONG in row 1 of the data.',
  },
  {
    name: 'doubling, blanked',
    template: `defaults: {on_error: blank}\n${repeated(40, "{set: {columns: {a: 'a + a'}}}")}`,
    input: ROWS,
    output: 'a,b\n,1\n',
  },
  {
    name: 'merging a column with itself',
    template: repeated(30, '{merge_columns: {template: "{a}{a}{a}{a}{a}{a}{a}{a}", into: a}}'),
    input: ROWS,
    error: 'TEMPLATE_ROW_ERROR',
  },
  {
    name: 'replacing one by many',
    template: repeated(12, `{replace: {columns: [a], find: x, replace: ${'x'.repeat(60)}}}`),
    input: ROWS,
    error: 'TEMPLATE_ROW_ERROR',
  },
  {
    name: 'multiplying decimals',
    template: `defaults: {on_error: blank}\noperations:\n  - {parse_number: {columns: [b]}}\n${"  - {set: {columns: {b: 'b * b'}}}\n".repeat(20)}`,
    input: `a,b\nx,${'9'.repeat(30)}\n`,
    output: 'a,b\nx,\n',
  },
  {
    name: 'an exponent without end',
    template: 'operations: [{parse_number: {columns: [b], exponent: true, on_error: blank}}]',
    input: 'a,b\nx,1e999999999\n',
    output: 'a,b\nx,\n',
  },
]);

golden('patterns run in linear time or are refused', [
  {
    name: 'nested repetition over a long cell',
    template: `operations: [{replace: {columns: [a], mode: regex, find: '(x+x+)+y', replace: ''}}, {set: {columns: {n: 'size(a)'}}}, {drop: {columns: [a]}}]`,
    input: `a,b\n${'x'.repeat(200_000)},1\n`,
    output: 'b,n\n1,200000\n',
  },
  {
    name: 'repetition of repetition',
    template: `operations: [{replace: {columns: [a], mode: regex, find: '(((a{30}){30}){30})', replace: ''}}]`,
    problems: ['/operations/0/replace/find BAD_PATTERN'],
  },
  {
    name: 'a text that almost stands at each place of another',
    template: `operations: [{filter: {where: 'b.contains(a)', mode: drop}}, {set: {columns: {a: 'string(b.indexOf(a))', b: 'string(b.lastIndexOf(a))'}}}]`,
    input: `a,b\n${'x'.repeat(100_000)}y${'x'.repeat(100_000)},${'x'.repeat(1_000_000)}\n`,
    output: 'a,b\n-1,-1\n',
  },
]);

golden('numbers of a Template have ends', [
  {
    name: 'padding',
    template: 'operations: [{text: {columns: a, steps: [{pad_left: {length: 1000000000, char: x}}]}}]',
    problems: ['/operations/0/text/steps/0/pad_left/length BAD_VALUE'],
  },
  {
    name: 'a footer',
    template: 'operations: [{slice: {skip_last: 2000000000}}]',
    problems: ['/operations/0/slice/skip_last BAD_VALUE'],
  },
  {
    name: 'a scale',
    template: 'operations: [{round: {columns: a, scale: 100000}}]',
    problems: ['/operations/0/round/scale BAD_VALUE'],
  },
  {
    name: 'columns',
    template: `operations: [{set: {columns: {${Array.from({ length: 16_400 }, (_, column) => `c${column}: '1'`).join(', ')}}}}]`,
    problems: ['/operations/0/set/columns/c16384 TOO_MANY_COLUMNS'],
  },
]);

golden('an error names some of many', [
  {
    name: 'a column that twelve headers fit',
    template: 'input: {columns: [{name: x, match: [{pattern: c}]}]}\noperations: []',
    input: 'c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The column "x" is ambiguous: columns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more of the file fit. The file was read with delimiter ",", header row 0, 12 columns.',
  },
]);

golden('names and paths are only names', [
  {
    name: 'names of JavaScript',
    template:
      'operations: [{rename: {columns: {a: __proto__.x, b: constructor}}}]\noutput: {format: ndjson, json: {nest: "."}}',
    input: ROWS,
    output: '{"__proto__":{"x":"x"},"constructor":"1"}\n',
  },
  {
    name: 'in a map',
    template: 'operations: [{map_values: {columns: [a], map: {x: ok}, default: blank}}]',
    input: 'a,b\n__proto__,1\nconstructor,2\nx,3\n',
    output: 'a,b\n,1\n,2\nok,3\n',
  },
  {
    name: 'a table',
    template: 'tables: {t: {ref: ../../etc/passwd}}\noperations: []',
    problems: ['/tables/t/ref BAD_VALUE'],
  },
  {
    name: 'a secret',
    template: 'operations: [{hash: {columns: a, key: ../x}}]',
    problems: ['/operations/0/hash/key BAD_VALUE'],
  },
  {
    name: 'a digest without a key',
    template: 'operations: [{hash: {columns: a}}]',
    problems: ['/operations/0/hash MISSING_PARAMETER'],
  },
]);

/** Some 1,800 instructions that all stay active: 70 microseconds per character. */
const SLOW = '(?i)(?:[a-z]{1,30} ?){30}z$';
const LONG = `a,b\n${'aab'.repeat(30_000)},1\nzz,2\n`;

golden('a pattern that would walk a long cell for minutes', [
  {
    name: 'replace',
    template: `operations: [{replace: {columns: a, find: '${SLOW}', replace: '', mode: regex, on_error: drop_row}}]`,
    input: LONG,
    output: 'a,b\nzz,2\n',
    errors: ['replace: TOO_LONG 1 1'],
  },
  {
    name: 'extract',
    template: `operations: [{extract: {column: a, pattern: '${SLOW}', into: {"0": c}, on_error: drop_row}}]`,
    input: LONG,
    output: 'a,b,c\nzz,2,\n',
    errors: ['extract: TOO_LONG 1 1'],
  },
  {
    name: 'split_column',
    template: `operations: [{split_column: {column: a, by: {pattern: '${SLOW}'}, into: [c, d], on_error: drop_row}}]`,
    input: LONG,
    output: 'c,d,b\nzz,,2\n',
    errors: ['split_column: TOO_LONG 1 1'],
  },
  {
    name: 'validate',
    template: `operations: [{validate: {rules: [{column: a, check: pattern, pattern: '${SLOW}', on_error: drop_row}]}}]`,
    input: LONG,
    output: 'a,b\n',
    errors: ['validate: TOO_LONG 1 1', 'validate: PATTERN_MISMATCH 1 2'],
  },
  {
    name: 'an expression',
    template: `operations: [{filter: {where: 'a.matches(r"${SLOW}") || b == "2"', on_error: drop_row}}]`,
    input: LONG,
    output: 'a,b\nzz,2\n',
    errors: ['filter: TOO_LONG 1 1'],
  },
]);

golden('texts that are no Templates', [
  { name: 'a tag', template: 'operations: !!js/function "x"', problems: [' YAML_TAG'] },
  { name: 'a key twice', template: 'operations: []\noperations: []', problems: [' DUPLICATE_KEY'] },
  { name: 'two documents', template: 'operations: []\n---\noperations: []', problems: [' SYNTAX'] },
  { name: 'depth', template: `operations: ${'['.repeat(5_000)}${']'.repeat(5_000)}`, problems: [' TOO_DEEP'] },
  {
    name: 'aliases of aliases',
    template: `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((name, at) => `${name}: &${name} [${Array.from({ length: 16 }, () => `*${'abcdefg'[at]}`).join(',')}]`).join('\n')}\noperations: *h`,
    problems: [' TOO_MANY_ALIASES'],
  },
  { name: 'a scalar', template: 'hello', problems: [' BAD_TYPE'] },
  { name: 'nothing', template: '', problems: [' SYNTAX'] },
  { name: 'an unknown key', template: 'operatons: []', problems: ['/operatons UNKNOWN_KEY'] },
]);

test('a pattern that reads on to the end of the cell for each match is TOO_LONG', async (t) => {
  const pattern = 'x(?:.*y)?';
  const operations = [
    { op: 'replace', columns: ['a'], mode: 'regex', find: pattern, replace: 'z' },
    { op: 'set', columns: { a: `replace_re(a, "${pattern}", "z")` } },
  ];
  for (const operation of operations) {
    const { outcome } = await applyTemplate({ operations: [operation] }, `a,b\n${'x'.repeat(100_000)},1\n`);
    t.equal(outcome.failure?.code, 'TEMPLATE_ROW_ERROR', operation.op);
    t.match(outcome.failure?.message, /: TOO_LONG in row 1 /);
  }
});
