// The operation lookup_range: values of all types in ranges of reference tables, range ends, misses, and refused tables.
import { golden } from './golden.ts';

const TABLES = {
  bands: 'low,high,band,fee\n10.5,20,middle,2\n0,10.4,small,1\n20.01,,large,3\n',
  spans: 'from,to,name\n2026-01-01T00:00:00Z,2026-01-31T23:59:59Z,january\n2026-02-01T00:00:00Z,,later\n',
  letters: 'a,b,x\n,bz,first\nc,é,second\n',
  cities: 'low,high\n1,2\n2,3\n',
  turned: 'low,high\n1,2\n9,3\n',
  open: 'low,high\n1,\n5,6\n',
  wrong: 'low,high\n1,2\n3,four\n',
  none: 'low,high,x\n',
  point: 'low,high,x\n1,1,a\n',
};

const table = (ref: string): string => `tables: {t: {ref: ${ref}}}\n`;
const parsed = (type: string): string => `  - parse_number: {columns: n, type: ${type}}\n`;
const bands = (more = ''): string => `  - lookup_range: {table: t, value: n, from: low, to: high${more}}\n`;

golden('lookup_range', [
  {
    name: 'ends that touch go with a table whose ends do not both belong to a range, and others are refused',
    template: `${table('cities')}operations:\n${parsed('integer')}${bands(', inclusive: neither, on_missing: error, on_error: flag')}`,
    tables: TABLES,
    input: 'n\n1\n2\n',
    output: 'n,_issues\n1,n:LOOKUP_MISS\n2,n:LOOKUP_MISS\n',
  },
  {
    name: 'a range of one point without its ends',
    template: `${table('point')}operations:\n${parsed('integer')}${bands(', inclusive: to')}`,
    tables: TABLES,
    input: 'n\n1\n',
    error:
      'TEMPLATE_CHECK_FAILED: Row 1 of the ranges of the reference table "t" contains no value: both ends are equal. The row below the header is row 1.',
  },
  ...['integer', 'decimal', 'number'].map((type) => ({
    name: `ends that are decimals around values that are ${type}`,
    template: `${table('bands')}operations:\n${parsed(type)}${bands()}`,
    tables: TABLES,
    input: 'n,x\n10,a\n11,b\n20,c\n21,d\n-1,e\n,f\n',
    output: 'n,x,band,fee\n10,a,small,1\n11,b,middle,2\n20,c,middle,2\n21,d,large,3\n-1,e,,\n,f,,\n',
  })),
  {
    name: 'between two ranges is in none, and an end of many digits is an end',
    template: `${table('bands')}operations:\n${parsed('decimal')}${bands(', columns: [fee, band], prefix: f_')}`,
    tables: TABLES,
    input: 'n\n10.4\n10.40000000000000000000000001\n10.5\n20.0100\n123456789012345678901234567890\n',
    output:
      'n,f_band,f_fee\n10.4,small,1\n10.40000000000000000000000001,,\n10.5,middle,2\n20.0100,large,3\n' +
      '123456789012345678901234567890,large,3\n',
  },
  {
    name: 'moments',
    template: `${table('spans')}operations:
  - parse_date: {columns: at, formats: [yyyy-MM-dd]}
  - cast: {columns: {at: datetime}}
  - lookup_range: {table: t, value: at, from: from, to: to}\n`,
    tables: TABLES,
    input: 'at\n2026-01-31\n2026-02-01\n2025-12-31\n',
    output: 'at,name\n2026-01-31T00:00:00Z,january\n2026-02-01T00:00:00Z,later\n2025-12-31T00:00:00Z,\n',
  },
  {
    name: 'texts by their code points, the empty end open',
    template: `${table('letters')}operations: [{lookup_range: {table: t, value: n, from: a, to: b}}]`,
    tables: TABLES,
    input: 'n,y\nAda,1\nbz,2\nbzz,3\nc,4\nzoo,5\né,6\néa,7\n,8\n',
    output: 'n,y,x\nAda,1,first\nbz,2,first\nbzz,3,\nc,4,second\nzoo,5,second\né,6,second\néa,7,\n,8,\n',
  },
  {
    name: 'a miss is an error of its row, and null is in no range',
    template: `${table('bands')}operations:\n${parsed('decimal')}${bands(', columns: [fee], on_missing: error, on_error: flag')}`,
    tables: TABLES,
    input: 'n\n1\n-1\n\n30\n',
    output: 'n,fee,_issues\n1,1,\n-1,,n:LOOKUP_MISS\n,,n:LOOKUP_MISS\n30,3,\n',
    errors: ['lookup_range: LOOKUP_MISS 2 2 3'],
  },
  {
    name: 'rows without a range go',
    template: `${table('bands')}operations:\n${parsed('decimal')}${bands(', columns: [fee], on_missing: error, on_error: drop_row')}`,
    tables: TABLES,
    input: 'n\n-1\n1\n-2\n',
    output: 'n,fee\n1,1\n',
  },
  {
    name: 'a table without ranges',
    template: `${table('none')}operations:\n${parsed('decimal')}${bands()}`,
    tables: TABLES,
    input: 'n\n1\n',
    output: 'n,x\n1,\n',
  },
  {
    name: 'a column that the file may lack',
    template: `${table('bands')}operations: [{lookup_range: {table: t, value: z, from: low, to: high, if_missing: skip}}]`,
    tables: TABLES,
    input: 'n\n1\n',
    output: 'n\n1\n',
  },
  {
    name: 'a column of nulls in place of one that is missing',
    template: `${table('bands')}operations:
  - set: {columns: {q: z}, if_missing: "null"}
  - lookup_range: {table: t, value: q, from: low, to: high, columns: [fee], if_missing: "null"}\n`,
    tables: { bands: 'low,high,fee\na,b,1\n' },
    input: 'n\na\n',
    output: 'n,z,q,fee\na,,,\n',
  },
]);

