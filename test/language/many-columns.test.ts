// One expression over many columns (set.each), columns that an aggregate keeps beside its metrics (rest), and columns made from
// the pairs in a text (split_pairs).
import { golden } from './golden.ts';

golden('set.each', [
  {
    name: 'columns by a pattern, in place, each of its own type',
    template: `operations:
  - parse_number: {columns: [net_a, net_b]}
  - set: {each: {pattern: "^net_"}, expr: "round(value * 1.19d, 2)"}
  - set: {each: [x, y], expr: "coalesce(value, '+') + '!'", into: "new {name}"}`,
    input: 'net_a,x,net_b,y\n1,p,10.50,\n,,2,q\n',
    output: 'net_a,x,net_b,y,new x,new y\n1.19,p,12.50,,p!,+!\n,,2.38,q,+!,q!\n'.replaceAll('+', "'+"),
  },
  {
    name: 'all columns of a file that the Template does not name, and other columns in the expression',
    template: `input: {columns: [{name: factor}]}
operations: [{set: {each: {except: [factor]}, expr: "int(value) * int(factor)"}}]`,
    input: 'a,factor,b\n1,2,3\n4,5,6\n',
    output: 'a,factor,b\n2,2,6\n20,5,30\n',
  },
  {
    name: 'only rows of where, and errors of each cell',
    template: `operations: [{set: {each: [a, b], expr: "string(10 / int(value))", where: "k == 'y'", on_error: blank}}]`,
    input: 'k,a,b\ny,5,0\nn,5,0\ny,x,2\n',
    output: 'k,a,b\ny,2,\nn,5,0\ny,,5\n',
    errors: ['set: EXPR_DIV_ZERO 1 1', 'set: NOT_A_NUMBER 1 3'],
  },
  {
    name: 'where may ask each cell of columns that are listed',
    template: `operations: [{set: {each: [a, b], expr: "'none'", where: "value == null"}}]`,
    input: 'a,b\n1,\n,2\n',
    output: 'a,b\n1,none\nnone,2\n',
  },
  {
    name: 'one column, whose new name needs no place',
    template: `operations: [{set: {each: a, expr: "value + value", into: b}}]`,
    input: 'a\nx\n',
    output: 'a,b\nx,xx\n',
  },
  {
    name: 'mistakes',
    template: `operations:
  - set: {each: [a, b], expr: value, into: c}
  - set: {each: [a], into: c}`,
    problems: ['/operations/0/set/into BAD_VALUE', '/operations/1/set BAD_PARAMETERS'],
  },
  {
    name: 'an expression that does not go with the columns',
    template: `operations: [{set: {each: [a, b], expr: "value + 1"}}]`,
    problems: ['/operations/0/set/expr EXPR_TYPE'],
  },
]);

golden('aggregate with the rest', [
  {
    name: 'the first cells that are not null, after the metrics',
    template: `operations: [{aggregate: {group_by: no, metrics: [{fn: count}, {fn: max, column: b}], rest: first}}]`,
    input: 'a,no,b,c\n,1,x,p\nq,2,y,\nr,1,z,s\n,2,y,\n',
    output: 'no,count,max_b,a,c\n1,2,z,r,p\n2,2,y,q,\n',
  },
  {
    name: 'columns of the file that nobody names, and a metric in the place of its column',
    template: `operations:
  - parse_number: {columns: b}
  - aggregate: {group_by: no, metrics: [{fn: sum, column: b, as: b}], rest: first}
  - rename: {columns: {z: last}}`,
    input: 'no,b,z\n1,1.5,u\n1,2,v\n',
    output: 'no,b,last\n1,3.5,u\n',
  },
  {
    name: 'all rows as one group, typed columns and flags',
    template: `operations:
  - parse_date: {columns: d, formats: [dd.MM.yyyy], on_error: flag}
  - aggregate: {metrics: [{fn: count, as: n}], rest: first}`,
    input: 'd,x\n?,1\n01.02.2026,2\n',
    output: 'n,d,x,_issues\n2,2026-02-01,1,\n',
  },
]);

golden('split_pairs', [
  {
    name: 'texts that come twice, have no value, or are no pair',
    template: 'operations: [{split_pairs: {column: a, pair: " | ", key: "=", into: {x: x, "Long Key": y}}}]',
    input: 'a\n"x=1 | x=2 | LONG KEY = b=c | z"\nx= | y\n\nx\n',
    output: 'a,x,y\nx=1 | x=2 | LONG KEY = b=c | z,2,b=c\nx= | y,,\n"",,\nx,,\n'.replace('"",,', ',,'),
  },
  {
    name: 'anything else is an error where that is wanted, once for a row',
    template: `operations: [{split_pairs: {column: a, into: {x: x, y: y}, other: error, on_error: flag}}]`,
    input: 'a,b\nx:1;y:2;,-\nx:1;z:2,-\ny:2;text,-\n,-\n',
    output: 'a,b,x,y,_issues\nx:1;y:2;,-,1,2,\nx:1;z:2,-,,,a:NO_MATCH\ny:2;text,-,,2,a:NO_MATCH\n,-,,,\n',
    errors: ['split_pairs: NO_MATCH 2 2 3'],
  },
  {
    name: 'mistakes',
    template: `operations:
  - split_pairs: {column: a, pair: ":", into: {x: p, " X ": q, " ": r}}
  - split_pairs: {column: a, into: {x: a}}
  - parse_number: {columns: n}
  - split_pairs: {column: n, into: {x: z}}`,
    problems: [
      '/operations/0/split_pairs/key BAD_VALUE',
      '/operations/0/split_pairs/into/ X  BAD_VALUE',
      '/operations/0/split_pairs/into/  BAD_VALUE',
      '/operations/1/split_pairs/into/x COLUMN_EXISTS',
      '/operations/3/split_pairs/column WRONG_TYPE',
    ],
  },
]);
