// Rows with errors: the values of on_error, where, thresholds, which error is reported, the report.
import { golden } from './golden.ts';

const AMOUNTS = 'id,amount\n1,5\n2,x\n3,\n4,y\n';
const parse = (rest: string) => `operations: [{parse_number: {columns: [amount]${rest}}}]`;

golden('on_error', [
  {
    name: 'fail is the default, and tells operation, code, row and column, never the value',
    template: parse(''),
    input: AMOUNTS,
    error:
      'TEMPLATE_ROW_ERROR: Operation 1 parse_number (line 1, /operations/0), column "amount": NOT_A_NUMBER in row 2 of the data.',
  },
  {
    name: 'drop_row',
    template: parse(', on_error: drop_row'),
    input: AMOUNTS,
    output: 'id,amount\n1,5\n3,\n',
    errors: ['parse_number: NOT_A_NUMBER 2 2 4'],
  },
  {
    name: 'blank',
    template: parse(', on_error: blank'),
    input: AMOUNTS,
    output: 'id,amount\n1,5\n2,\n3,\n4,\n',
    errors: ['parse_number: NOT_A_NUMBER 2 2 4'],
  },
  {
    name: 'flag',
    template: parse(', on_error: flag'),
    input: AMOUNTS,
    output: 'id,amount,_issues\n1,5,\n2,,amount:NOT_A_NUMBER\n3,,\n4,,amount:NOT_A_NUMBER\n',
  },
  {
    name: 'flags of several operations stand together, and the flag column can be named and ordered',
    template: `defaults: {on_error: flag, flag_column: trouble}
operations:
  - {parse_number: {columns: [n]}}
  - {parse_date: {columns: [d], formats: [yyyy-MM-dd]}}
  - {set: {columns: {z: "1"}}}
output: {columns: [trouble, d, n]}`,
    input: 'n,d\n1,2026-01-31\nx,2026-13-01\n2,y\n',
    output: 'trouble,d,n\n,2026-01-31,1\nn:NOT_A_NUMBER d:NOT_A_DATE,,\nd:NOT_A_DATE,,2\n',
  },
  {
    name: 'keep where the cell may stay as it is',
    template: 'operations: [{validate: {rules: [{column: amount, check: digits}], on_error: keep}}]',
    input: AMOUNTS,
    output: 'id,amount\n1,5\n2,x\n3,\n4,y\n',
    errors: ['validate: PATTERN_MISMATCH 2 2 4'],
  },
  {
    name: 'the default of the Template, and an operation that says otherwise',
    template: `defaults: {on_error: drop_row}
operations:
  - {parse_number: {columns: [a]}}
  - {parse_number: {columns: [b], on_error: blank}}`,
    input: 'a,b\n1,1\nx,2\n3,x\n',
    output: 'a,b\n1,1\n3,\n',
  },
  {
    name: 'into: the source stays, the new cell is empty',
    template: parse(', into: value, on_error: blank'),
    input: 'id,amount\n1,5\n2,x\n',
    output: 'id,amount,value\n1,5,5\n2,x,\n',
  },
  {
    name: 'several columns: each failing cell counts',
    template: 'operations: [{parse_number: {columns: [a, b], on_error: blank}}]',
    input: 'a,b\nx,y\n1,z\n',
    output: 'a,b\n,\n1,\n',
    errors: ['parse_number: NOT_A_NUMBER 3 1 2'],
  },
  {
    name: 'a row that is dropped at its first failing cell counts once',
    template: 'operations: [{parse_number: {columns: [a, b], on_error: drop_row}}]',
    input: 'a,b\nx,y\n1,z\n1,2\n',
    output: 'a,b\n1,2\n',
    errors: ['parse_number: NOT_A_NUMBER 2 1 2'],
  },
  {
    name: 'extract without a match flags the column that it read',
    template: `operations: [{extract: {column: t, pattern: '(\\d)(\\d)', into: {1: n, 2: m}, on_no_match: error, on_error: flag}}]`,
    input: 't,x\na12,1\nb,2\n',
    output: 't,x,n,m,_issues\na12,1,1,2,\nb,2,,,t:NO_MATCH\n',
  },
]);

golden('where', [
  {
    name: 'only the rows for which it is true are edited; null is not true',
    template: 'operations: [{text: {columns: [a], steps: [upper], where: "b > \\"1\\""}}]',
    input: 'a,b\nx,1\ny,2\nz,\n',
    output: 'a,b\nx,1\nY,2\nz,\n',
  },
  {
    name: 'a type that would change for some rows only is refused',
    template: 'operations: [{parse_number: {columns: [a], where: "b == \\"1\\""}}]',
    problems: ['/operations/0/parse_number/where WHERE_TYPE'],
  },
  {
    name: 'into with where: null in the other rows',
    template: 'operations: [{parse_number: {columns: [a], into: n, where: "b == \\"1\\""}}]',
    input: 'a,b\n5,1\n6,2\n',
    output: 'a,b,n\n5,1,5\n6,2,\n',
  },
  {
    name: 'rows left out by where cause no errors',
    template: 'operations: [{parse_number: {columns: [a], into: n, where: "b == \\"1\\""}}]',
    input: 'a,b\n5,1\nx,2\n',
    output: 'a,b,n\n5,1,5\nx,2,\n',
  },
  {
    name: 'a condition that cannot be computed',
    template: 'operations: [{text: {columns: [a], steps: [upper], where: "int(b) > 1", on_error: drop_row}}]',
    input: 'a,b\nx,1\ny,2\nz,q\n',
    output: 'a,b\nx,1\nY,2\n',
    errors: ['text: NOT_A_NUMBER 1 3'],
  },
]);