const refused = (name: string, ref: string, error: string) => ({
  name,
  template: `${table(ref)}operations:\n${parsed('decimal')}${bands()}`,
  tables: TABLES,
  input: 'n\n1\n',
  error: `TEMPLATE_CHECK_FAILED: ${error}`,
});

golden('tables of ranges that are refused', [
  refused(
    'both ends belong to a range',
    'cities',
    'Rows 1 and 2 of the ranges of the reference table "t" overlap: a value may be in one range only, and both ends ' +
      'belong to a range. The row below the header is row 1.',
  ),
  refused(
    'an open end',
    'open',
    'Rows 1 and 2 of the ranges of the reference table "t" overlap: a value may be in one range only, and both ends ' +
      'belong to a range. The row below the header is row 1.',
  ),
  refused(
    'turned round',
    'turned',
    'Row 2 of the ranges of the reference table "t" ends before it begins: the lower end is greater than the upper end. The row below the header is row 1.',
  ),
  refused(
    'no number',
    'wrong',
    'The column "high" of row 2 of the reference table "t" is not a valid decimal, the type of the values that are looked up.',
  ),
  {
    name: 'a type without an order',
    template: `${table('bands')}operations: [{cast: {columns: {n: boolean}}}, {lookup_range: {table: t, value: n, from: low, to: high}}]`,
    problems: ['/operations/1/lookup_range/value WRONG_TYPE'],
  },
  {
    name: 'a table that is not there',
    template: 'operations: [{lookup_range: {table: t, value: n, from: low, to: high}}]',
    problems: ['/operations/0/lookup_range/table UNKNOWN_TABLE'],
  },
]);

const RATES = {
  rates: 'currency,since,rate\nUSD,2026-01-05,1.10\n,2026-01-01,9\nUSD,,1\nUSD,2026-01-02,1.08\nGBP,2026-01-05,0.85\n',
  twice: 'currency,since\nUSD,2026-01-05\nUSD,2026-01-05\n',
  fees: 'carrier,zone,from,to,fee\na,1,0,5,1\na,1,5,10,2\nb,1,0,10,3\na,2,0,7,4\n',
};

golden('lookup_range with a key', [
  {
    name: 'the most recent earlier row of the key; rows without one are counted; a null equals nothing',
    template: `${table('rates')}operations:
  - cast: {columns: {day: date}}
  - lookup_range: {table: t, on: [{left: cur, right: currency}], value: day, from: since, columns: [rate]}
output: {format: ndjson}`,
    tables: RATES,
    input: 'cur,day\nUSD,2026-01-04\nGBP,2026-01-04\n,2026-01-04\nUSD,\nUSD,1999-01-01\n',
    output:
      '{"cur":"USD","day":"2026-01-04","rate":"1.08"}\n{"cur":"GBP","day":"2026-01-04","rate":null}\n{"cur":null,"day":"2026-01-04","rate":null}\n' +
      '{"cur":"USD","day":null,"rate":null}\n{"cur":"USD","day":"1999-01-01","rate":"1"}\n',
    errors: ['lookup_range: LOOKUP_MISS 3 2 3 4'],
  },
  {
    name: 'ranges of several keys, of which one is a number',
    template: `${table('fees')}operations:
  - cast: {columns: {zone: integer, kg: decimal}}
  - lookup_range: {table: t, on: [carrier, zone], value: kg, from: from, to: to, inclusive: from}`,
    tables: RATES,
    input: 'carrier,zone,kg\na,1,5\na,2,5\nb,1,9.5\nb,2,1\na,01,0\n',
    output: 'carrier,zone,kg,fee\na,1,5,2\na,2,5,4\nb,1,9.5,3\nb,2,1,\na,1,0,1\n',
    errors: ['lookup_range: LOOKUP_MISS 1 4'],
  },
  {
    name: 'a key that does not have the type of the column that it is compared with',
    template: `${table('zones')}operations:
  - cast: {columns: {zone: integer}}
  - lookup_range: {table: t, on: zone, value: kg, from: from, to: to}`,
    tables: { zones: 'zone,from,to\n1,a,b\nnorth,a,b\n' },
    input: 'zone,kg\n1,a\n',
    error:
      'TEMPLATE_CHECK_FAILED: The column "zone" of row 2 of the reference table "t" is not a valid decimal, the type of the column in "on" that it is compared with.',
  },
  {
    name: 'two rows that begin at the same value are refused',
    template: `${table('twice')}operations:
  - cast: {columns: {day: date}}
  - lookup_range: {table: t, on: currency, value: day, from: since}`,
    tables: RATES,
    input: 'currency,day\nUSD,2026-01-04\n',
    error:
      'TEMPLATE_CHECK_FAILED: Rows 1 and 2 of the ranges of the reference table "t" begin at the same value. The row below the header is row 1.',
  },
  {
    name: 'declarations that do not fit',
    template: `${table('twice')}operations:
  - cast: {columns: {day: date}}
  - lookup_range: {table: t, on: currency, value: day, from: since, inclusive: to}`,
    problems: ['/operations/1/lookup_range/inclusive UNUSED_PARAMETER'],
  },
]);
