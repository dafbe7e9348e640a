// complete: added steps of a series, with its ranges, fills and limits.
import { golden } from './golden.ts';

const DAYS = '{parse_date: {columns: day, formats: [yyyy-MM-dd]}}';

golden('complete', [
  {
    name: 'all rows are one group; equal days, rows off the steps and rows without a day remain',
    template: `operations: [${DAYS}, {complete: {column: day, step: week, fill: {n: "0"}}}]`,
    input: 'n,day\n1,2026-01-15\n2,2026-01-01\n3,\n4,2026-01-16\n5,2026-01-01\n',
    output: 'n,day\n2,2026-01-01\n5,2026-01-01\n0,2026-01-08\n1,2026-01-15\n4,2026-01-16\n3,\n',
  },
  {
    name: 'years, quarters and leap days are counted from the first step',
    template: `operations: [${DAYS}, {complete: {column: day, step: year, group_by: g}}]`,
    input: 'g,day\na,2024-02-29\na,2028-02-29\nb,2024-02-29\n',
    output: 'g,day\na,2024-02-29\na,2025-02-28\na,2026-02-28\na,2027-02-28\na,2028-02-29\nb,2024-02-29\n',
  },
  {
    name: 'the last days of months stay last days, whatever the first month is',
    template: `operations: [${DAYS}, {complete: {column: day, step: month, group_by: g}}]`,
    input: 'g,day\na,2026-04-30\na,2026-05-31\na,2026-07-31\nb,2026-02-28\nb,2026-03-31\nb,2026-05-31\n',
    output:
      'g,day\na,2026-04-30\na,2026-05-31\na,2026-06-30\na,2026-07-31\n' +
      'b,2026-02-28\nb,2026-03-31\nb,2026-04-30\nb,2026-05-31\n',
  },
  {
    name: 'other days stay as they are, also after a short month',
    template: `operations: [${DAYS}, {complete: {column: day, step: month, group_by: g}}]`,
    input: 'g,day\na,2026-02-28\na,2026-03-28\na,2026-05-28\nb,2025-12-30\nb,2026-02-28\nb,2026-04-30\n',
    output:
      'g,day\na,2026-02-28\na,2026-03-28\na,2026-04-28\na,2026-05-28\n' +
      'b,2025-12-30\nb,2026-01-30\nb,2026-02-28\nb,2026-03-30\nb,2026-04-30\n',
  },
  {
    name: 'a row counts for the quarter in which it is, and a range has the day of its beginning',
    template: `operations:
  - parse_date: {columns: day, formats: [yyyy-MM-dd]}
  - complete: {column: day, step: quarter, range: {from: "2026-01-15", to: "2026-10-14"}}`,
    input: 'day\n2026-05-31\n2025-12-31\n2026-06-01\n',
    output: 'day\n2025-12-31\n2026-01-15\n2026-05-31\n2026-06-01\n2026-07-15\n',
  },
  {
    name: 'a group of several columns by a set that contains the series',
    template: `operations: [${DAYS}, {complete: {column: day, group_by: "*"}}]`,
    input: 'day,g\n2026-01-01,a\n2026-01-03,a\n2026-01-02,b\n',
    output: 'day,g\n2026-01-01,a\n2026-01-02,a\n2026-01-03,a\n2026-01-02,b\n',
  },
  {
    name: 'each group has the range of all rows, also one without a value',
    template: `operations:
  - cast: {columns: {n: integer}}
  - complete: {column: n, every: 5, group_by: g, range: all}
output: {format: ndjson}`,
    input: 'g,n,v\nb,-5,x\na,,y\nb,10,z\n',
    output:
      '{"g":"a","n":-5,"v":null}\n{"g":"a","n":0,"v":null}\n{"g":"a","n":5,"v":null}\n{"g":"a","n":10,"v":null}\n{"g":"a","n":null,"v":"y"}\n' +
      '{"g":"b","n":-5,"v":"x"}\n{"g":"b","n":0,"v":null}\n{"g":"b","n":5,"v":null}\n{"g":"b","n":10,"v":"z"}\n',
  },
  {
    name: 'rows outside the range remain, and nothing is added beside them',
    template: `operations:
  - cast: {columns: {n: integer}}
  - complete: {column: n, range: {from: 3, to: 5}}`,
    input: 'n\n1\n9\n4\n',
    output: 'n\n1\n3\n4\n5\n9\n',
  },
  {
    name: 'hours of times before 1970; later operations see no row number',
    template: `operations:
  - cast: {columns: {at: datetime}}
  - complete: {column: at, step: hour}
  - set: {columns: {row: 'run.row == null ? "new" : string(run.row)'}}`,
    input: 'at\n1969-12-31T23:00:00Z\n1969-12-31T21:00:00Z\n',
    output: 'at,row\n1969-12-31T21:00:00Z,2\n1969-12-31T22:00:00Z,new\n1969-12-31T23:00:00Z,1\n',
  },
  {
    name: 'a table without rows has no groups to complete',
    template: `operations: [${DAYS}, {complete: {column: day, range: {from: "2026-01-01", to: "2026-01-31"}}}]`,
    input: 'day\n',
    output: 'day\n',
  },
  {
    name: 'a wrong value does not add a million rows',
    template: `operations: [${DAYS}, {complete: {column: day}}]`,
    input: 'day\n2026-01-01\n0206-01-01\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 2 complete (line 1, /operations/1): a group has more than 100000 missing steps. Filter wrong values before, or choose a larger step.',
  },
  {
    name: 'nor do two of them',
    template: `operations: [{cast: {columns: {n: integer}}}, {complete: {column: n}}]`,
    input: 'n\n0\n9000000000\n9000000001\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 2 complete (line 1, /operations/1): a group has more than 100000 missing steps. Filter wrong values before, or choose a larger step.',
  },
  {
    name: 'declarations that do not fit',
    template: `operations:
  - complete: {column: text}
  - cast: {columns: {n: integer, day: date}}
  - complete: {column: n, step: day}
  - complete: {column: day, step: hour}
  - complete: {column: day, range: {from: 5}, fill: {n: x}}
  - complete: {column: day, group_by: g, fill: {g: x}}
  - complete: {column: day, group_by: [g, day]}
  - complete: {column: n, range: {from: 2, to: 1}}`,
    problems: [
      '/operations/0/complete/column WRONG_TYPE',
      '/operations/2/complete/step BAD_VALUE',
      '/operations/3/complete/step BAD_VALUE',
      '/operations/4/complete/range/from BAD_VALUE',
      '/operations/4/complete/fill/n BAD_VALUE',
      '/operations/5/complete/fill/g BAD_VALUE',
      '/operations/6/complete/group_by BAD_VALUE',
      '/operations/7/complete/range/to BAD_VALUE',
    ],
  },
]);
