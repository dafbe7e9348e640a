// Matching of columns: levels, aliases, patterns, positions, duplicate and blank headers, files without a header.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { golden } from './golden.ts';

golden('levels', [
  {
    name: 'exact takes only what is written so',
    template: 'input: {header_match: exact, columns: [{name: amount}]}\noperations: []',
    input: 'Amount\n1\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "amount". The file was read with delimiter ",", header row 0, 1 column.',
  },
  {
    name: 'normal: case, outer and repeated spaces, no-break space, zero width, full width',
    template:
      'input: {columns: [{name: invoice no}, {name: value date}, {name: ust}]}\noperations: [{select: {columns: [ust, value date, invoice no]}}]',
    input: '  Invoice   NO ,Value\u00A0Date\u200B,\uFF35\uFF33\uFF34\n1,2,3\n',
    output: 'ust,value date,invoice no\n3,2,1\n',
  },
  {
    name: 'loose: signs and accents do not count',
    template: 'input: {header_match: loose, columns: [{name: invoice_no}, {name: uberweisung}]}\noperations: []',
    input: 'Invoice-No.,Über Weisung\n1,2\n',
    output: 'invoice_no,uberweisung\n1,2\n',
  },
  {
    name: 'normal does not pass over signs',
    template: 'input: {columns: [{name: invoice_no}]}\noperations: []',
    input: 'Invoice No\n1\n',
    error: 'TEMPLATE_COLUMNS_MISSING',
  },
  {
    name: 'the exact header wins over one that only normal finds',
    template: 'input: {columns: [{name: Amount}]}\noperations: [{select: {columns: [Amount]}}]',
    input: 'AMOUNT,Amount\n1,2\n',
    output: 'Amount\n2\n',
  },
  {
    name: 'two that fit on one level are never guessed',
    template: 'input: {columns: [{name: amount}]}\noperations: []',
    input: 'AMOUNT,x,Amount\n1,2,3\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The column "amount" is ambiguous: columns 1 and 3 of the file fit. The file was read with delimiter ",", header row 0, 3 columns.',
  },
  {
    name: 'name and alias in one file are two',
    template: 'input: {columns: [{name: amount, match: [Betrag]}]}\noperations: []',
    input: 'amount,Betrag\n1,2\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The column "amount" is ambiguous: columns 1 and 2 of the file fit. The file was read with delimiter ",", header row 0, 2 columns.',
  },
  {
    name: 'a header that one column took is out of the search of the next',
    template:
      'input: {columns: [{name: net, match: [Betrag]}, {name: gross, match: [BETRAG]}]}\noperations: [{select: {columns: [gross, net]}}]',
    input: 'BETRAG,Betrag\n1,2\n',
    output: 'gross,net\n1,2\n',
  },
  {
    name: 'all that lack are named at once',
    template: 'input: {columns: [{name: a}, {name: b}]}\noperations: [{drop: {columns: [c]}}]',
    input: 'b\n1\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "a", "c". The file was read with delimiter ",", header row 0, 1 column.',
  },
]);

golden('aliases, patterns and places', [
  {
    name: 'alias, and the columns keep the order of the file',
    template:
      'input: {columns: [{name: amount, match: [Betrag, Umsatz]}, {name: day, match: [Buchungstag]}]}\noperations: []',
    input: 'Buchungstag,Text,UMSATZ\n1,2,3\n',
    output: 'day,Text,amount\n1,2,3\n',
  },
  {
    name: 'pattern',
    template:
      'input: {columns: [{name: amount, match: [{pattern: "^Betrag \\\\((EUR|USD)\\\\)$"}]}]}\noperations: []'.replaceAll(
        '\\\\\\\\',
        '\\\\',
      ),
    input: 'x,Betrag (USD)\n1,2\n',
    output: 'x,amount\n1,2\n',
  },
  {
    name: 'a pattern that fits two headers',
    template: "input: {columns: [{name: amount, match: [{pattern: '^Betrag'}]}]}\noperations: []",
    input: 'Betrag A,Betrag B\n1,2\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The column "amount" is ambiguous: columns 1 and 2 of the file fit. The file was read with delimiter ",", header row 0, 2 columns.',
  },
  {
    name: 'place counts from 1',
    template: 'input: {columns: [{name: code, match: [{position: 3}]}]}\noperations: []',
    input: 'a,b,c\n1,2,3\n',
    output: 'a,b,code\n1,2,3\n',
  },
  {
    name: 'a place beyond the file',
    template: 'input: {columns: [{name: code, match: [{position: 4}]}]}\noperations: []',
    input: 'a,b,c\n1,2,3\n',
    error: 'TEMPLATE_COLUMNS_MISSING',
  },
  {
    name: 'a name before a place',
    template: 'input: {columns: [{name: code, match: [{position: 1}]}]}\noperations: []',
    input: 'a,Code\n1,2\n',
    output: 'a,code\n1,2\n',
  },
  {
    name: 'not required: a column of nulls after those of the file',
    template: 'input: {columns: [{name: due, required: false}, {name: a}]}\noperations: [{set: {columns: {b: "a"}}}]',
    input: 'a\n1\n',
    output: 'a,due,b\n1,,1\n',
  },
  {
    name: 'a column that the Template does not declare but reads is found on the same levels',
    template: 'operations: [{text: {columns: name, steps: [upper]}}]',
    input: ' NAME \nada\n',
    output: 'name\nADA\n',
  },
]);

