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
    name: 'behind it only its columns are there',
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
