// What `template check` says about values of the wrong form or size: each message says what to write instead.
import { test } from 'tap';
import { problemsOf } from './check-problems.ts';

/** One line of a Template, and its problems as `POINTER CODE MESSAGE`. */
type Line = readonly [source: string, ...problems: readonly string[]];

function says(name: string, lines: readonly Line[]): void {
  test(name, async (t) => {
    for (const [source, ...wanted] of lines) {
      const found = problemsOf(source).map(({ pointer, code, message }) => `${pointer} ${code} ${message}`);
      t.strictSame(found, wanted, source);
    }
  });
}

const LONG = 'x'.repeat(50);
const SUBSET = 'Write a column set: "a", ["a", "b"], {pattern: "^a"}, {type: text}, {except: ["a"]} or "*".';

says('sizes', [
  ['operations: [{sample: {fraction: 2}}]', '/operations/0/sample/fraction BAD_VALUE Write a number not above 1.'],
  ['operations: [{sample: {fraction: 0}}]', '/operations/0/sample/fraction BAD_VALUE Write a number above 0.'],
  ['operations: [{sample: {every: 0}}]', '/operations/0/sample/every BAD_VALUE Write a number not below 1.'],
  ['output: {xlsx: {widths: {a: 1000}}}', '/output/xlsx/widths/a BAD_VALUE Write a number not above 255.'],
  ['operations: [{rename: {columns: {a: ""}}}]', '/operations/0/rename/columns/a BAD_VALUE The text is empty.'],
  [
    `operations: [{drop: {columns: a, id: ${LONG}${LONG}}}]`,
    '/operations/0/drop/id BAD_VALUE The text has at most 64 characters.',
  ],
  [
    'operations: [{parse_number: {columns: a, decimal: ".,"}}]',
    '/operations/0/parse_number/decimal BAD_VALUE Write one character.',
  ],
  ['operations: [{sort: {by: []}}]', '/operations/0/sort/by BAD_VALUE The list is empty.'],
  [
    'operations: [{check_totals: {checks: [{expr: "count()", between: [1]}]}}]',
    '/operations/0/check_totals/checks/0/between BAD_VALUE The list has at least 2 entries.',
  ],
  [
    'operations: [{check_totals: {checks: [{expr: "count()", between: [1, 2, 3]}]}}]',
    '/operations/0/check_totals/checks/0/between BAD_VALUE The list has at most 2 entries.',
  ],
  ['operations: [{rename: {columns: {}}}]', '/operations/0/rename/columns BAD_VALUE The mapping is empty.'],
  [
    `operations: [{parse_number: {columns: a, units: {${Array.from({ length: 51 }, (_, n) => `k${n}: 1`).join()}}}}]`,
    '/operations/0/parse_number/units BAD_VALUE The mapping has at most 50 keys.',
  ],
  [
    'operations: [{expect_columns: {columns: [a, a]}}]',
    '/operations/0/expect_columns/columns BAD_VALUE The list names something twice.',
  ],
]);

says('types, with the same value in the right form', [
  ['format: "1"', '/format BAD_TYPE Write a number, not "1". Remove the quotes.', '/format BAD_VALUE Write 1.'],
  [
    'operations: [{slice: {limit: "5"}}]',
    '/operations/0/slice/limit BAD_TYPE Write a whole number, not "5". Remove the quotes.',
  ],
  [
    'operations: [{rename: {columns: {a: 1}}}]',
    '/operations/0/rename/columns/a BAD_TYPE Write a text, not 1. Put it in quotes.',
  ],
  ['input: {null_values: NA}', '/input/null_values BAD_TYPE Write a list, not "NA". Put it in brackets: ["NA"].'],
  [`input: {null_values: ${LONG}}`, `/input/null_values BAD_TYPE Write a list, not "${LONG.slice(10)}...".`],
  ['input: {null_values: 5}', '/input/null_values BAD_TYPE Write a list, not 5.'],
  ['tables: {a: b}', '/tables/a BAD_TYPE Write a mapping of keys to values, not "b". Write {ref: "b"}.'],
  [`tables: {a: ${LONG}}`, `/tables/a BAD_TYPE Write a mapping of keys to values, not "${LONG.slice(10)}...".`],
  ['tables: [a]', '/tables BAD_TYPE Write a mapping of keys to values, not a list. Write {"a": ...}.'],
  ['tables: [1]', '/tables BAD_TYPE Write a mapping of keys to values, not a list.'],
  ['input: csv', '/input BAD_TYPE Write a mapping of keys to values, not "csv".'],
  ['input: {footer: a}', '/input/footer BAD_TYPE Write a mapping of keys to values, not "a".'],
  [
    'operations: [{validate: {rules: {a: required}}}]',
    '/operations/0/validate/rules BAD_TYPE Write a list, not a mapping. Its entries are mappings, as in [{check: ...}].',
  ],
  [
    'operations: [{validate: {rules: [a]}}]',
    '/operations/0/validate/rules/0 BAD_TYPE Write a mapping of keys to values, not "a". Write {check: "a"}.',
  ],
  [
    'operations: [{set: {columns: {x: round(a, 2)}}}]',
    '/operations/0/set/columns/2) BAD_TYPE A comma between braces ends a text in YAML. Put the whole expression into ' +
      'quotes, as in {x: "round(a, 2)"}.',
  ],
]);

