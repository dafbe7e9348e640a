// unpivot and explode: rows from columns and from cells, with the columns around them.

import { test } from 'tap';
import { jsonEntries, jsonItems, jsonKind } from '../../workers/values/json-text.ts';
import { fc } from '../random.ts';
import { sweep } from '../sweep.ts';
import { golden } from './golden.ts';

golden('unpivot', [
  {
    name: 'a column that may be missing: neither rows nor a column of numbers',
    template: 'operations: [{explode: {column: z, separator: ";", index_into: n, if_missing: skip}}]',
    input: 'a,b\n1;2,x\n',
    output: 'a,b\n1;2,x\n',
  },
  {
    name: 'as Miller reshapes: mlr reshape -i x,y -o key,value',
    template: 'operations: [{unpivot: {columns: [x, y], names_to: key, values_to: value}}]',
    input: 'id,x,y,z\n1,3,4,5\n2,6,,7\n',
    output: 'id,z,key,value\n1,5,x,3\n1,5,y,4\n2,7,x,6\n2,7,y,\n',
  },
  {
    name: 'by a pattern; numbers stay numbers; slices after it count its rows',
    template: `operations:
  - parse_number: {columns: {pattern: "^m_"}, type: decimal}
  - unpivot: {columns: {pattern: "^m_"}, names_to: month, values_to: amount, drop_empty: true}
  - set: {columns: {twice: amount + amount}}
  - slice: {skip: 1, limit: 3}`,
    input: 'id,m_1,m_2,m_3\na,1.50,,2\nb,,-3.25,4\nc,5,6,7\n',
    output: 'id,month,amount,twice\na,m_3,2,4\nb,m_2,-3.25,-6.50\nb,m_3,4,8\n',
  },
  {
    name: 'all columns but some; the names are needed of the file',
    template: 'operations: [{unpivot: {columns: {except: [id, who]}}}]',
    input: 'id,a\n1,2\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "who". The file was read with delimiter ",", header row 0, 2 columns.',
  },
  {
    name: 'after it the names are known: a column that became rows is gone',
    template: 'operations: [{unpivot: {columns: [a]}}, {drop: {columns: [a]}}]',
    problems: ['/operations/1/drop/columns/0 UNKNOWN_COLUMN'],
  },
  {
    name: 'a name that is taken',
    template: 'operations: [{unpivot: {columns: [a], names_to: id}}, {drop: {columns: [id]}}]',
    input: 'a,b\n1,2\n',
    output: 'b,value\n2,1\n',
  },
  {
    name: 'flags of errors go along',
    template: `operations:
  - parse_number: {columns: [x], on_error: flag}
  - unpivot: {columns: [x, y]}`,
    input: 'x,y\nbad,1\n2,3\n',
    output: 'name,value,_issues\nx,,x:NOT_A_NUMBER\ny,1,x:NOT_A_NUMBER\nx,2,\ny,3,\n',
  },
]);

