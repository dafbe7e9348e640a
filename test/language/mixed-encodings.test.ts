// Files that begin in a single-byte encoding and continue in UTF-8 after their first 64 KiB, in each text format. They are
// refused if the encoding was guessed, wherever the UTF-8 is, and read if the Template declares one encoding.
import { golden } from './golden.ts';

/** More than the bytes that detection examines. */
const HEAD_ROWS = 6_000;

const western = (text: string): Buffer => Buffer.from(text, 'latin1');
const rows = (count: number, text: string): string => text.repeat(count);

const AUTO = 'input: {csv: {encoding: auto}}\noperations: []';
const LIST = 'input: {csv: {encoding: [utf-8, windows-1252]}}\noperations: []';
const DECLARED = 'input: {csv: {encoding: windows-1252}}\noperations: []';
const FIXED = `input:
  csv: {encoding: auto, header_row: none}
  fixed: {columns: [{name: id, start: 1, length: 2}, {name: name, start: 3, length: 8}]}
operations: []`;
const LINES = 'input: {format: lines, csv: {encoding: auto}}\noperations: []';

const HEAD = `id,name\n${rows(HEAD_ROWS, '1,M\xfcller 5\n')}`;
const HEAD_READ = `id,name\n${rows(HEAD_ROWS, '1,Müller 5\n')}`;

function mixed(lines: string): string {
  return (
    `MALFORMED_FILE: The file mixes UTF-8 with another encoding: ${lines}, lines 2, 3, 4 and others are not. ` +
    'Save the whole file in one encoding, or declare the encoding in which all lines are to be read: input.csv.encoding.'
  );
}

const MANY = mixed('lines 6002, 6003, 6004 and others are UTF-8');
const ONE = mixed('line 6002 is UTF-8');

golden('lines of UTF-8 after the first 64 KiB of another encoding', [
  {
    name: 'auto',
    template: AUTO,
    input: Buffer.concat([western(HEAD), Buffer.from(rows(5, '2,Jürgen\n'))]),
    error: MANY,
  },
  {
    name: 'a list',
    template: LIST,
    input: Buffer.concat([western(HEAD), Buffer.from(rows(5, '2,Jürgen\n'))]),
    error: MANY,
  },
  {
    name: 'one line among lines in the first encoding',
    template: LIST,
    input: Buffer.concat([western(HEAD), Buffer.from('2,Jürgen\n'), western(rows(9_000, '1,M\xfcller\n'))]),
    error: ONE,
  },
  {
    name: 'the last line, without a line end',
    template: AUTO,
    input: Buffer.concat([western(HEAD), Buffer.from('2,Jürgen')]),
    error: ONE,
  },
  {
    name: 'lines that end with CR',
    template: LIST,
    input: Buffer.concat([western(HEAD.replaceAll('\n', '\r')), Buffer.from('2,Jürgen\r3,x\r')]),
    error: mixed('line 1 is UTF-8').replace('lines 2, 3, 4 and others are', 'lines 1, 1, 1 and others are'),
  },
  {
    name: 'another single-byte encoding',
    template: 'input: {csv: {encoding: [utf-8, windows-1251]}}\noperations: []',
    input: Buffer.concat([
      western(`id,name\n${rows(HEAD_ROWS, '1,\xcc\xee\xf1\xea\xe2\xe0\n')}`),
      Buffer.from('2,Пермь\n'),
    ]),
    error: ONE,
  },
  {
    name: 'fixed columns',
    template: FIXED,
    input: Buffer.concat([western(`1 first\n${rows(HEAD_ROWS, '1 M\xfcller 5\n')}`), Buffer.from('2 Jürgen\n')]),
    error: ONE,
  },
  {
    name: 'lines',
    template: LINES,
    input: Buffer.concat([western(HEAD), Buffer.from('2,Jürgen\n')]),
    error: ONE,
  },
  {
    name: 'the Template declares one encoding',
    template: DECLARED,
    input: Buffer.concat([western(HEAD), Buffer.from('2,Jürgen\n')]),
    output: `${HEAD_READ}2,JÃ¼rgen\n`,
  },
  {
    name: 'a line that is UTF-8 by chance',
    template: AUTO,
    input: western(`${HEAD}${rows(300, '2,caf\xe9\xa0\xbb\n3,Spa\xdf\xa0\n')}${rows(9_000, '1,M\xfcller\n')}`),
    output: `${HEAD_READ}${rows(300, '2,café\u00a0»\n3,Spaß\u00a0\n')}${rows(9_000, '1,Müller\n')}`,
  },
]);
