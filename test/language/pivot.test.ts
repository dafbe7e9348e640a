// pivot, and flags of rows that an operation makes anew.
import { golden } from './golden.ts';

golden('pivot', [
  {
    name: 'as Miller reshapes: mlr reshape -s key,value',
    template: 'operations: [{pivot: {group_by: [id, z], names_from: key, values_from: value, values: [x, y]}}]',
    input: 'id,z,key,value\n1,5,x,3\n1,5,y,4\n2,7,x,6\n2,7,y,\n',
    output: 'id,z,x,y\n1,5,3,4\n2,7,6,\n',
  },
  {
    name: 'what unpivot takes apart comes together again',
    template: `operations:
  - unpivot: {columns: [a, b], names_to: k, values_to: v}
  - sort: {by: [{column: k, order: desc}]}
  - pivot: {group_by: id, names_from: k, values_from: v, values: [a, b]}`,
    input: 'id,a,b\n1,p,q\n2,,r\n',
    output: 'id,a,b\n1,p,q\n2,,r\n',
  },
  {
    name: 'two rows for one cell end the Run unless it is said what becomes of them',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v, values: [x]}}]',
    input: 'g,k,v\n1,x,3\n2,x,3\n1,x,4\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 1 pivot (line 1, /operations/0): several rows have the same group and name. Say in "aggregate" what becomes of them.',
  },
  {
    name: 'means of numbers, names of numbers, other names into one column',
    template: `operations:
  - cast: {columns: {k: integer, v: decimal}}
  - pivot: {group_by: g, names_from: k, values_from: v, values: ["1", "2"], aggregate: mean, other: {into: rest}}`,
    input: 'g,k,v\na,1,3\na,01,4\na,7,1.5\nb,2,\na,,2.5\n',
    output: 'g,1,2,rest\na,3.5,,2.0\nb,,,\n',
  },
  {
    name: 'rows with other names are counted',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v, values: [x]}}]',
    input: 'g,k,v\n1,x,3\n2,z,3\n1,,4\n3,x,5\n',
    output: 'g,x\n1,3\n2,\n3,5\n',
    errors: ['pivot: CELL_DROPPED 2 2 3'],
  },
  {
    name: 'other names as errors',
    template:
      'operations: [{pivot: {group_by: g, names_from: k, values_from: v, values: [x], other: error, on_error: drop_row}}]',
    input: 'g,k,v\n1,x,3\n2,z,3\n1,,4\n',
    output: 'g,x\n1,3\n',
    errors: ['pivot: NOT_IN_SET 2 2 3'],
  },
  {
    name: 'counts need no numbers; a fill that does not fit is refused',
    template:
      'operations: [{pivot: {group_by: g, names_from: k, values_from: v, values: [x], aggregate: sum, fill: none}}]',
    problems: ['/operations/0/pivot/aggregate WRONG_TYPE'],
  },
  {
    name: 'after it only its columns are there',
    template:
      'operations: [{pivot: {group_by: g, names_from: k, values_from: v, values: [x]}}, {drop: {columns: [v]}}]',
    problems: ['/operations/1/drop/columns/0 UNKNOWN_COLUMN'],
  },
  {
    name: 'without the column of names, which may be missing, it is left out whole',
    template: 'operations: [{pivot: {group_by: [b], names_from: z, values_from: a, values: [y], if_missing: skip}}]',
    input: 'a,b\ny,1\n',
    output: 'a,b\ny,1\n',
  },
]);

const FLAGGED = 'operations:\n  - parse_number: {columns: [v], on_error: flag}\n';