golden('thresholds', [
  {
    name: 'as many errors as allowed',
    template: `defaults: {on_error: blank, max_errors: 2}\n${parse('')}`,
    input: AMOUNTS,
    output: 'id,amount\n1,5\n2,\n3,\n4,\n',
  },
  {
    name: 'one more',
    template: `defaults: {on_error: blank, max_errors: 1}\n${parse('')}`,
    input: AMOUNTS,
    error: 'TEMPLATE_TOO_MANY_ERRORS',
  },
  {
    name: 'none at all',
    template: `defaults: {on_error: drop_row, max_errors: 0}\n${parse('')}`,
    input: AMOUNTS,
    error: 'TEMPLATE_TOO_MANY_ERRORS',
  },
  {
    name: 'a share of the rows read, reached',
    template: `defaults: {on_error: blank, max_error_ratio: 0.5}\n${parse('')}`,
    input: AMOUNTS,
    output: 'id,amount\n1,5\n2,\n3,\n4,\n',
  },
  {
    name: 'a share of the rows read, passed',
    template: `defaults: {on_error: blank, max_error_ratio: 0.49}\n${parse('')}`,
    input: AMOUNTS,
    error: 'TEMPLATE_TOO_MANY_ERRORS',
  },
]);

golden('which error is reported', [
  {
    name: 'the one of the lowest source row, though a later operation finds it',
    template: `operations:
  - {parse_number: {columns: [a]}}
  - {parse_date: {columns: [d], formats: [yyyy-MM-dd]}}`,
    input: 'a,d\n1,x\nx,2026-01-31\n',
    error:
      'TEMPLATE_ROW_ERROR: Operation 2 parse_date (line 1, /operations/1), column "d": NOT_A_DATE in row 1 of the data.',
  },
  {
    name: 'in one row the earliest operation',
    template: `operations:
  - {parse_date: {columns: [d], formats: [yyyy-MM-dd]}}
  - {parse_number: {columns: [a]}}`,
    input: 'a,d\nx,x\n',
    error:
      'TEMPLATE_ROW_ERROR: Operation 1 parse_date (line 1, /operations/0), column "d": NOT_A_DATE in row 1 of the data.',
  },
  {
    name: 'in one operation the first column',
    template: 'operations: [{parse_number: {columns: [b, a]}}]',
    input: 'a,b\nx,x\n',
    error:
      'TEMPLATE_ROW_ERROR: Operation 1 parse_number (line 1, /operations/0), column "b": NOT_A_NUMBER in row 1 of the data.',
  },
  {
    name: 'the id of the operation, and the column under the name of the Template',
    template: `input: {columns: [{name: amount, match: [Betrag]}]}
operations: [{parse_number: {columns: [amount], id: read_amount}}]`,
    input: 'Betrag\n1\n\nx\n',
    error:
      'TEMPLATE_ROW_ERROR: Operation 1 parse_number "read_amount" (line 1, /operations/0), column "amount": NOT_A_NUMBER in row 3 of the data.',
  },
  {
    name: 'after a sort the source row still counts',
    template: `operations:
  - {sort: {by: [{column: k}]}}
  - {parse_number: {columns: [a]}}`,
    input: 'k,a\nb,x\na,y\n',
    error:
      'TEMPLATE_ROW_ERROR: Operation 2 parse_number (line 1, /operations/1), column "a": NOT_A_NUMBER in row 1 of the data.',
  },
  {
    name: 'rows after a slice that has enough are not worked on',
    template: `operations:
  - {parse_number: {columns: [a]}}
  - {slice: {limit: 2}}`,
    input: 'a,b\n1,1\n2,2\nx,3\n',
    output: 'a,b\n1,1\n2,2\n',
  },
  {
    name: 'nor are rows after stop_when',
    template: `operations:
  - {parse_number: {columns: [a]}}
  - {stop_when: {where: "b == \\"end\\""}}`,
    input: 'a,b\n1,1\n2,end\nx,3\n',
    output: 'a,b\n1,1\n',
  },
  {
    name: 'the report tells that row alone, however far others had come',
    template: `operations:
  - {parse_number: {columns: [b], on_error: blank}}
  - {parse_number: {columns: [a]}}`,
    input: 'a,b\n1,x\ny,1\nz,x\n',
    error:
      'TEMPLATE_ROW_ERROR: Operation 2 parse_number (line 1, /operations/1), column "a": NOT_A_NUMBER in row 2 of the data.',
    errors: ['parse_number: NOT_A_NUMBER 1 2'],
  },
  {
    name: 'but syntax further down still counts',
    template: 'operations: [{slice: {limit: 1}}]',
    input: 'a,b\n1,1\n2,2\n"x,3\n',
    error: 'MALFORMED_FILE',
  },
]);

golden('values that are no errors', [
  {
    name: 'null passes every operation on cells',
    template: `operations:
  - {parse_number: {columns: [n]}}
  - {parse_date: {columns: [d], formats: [dd.MM.yyyy]}}
  - {cast: {columns: {b: boolean}}}
  - {round: {columns: [n]}}`,
    input: 'n,d,b,x\n,,,1\n',
    output: 'n,d,b,x\n,,,1\n',
  },
  {
    name: 'division by zero',
    template: 'operations: [{set: {columns: {c: "int(a) / int(b)"}, on_error: flag}}]',
    input: 'a,b\n4,2\n4,0\n4,x\n',
    output: 'a,b,c,_issues\n4,2,2,\n4,0,,c:EXPR_DIV_ZERO\n4,x,,c:NOT_A_NUMBER\n',
  },
  {
    name: 'if_error gives another value',
    template: 'operations: [{set: {columns: {c: "if_error(int(b), -1)"}}}]',
    input: 'b\n2\nx\n',
    output: 'b,c\n2,2\nx,-1\n',
  },
]);
