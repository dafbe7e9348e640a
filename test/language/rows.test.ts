// Operations on rows and keys: filter, slice, stop_when, dedupe, sort, top, aggregate, join, validate, check_totals.
import { golden } from './golden.ts';

const TABLES = { rates: 'code,rate,name\nDE,19,Germany\nFR,20,France\nDE,7,reduced\n' };
const WITH_TABLE = 'tables: {r: {ref: rates}}\n';

golden('filter, slice, stop_when, drop_blank_rows', [
  {
    name: 'keep only what is true',
    template: 'operations: [{filter: {where: \'a == "x" || b > "1"\'}}]',
    input: 'a,b\nx,\n,2\n,\ny,1\n',
    output: 'a,b\nx,\n,2\n',
  },
  {
    name: 'drop only what is true',
    template: 'operations: [{filter: {where: \'b > "1"\', mode: drop}}]',
    input: 'a,b\nx,\n,2\ny,1\n',
    output: 'a,b\nx,\ny,1\n',
  },
  {
    name: 'not equal is true for null',
    template: 'operations: [{filter: {where: \'b != "paid"\'}}]',
    input: 'a,b\n1,paid\n2,\n3,open\n',
    output: 'a,b\n2,\n3,open\n',
  },
  {
    name: 'a condition that is no condition',
    template: 'operations: [{filter: {where: "a + b"}}]',
    problems: ['/operations/0/filter/where EXPR_TYPE'],
  },
  {
    name: 'slice',
    template: 'operations: [{slice: {skip: 1, limit: 2}}]',
    input: 'a,b\n1,1\n2,2\n3,3\n4,4\n',
    output: 'a,b\n2,2\n3,3\n',
  },
  {
    name: 'slice at the end',
    template: 'operations: [{slice: {skip_last: 3}}]',
    input: 'a,b\n1,1\n2,2\n3,3\n4,4\n',
    output: 'a,b\n1,1\n',
  },
  {
    name: 'slice of more rows than there are',
    template: 'operations: [{slice: {skip: 3, skip_last: 3, limit: 5}}]',
    input: 'a,b\n1,1\n2,2\n3,3\n4,4\n',
    output: 'a,b\n',
  },
  {
    name: 'no rows at all',
    template: 'operations: [{slice: {limit: 0}}]',
    input: 'a,b\n1,1\n',
    output: 'a,b\n',
  },
  {
    name: 'stop_when',
    template: 'operations: [{stop_when: {where: \'a.startsWith("Sum")\', include: true}}]',
    input: 'a,b\n1,1\nSum,1\n2,2\n',
    output: 'a,b\n1,1\nSum,1\n',
  },
  {
    name: 'drop_blank_rows',
    template: 'operations: [{drop_blank_rows: {}}, {drop_blank_rows: {columns: [b]}}]',
    input: 'a,b\n1,1\n," "\n,2\n3,\n',
    output: 'a,b\n1,1\n,2\n',
  },
]);

golden('dedupe, sort, top', [
  {
    name: 'whole rows, first',
    template: 'operations: [{dedupe: {}}]',
    input: 'a,b\n1,x\n1,y\n1,x\n,\n,\n',
    output: 'a,b\n1,x\n1,y\n,\n',
  },
  {
    name: 'last, counted',
    template: 'operations: [{dedupe: {by: [a], keep: last, count_into: n}}]',
    input: 'a,b\n1,x\n2,y\n1,z\n',
    output: 'a,b,n\n2,y,1\n1,z,2\n',
  },
  {
    name: 'none, in any spelling',
    template: 'operations: [{dedupe: {by: [a], keep: none, match: normal}}]',
    input: 'a,b\nAda ,x\n ada,y\nBob,z\n',
    output: 'a,b\nBob,z\n',
  },
  {
    name: 'numbers are equal by value',
    template: 'operations: [{parse_number: {columns: [a]}}, {dedupe: {by: [a]}}]',
    input: 'a,b\n1.50,x\n1.5,y\n2,z\n',
    output: 'a,b\n1.50,x\n2,z\n',
  },
  {
    name: 'the parts of a key do not run together',
    template: 'operations: [{dedupe: {by: [a, b]}}]',
    input: 'a,b\nab,c\na,bc\n,abc\nabc,\n',
    output: 'a,b\nab,c\na,bc\n,abc\nabc,\n',
  },
  {
    name: 'stable, nulls last in both directions, code points',
    template: 'operations: [{sort: {by: [{column: a, order: desc}, b]}}]',
    input: 'a,b\nb,2\n,1\nB,1\nb,1\nä,1\nb,2\n',
    output: 'a,b\nä,1\nb,1\nb,2\nb,2\nB,1\n,1\n',
  },
  {
    name: 'characters beyond 16 bits come last',
    template: 'operations: [{sort: {by: [a]}}]',
    input: 'a,b\n😀,1\n\uFF21,2\nz,3\n',
    output: 'a,b\nz,3\n\uFF21,2\n😀,1\n',
  },
  {
    name: 'by value, natural, any case',
    template: `operations:
  - {parse_number: {columns: [n]}}
  - {sort: {by: [n, {column: s, compare: natural}, {column: c, compare: case_insensitive}]}}`,
    input: 'n,s,c\n10,x,x\n9,f10,x\n9,f9,B\n9,f9,a\n-1,x,x\n',
    output: 'n,s,c\n-1,x,x\n9,f9,a\n9,f9,B\n9,f10,x\n10,x,x\n',
  },
  {
    name: 'top of each group comes out sorted',
    template:
      'operations: [{parse_number: {columns: [n]}}, {top: {n: 1, by: [{column: n, order: desc}], group_by: [g]}}]',
    input: 'g,n\na,1\nb,5\na,3\nb,2\nc,\n',
    output: 'g,n\nb,5\na,3\nc,\n',
  },
]);