golden('equal, blank and no headers', [
  {
    name: 'suffix',
    template: 'operations: []',
    input: 'a,a,b,a\n1,2,3,4\n',
    output: 'a,a_2,b,a_3\n1,2,3,4\n',
  },
  {
    name: 'suffix does not take a name that the file has',
    template: 'operations: []',
    input: 'a,a,a_2\n1,2,3\n',
    output: 'a,a_3,a_2\n1,2,3\n',
  },
  {
    name: 'first',
    template: 'input: {duplicate_headers: first}\noperations: []',
    input: 'a,b,a\n1,2,3\n',
    output: 'a,b\n1,2\n',
  },
  {
    name: 'last',
    template: 'input: {duplicate_headers: last}\noperations: []',
    input: 'a,b,a\n1,2,3\n',
    output: 'b,a\n2,3\n',
  },
  {
    name: 'fail',
    template: 'input: {duplicate_headers: fail}\noperations: []',
    input: 'a,b,a\n1,2,3\n',
    error: 'MALFORMED_FILE: Columns 1 and 3 of the file have the same header.',
  },
  {
    name: 'blank headers',
    template: 'operations: []',
    input: 'a,, ,b\n1,2,3,4\n',
    output: 'a,column_2,column_3,b\n1,2,3,4\n',
  },
  {
    name: 'no header',
    template: 'input: {csv: {header_row: none}, columns: [{name: id, match: [{position: 1}]}]}\noperations: []',
    input: '1,2\n3,4\n',
    output: 'id,column_2\n1,2\n3,4\n',
  },
  {
    name: 'rows above the header are no data',
    template: 'input: {csv: {header_row: 2}}\noperations: [{set: {columns: {row_no: run.row}}}]',
    input: 'Statement\n\na,b\n1,2\n',
    output: 'a,b,row_no\n1,2,1\n',
  },
  {
    name: 'a header row that is not there',
    template: 'input: {csv: {header_row: 9}}\noperations: []',
    input: 'a\n1\n',
    error: 'MALFORMED_FILE',
  },
  {
    name: 'other columns go away; declared and read ones stay',
    template: 'input: {other_columns: drop, columns: [{name: b}]}\noperations: [{text: {columns: d, steps: [upper]}}]',
    input: 'a,b,c,d\n1,2,3,x\n',
    output: 'b,d\n2,X\n',
  },
]);

golden('columns that may be missing', [
  {
    name: 'if_missing null',
    template: 'operations: [{text: {columns: [a, b], steps: [upper], if_missing: "null"}}]',
    input: 'a\nx\n',
    output: 'a,b\nX,\n',
  },
  {
    name: 'if_missing null, bare',
    template: 'operations: [{text: {columns: [a, b], steps: [upper], if_missing: null}}]',
    input: 'a\nx\n',
    output: 'a,b\nX,\n',
  },
  {
    name: 'if_missing skip',
    template: 'operations: [{text: {columns: [a, b], steps: [upper], if_missing: skip}}]',
    input: 'a\nx\n',
    output: 'a\nX\n',
  },
  {
    name: 'if_missing fail',
    template: 'operations: [{text: {columns: [a, b], steps: [upper]}}]',
    input: 'a\nx\n',
    error:
      'TEMPLATE_COLUMNS_MISSING: The file lacks columns that the Template needs: "b". The file was read with delimiter ",", header row 0, 1 column.',
  },
  {
    name: 'skip of a declared column that is not required',
    template:
      'input: {columns: [{name: b, required: false}]}\noperations: [{text: {columns: [b], steps: [upper], if_missing: skip}}]',
    input: 'a\nx\n',
    output: 'a\nx\n',
  },
  {
    name: 'drop with if_missing skip',
    template: 'operations: [{drop: {columns: [fax, telex], if_missing: skip}}]',
    input: 'a,fax\n1,2\n',
    output: 'a\n1\n',
  },
  {
    name: 'select with if_missing null makes the layout whole',
    template: 'operations: [{select: {columns: [b, a], if_missing: "null"}}]',
    input: 'a,c\n1,2\n',
    output: 'b,a\n,1\n',
  },
  {
    name: 'rename with if_missing skip',
    template: 'operations: [{rename: {columns: {a: x, b: y}, if_missing: skip}}]',
    input: 'a,c\n1,2\n',
    output: 'x,c\n1,2\n',
  },
  {
    name: 'a closed set makes an unknown name a mistake of the Template',
    template: 'operations: [{select: {columns: [amount]}}, {drop: {columns: [amout]}}]',
    problems: ['/operations/1/drop/columns/0 UNKNOWN_COLUMN'],
  },
  {
    name: 'a column that the Template makes and the file has',
    template: 'operations: [{set: {columns: {b: "a"}}}]',
    input: 'a,b\n1,2\n',
    output: 'a,b\n1,1\n',
  },
]);

