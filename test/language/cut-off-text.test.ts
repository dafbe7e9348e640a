// Text in UTF-8 that ends inside a character, and long lines whose non-ASCII bytes come late.
import { golden } from './golden.ts';

const UTF8 = 'operations: []';
const AUTO = 'input: {csv: {encoding: auto}}\noperations: []';
const LIST = 'input: {csv: {encoding: [utf-8, windows-1252]}}\noperations: []';
const DECLARED = 'input: {csv: {encoding: utf-8}}\noperations: []';
const LINES = 'input: {format: lines}\noperations: []';

/** More than the bytes that detection examines. */
const MANY_ROWS = '1,Grün\n'.repeat(12_000);

const cut = (text: string, bytes: number): Buffer => Buffer.from(text).subarray(0, -bytes);

const endsInside = (line: number): string =>
  `MALFORMED_FILE: Line ${line}, the last one, ends inside a character of UTF-8: the file seems to be cut off, for ` +
  'example by an interrupted download. Send the whole file.';

const templates = { 'no encoding': UTF8, auto: AUTO, 'a list': LIST, 'utf-8': DECLARED, lines: LINES };

golden('files that end inside a character of UTF-8', [
  ...Object.entries(templates).flatMap(([name, template]) => [
    { name: `${name}, small`, template, input: cut('id,name\n1,Grün\n2,Grü', 1), error: endsInside(3) },
    { name: `${name}, large`, template, input: cut(`id,name\n${MANY_ROWS}2,Grü`, 1), error: endsInside(12_002) },
  ]),
  { name: 'several bytes of the only character', template: AUTO, input: cut('a\n5 €', 1), error: endsInside(2) },
  { name: 'a byte order mark', template: AUTO, input: cut('\ufeffa\n5 ü', 1), error: endsInside(2) },
  { name: 'another character of the line', template: LIST, input: cut('a\nüber ü', 1), error: endsInside(2) },
]);

golden('files whose only byte beyond ASCII is the last one', [
  {
    name: 'are refused without an encoding, and both reasons are named',
    template: UTF8,
    input: Buffer.from('a\nIRM\xc3', 'latin1'),
    error:
      'MALFORMED_FILE: Line 2 is not valid UTF-8. Most likely it is windows-1252: write input.csv.encoding: windows-1252 ' +
      'into the Template. The file ends there, perhaps inside a character of UTF-8: if it is UTF-8, it is cut off. Send ' +
      'the whole file.',
  },
  {
    name: 'are read in the next encoding of a list',
    template: LIST,
    input: Buffer.from('a\nIRM\xc3', 'latin1'),
    output: 'a\nIRMÃ\n',
  },
]);

golden('JSON that ends inside a character', [
  {
    name: 'a list',
    template: UTF8,
    input: cut('[{"a":"Grün"},\n{"a":"Grü', 1),
    error: 'MALFORMED_FILE: Line 2, column 9: the file ends in the middle of its JSON.',
  },
  {
    name: 'an invalid character elsewhere',
    template: UTF8,
    input: Buffer.from('{"a":"Gr\xc3"}\n{"a":1}', 'latin1'),
    error: 'MALFORMED_FILE: Line 1, column 9: this is not valid UTF-8, as JSON has to be.',
  },
]);

/** A line of ASCII that is longer than the parts in which the check examines lines. */
const LONG = 'word '.repeat(2_000);
const MIXED =
  'Save the whole file in one encoding, or declare the encoding in which all lines are to be read: input.csv.encoding.';

golden('long lines with bytes beyond ASCII at their ends', [
  {
    name: 'a mixture is found',
    template: LIST,
    input: Buffer.concat([Buffer.from(`a\n${LONG}Müller Jürgen\n`), Buffer.from(`${LONG}M\xfcller\n`, 'latin1')]),
    error: `MALFORMED_FILE: The file mixes UTF-8 with another encoding: line 2 is UTF-8, line 3 is not. ${MIXED}`,
  },
  {
    name: 'a mixture inside a line is found',
    template: LIST,
    input: Buffer.concat([Buffer.from(`a\nMüller Jürgen ${LONG}`), Buffer.from(`${LONG}M\xfcller\n`, 'latin1')]),
    error: `MALFORMED_FILE: The file mixes UTF-8 with another encoding: line 2 is UTF-8, line 2 is not. ${MIXED}`,
  },
  {
    name: 'they show the encoding',
    template: UTF8,
    input: Buffer.from(`a\n${LONG}M\xfcller stra\xdfe\n`, 'latin1'),
    error:
      'MALFORMED_FILE: Line 2 is not valid UTF-8. Most likely it is windows-1252: write input.csv.encoding: windows-1252 ' +
      'into the Template.',
  },
]);