golden('aggregate', [
  {
    name: 'groups as first seen, nulls are a group, metrics pass over nulls',
    template: `operations:
  - {parse_number: {columns: [v]}}
  - aggregate:
      group_by: [g]
      metrics:
        - {fn: count, as: rows}
        - {fn: count_values, column: v, as: filled}
        - {fn: count_distinct, column: v, as: different}
        - {fn: sum, column: v}
        - {fn: mean, column: v, as: mean}
        - {fn: min, column: v, as: least}
        - {fn: max, column: v, as: most}
        - {fn: first, column: t, as: first}
        - {fn: last, column: t, as: last}
        - {fn: join, column: t, separator: "/", as: all}`,
    input: 'g,v,t\nb,1.50,p\na,2,q\nb,0.25,\n,,r\nb,1.5,s\n',
    output:
      'g,rows,filled,different,sum_v,mean,least,most,first,last,all\n' +
      'b,3,3,2,3.25,1.0833333333,0.25,1.50,p,s,p/s\n' +
      'a,1,1,1,2,2,2,2,q,q,q\n,1,0,0,,,,,r,r,r\n',
  },
  {
    name: 'conditions on metrics, groups in order',
    template: `operations:
  - {parse_number: {columns: [v]}}
  - aggregate:
      group_by: [g]
      order: sorted
      metrics: [{fn: sum, column: v, as: in, where: 'v > 0d'}, {fn: sum, column: v, as: out, where: 'v < 0d'}]`,
    input: 'g,v\nb,5\na,-1\na,2.5\nb,1\n',
    output: 'g,in,out\na,2.5,-1\nb,6,\n',
  },
  {
    name: 'all rows as one group',
    template: 'operations: [{aggregate: {metrics: [{fn: count, as: n}]}}]',
    input: 'a,b\n1,1\n2,2\n',
    output: 'n\n2\n',
  },
  {
    name: 'sums of decimals are exact, of doubles correctly rounded',
    template: `operations:
  - {parse_number: {columns: [d]}}
  - {parse_number: {columns: [f], type: number}}
  - {aggregate: {metrics: [{fn: sum, column: d, as: d}, {fn: sum, column: f, as: f}]}}`,
    input: 'd,f\n0.1,1e0\n'.replace('1e0', '0.1') + '0.1,0.1\n'.repeat(9),
    output: 'd,f\n1.0,1\n',
  },
]);