const long = 'x'.repeat(4095);
const longHeader = (headerMatch: string, match: string) =>
  `input: {header_match: ${headerMatch}, columns: [{name: a, match: [${match}]}]}\noperations: []`;

golden('a header of more than 4,096 characters is only found by its very characters', [
  {
    name: 'at the limit',
    template: longHeader('normal', `${long}Y`),
    input: `${long}y,b\n1,2\n`,
    output: 'a,b\n1,2\n',
  },
  {
    name: 'loosely',
    template: longHeader('loose', `${long}Yz`),
    input: `${long}yz,b\n1,2\n`,
    error: 'TEMPLATE_COLUMNS_MISSING',
  },
  { name: 'as written', template: longHeader('loose', `${long}Yz`), input: `${long}Yz,b\n1,2\n`, output: 'a,b\n1,2\n' },
  {
    name: 'by a pattern',
    template: longHeader('exact', '{pattern: "^x+$"}'),
    input: `${long}xx,b\n1,2\n`,
    error: 'TEMPLATE_COLUMNS_MISSING',
  },
  {
    name: 'in a set of columns and in rename',
    template: 'operations: [{rename: {pattern: "^x", replace: y}}, {select: {columns: {pattern: "b|y"}}}]',
    input: `${long}xx,${long}x,b\n1,2,3\n`,
    output: `y${long.slice(1)}x,b\n2,3\n`,
  },
]);

test('of many columns that are missing the first fifty are compared with the declared ones', async (t) => {
  const names = Array.from({ length: 60 }, (_, index) => `amount_${index + 10}`);
  const template = { input: { columns: [{ name: 'amount_1' }] }, operations: [{ select: { columns: names } }] };
  const { outcome } = await applyTemplate(template, 'amount_1\n1\n');
  t.equal(outcome.failure?.code, 'TEMPLATE_COLUMNS_MISSING');
  t.equal(outcome.failure?.message.match(/Did you mean/g)?.length, 50);
});

const MIB = 1024 * 1024;
const NAMES_TOO_LONG = 'MALFORMED_FILE: The column names of the file have more than 4 MiB together.';
const columns = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);

golden('all names of a file have at most 4 MiB', [
  {
    name: 'CSV: exactly 4 MiB',
    template: 'operations: [{select: {columns: [a]}}]',
    input: `a,${'b'.repeat(4 * MIB - 1)}\n1,2\n`,
    output: 'a\n1\n',
  },
  {
    name: 'CSV: a byte more',
    template: 'operations: [{select: {columns: [a]}}]',
    input: `a,${'b'.repeat(2 * MIB)},${'c'.repeat(2 * MIB)}\n1,2,3\n`,
    error: NAMES_TOO_LONG,
  },
  {
    name: 'CSV: characters of several bytes',
    template: 'operations: [{select: {columns: [a]}}]',
    input: `a,${'é'.repeat(MIB)},${'ü'.repeat(MIB)}\n1,2,3\n`,
    error: NAMES_TOO_LONG,
  },
  {
    name: 'JSON: keys of nested objects, each with the long key of their parent',
    template: 'input: {json: {flatten: "."}}\noperations: []',
    input: JSON.stringify([{ ['k'.repeat(60_000)]: Object.fromEntries(columns(100, 'a').map((name) => [name, 1])) }]),
    error: NAMES_TOO_LONG,
  },
  {
    name: 'JSON: the same keys as one cell',
    template: 'operations: [{select: {columns: [a]}}]',
    input: JSON.stringify([
      { a: 1, ['k'.repeat(60_000)]: Object.fromEntries(columns(100, 'a').map((name) => [name, 1])) },
    ]),
    output: 'a\n1\n',
  },
]);
