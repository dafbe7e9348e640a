// Reference tables that can be read completely, and tables that are refused because cells would be lost or would have to be
// guessed.
import { golden } from './golden.ts';

const TEMPLATE = 'tables: {t: {ref: t}}\noperations: [{join: {table: t, on: code}}]';
const INPUT = 'code\nDE\nFR\n';

const read = (name: string, table: string, output: string) => ({
  name,
  template: TEMPLATE,
  input: INPUT,
  tables: { t: table },
  output,
});

const refused = (name: string, table: string, reason: string) => ({
  name,
  template: TEMPLATE,
  input: INPUT,
  tables: { t: table },
  error: `TEMPLATE_CHECK_FAILED: The reference table "t" cannot be read: ${reason}`,
});

golden('reference tables that are read', [
  read(
    'empty cells beyond the header',
    'code,name\nDE,Germany,,\nFR,France,""\n',
    'code,name\nDE,Germany\nFR,France\n',
  ),
  read('blank lines', 'code,name\n\nDE,Germany\n\nFR,France\n\n', 'code,name\nDE,Germany\nFR,France\n'),
  read('semicolons', 'code;name\nDE;Germany, East\nFR;France\n', 'code,name\nDE,"Germany, East"\nFR,France\n'),
  read('equal and blank headers', 'code,a,,a\nDE,1,2,3\nFR,4,5,6\n', 'code,a,column_3,a_2\nDE,1,2,3\nFR,4,5,6\n'),
  read('several rows with a key', 'code,name\nDE,first\nDE,second\n', 'code,name\nDE,first\nFR,\n'),
  read('a quote inside a field', 'code,size\nDE,5" pipe\nFR,6\n', 'code,size\nDE,"5"" pipe"\nFR,6\n'),
]);

const FIELDS =
  'has a different number of fields than the header. ' +
  'Write one field for each column, and quote fields that contain the delimiter.';
const STRAY = 'has a quoted field with text after its closing quote. Write each quote inside a quoted field twice.';

golden('reference tables that are refused', [
  refused('a filled cell beyond the header', 'code,name\nDE,Germany\nFR,France,west\n', `Line 3 ${FIELDS}`),
  refused('a filled cell after an empty one', 'code,name\nDE,Germany,,west\nFR,France\n', `Line 2 ${FIELDS}`),
  refused('a cell is missing', 'code,name,area\nDE,Germany,3\nFR,France\n', `Line 3 ${FIELDS}`),
  refused(
    'delimiters of two characters',
    'code||name\nDE||Germany\nFR||France||west\n',
    [
      'The fields seem to be separated by "||", but the records would then have different numbers of fields.',
      'Write the table with commas.',
    ].join(' '),
  ),
  refused('text after a closing quote', 'code,name\nDE,"Germany"\nFR,"Fra"nce\n', `Line 3 ${STRAY}`),
  refused('text after a closing quote of the header', 'code,"na"me\nDE,Germany\n', `Line 1 ${STRAY}`),
  refused(
    'a quote that is never closed',
    'code,name\nDE,"Germany\nFR,France\n',
    'Line 2 begins a quoted field that is not closed before the end of the file.',
  ),
  refused('a quote that is not closed on its line', 'code,name\nDE,"Germany\nFR,"France" west\n', `Line 2 ${STRAY}`),
  refused(
    'a late escape',
    `code,name\n${'DE,Germany\n'.repeat(600)}FR,a\\, b\n`,
    'Line 602 begins a row in which backslashes seem to escape quotes, delimiters or line breaks, but no escape ' +
      'character is declared. Save the table with quotes doubled inside quoted cells.',
  ),
  refused(
    'a NUL byte',
    'code,name\nDE,Ger\0many\n',
    'Line 2 contains a NUL byte, so the file is not text. Remove the NUL bytes.',
  ),
  refused('JSON', '[{"code":"DE","name":"Germany"}]', 'The file is JSON; only CSV is read here.'),
]);

const RATES =
  'currency,from,rate,open\nUSD,2026-01-01,1.10,true\nUSD,2026-02-01,1.2,\n,,,\nCHF,2026-01-01,0.95,false\n';
const typed = (operations: string): string =>
  `tables: {rates: {ref: rates, columns: {rate: decimal, from: date, open: boolean}}}
operations:
  - cast: {columns: {day: date}}
  - ${operations}
output: {format: ndjson}`;
const DAYS = 'day,currency\n2026-02-03,USD\n2026-01-03,CHF\n2026-01-03,GBP\n';

