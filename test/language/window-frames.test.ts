// The operation window: values over the whole group and up to the row, with conditions, and rows further away.
import { golden } from './golden.ts';

const numbers = (columns: string, more = ''): string => `operations:
  - parse_number: {columns: n}
  - window: {${more}columns: [${columns}]}\n`;

const ALL = ['sum', 'mean', 'min', 'max', 'count'].map((fn) => `{fn: ${fn}, column: n, as: ${fn}}`).join(', ');
const HERE = ALL.replaceAll('}', ', frame: up_to_here}');
const INPUT = 'g,n\na,1.50\nb,\na,-2\na,\nc,7\nb,\na,1.5\n';

golden('window over groups', [
  {
    name: 'the whole group, nulls left out',
    template: numbers(ALL, 'partition_by: g, '),
    input: INPUT,
    output:
      'g,n,sum,mean,min,max,count\na,1.50,1.00,0.3333333333,-2,1.50,3\nb,,,,,,0\na,-2,1.00,0.3333333333,-2,1.50,3\n' +
      'a,,1.00,0.3333333333,-2,1.50,3\nc,7,7,7,7,7,1\nb,,,,,,0\na,1.5,1.00,0.3333333333,-2,1.50,3\n',
  },
  {
    name: 'up to the row',
    template: numbers(HERE, 'partition_by: g, '),
    input: INPUT,
    output:
      'g,n,sum,mean,min,max,count\na,1.50,1.50,1.50,1.50,1.50,1\nb,,,,,,0\na,-2,-0.50,-0.25,-2,1.50,2\n' +
      'a,,-0.50,-0.25,-2,1.50,2\nc,7,7,7,7,7,1\nb,,,,,,0\na,1.5,1.00,0.3333333333,-2,1.50,3\n',
  },
  {
    name: 'all rows as one group, and in another order',
    template: numbers(
      '{fn: sum, column: n, as: all}, {fn: sum, column: n, as: yet, frame: up_to_here}, {fn: count}',
      'order_by: [{column: g, order: desc}], ',
    ),
    input: INPUT,
    output:
      'g,n,all,yet,count\na,1.50,8.00,8.50,7\nb,,8.00,7,7\na,-2,8.00,6.50,7\na,,8.00,6.50,7\nc,7,8.00,7,7\nb,,8.00,7,7\na,1.5,8.00,8.00,7\n',
  },
  {
    name: 'only rows for which a condition is true; it sees the columns before the operation',
    template: numbers(
      '{fn: count, as: minus, where: "n < 0d"}, {fn: sum, column: n, as: plus, where: "n > 0d"}, ' +
        '{fn: count, as: of_b, where: \'g == "b"\', frame: up_to_here}, {fn: row_number}',
    ),
    input: INPUT,
    output:
      'g,n,minus,plus,of_b,row_number\na,1.50,1,10.00,0,1\nb,,1,10.00,1,2\na,-2,1,10.00,1,3\na,,1,10.00,1,4\nc,7,1,10.00,1,5\n' +
      'b,,1,10.00,2,6\na,1.5,1,10.00,2,7\n',
  },
  {
    name: 'texts and dates have a least and a greatest',
    template: `operations:
  - parse_date: {columns: d, formats: [yyyy-MM-dd]}
  - window: {columns: [{fn: min, column: t}, {fn: max, column: t}, {fn: min, column: d}, {fn: max, column: d, frame: up_to_here}]}\n`,
    input: 't,d\nb,2026-01-31\né,2025-12-31\n,\na,2026-02-01\n',
    output:
      't,d,min_t,max_t,min_d,max_d\nb,2026-01-31,a,é,2025-12-31,2026-01-31\né,2025-12-31,a,é,2025-12-31,2026-01-31\n' +
      ',,a,é,2025-12-31,2026-01-31\na,2026-02-01,a,é,2025-12-31,2026-02-01\n',
  },
  {
    name: 'doubles are summed exactly and rounded once',
    template: `operations:
  - parse_number: {columns: n, type: number}
  - window: {columns: [{fn: sum, column: n, as: s}, {fn: mean, column: n, as: m}]}\n`,
    input: `n\n${'0.1\n'.repeat(10)}`,
    output: `n,s,m\n${'0.1,1,0.1\n'.repeat(10)}`,
  },
  {
    name: 'a sum that is too large on the way only',
    template: `operations:
  - cast: {columns: {n: integer}}
  - window: {columns: [{fn: sum, column: n, as: s}]}\n`,
    input:
      'n\n900000000000000000\n'.replace('n\n', `n\n${'900000000000000000\n'.repeat(20)}`) +
      '-900000000000000000\n'.repeat(20),
    output: `n,s\n${'900000000000000000,900000000000000000\n'.repeat(21)}${'-900000000000000000,900000000000000000\n'.repeat(20)}`,
  },
  {
    name: 'a sum that is too large',
    template: `operations:
  - cast: {columns: {n: integer}}
  - window: {columns: [{fn: sum, column: n, as: s}]}\n`,
    input: `n\n${'900000000000000000\n'.repeat(20)}`,
    error: 'TEMPLATE_ROW_ERROR',
  },
  {
    name: 'rows further back and ahead, within the group',
    template: `operations:
  - window: {partition_by: g, columns: [{fn: previous, column: n, offset: 2, as: p}, {fn: next, column: n, offset: 3, as: q}, {fn: next, column: n, offset: 1, as: r}]}\n`,
    input: 'g,n\na,1\na,2\nb,x\na,3\na,\na,5\nb,y\n',
    output: 'g,n,p,q,r\na,1,,,2\na,2,,5,3\nb,x,,,y\na,3,1,,\na,,2,,5\na,5,3,,\nb,y,,,\n',
  },
  {
    name: 'a condition that cannot be computed leaves its row out of the values, or out of all',
    template: `operations:
  - window: {columns: [{fn: count, where: 'int(n) > 0'}], on_error: drop_row}\n`,
    input: 'n\n1\nx\n2\n',
    output: 'n,count\n1,2\n2,2\n',
    errors: ['window: NOT_A_NUMBER 1 2'],
  },
  {
    name: 'settings of other functions',
    template: `operations:
  - parse_number: {columns: n}
  - window:
      columns:
        - {fn: sum, column: n, offset: 2, as: a}
        - {fn: previous, column: n, frame: partition, as: b}
        - {fn: rank, where: 'n > 1d', as: c}
        - {fn: mean, column: t, as: d}
        - {fn: max, as: e}
        - {fn: running_sum, column: n, where: 'n > 0d', as: f}
    order_by: n\n`.replace('    order_by: n\n', '      order_by: n\n'),
    problems: [
      '/operations/1/window/columns/0 BAD_WINDOW',
      '/operations/1/window/columns/1 BAD_WINDOW',
      '/operations/1/window/columns/2 BAD_WINDOW',
      '/operations/1/window/columns/3/column WRONG_TYPE',
      '/operations/1/window/columns/4 BAD_WINDOW',
      '/operations/1/window/columns/5 BAD_WINDOW',
    ],
  },
  {
    name: 'a condition that names a column of the same window: one of the file is meant',
    template: `operations:
  - window: {columns: [{fn: row_number, as: no}, {fn: count, where: 'no != "1"', as: c}]}\n`,
    problems: ['/operations/0/window/columns/0/as COLUMN_EXISTS'],
  },
]);
