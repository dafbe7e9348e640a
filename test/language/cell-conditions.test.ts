// `value` in the common parameter `where`: the condition is evaluated for each cell that an operation edits.
import { golden } from './golden.ts';

golden('value in where', [
  {
    name: 'each column is asked for its own cell',
    template: 'operations: [{blank_if: {columns: "*", where: \'value.endsWith("-") && size(value) < 3\'}}]',
    input: 'a,b\n-,x\nx,--\nz--,-\n,y-y\n',
    output: 'a,b\n,x\nx,\nz--,\n,y-y\n',
  },
  {
    name: 'other columns of the row are those that came in',
    template: 'operations: [{text: {columns: [a, b], steps: [upper], where: "value == c"}}]',
    input: 'a,b,c\nx,y,x\nx,y,y\nx,x,x\n',
    output: 'a,b,c\nX,y,x\nx,Y,y\nX,X,x\n',
  },
  {
    name: 'the value has the type of its column',
    template: `
operations:
  - {parse_number: {columns: [n, m]}}
  - {round: {columns: {type: decimal}, scale: 0, where: value > 10}}
`,
    input: 'n,m\n1.5,10.6\n11.5,2.4\n,12.5\n',
    output: 'n,m\n1.5,11\n12,2.4\n,12\n',
  },
  {
    name: 'into a new column: cells that are not edited are null there',
    template: 'operations: [{replace: {columns: a, find: x, replace: y, into: b, where: value.endsWith("x")}}]',
    input: 'a\nxx\nxz\n',
    output: 'a,b\nxx,yy\nxz,\n',
  },
  {
    name: 'a condition that cannot be computed is an error of its row',
    template: 'operations: [{text: {columns: [a, b], steps: [upper], where: int(value) > 1, on_error: drop_row}}]',
    input: 'a,b\n1,2\nx,3\n4,5\n',
    output: 'a,b\n1,2\n4,5\n',
    errors: ['text: NOT_A_NUMBER 1 2'],
  },
  {
    name: 'cells that set fills, by an expression or a constant',
    template: `
operations:
  - {set: {columns: {a: c, b: '"n" + value'}, where: 'value == null || value == "x"'}}
  - {set: {column: c, value: none, where: value == null}}`,
    input: 'a,b,c\n,2,p\nx,x,q\n5,,\n',
    output: 'a,b,c\np,2,p\nq,nx,q\n5,,none\n',
  },
  {
    name: 'only cells of which it holds vote, each column for itself',
    template: `
operations:
  - parse_date:
      {columns: [a, b], formats: [dd/MM/yyyy, MM/dd/yyyy], ambiguous: column_vote, into: [x, y], where: value != "01/31/2026"}`,
    // Column a has one cell with the day first and one with the month first, which is left out. Column b has the month first.
    input: 'a,b\n13/01/2026,01/31/2026\n01/31/2026,12/31/2026\n02/03/2026,02/03/2026\n',
    output:
      'a,b,x,y\n13/01/2026,01/31/2026,2026-01-13,\n01/31/2026,12/31/2026,,2026-12-31\n02/03/2026,02/03/2026,2026-03-02,2026-02-03\n',
  },
  {
    name: 'cells that are filled from above, and those that repeat it',
    template: `
operations:
  - {fill_down: {columns: [a, b], where: value == null && n != "2"}}
  - {blank_down: {columns: [b, n], where: value != "y"}}`,
    input: 'n,a,b\n1,p,y\n2,,y\n2,,\n3,,z\n3,q,z\n',
    output: 'n,a,b\n1,p,y\n2,,y\n,,\n3,p,z\n,q,\n',
  },
  {
    name: 'a cell that several columns are made of',
    template: `
operations:
  - {split_column: {column: a, by: {separator: "-"}, into: [x, y], keep_source: true, where: value != "k-l"}}
  - {extract: {column: a, pattern: '(?P<first>[a-z])', into: {first: f}, where: value.startsWith("u")}}
  - {flatten_json: {column: j, fields: {n: n}, where: 'value != "{}"'}}`,
    input: 'a,j\nu-v,"{""n"":1}"\nk-l,{}\nw-z,"{""n"":2}"\n',
    output: 'a,j,x,y,f,n\nu-v,"{""n"":1}",u,v,u,1\nk-l,{},,,,\nw-z,"{""n"":2}",w,z,,2\n',
  },
  {
    name: 'several cells that become one are not asked for one',
    template: 'operations: [{to_json: {columns: [a, b], into: c, where: value != "x"}}]',
    problems: ['/operations/0/to_json/where EXPR_UNKNOWN_COLUMN'],
  },
  {
    name: 'cast gives all cells of a column one type, and a column that is not there has no cells',
    template: `
operations:
  - {cast: {columns: {a: integer}, where: value != "x"}}
  - {select: {columns: [a]}}
  - {set: {columns: {b: '"1"'}, where: value == null}}
  - {merge_columns: {columns: [a], into: c}}
`,
    problems: ['/operations/0/cast/where WHERE_TYPE', '/operations/2/set/where UNKNOWN_COLUMN'],
  },
  {
    name: 'a column that may be missing has no cell for which anything holds',
    template: 'operations: [{set: {columns: {b: \'"1"\'}, where: value != "x", if_missing: skip}}]',
    input: 'a\n5\n',
    output: 'a,b\n5,\n',
  },
]);