says('one of several forms', [
  ['operations: [{drop: {columns: {patern: b}}}]', `/operations/0/drop/columns BAD_TYPE ${SUBSET}`],
  [
    'operations: [{map_values: {columns: a, map: {a: b}, default: [1]}}]',
    '/operations/0/map_values/default BAD_TYPE Write "keep", "blank" or "error" or a mapping of keys to values, not a list.',
  ],
  [
    'operations: [{join: {table: t, on: [[a]]}}]',
    '/operations/0/join/on/0 BAD_TYPE Write a text or a mapping of keys to values, not a list.',
  ],
  [
    'operations: [{join: {table: t, on: [{a: b}]}}]',
    '/operations/0/join/on/0 BAD_TYPE Unknown key "a". Known: left, right, match.',
  ],
  [
    'operations: [{split_column: {column: a, by: ",", into: [b, c]}}]',
    '/operations/0/split_column/by BAD_TYPE Write a mapping of keys to values, not ",". Write {separator: ","}.',
  ],
  [
    `operations: [{split_column: {column: a, by: ${LONG}, into: [b, c]}}]`,
    `/operations/0/split_column/by BAD_TYPE Write a mapping of keys to values, not "${LONG.slice(10)}...".`,
  ],
  [
    'operations: [{split_column: {column: a, by: {sep: ","}, into: [b, c]}}]',
    '/operations/0/split_column/by BAD_TYPE Unknown key "sep". Did you mean "separator"?',
  ],
  ['input: {csv: {delimiter: 1}}', '/input/csv/delimiter BAD_TYPE Write one to 8 characters or null, not 1.'],
  [
    'operations: [{check_totals: {checks: [{expr: "count()"}]}}]',
    '/operations/0/check_totals/checks/0 BAD_PARAMETERS Give exactly one of "equals" or "between".',
  ],
  [
    'operations: [{slice: {}}]',
    '/operations/0/slice BAD_PARAMETERS Give at least one of "skip", "limit" or "skip_last".',
  ],
]);

says('a mapping that lacks a key is not said to have the wrong type', [
  ['input: {columns: [{}]}', '/input/columns/0 BAD_TYPE "name" is missing.'],
  ['input: {columns: [{match: [x]}]}', '/input/columns/0 BAD_TYPE "name" is missing.'],
  [
    'operations: [{split_column: {column: a, by: {}, into: [b, c]}}]',
    '/operations/0/split_column/by BAD_TYPE Give exactly one of "separator", "pattern" or "widths".',
  ],
  [
    'operations: [{split_column: {column: a, by: {separator: ",", pattern: x}, into: [b, c]}}]',
    '/operations/0/split_column/by BAD_TYPE Give exactly one of "separator", "pattern" or "widths".',
  ],
]);

says('keys in the wrong place, or from other languages', [
  ['input: {delimiter: ";"}', '/input/delimiter UNKNOWN_KEY Unknown key "delimiter". It belongs into "csv".'],
  ['input: {separator: ";"}', '/input/separator UNKNOWN_KEY Unknown key "separator". Write csv: {delimiter: ...}.'],
  [
    'operations: [{sort: {by: [{column: a, asc: false}]}}]',
    '/operations/0/sort/by/0/asc UNKNOWN_KEY Unknown key "asc". Write order: desc.',
  ],
  [
    'operations: [{sort: {by: [{column: a, desc: true}]}}]',
    '/operations/0/sort/by/0/desc UNKNOWN_KEY Unknown key "desc". Write order: desc.',
  ],
  [
    'operations: [{sort: {by: [{column: a, order: ascending}]}}]',
    '/operations/0/sort/by/0/order BAD_VALUE Write "asc" or "desc". Did you mean "asc"?',
  ],
  [
    'operations: [{rename: {a: b}}]',
    '/operations/0/rename/a UNKNOWN_PARAMETER Unknown parameter "a" of rename. For a column of this name write columns: ' +
      '{"a": ...}.',
  ],
  ['tables: {a: {ref: x, y: 1}}', '/tables/a/y UNKNOWN_KEY Unknown key "y". Known: ref, columns.'],
]);