golden('unpivot by a pattern of names', [
  {
    name: 'as tidyr has it: pivot_longer(names_pattern, names_to = c(".value", "no"))',
    template: `operations: [{unpivot: {pattern: '(\\w+)_(\\d+)', names_to: [.value, no]}}]`,
    input: 'id,name_1,qty_1,name_2,qty_2,x\na,pen,2,ink,1,X\nb,pad,,,,Y\n',
    output: 'id,x,no,name,qty\na,X,1,pen,2\na,X,2,ink,1\nb,Y,1,pad,\nb,Y,2,,\n',
  },
  {
    name: 'columns that are missing are nulls; the numbers in the order of their first column',
    template: `operations: [{unpivot: {pattern: '(\\w+)_(\\d+)', names_to: [.value, no], drop_empty: true}}]`,
    input: 'id,b_2,a_1,a_3\n1,x,y,\n2,,,z\n',
    output: 'id,no,b,a\n1,2,x,\n1,1,,y\n2,3,,z\n',
  },
  {
    name: 'columns that would be one cell make rows of their own: nothing is lost',
    template: `operations: [{unpivot: {pattern: '(item)_?\\d*', names_to: [.value]}}]`,
    input: 'id,item,item_2,item_3\n1,a,b,c\n',
    output: 'id,item\n1,a\n1,b\n1,c\n',
  },
  {
    name: 'each column of values has its own type: decimals are added, and texts beside them stay',
    template: `operations:
  - parse_number: {columns: {pattern: ^net_}}
  - unpivot: {pattern: '(\\w+)_(\\d+)', names_to: [.value, year], columns: [net_23, net_24, who_23]}
  - set: {columns: {twice: net + net}}`,
    input: 'net_23,net_24,who_23\n1.50,2,Ada\n',
    output: 'year,net,who,twice\n23,1.50,Ada,3.00\n24,2,,4\n',
  },
  {
    name: 'without .value the parts are columns; a group that takes no part is null',
    template: `operations: [{unpivot: {pattern: '(in|out)(?:_(\\d+))?', names_to: [way, no], values_to: n}}]`,
    input: 'id,in,out_1,outer\n1,2,3,4\n',
    output: 'id,outer,way,no,n\n1,4,in,,2\n1,4,out,1,3\n',
  },
  {
    name: 'a file without such columns is refused, not emptied',
    template: `operations: [{unpivot: {pattern: '(\\w+)_(\\d+)', names_to: [.value, no]}}]`,
    input: 'id,x\n1,2\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The columns of the file do not fit the Template at operation 1 unpivot (line 1, /operations/0): The pattern matches no column name at this step.',
  },
  {
    name: 'mistakes',
    template: `operations:
  - unpivot: {pattern: '(a', names_to: [.value]}
  - unpivot: {pattern: '(a)(b)', names_to: [.value]}
  - unpivot: {columns: [a], names_to: [x, y]}
  - unpivot: {pattern: '(a)(b)', names_to: [x, x]}
  - unpivot: {pattern: '(a)', names_to: [.value], values_to: v}
  - unpivot: {columns: [c], pattern: '(a)', names_to: [.value]}`,
    problems: [
      '/operations/0/unpivot/pattern BAD_PATTERN',
      '/operations/1/unpivot/pattern BAD_VALUE',
      '/operations/2/unpivot/names_to BAD_VALUE',
      '/operations/3/unpivot/names_to BAD_VALUE',
      '/operations/4/unpivot/values_to BAD_VALUE',
      '/operations/5/unpivot/columns BAD_VALUE',
    ],
  },
  {
    name: 'neither columns nor a pattern',
    template: 'operations: [{unpivot: {names_to: x}}]',
    problems: ['/operations/0/unpivot BAD_PARAMETERS'],
  },
]);

golden('parts of a text that are dropped', [
  {
    name: 'counted from the end, with the flag and with a column of the same name',
    template: `operations:
  - split_column: {column: a, by: {separator: "-"}, into: [null, a, null, c], from_end: true, too_few: flag}`,
    input: 'a,b\n1-2-3-4,x\n3-4,y\n',
    output: 'a,c,b,_issues\n2,4,x,\n,4,y,a:SPLIT_COUNT\n',
  },
  {
    name: 'one column at least is made',
    template: 'operations: [{split_column: {column: a, by: {separator: "-"}, into: [null, null]}}]',
    problems: ['/operations/0/split_column/into BAD_VALUE'],
  },
]);