golden('flags stay with rows, and new rows have no flags', [
  {
    name: 'aggregate',
    template: `${FLAGGED}  - aggregate: {group_by: g, metrics: [{fn: sum, column: v}]}`,
    input: 'g,k,v\na,x,1\na,x,bad\n',
    output: 'g,sum_v,_issues\na,1,\n',
  },
  {
    name: 'pivot',
    template: `${FLAGGED}  - pivot: {group_by: g, names_from: k, values_from: v, values: [x], aggregate: sum}`,
    input: 'g,k,v\na,x,1\na,x,bad\n',
    output: 'g,x,_issues\na,1,\n',
  },
  {
    name: 'window, explode, fill_up, append_rows, sample',
    template: `${FLAGGED}  - window: {partition_by: g, columns: [{fn: group_size}]}
  - explode: {column: g, separator: "-"}
  - fill_up: {columns: [v]}
  - append_rows: {rows: [{g: new}]}
  - sample: {n: 9}`,
    input: 'g,k,v\na-b,x,bad\nc,x,2\n',
    output: 'g,k,v,group_size,_issues\na,x,2,1,v:NOT_A_NUMBER\nb,x,2,1,v:NOT_A_NUMBER\nc,x,2,1,\nnew,,,,\n',
  },
]);

golden('pivot to columns that rows name', [
  {
    name: 'texts by code points; rows without a name are counted; a fill fills',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v, fill: "-"}}]',
    input: 'g,k,v\n1,z,3\n2,,3\n1,10,4\n3,9,5\n',
    output: 'g,10,9,z\n1,4,-,3\n2,-,-,-\n3,-,5,-\n',
    errors: ['pivot: CELL_DROPPED 1 2'],
  },
  {
    name: 'dates name by their texts, and sums stay numbers',
    template: `operations:
  - cast: {columns: {d: date, v: decimal}}
  - pivot: {group_by: g, names_from: d, values_from: v, aggregate: sum}
output: {format: ndjson}`,
    input: 'g,d,v\n1,2026-02-01,1.50\n1,2026-01-01,2\n1,2026-02-01,1.00\n',
    output: '{"g":"1","2026-01-01":2,"2026-02-01":2.50}\n',
  },
  {
    name: 'a file without rows has only the group columns',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v}}]',
    input: 'g,k,v\n',
    output: 'g\n',
  },
  {
    name: 'too many names end the Run',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v, max_columns: 1}}]',
    input: 'g,k,v\n1,x,3\n1,y,3\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 1 pivot (line 1, /operations/0): the column "k" has more than 1 different names, or names with more than 1048576 characters. List the columns in "values".',
  },
  {
    name: 'a name that another column has ends the Run, without telling it',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v}}]',
    input: 'g,k,v\n1,g,3\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 1 pivot (line 1, /operations/0): the column "k" contains the name of another column. Rename that column before.',
  },
  {
    name: 'it is the last operation',
    template: 'operations: [{pivot: {group_by: g, names_from: k, values_from: v}}, {drop: {columns: [v]}}]',
    problems: ['/operations/0/pivot NOT_LAST'],
  },
  {
    name: 'parameters that have no meaning',
    template:
      'operations: [{pivot: {group_by: g, names_from: k, values_from: v, values: [x], max_columns: 3}}, {pivot: {group_by: g, names_from: g, values_from: x, other: {into: y}}}]',
    problems: ['/operations/0/pivot/max_columns UNUSED_PARAMETER', '/operations/1/pivot/other UNUSED_PARAMETER'],
  },
]);

const DECIMALS = 'operations:\n  - cast: {columns: {n: decimal}}\n';
const EQUAL_NAMES = 'g,n,v\na,1.0,5\na,1.00,6\nb,10,7\nb,2,8\nc,0.0,9\nc,-0,4\n';