golden('join', [
  {
    name: 'left: the first that fits',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: code}}]`,
    tables: TABLES,
    input: 'x,code\n1,FR\n2,DE\n3,XX\n4,\n',
    output: 'x,code,rate,name\n1,FR,20,France\n2,DE,19,Germany\n3,XX,,\n4,,,\n',
  },
  {
    name: 'inner, all that fit',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: [{left: c, right: code}], type: inner, multiple: all, columns: [rate]}}]`,
    tables: TABLES,
    input: 'x,c\n1,DE\n2,XX\n3,FR\n',
    output: 'x,c,rate\n1,DE,19\n1,DE,7\n3,FR,20\n',
  },
  {
    name: 'anti and semi',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: code, type: anti}}]`,
    tables: TABLES,
    input: 'x,code\n1,DE\n2,XX\n3,\n',
    output: 'x,code\n2,XX\n3,\n',
  },
  {
    name: 'semi',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: code, type: semi}}]`,
    tables: TABLES,
    input: 'x,code\n1,DE\n2,XX\n3,\n',
    output: 'x,code\n1,DE\n',
  },
  {
    name: 'a miss as an error',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: code, columns: [rate], on_missing: error, on_error: flag}}]`,
    tables: TABLES,
    input: 'x,code\n1,FR\n2,XX\n',
    output: 'x,code,rate,_issues\n1,FR,20,\n2,XX,,code:LOOKUP_MISS\n',
  },
  {
    name: 'several as an error',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: code, columns: [rate], multiple: fail, on_error: drop_row}}]`,
    tables: TABLES,
    input: 'x,code\n1,FR\n2,DE\n',
    output: 'x,code,rate\n1,FR,20\n',
  },
  {
    name: 'the prefix names the columns of the table',
    template: `${WITH_TABLE}operations: [{join: {table: r, on: code, columns: [name], prefix: land_}}]`,
    tables: TABLES,
    input: 'name,code\nx,FR\n',
    output: 'name,code,land_name\nx,FR,France\n',
  },
  {
    name: 'a table that is not there',
    template: 'operations: [{join: {table: r, on: code}}]',
    problems: ['/operations/0/join/table UNKNOWN_TABLE'],
  },
  {
    name: 'lookup in an expression',
    template: `${WITH_TABLE}operations: [{set: {columns: {n: 'lookup("r", "code", code, "name")'}}}]`,
    tables: TABLES,
    input: 'x,code\n1,FR\n2,XX\n',
    output: 'x,code,n\n1,FR,France\n2,XX,\n',
  },
]);

golden('validate and check_totals', [
  {
    name: 'rules with outcomes of their own',
    template: `operations:
  - validate:
      rules:
        - {column: id, check: required, on_error: drop_row}
        - {column: id, check: unique, on_error: drop_row}
        - {column: mail, check: email, on_error: blank}
        - {column: iban, check: iban, on_error: flag}
        - {column: n, check: between, min: 1, max: 10, on_error: keep}`,
    input:
      'id,mail,iban,n\n1,a@b.de,DE89370400440532013000,5\n1,x,y,5\n,a@b.de,,5\n2,nobody,DE00370400440532013000,11\n',
    output: 'id,mail,iban,n,_issues\n1,a@b.de,DE89370400440532013000,5,\n2,,,11,iban:CHECKSUM\n',
    errors: [
      'validate: NOT_UNIQUE 1 2',
      'validate: REQUIRED_EMPTY 1 3',
      'validate: PATTERN_MISMATCH 1 4',
      'validate: CHECKSUM 1 4',
      'validate: OUT_OF_RANGE 1 4',
    ],
  },
  {
    name: 'totals that hold',
    template: `operations:
  - {parse_number: {columns: [v]}}
  - {check_totals: {checks: [{expr: "sum(v)", equals: "0.3"}, {expr: "count()", between: [1, 5]}]}}`,
    input: 'v,x\n0.1,1\n0.2,1\n',
    output: 'v,x\n0.1,1\n0.2,1\n',
  },
  {
    name: 'totals that do not',
    template: `operations:
  - {parse_number: {columns: [v]}}
  - {check_totals: {checks: [{expr: "sum(v)", equals: 1, tolerance: 0.5, message: Balance is off.}]}}`,
    input: 'v,x\n0.1,1\n0.2,1\n',
    error:
      'TEMPLATE_CHECK_FAILED: Operation 2 check_totals (line 1, /operations/1): Total 1: TOTAL_MISMATCH. Balance is off.',
  },
]);

golden('privacy', [
  {
    name: 'mask, redact, generalize, an unkeyed hash',
    template: `operations:
  - {mask: {columns: [iban], keep_first: 2, keep_last: 4}}
  - {redact: {columns: [note], patterns: [email, phone]}}
  - {hash: {columns: [id], method: sha256_unkeyed, length: 8}}`,
    input: 'iban,note,id\nDE89370400440532013000,ask ada@example.org,42\nDE8937040,call +49 30 123456,\n',
    output: 'iban,note,id\nDE****************3000,ask [email],73475cb4\n*********,call [phone],\n',
  },
]);
