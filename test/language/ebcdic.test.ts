// Mainframe text (EBCDIC): refused with that reason, because every other encoding would read it as one long header.
import { golden } from './golden.ts';

/** Codes of the first letter or digit of each run of consecutive codes. */
const RUNS: readonly (readonly [characters: string, code: number])[] = [
  ['abcdefghi', 0x81],
  ['jklmnopqr', 0x91],
  ['stuvwxyz', 0xa2],
  ['ABCDEFGHI', 0xc1],
  ['JKLMNOPQR', 0xd1],
  ['STUVWXYZ', 0xe2],
  ['0123456789', 0xf0],
  [' ', 0x40],
  [',', 0x6b],
  ['.', 0x4b],
  ['-', 0x60],
  ['ü', 0xdc],
  ['\n', 0x25],
  ['\x85', 0x15],
];

function ebcdic(text: string): Buffer {
  const codes = [...text].map((character) => {
    const [characters, code] = RUNS.find(([some]) => some.includes(character))!;
    return code + characters.indexOf(character);
  });
  return Buffer.from(codes);
}

const rows = Array.from({ length: 20 }, (_, row) => `${row},Müller ${row},-${row * 7}.50\n`).join('');
const CSV = `ID,NAME,AMOUNT\n${rows}`;
const FIXED = Array.from({ length: 20 }, (_, row) => `${1000 + row}CUSTOMER`).join('');

const ERROR =
  'UNSUPPORTED_FILE_TYPE: The file is text in EBCDIC, the encoding of mainframes; convert it to UTF-8, for example with ' +
  'iconv -f IBM037 -t UTF-8, and send that.';

const FIXED_TEMPLATE = `input:
  csv: {encoding: auto, header_row: none}
  fixed: {record_length: 12, columns: [{name: id, start: 1, length: 4}, {name: name, start: 5, length: 8}]}
operations: []`;

const declaring = (encoding: string): string => `input: {csv: {encoding: ${encoding}}}\noperations: []`;

// More bytes than are examined first; the examined part ends inside a letter.
const accented = `a${Array.from({ length: 140 }, (_, column) => 'é'.repeat(200 + column)).join(',')}`;

golden('text in UTF-8 whose bytes EBCDIC has, too', [
  { name: 'accented letters', template: 'operations: []', input: `${accented}\n`, output: `${accented}\n` },
]);

golden('text in EBCDIC', [
  { name: 'no encoding', template: 'operations: []', input: ebcdic(CSV), error: ERROR },
  { name: 'auto', template: declaring('auto'), input: ebcdic(CSV), error: ERROR },
  { name: 'a list', template: declaring('[utf-8, windows-1252]'), input: ebcdic(CSV), error: ERROR },
  {
    name: 'lines end with NEL',
    template: declaring('auto'),
    input: ebcdic(CSV.replaceAll('\n', '\x85')),
    error: ERROR,
  },
  { name: 'records without line ends', template: FIXED_TEMPLATE, input: ebcdic(FIXED), error: ERROR },
  {
    name: 'a single line in another alphabet is no such text',
    template: declaring('auto'),
    input: Buffer.from(
      '\xcd\xee\xec\xe5\xf0\xe7\xe0\xea\xe0\xe7\xe0\xc4\xe0\xf2\xe0\xcf\xee\xf1\xf2\xe0\xe2\xea\xe8',
      'latin1',
    ),
    output: 'НомерзаказаДатаПоставки\n',
  },
]);
