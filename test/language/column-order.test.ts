// Order of the columns of a file, and messages about columns with the same name.
import { golden } from './golden.ts';

golden('the order of columns', [
  {
    name: 'with drop the declared order, then what is read undeclared',
    template:
      'input: {other_columns: drop, columns: [{name: c}, {name: missing, required: false}, {name: a, match: [A]}]}\n' +
      'operations: [{text: {columns: [e, b], steps: [upper]}}]',
    input: 'A,b,c,d,e\n1,x,3,4,y\n5,"q ""z""",7,8,\n',
    output: 'c,missing,a,e,b\n3,,1,Y,X\n7,,5,,"Q ""Z"""\n',
  },
  {
    name: 'with drop and nothing to do',
    template: 'input: {other_columns: drop, columns: [{name: c}, {name: a}]}\noperations: []',
    input: 'a,b,c\n1,2,3\n"4,",5,6\n7,8\n',
    output: 'c,a\n3,1\n6,"4,"\n,7\n',
  },
  {
    name: 'with keep the order of the file',
    template: 'input: {columns: [{name: c}, {name: missing, required: false}, {name: a}]}\noperations: []',
    input: 'a,b,c\n1,2,3\n',
    output: 'a,b,c,missing\n1,2,3,\n',
  },
]);

const COLLISION =
  'TEMPLATE_COLUMNS_MISSING: The columns of the file do not fit the Template at operation 1 OPERATION (line 1, /operations/0): two would ';

const WAY_OUT = 'Rename or drop one of them before this operation.';

golden('a collision with a column of the file names the word of the Template, and no other', [
  ...(
    [
      ['rename', 'columns: {a: b}', `be called "b". ${WAY_OUT}`],
      ['copy', 'from: a, to: b', `be called "b". ${WAY_OUT}`],
      ['rename', 'pattern: "^a$", replace: b', `be called "b". ${WAY_OUT}`],
      ['rename', 'pattern: "^(.).*$", replace: "$1"', `have the same name. ${WAY_OUT}`],
    ] as const
  ).map(([operation, parameters, end]) => ({
    name: `${operation} ${parameters}`,
    template: `operations: [{${operation}: {${parameters}}}]`,
    input: 'a,b,bc\n1,2,3\n',
    error: COLLISION.replace('OPERATION', operation) + end,
  })),
]);
