// `value` in the common parameter `where`: each cell that an operation edits is asked for itself.
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
    name: 'a new column has no cell yet, and rows are chosen before a vote',
    template: `
operations:
  - {set: {columns: {x: '"1"'}, where: value == "1"}}
  - {parse_date: {columns: a, formats: [dd/MM/yyyy, MM/dd/yyyy], ambiguous: column_vote, into: b, where: value != "x"}}
`,
    problems: ['/operations/0/set/where EXPR_UNKNOWN_COLUMN', '/operations/1/parse_date/where EXPR_UNKNOWN_COLUMN'],
  },
]);
