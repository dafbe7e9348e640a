// Ctrl-Z after the last line marks the end of the file, once or several times; elsewhere it is a character. Tested in each
// encoding and for all positions of windows and chunks.
import { test } from 'tap';
import { openCsvReader } from '../../workers/input/csv/csv-reader.ts';
import { openPlainReader } from '../../workers/input/csv/plain-reader.ts';
import { compileKernels, instantiateKernel } from '../../workers/kernel/bindings/kernel.ts';
import { readRows } from '../workers/input/read-rows.ts';
import { golden } from './golden.ts';

const CSV = 'operations: []';
const ONE_COLUMN = 'input: {csv: {delimiter: ","}}\noperations: []';
const FIXED = 'input: {fixed: {columns: [{name: a, start: 1, length: 2}]}}\noperations: []';
const inEncoding = (name: string): string => `input: {csv: {encoding: ${name}}}\noperations: []`;

golden('a Ctrl-Z at the end', [
  { name: 'on a line of its own', template: CSV, input: 'a,b\r\n1,2\r\n\x1a', output: 'a,b\n1,2\n' },
  { name: 'right after the last line', template: CSV, input: 'a,b\n1,2\x1a', output: 'a,b\n1,2\n' },
  { name: 'up to the end of a block', template: CSV, input: `a,b\n1,2\n${'\x1a'.repeat(90)}`, output: 'a,b\n1,2\n' },
  { name: 'after a quoted cell', template: CSV, input: 'a,b\n1,"2"\x1a', output: 'a,b\n1,2\n', errors: [] },
  { name: 'after the header', template: CSV, input: 'a,b\n\x1a', output: 'a,b\n' },
  { name: 'in a file of one column', template: ONE_COLUMN, input: 'a\n1\n\x1a', output: 'a\n1\n' },
  { name: 'inside the file', template: CSV, input: 'a,b\n\x1a,2\n3,\x1a\n', output: 'a,b\n\x1a,2\n3,\x1a\n' },
  { name: 'on a line that ends', template: ONE_COLUMN, input: 'a\n1\n\x1a\n', output: 'a\n1\n\x1a\n' },
  {
    name: 'nothing else',
    template: CSV,
    input: '\x1a',
    error: 'MALFORMED_FILE: The file has only blank lines.',
  },
  { name: 'of fixed columns', template: FIXED, input: '1 \n22\r\n\x1a', output: 'a\n1\n22\n' },
  { name: 'right after fixed columns', template: FIXED, input: '1 \n22\x1a\x1a', output: 'a\n1\n22\n' },
  { name: 'inside fixed columns', template: FIXED, input: '1\x1a\n22\n', output: 'a\n1\x1a\n22\n' },
  ...['windows-1252', 'ibm850', 'ibm866', 'macintosh', 'iso-8859-15', 'auto'].map((encoding) => ({
    name: `in ${encoding}`,
    template: inEncoding(encoding),
    input: Buffer.from('a,b\r\n1,2\r\n\x1a', 'latin1'),
    output: 'a,b\n1,2\n',
  })),
  {
    name: 'in UTF-16',
    template: CSV,
    input: Buffer.from('\ufeffa,b\r\n1,2\r\n\x1a', 'utf16le'),
    output: 'a,b\n1,2\n',
  },
]);

test('a Ctrl-Z at the end, wherever windows and chunks cut', async (t) => {
  const kernel = instantiateKernel(compileKernels());
  const text = 'id,name\n1,"x"\n\x1a2,\x1a\x1a\n3,"y"';
  const rows = [
    ['1', 'x'],
    ['\x1a2', '\x1a\x1a'],
    ['3', 'y'],
  ];
  for (const open of [openCsvReader, openPlainReader]) {
    for (let windowBytes = 16; windowBytes < 48; windowBytes++) {
      for (const end of ['\x1a', '\n\x1a', '\x1a'.repeat(40)]) {
        for (const chunks of [[1], [3, 0], [Number.POSITIVE_INFINITY]]) {
          const read = await readRows(open, kernel, Buffer.from(text + end), { windowBytes, chunks });
          const name = `windows of ${windowBytes}, chunks of ${chunks}, ${JSON.stringify(end)}`;
          if (read.failure !== null || JSON.stringify([read.rows, read.counts]) !== JSON.stringify([rows, {}]))
            t.strictSame([read.failure, read.rows, read.counts], [null, rows, {}], name);
        }
      }
    }
  }
});