golden('types of reference tables', [
  {
    name: 'an as-of lookup adds values',
    template: typed('lookup_range: {value: day, table: rates, on: currency, from: from, columns: [rate, open]}'),
    input: DAYS,
    tables: { rates: RATES },
    output: [
      '{"day":"2026-02-03","currency":"USD","rate":1.2,"open":null}',
      '{"day":"2026-01-03","currency":"CHF","rate":0.95,"open":false}',
      '{"day":"2026-01-03","currency":"GBP","rate":null,"open":null}',
      '',
    ].join('\n'),
  },
  {
    name: 'a join adds values, also several for a row',
    template: typed(`join: {table: rates, on: currency, multiple: all, columns: [rate], type: inner}
  - set: {columns: {double: rate * 2}}`),
    input: DAYS,
    tables: { rates: RATES },
    output: [
      '{"day":"2026-02-03","currency":"USD","rate":1.10,"double":2.20}',
      '{"day":"2026-02-03","currency":"USD","rate":1.2,"double":2.4}',
      '{"day":"2026-01-03","currency":"CHF","rate":0.95,"double":1.90}',
      '',
    ].join('\n'),
  },
  {
    name: 'cells of a row with several matches become null',
    template: typed('join: {table: rates, on: currency, multiple: fail, on_error: blank, columns: [rate]}'),
    input: DAYS,
    tables: { rates: RATES },
    output: [
      '{"day":"2026-02-03","currency":"USD","rate":null}',
      '{"day":"2026-01-03","currency":"CHF","rate":0.95}',
      '{"day":"2026-01-03","currency":"GBP","rate":null}',
      '',
    ].join('\n'),
  },
  {
    name: 'a cell of another type',
    template: typed('join: {table: rates, on: currency, columns: [rate]}'),
    input: DAYS,
    tables: { rates: RATES.replace('2026-02-01', '01.02.2026') },
    error:
      'TEMPLATE_CHECK_FAILED: The reference table "rates" has a cell that is not of type date: column "from", row 2 of the data. Write a date such as "2026-01-31".',
  },
  {
    name: 'a column that the table lacks',
    template: typed('drop: {columns: currency}'),
    input: DAYS,
    tables: { rates: RATES.replace('open', 'opened') },
    error: 'TEMPLATE_CHECK_FAILED: The reference table "rates" has no column "open", whose type the Template declares.',
  },
  {
    name: 'exists_in compares with declared types by value, and refuses other types',
    template: `tables: {rates: {ref: rates, columns: {rate: decimal, from: date}}}
operations:
  - cast: {columns: {a: integer}}
  - validate: {rules: [{column: a, check: exists_in, table: rates, key: rate}], on_error: drop_row}`,
    input: 'a\n12\n13\n',
    tables: { rates: 'rate,from\n12.00,2026-01-31\n' },
    output: 'a\n12\n',
  },
  {
    name: 'exists_in with a column of another type than the declared one',
    template: `tables: {rates: {ref: rates, columns: {rate: decimal, from: date}}}
operations: [{validate: {rules: [{column: a, check: exists_in, table: rates, key: from}]}}]`,
    problems: ['/operations/0/validate/rules/0/key WRONG_TYPE'],
  },
  {
    name: 'numbers of different types are compared by value',
    template: `tables: {sizes: {ref: sizes, columns: {size: number}}, sums: {ref: sums, columns: {sum: decimal}}}
operations:
  - cast: {columns: {a: integer, b: number}}
  - join: {table: sizes, on: [{left: a, right: size}], columns: [name]}
  - join: {table: sums, on: [{left: b, right: sum}], columns: [name], prefix: sum_}`,
    input: 'a,b\n12,0.5\n1000,12\n1,1\n-3,7\n',
    tables: {
      sizes: 'size,name\n12.00,dozen\n0.5,half\n1e3,many\n1.5,more\n',
      sums: 'sum,name\n.50,h\n12.00,d\n+7,s\n',
    },
    output: 'a,b,name,sum_name\n12,0.5,dozen,h\n1000,12,many,d\n1,1,,\n-3,7,,s\n',
  },
  {
    name: 'a number that is too large',
    template: `tables: {sizes: {ref: sizes, columns: {size: number}}}
operations: [{join: {table: sizes, on: a, columns: [size]}}]`,
    input: 'a\nx\n',
    tables: { sizes: 'a,size\nx,1e400\n' },
    error:
      'TEMPLATE_CHECK_FAILED: The reference table "sizes" has a cell that is not of type number: column "size", row 1 of the data. Write a number such as 12.5.',
  },
  {
    name: 'declared types are known where all columns are added',
    template: typed(`lookup_range: {value: day, table: rates, on: currency, from: from, prefix: r_}
  - set: {columns: {double: r_rate * 2}}
  - select: {columns: [day, double, r_open]}`),
    input: DAYS,
    tables: { rates: RATES },
    output: [
      '{"day":"2026-02-03","double":2.4,"r_open":null}',
      '{"day":"2026-01-03","double":1.90,"r_open":false}',
      '{"day":"2026-01-03","double":null,"r_open":null}',
      '',
    ].join('\n'),
  },
  {
    name: 'columns of different types are not compared',
    template: `tables: {rates: {ref: rates, columns: {rate: decimal, from: date}}}
operations:
  - lookup_range: {value: day, table: rates, from: from, columns: [rate]}`,
    problems: ['/operations/0/lookup_range/from WRONG_TYPE'],
  },
  {
    name: 'a text is not compared with a number',
    template: `tables: {rates: {ref: rates, columns: {rate: decimal}}}
operations: [{join: {table: rates, on: [{left: currency, right: rate}], columns: [open]}}]`,
    problems: ['/operations/0/join/on/0 WRONG_TYPE'],
  },
]);