golden('names that are equal values are one column', [
  {
    name: 'named as the first one is written',
    template: `${DECIMALS}  - pivot: {group_by: g, names_from: n, values_from: v, aggregate: last}`,
    input: EQUAL_NAMES,
    output: 'g,0.0,1.0,2,10\na,,6,,\nb,,,8,7\nc,4,,,\n',
  },
  {
    name: 'two rows of one group are refused without an aggregate',
    template: `${DECIMALS}  - pivot: {group_by: g, names_from: n, values_from: v}`,
    input: EQUAL_NAMES,
    error:
      'TEMPLATE_CHECK_FAILED: Operation 2 pivot (line 1, /operations/1): several rows have the same group and name. Say in "aggregate" what becomes of them.',
  },
  {
    name: 'listed names',
    template: `${DECIMALS}  - pivot: {group_by: g, names_from: n, values_from: v, values: ["1", "10.0"], aggregate: first}`,
    input: EQUAL_NAMES,
    output: 'g,1,10.0\na,5,\nb,,7\nc,,\n',
    errors: ['pivot: CELL_DROPPED 3 4 5 6'],
  },
  {
    name: 'listed names, with others as errors',
    template: `${DECIMALS}  - pivot: {group_by: g, names_from: n, values_from: v, values: ["1", "10", "2"], aggregate: first, other: error, on_error: drop_row}`,
    input: EQUAL_NAMES,
    output: 'g,1,10,2\na,5,,\nb,,7,8\n',
    errors: ['pivot: NOT_IN_SET 2 5 6'],
  },
  {
    name: 'listed numbers and integers',
    template: `operations:
  - cast: {columns: {n: number}}
  - pivot: {group_by: g, names_from: n, values_from: v, values: ["1.0", "1e1"], aggregate: first, other: {into: rest}}`,
    input: 'g,n,v\na,1,5\na,10.0,6\na,2,7\n',
    output: 'g,1.0,1e1,rest\na,5,6,7\n',
  },
  {
    name: 'a list with the same value twice is refused',
    template: `operations:
  - cast: {columns: {n: decimal}}
  - pivot: {group_by: g, names_from: n, values_from: v, values: ["1", "x", "1.0"]}`,
    problems: ['/operations/1/pivot/values/2 BAD_VALUE'],
  },
  {
    name: 'texts are compared as written',
    template: 'operations: [{pivot: {group_by: g, names_from: n, values_from: v, values: ["1.0", "1.00"]}}]',
    input: 'g,n,v\na,1.0,5\na,1.00,6\n',
    output: 'g,1.0,1.00\na,5,6\n',
  },
]);