golden('rows after the end are not counted, also when one row becomes several', [
  {
    name: 'explode',
    template: `operations:
  - explode: {column: x, separator: "|"}
  - slice: {limit: 2}`,
    input: 'x,y\na|b,1\n|,2\n',
    output: 'x,y\na,1\nb,1\n',
  },
  {
    name: 'errors of rows after the end do not end the Run',
    template: `operations:
  - parse_number: {columns: [n]}
  - unpivot: {columns: [x, y]}
  - slice: {limit: 3}`,
    input: 'n,x,y\n1,a,b\n2,c,d\nbad,e,f\n',
    output: 'n,name,value\n1,x,a\n1,y,b\n2,x,c\n',
  },
  {
    name: 'join with all rows that fit',
    template: `tables: {t: {ref: t}}
operations:
  - parse_number: {columns: [n]}
  - join: {table: t, on: k, multiple: all, columns: [v]}
  - slice: {limit: 3}`,
    tables: { t: 'k,v\na,1\na,2\na,3\n' },
    input: 'k,n\na,1\nb,bad\n',
    output: 'k,n,v\na,1,1\na,1,2\na,1,3\n',
  },
]);

golden('explode', [
  {
    name: 'as Miller nests: mlr nest --explode --values --across-records -f x --nested-fs semicolon',
    template: 'operations: [{explode: {column: x, separator: ";"}}]',
    input: 'x,y\na;b;c,1\nd,2\n',
    output: 'x,y\na,1\nb,1\nc,1\nd,2\n',
  },
  {
    name: 'parts as they are; a limit after it ends in the middle of a cell',
    template: 'operations: [{explode: {column: x, separator: "--", trim: false, index_into: n}}, {slice: {limit: 4}}]',
    input: 'x,y\n a -- b ,1\n,2\nc--d--e,3\n',
    output: 'x,y,n\n a ,1,1\n b ,1,2\n,2,\nc,3,1\n',
  },
  {
    name: 'too many values are an error of the row',
    template: 'operations: [{explode: {column: x, separator: ",", max_items: 2, on_error: drop_row}}]',
    input: 'x;y\na,b;1\na,b,c;2\n,;3\n',
    output: 'x,y\na,1\nb,1\n,3\n,3\n',
    errors: ['explode: SPLIT_COUNT 1 2'],
  },
  {
    name: 'keep and blank',
    template: `operations:
  - explode: {column: x, json: true, on_error: keep}
  - explode: {column: y, json: true, on_error: blank}`,
    input: 'x\ty\n[1\t[1]\n{}\t7\n',
    output: 'x,y\n[1,1\n{},\n',
    errors: ['explode: BAD_JSON 2 1 2', 'explode: BAD_JSON 1 2'],
  },
  {
    name: 'long numbers keep their digits, texts may hold anything',
    template: 'operations: [{explode: {column: x}}]',
    input: 'x\ty\n[12345678901234567890, 1.50, "a,]\\"\\u00e9", true, [1, {"k": "}"}]]\t1\n',
    output: 'x,y\n12345678901234567890,1\n1.50,1\n"a,]""é",1\ntrue,1\n"[1, {""k"": ""}""}]",1\n',
  },
  {
    name: 'numbers are not exploded',
    template: 'operations: [{parse_number: {columns: [x]}}, {explode: {column: x, separator: ","}}]',
    problems: ['/operations/1/explode/column WRONG_TYPE'],
  },
]);

test('the parts of JSON equal those of the parsed value', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (value, isSpaced) => {
      const text = JSON.stringify(value, null, isSpaced ? 2 : 0);
      const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
      if (Array.isArray(value)) {
        return (
          jsonKind(text) === 'array' &&
          same(
            [...jsonItems(text)].map((item) => JSON.parse(item)),
            JSON.parse(text),
          )
        );
      }
      if (value === null || typeof value !== 'object')
        return jsonKind(text) === (value === null ? 'null' : typeof value);
      const entries = [...jsonEntries(text)].map(([key, item]) => [key, JSON.parse(item)]);
      return jsonKind(text) === 'object' && same(entries, Object.entries(JSON.parse(text)));
    }),
    { numRuns: sweep({ short: 19, long: 300 }) },
  );
});

test('invalid JSON', async (t) => {
  for (const text of ['', '[1', '{', 'x', "{'a':1}", '[1,]', `${'['.repeat(300)}${']'.repeat(300)}`])
    t.equal(jsonKind(text), 'none');
});
