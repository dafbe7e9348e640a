// Operations that compare texts which are numbers, dates or times do as the Template says, and the report counts them.
import { golden } from './golden.ts';

const sorted = (name: string, input: string, output: string, errors: readonly string[]) => ({
  name,
  template: 'operations: [{sort: {by: v}}]',
  input,
  output,
  errors,
});

golden('numbers that are compared as texts', [
  sorted('numbers', 'v\tn\n9\ta\n10\tb\n', 'v,n\n10,b\n9,a\n', ['sort: NUMBERS_AS_TEXT 1 1']),
  sorted('with separators', 'v\tn\n1.234,50\ta\n\tb\n999,00\tc\n', 'v,n\n"1.234,50",a\n"999,00",c\n,b\n', [
    'sort: NUMBERS_AS_TEXT 1 3',
  ]),
  sorted('dates that begin with the day', 'v\tn\n31.01.2026\ta\n01.02.2026\tb\n', 'v,n\n01.02.2026,b\n31.01.2026,a\n', [
    'sort: NUMBERS_AS_TEXT 1 1',
  ]),
  sorted('times', 'v\tn\n9:30\ta\n10:05\tb\n', 'v,n\n10:05,b\n9:30,a\n', ['sort: NUMBERS_AS_TEXT 1 1']),
  sorted('numbers of the same length', 'v\tn\n11\ta\n10\tb\n', 'v,n\n10,b\n11,a\n', []),
  sorted('dates of ISO 8601', 'v\tn\n2026-02-01\ta\n2026-01-31\tb\n', 'v,n\n2026-01-31,b\n2026-02-01,a\n', []),
  sorted('texts among numbers', 'v\tn\n9\ta\n10\tb\nx\tc\n', 'v,n\n10,b\n9,a\nx,c\n', []),
  {
    name: 'numbers of JSON',
    template: 'operations: [{sort: {by: v}}]\noutput: {format: ndjson}',
    input: '[{"v":9},{"v":10}]',
    output: '{"v":10}\n{"v":9}\n',
    errors: ['sort: NUMBERS_AS_TEXT 1 1'],
  },
  {
    name: 'other operations',
    template: `operations:
  - window: {order_by: [v], columns: [{fn: row_number, as: n}]}
  - top: {n: 2, by: [v]}
  - top: {n: 1, by: [v], group_by: k}
  - aggregate: {metrics: [{fn: max, column: v}]}`,
    input: 'k\tv\na\t9\na\t10\nb\t10\n',
    output: 'max_v\n10\n',
    errors: ['window: NUMBERS_AS_TEXT 1 1', 'top: NUMBERS_AS_TEXT 1 1'],
  },
  {
    name: 'numbers that are parsed, and other comparisons',
    template: `operations:
  - sort: {by: [{column: v, compare: natural}]}
  - parse_number: {columns: v}
  - sort: {by: v}`,
    input: 'v\tn\n9\ta\n10\tb\n',
    output: 'v,n\n9,a\n10,b\n',
    errors: [],
  },
]);