golden('total rows of aggregate', [
  {
    name: 'of all rows, after sorted groups; rows that a metric leaves out count only for it',
    template: `operations:
  - cast: {columns: {v: decimal}}
  - aggregate:
      group_by: [g, k]
      metrics:
        - {fn: count}
        - {fn: sum, column: v, where: k != "x", as: sum}
        - {fn: count_distinct, column: k, as: kinds}
      totals: {label: Total}
      order: sorted`,
    input: 'g,k,v\nb,x,3\na,y,4.5\nb,x,1\n',
    output: 'g,k,count,sum,kinds\na,y,1,4.5,1\nb,x,2,,1\nTotal,,3,4.5,2\n',
  },
  {
    name: 'numbers in JSON; no total row without rows',
    template: `operations: [{aggregate: {group_by: g, metrics: [{fn: count}], totals: {label: all}}}]
output: {format: ndjson}`,
    input: 'g\nx\n',
    output: '{"g":"x","count":1}\n{"g":"all","count":1}\n',
  },
  {
    name: 'the columns that rest keeps are null; a group may have the name of the label',
    template: `operations:
  - cast: {columns: {d: date}}
  - aggregate: {group_by: g, metrics: [{fn: count}, {fn: first, column: k}], rest: first, totals: {label: Total}}`,
    input: 'g,k,d,t\na,x,2026-01-01,p\nTotal,y,2026-01-02,q\na,z,2026-01-03,r\n',
    output: 'g,count,first_k,d,t\na,2,x,2026-01-01,p\nTotal,1,y,2026-01-02,q\nTotal,3,x,,\n',
  },
  {
    name: 'a table without rows has none',
    template: 'operations: [{aggregate: {group_by: g, metrics: [{fn: count}], totals: {label: all}}}]',
    input: 'g\n',
    output: 'g,count\n',
  },
  {
    name: 'the label is a text, and needs a group column',
    template: `operations:
  - cast: {columns: {g: json}}
  - aggregate: {group_by: g, metrics: [{fn: count}], totals: {label: all}}
  - aggregate: {metrics: [{fn: count}], totals: {label: all}}`,
    problems: ['/operations/1/aggregate/totals/label WRONG_TYPE', '/operations/2/aggregate/totals UNUSED_PARAMETER'],
  },
  {
    name: 'a column of numbers with a label keeps its numbers in JSON, also for texts after it',
    template: `operations:
  - cast: {columns: {year: integer}}
  - aggregate: {group_by: year, metrics: [{fn: count}], order: sorted, totals: {label: Total}}
  - text: {columns: year, steps: [upper]}
output: {format: ndjson}`,
    input: 'year\n2026\n999\n2026\n',
    output: '{"year":999,"count":1}\n{"year":2026,"count":2}\n{"year":"TOTAL","count":3}\n',
  },
  {
    name: 'dates with labels of subtotals, in order',
    template: `operations:
  - cast: {columns: {day: date}}
  - aggregate:
      group_by: [day, shop]
      metrics: [{fn: count}]
      order: sorted
      totals: {label: Total, by: day}`,
    input: 'day,shop\n2026-02-01,b\n2026-01-31,c\n2026-02-01,a\n,a\n',
    output: [
      'day,shop,count',
      '2026-01-31,c,1',
      '2026-01-31,Total,1',
      '2026-02-01,a,1',
      '2026-02-01,b,1',
      '2026-02-01,Total,2',
      ',a,1',
      ',Total,1',
      'Total,,4',
      '',
    ].join('\n'),
  },
  {
    name: 'a date column that contains the label of subtotals',
    template: `operations:
  - cast: {columns: {day: date}}
  - aggregate: {group_by: [shop, day], metrics: [{fn: count}], totals: {label: all, by: shop}}`,
    input: 'day,shop\n2026-02-01,b\n2026-01-31,b\n',
    output: 'shop,day,count\nb,2026-02-01,1\nb,2026-01-31,1\nb,all,2\nall,,2\n',
  },
  {
    name: 'subtotals follow their groups, in the order of first appearance',
    template: `operations:
  - cast: {columns: {v: integer}}
  - aggregate:
      group_by: [a, b, c]
      metrics: [{fn: sum, column: v}, {fn: count_distinct, column: c}]
      totals: {label: Total, by: [a, b]}`,
    input: 'a,b,c,v\nx,p,1,1\ny,q,2,2\nx,r,1,4\nx,p,2,8\n,,1,16\n',
    output: [
      'a,b,c,sum_v,count_distinct_c',
      'x,p,1,1,1',
      'x,p,2,8,1',
      'x,p,Total,9,2',
      'x,r,1,4,1',
      'x,r,Total,4,1',
      'x,Total,,13,2',
      'y,q,2,2,1',
      'y,q,Total,2,1',
      'y,Total,,2,1',
      ',,1,16,1',
      ',,Total,16,1',
      ',Total,,16,1',
      'Total,,,31,2',
      '',
    ].join('\n'),
  },
  {
    name: 'subtotals of sorted groups; the columns that rest keeps are null',
    template: `operations:
  - cast: {columns: {v: integer}}
  - aggregate:
      group_by: [a, b]
      metrics: [{fn: max, column: v}]
      rest: first
      order: sorted
      totals: {label: Total, by: a}`,
    input: 'a,b,v,t\ny,Total,2,k\nx,r,4,l\ny,a,1,m\nx,p,8,n\n',
    output: 'a,b,max_v,t\nx,p,8,n\nx,r,4,l\nx,Total,8,\ny,Total,2,k\ny,a,1,m\ny,Total,2,\nTotal,,8,\n',
  },
  {
    name: 'subtotals are for the first group columns',
    template: `operations:
  - cast: {columns: {d: date}}
  - aggregate: {group_by: [a, d], metrics: [{fn: count}], totals: {label: all, by: d}}
  - aggregate: {group_by: [a, d], metrics: [{fn: count}], totals: {label: all, by: [a, d]}}`,
    problems: [
      '/operations/1/aggregate/totals/by WRONG_PARAMETER',
      '/operations/2/aggregate/totals/by WRONG_PARAMETER',
    ],
  },
  {
    name: 'a group column that contains the label of a subtotal is a text or a date',
    template: `operations:
  - cast: {columns: {d: decimal}}
  - aggregate: {group_by: [a, d], metrics: [{fn: count}], totals: {label: all, by: a}}`,
    problems: ['/operations/1/aggregate/totals/label WRONG_TYPE'],
  },
]);
