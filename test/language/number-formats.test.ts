// parse_number with several formats, Indian digit grouping and units: the meaning of each text, contradictions, and mistakes.
import { golden } from './golden.ts';

const BOTH = '[{decimal: ".", grouping: ","}, {decimal: ",", grouping: "."}]';
const parse = (parameters: string): string => `operations: [{parse_number: {columns: n, ${parameters}}}]`;

golden('several formats', [
  {
    name: 'the first counts, where the others say something else',
    template: parse(`formats: ${BOTH}, ambiguous: first`),
    input: 'n\n1.234\n"1,234"\n"1.234,5"\n"1,234.5"\n7\n',
    output: 'n\n1.234\n1234\n1234.5\n1234.5\n7\n',
  },
  {
    name: 'a text that they read as different numbers',
    template: parse(`formats: ${BOTH}, ambiguous: error, on_error: flag`),
    input: 'n\n1.234\n"1.234,5"\n7\n1.5\nx\n1.000\n',
    output: 'n,_issues\n,n:AMBIGUOUS_NUMBER\n1234.5,\n7,\n1.5,\n,n:NOT_A_NUMBER\n,n:AMBIGUOUS_NUMBER\n',
    errors: ['parse_number: AMBIGUOUS_NUMBER 2 1 6', 'parse_number: NOT_A_NUMBER 1 5'],
  },
  {
    name: 'the column votes, each for itself, and only rows of where',
    template: `operations:
  - {parse_number: {columns: [n, m], formats: ${BOTH}, ambiguous: column_vote, where: 'use == "y"', into: [a, b]}}`,
    input: 'n,m,use\n1.234,1.234,y\n"1,5","1,234",y\n1.5,"1,234.5",x\n"2,5",2.5,y\n',
    output: 'n,m,use,a,b\n1.234,1.234,y,1234,1.234\n"1,5","1,234",y,1.5,1234\n1.5,"1,234.5",x,,\n"2,5",2.5,y,2.5,2.5\n',
  },
  {
    name: 'what the elected format does not read',
    template: parse(`formats: ${BOTH}, ambiguous: column_vote, on_error: blank`),
    input: 'n\n1.5\n"1,5"\n2.5\n',
    output: 'n\n1.5\n""\n2.5\n',
    errors: ['parse_number: NOT_A_NUMBER 1 2'],
  },
  {
    name: 'formats that never contradict need no word',
    template: parse(
      `formats: [{decimal: ","}, {decimal: ".", grouping: "'"}], strip: ["€"], percent: true, type: number`,
    ),
    input: `n\n"1,5 €"\n1'000.25\n50 %\n`,
    output: 'n\n1.5\n1000.25\n0.5\n',
  },
  {
    name: 'a format alone is as its parameters',
    template: parse('formats: [{decimal: ",", grouping: "."}], ambiguous: column_vote'),
    input: 'n\n"1.234,5"\n',
    output: 'n\n1234.5\n',
  },
  {
    name: 'more rows than a batch',
    template: parse(`formats: ${BOTH}, ambiguous: column_vote`),
    input: `n\n${'1.234\n'.repeat(6_000)}"0,5"\n`,
    output: `n\n${'1234\n'.repeat(6_000)}0.5\n`,
  },
]);

golden('groups and units', [
  {
    name: 'groups as in India',
    template: parse('grouping: ",", groups: indian, on_error: blank, into: v'),
    input: 'n\n"12,34,567"\n"1,234"\n"-1,23,456.50"\n"123,456"\n"1,234,567"\n"12,34"\n1234567\n',
    output:
      'n,v\n"12,34,567",1234567\n"1,234",1234\n"-1,23,456.50",-123456.50\n"123,456",\n"1,234,567",\n"12,34",\n1234567,1234567\n',
  },
  {
    name: 'units after the number, the longest first, case counts',
    template: parse(
      'decimal: ",", grouping: ".", strip: ["€"], negative: ["-x", "(x)"], units: {m: 0.001, M: 1000000, "Mio.": 1000000, Mm: 5}, on_error: blank, into: v',
    ),
    input: 'n\n"1,5M"\n"1,5 m"\n"2,25 Mio. €"\n"(3 M)"\n1Mm\n-4M\n"1.000"\nM\n1MM\n1K\n',
    output:
      'n,v\n"1,5M",1500000\n"1,5 m",0.0015\n"2,25 Mio. €",2250000\n(3 M),-3000000\n1Mm,5\n-4M,-4000000\n1.000,1000\nM,\n1MM,\n1K,\n',
  },
  {
    name: 'numbers of a file that knows them have no unit',
    template: parse('units: {k: 1000}'),
    input: '[{"n": 1.5}, {"n": "1.5k"}]',
    output: 'n\n1.5\n1500\n',
  },
]);

golden('mistakes', [
  {
    name: 'formats that contradict each other',
    template: parse(`formats: ${BOTH}`),
    problems: ['/operations/0/parse_number/formats/1 AMBIGUOUS_FORMATS'],
  },
  {
    name: 'marks beside formats, equal marks, digits',
    template: parse('decimal: ",", formats: [{decimal: ",", grouping: ","}, {decimal: "1"}], ambiguous: first'),
    problems: [
      '/operations/0/parse_number/decimal BAD_VALUE',
      '/operations/0/parse_number/formats/0/grouping SAME_MARK',
      '/operations/0/parse_number/formats/1/decimal BAD_VALUE',
    ],
  },
  {
    name: 'units that are no texts after a number',
    template: parse('units: {"%": 100, " k": 1000, "3k": 10}'),
    problems: [
      '/operations/0/parse_number/units/% BAD_VALUE',
      '/operations/0/parse_number/units/ k BAD_VALUE',
      '/operations/0/parse_number/units/3k BAD_VALUE',
    ],
  },
]);
