// transpose: with listed columns, and with columns named by rows.

import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { golden } from './golden.ts';

golden('transpose', [
  {
    name: 'the listed columns in their order, and null where there is no row',
    template: 'operations: [{transpose: {header_from: key, columns: [tax, net, gross]}}]',
    input: 'a,key,b,c\n1,net,2,\n3,tax,x,5\n',
    output: 'key,tax,net,gross\na,3,1,\nb,x,2,\nc,5,,\n',
  },
  {
    name: 'rows that no column is listed for are errors',
    template: 'operations: [{transpose: {header_from: key, columns: [net], on_error: drop_row}}]',
    input: 'key,a,b\nnet,1,2\n,3,4\ntax,5,6\n',
    output: 'key,net\na,1\nb,2\n',
    errors: ['transpose: NOT_IN_SET 2 2 3'],
  },
  {
    name: 'two rows with one name end the Run',
    template: 'operations: [{transpose: {header_from: key, columns: [net]}}]',
    input: 'key,a\nnet,1\nnet,2\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 1 transpose (line 1, /operations/0): several rows have the same name in "key", and would become one column.',
  },
  {
    name: 'as do more rows than it may turn',
    template: 'operations: [{transpose: {header_from: key, columns: [a, b], max_rows: 1}}]',
    input: 'key,v\na,1\nb,2\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 1 transpose (line 1, /operations/0): there are more than 1 rows to transpose ("max_rows").',
  },
  {
    name: 'numbers stay numbers where all are, and name columns by their texts',
    template: `operations:
  - cast: {columns: {no: integer, a: decimal, b: decimal}}
  - transpose: {header_from: no, columns: ["1", "2"]}
  - set: {columns: {sum: '\`1\` + \`2\`'}}`,
    input: 'no,a,b\n01,1.5,2\n2,0.25,3\n',
    output: 'no,1,2,sum\na,1.5,0.25,1.75\nb,2,3,5\n',
  },
  {
    name: 'a file without rows has none afterwards; columns of before are gone',
    template: 'operations: [{transpose: {header_from: key, columns: [net]}}]',
    input: 'key,a\n',
    output: 'key,net\n',
  },
]);

golden('transpose to columns that rows name', [
  {
    name: 'blank names and equal ones are as those of headers, and none is that of the first column or of the flags',
    template: `operations:
  - parse_number: {columns: v, on_error: flag}
  - transpose: {header_from: key}`,
    input: 'v,key,w\n1,net,a\nx,key,b\n3,,c\n4,net,d\n5,_issues,e\n6," ",f\n7,net_2,g\n8,column_4,h\n',
    output:
      'key,net,key_2,column_4_2,net_3,_issues_2,column_7,net_2,column_4,_issues\n' +
      'v,1,,3,4,5,6,7,8,\nw,a,b,c,d,e,f,g,h,\n',
  },
  {
    name: 'rows that others left out name none; numbers name by their texts and stay numbers',
    template: `operations:
  - cast: {columns: {no: integer, a: decimal}}
  - filter: {where: a > 1}
  - sort: {by: [{column: no, order: desc}]}
  - transpose: {header_from: no}
output: {format: ndjson}`,
    input: 'no,a\n01,1.50\n2,0.25\n3,9\n',
    output: '{"no":"a","3":9,"1":1.50}\n',
  },
  {
    name: 'columns of the output by their names; a name that no row has is missing',
    template: 'operations: [{transpose: {header_from: k}}]\noutput: {columns: [b, k]}',
    input: 'k,v\na,1\nb,2\n',
    output: 'b,k\n2,v\n',
  },
  {
    name: 'such a name is told as the Template spells it',
    template: 'operations: [{transpose: {header_from: k}}]\noutput: {columns: [tax, k]}',
    input: 'k,v\nCanary,1\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "tax". The file was read with delimiter ",", header row 0, 2 columns.',
  },
  {
    name: 'all columns but some',
    template: 'operations: [{transpose: {header_from: k}}]\noutput: {columns: {except: [a, tax]}}',
    input: 'k,v\na,1\nb,2\n',
    output: 'k,b\nv,2\n',
  },
  {
    name: 'a file without rows, and one of names alone',
    template: 'operations: [{transpose: {header_from: k}}]',
    input: 'k,v\n',
    output: 'k\n',
  },
  {
    name: 'no other column: the names are columns, and there are no rows',
    template: 'operations: [{transpose: {header_from: k}}]',
    input: 'k\na\nb\n',
    output: 'k,a,b\n',
  },
  {
    name: 'too many rows',
    template: 'operations: [{transpose: {header_from: k, max_rows: 2}}]',
    input: 'k,v\na,1\nb,2\nc,3\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 1 transpose (line 1, /operations/0): there are more than 2 rows to transpose ("max_rows").',
  },
  {
    name: 'a row error before it still ends the Run; errors are counted once',
    template: `operations:
  - parse_number: {columns: v}
  - transpose: {header_from: k}`,
    input: 'k,v\na,1\nb,x\n',
    error: 'TEMPLATE_ROW_ERROR',
  },
  {
    name: 'errors are counted once',
    template: `operations:
  - parse_number: {columns: v, on_error: drop_row}
  - transpose: {header_from: k}`,
    input: 'k,v\na,1\nb,x\n',
    output: 'k,a\nv,1\n',
    errors: ['parse_number: NOT_A_NUMBER 1 2'],
  },
  {
    name: 'it is the last operation, and names so many columns at most',
    template: `operations:
  - transpose: {header_from: k, max_rows: 20000}
  - drop: {columns: net}`,
    problems: ['/operations/0/transpose NOT_LAST', '/operations/0/transpose/max_rows BAD_VALUE'],
  },
  {
    name: 'with what it cannot make said where it stands',
    template: 'operations: [{transpose: {header_from: k}}, {set: {columns: {x: "1 +"}}}]',
    problems: ['/operations/0/transpose NOT_LAST', '/operations/1/set/columns/x EXPR_SYNTAX'],
  },
]);

test('turned twice it is the table again, whatever the format between', async (t) => {
  const rows = Array.from(
    { length: 300 },
    (_, row) => `r${row},${row},"a ""b"", ${row % 7}",${row % 3 === 0 ? '' : 'x'}`,
  );
  const table = `k,n,text,gaps\n${rows.join('\n')}\n`;
  const turn = { transpose: { header_from: 'k' } };
  for (const format of ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet']) {
    for (const spills of [false, true]) {
      const turned = await applyTemplate({ operations: [turn], output: { format } }, table, 64, {}, { spills });
      t.equal(turned.outcome.failure, null, format);
      const again = await applyTemplate({ operations: [turn] }, turned.bytes ?? '', 64, {}, { spills });
      t.equal(again.text, table, `${format}${spills ? ', spilled' : ''}`);
    }
  }
});
