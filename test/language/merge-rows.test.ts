// The operation merge_rows: rows that continue the previous row, across batches, with errors and with texts too long for a cell.
import { golden } from './golden.ts';

golden('merge_rows', [
  {
    name: 'a purpose on several lines, its other cells from the first',
    template: 'operations: [{merge_rows: {when: date == null, join: purpose}}]',
    input: 'date,purpose,amount\n1.1.,Rent,-7\n,January,9\n,,\n,"flat, 7",\n2.1.,Salary,25\n3.1.,,1\n,late,\n',
    output: 'date,purpose,amount\n1.1.,"Rent January flat, 7",-7\n2.1.,Salary,25\n3.1.,late,1\n',
    errors: ['merge_rows: CELL_DROPPED 1 2'],
  },
  {
    name: 'all rows continue the first, which continues nothing',
    template: 'operations: [{merge_rows: {when: "true", join: "*", separator: "|"}}]',
    input: 'a,b\n1,\n2,x\n,y\n3,z\n',
    output: 'a,b\n1|2|3,x|y|z\n',
  },
  {
    name: 'no row continues another',
    template: 'operations: [{merge_rows: {when: \'a == "x"\', join: b}}]',
    input: 'a,b\n1,\n2,x\n3,y\n',
    output: 'a,b\n1,\n2,x\n3,y\n',
  },
  {
    name: 'after a filter, and before what reads the cells',
    template: `operations:
  - filter: {where: 'b != "-"'}
  - merge_rows: {when: 'a == null', join: [b, c], separator: ''}
  - parse_number: {columns: c}
  - set: {columns: {n: c + 1d, row: run.row}}\n`,
    input: 'a,b,c\n,-,1\nx,p,1\n,-,8\n,q,2\n,-,7\ny,r,3\n',
    output: 'a,b,c,n,row\nx,pq,12,13,2\ny,r,3,4,6\n',
  },
  {
    name: 'a condition that cannot be computed: the row stays for itself',
    template: 'operations: [{merge_rows: {when: int(a) < 0, join: b, on_error: flag}}]',
    input: 'a,b\n1,x\n-1,y\n?,z\n-2,u\n',
    output: 'a,b,_issues\n1,x y,\n?,z u,merge_rows:NOT_A_NUMBER\n',
  },
  {
    name: 'a column that is no text',
    template: 'operations: [{parse_number: {columns: n}}, {merge_rows: {when: a == null, join: n}}]',
    problems: ['/operations/1/merge_rows/join WRONG_TYPE'],
  },
  {
    name: 'a column that the file lacks is no reason to lose rows',
    template: 'operations: [{merge_rows: {when: a == null, join: [z], if_missing: skip}}]',
    input: 'a,b\n1,x\n,y\n',
    output: 'a,b\n1,x\n,y\n',
  },
]);

const LONG = 'x'.repeat(3_000_000);

golden('texts that exceed the maximum of a cell', [
  {
    name: 'stay as they were',
    template:
      'operations: [{merge_rows: {when: a == null, join: [b], on_error: keep}}, {set: {columns: {b: size(b)}}}]',
    input: `a,b\n1,${LONG}\n,${LONG}\n,y\n2,x\n`,
    output: 'a,b\n1,3000000\n2,1\n',
    errors: ['merge_rows: TOO_LONG 1 1'],
  },
  {
    name: 'go with their rows',
    template: 'operations: [{merge_rows: {when: a == null, join: [b], on_error: drop_row}}]',
    input: `a,b\n1,${LONG}\n,${LONG}\n,${LONG}\n2,x\n`,
    output: 'a,b\n2,x\n',
  },
]);