golden('cast into new columns', [
  {
    name: 'of the rows of which where holds, beside columns that change in place',
    template: `
operations:
  - {cast: {columns: {a: decimal, b: integer}, into: {a: d}}}
  - {cast: {columns: {b: text}, into: {b: t}, where: value > 1}}
  - {cast: {columns: {a: number}, into: {a: n}, on_error: drop_row}}
  - {round: {columns: d, scale: 0}}`,
    input: 'a,b\n1.50,01\n2.50,2\n,3\n',
    output: 'a,b,d,t,n\n1.50,1,2,,1.5\n2.50,2,2,2,2.5\n,3,,3,\n',
  },
  {
    name: 'only of columns that have a type there, under names that are free',
    template:
      'operations: [{cast: {columns: {a: decimal}, into: {a: b, c: d}}}, {cast: {columns: {a: text}, into: {a: b}}}]',
    problems: ['/operations/0/cast/into/c UNKNOWN_COLUMN', '/operations/1/cast/into/a COLUMN_EXISTS'],
  },
]);

golden('where of merge_columns', [
  {
    name: 'a new column is null in the rows that are left out',
    template: `operations: [{merge_columns: {columns: [a, b], into: m, keep_source: true, where: 'b != "x"'}}]`,
    input: 'a,b\n1,2\n3,x\n,\n4,\n',
    output: 'a,b,m\n1,2,1 2\n3,x,\n,,\n4,,4\n',
  },
  {
    name: 'one of the merged keeps its cells there, and stands where the first of them stood',
    template: `operations: [{merge_columns: {columns: [a, c], into: c, where: 'a != "x"'}}]`,
    input: 'z,a,b,c\n0,1,p,2\n0,x,q,3\n0,,r,4\n',
    output: 'z,c,b\n0,1 2,p\n0,3,q\n0,4,r\n',
  },
  {
    name: 'value is the cell that is replaced',
    template: `
operations:
  - {merge_columns: {columns: [a, c], into: c, keep_source: true, where: value == null}}
  - {merge_columns: {template: "{{{a}}} {c}", into: a, where: 'value != "3"'}}`,
    input: 'a,b,c\n1,p,2\n3,q,\n',
    output: 'a,b\n{1} 2,p\n3,q\n',
  },
  {
    name: 'a column that is made has no cell, and one of another type none that could stay',
    template: `
operations:
  - {merge_columns: {columns: [a, b], into: m, where: value != "x"}}
  - {cast: {columns: {c: integer}}}
  - {merge_columns: {columns: [c, d], into: c, where: 'd != "x"'}}`,
    problems: ['/operations/0/merge_columns/where EXPR_UNKNOWN_COLUMN', '/operations/2/merge_columns/where WHERE_TYPE'],
  },
  {
    name: 'rows for which nobody can say are errors',
    template: 'operations: [{merge_columns: {columns: [a, b], into: m, where: int(a) > 1, on_error: drop_row}}]',
    input: 'a,b\n1,p\nx,q\n2,r\n',
    output: 'm\n""\n2 r\n',
    errors: ['merge_columns: NOT_A_NUMBER 1 2'],
  },
]);

const TWO_TYPES =
  'TEMPLATE_COLUMNS_MISSING: The columns of the file do not fit the Template at operation 1 OPERATION (line 1, /operations/0): one of them ' +
  'would get another type, but the rows that "where" leaves out contain cells of its present type (WHERE_TYPE). Leave ' +
  '"where" out, or write the result to a new column.';

/** Operations that change the type of a column in some rows. The column is in the file but not declared. */
const RETYPED: readonly (readonly [operation: string, parameters: string])[] = [
  ['set', 'column: v, value: 5'],
  ['set', 'columns: {v: int(k), w: k}'],
  ['set', 'columns: {v: "dyn([k])"}'],
  ['parse_number', 'columns: {pattern: "^v"}'],
  ['parse_number', 'columns: "*"'],
  ['parse_date', 'columns: {except: [k]}, formats: [yyyy-MM-dd]'],
  ['parse_json', 'columns: {type: text}'],
];

golden('where on a column that only the file brings', [
  ...RETYPED.map(([operation, parameters]) => ({
    name: `${operation} ${parameters}: no cell of a row that is left out is lost`,
    template: `operations: [{${operation}: {${parameters}, where: run.row == 1}}]`,
    input: 'k,v\n1,x\n2,kept\n',
    error: TWO_TYPES.replace('OPERATION', operation),
  })),
  {
    name: 'the same column made by the Template is null in the other rows, and one that keeps its type keeps its cells',
    template: `operations: [{set: {column: v, value: 5, where: 'k == "1"'}}, {set: {column: t, value: y, where: 'k == "1"'}}]`,
    input: 'k,t\n1,x\n2,kept\n',
    output: 'k,t,v\n1,y,5\n2,kept,\n',
  },
  {
    name: 'a column that the Template knows is a mistake of the Template',
    template: `
input: {columns: [{name: v, match: []}]}
operations: [{set: {column: v, value: 5, where: 'k == "1"'}}, {set: {columns: {v: 'dyn([k])'}, where: 'k == "1"'}}]`,
    problems: ['/operations/0/set/where WHERE_TYPE', '/operations/1/set/where WHERE_TYPE'],
  },
]);
