// Detection of the delimiter and header row of small, typical files without a declaration.
import { deepStrictEqual } from 'node:assert/strict';
import t from 'tap';
import { detectForm } from '../../../workers/input/detect/detect-form.ts';
import { detectHeaderRow } from '../../../workers/input/detect/header-row.ts';
import { evenCut } from '../../../workers/input/detect/obvious-form.ts';
import { listed } from '../../../workers/input/detect/records.ts';
import { SampleScanner } from '../../../workers/input/detect/scan-text.ts';
import { TextSample } from '../../../workers/input/detect/text-sample.ts';
import { BytesSource } from '../../../workers/input/source/bytes-source.ts';
import { UnspacedSource } from '../../../workers/input/source/converted-source.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { isEvenBefore } from './split-at-once.ts';

const UNKNOWN = { delimiter: null, quote: null, headerRow: null, expected: null };

const kernel = instantiateKernel(compileKernels());
const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
const tools = { kernel, arena: new Arena(heap) };

/** For each name: lines of the file, delimiter, 0-based header row or null. */
const FILES: Record<string, [lines: readonly string[], delimiter: string, headerRow: number | null]> = {
  'a plain table': [['id,amount', '1,2.50', '2,3.00'], ',', 0],
  'a table of texts': [['name;town', 'Ada;London', 'Blaise;Paris'], ';', 0],
  'numbers alone have no header': [['1,2', '3,4', '5,6'], ',', null],
  'dates in the first row are data': [['Ada,2024-01-02', 'Bob,2024-01-03', 'Eve,2024-01-04'], ',', null],
  'a preamble': [['Report of May', '', 'id\tamount', '1\t2', '2\t3'], '\t', 2],
  'a title spread over the columns': [
    ['Sales,Sales,Sales', 'day,net,gross', '2024-01-02,1,2', '2024-01-03,3,4'],
    ',',
    1,
  ],
  'groups of columns above their names': [
    [',first half,,second half,', 'town,net,gross,net,gross', 'Paris,1,2,3,4', 'Rome,5,6,7,8'],
    ',',
    1,
  ],
  'years name columns': [['indicator,1999,2000', 'water,12.5,13.5', 'air,10.25,11'], ',', 0],
  'a first row that lacks its number': [['name,price', 'Ada,unknown', 'Bob,3', 'Eve,4'], ',', 0],
  'names in several lines': [['Dist.,,per', 'No.,Name,pupil', '101,Erie,12.5', '102,Lyons,3'], ',', 1],
  'a sentence with commas above the header': [
    ['Made on Monday, by hand, at noon', 'cm-1,%T', '4000.00,98.78', '3999.00,98.79'],
    ',',
    1,
  ],
  'words in quotes are no columns': [['n,text', '0,say "x"', '1,say "y"', '2,say "z"'], ',', 0],
  'times are no columns of colons': [['time', '15:02:37.143', '15:02:38.001'], ',', 0],
  'spaces between columns': [['a b c', '1 2 3', '4 5 6'], ' ', 0],
  'a sentence is no table of spaces': [['note', 'one two three', 'four'], ',', 0],
  'a word above words with as many delimiters is no title': [['name', 'Smith,John', 'Doe,Jane', 'Roe,Jim'], ',', 0],
  'a word above a table with numbers is a title': [['Staff', 'name,age', 'Ada,36', 'Bob,41'], ',', 1],
  'several words above words are a title': [['Staff of May', 'name,town', 'Ada,London', 'Bob,Paris'], ',', 1],
  'a title repeated over the columns of several lines': [
    [',May,May,May', ',May,May,May', ',net,gross,tax', 'Rome,1,2,3', 'Paris,4,5,6'],
    ',',
    2,
  ],
  'a header that is written twice': [['town,net', 'town,net', 'Rome,1', 'Paris,2'], ',', 1],
  'rows of data that are the same': [['a,b', '1,2', '1,2', '1,2'], ',', 0],
  'rows of words that are the same': [['a|b', 'x|y', 'x|y', 'x|y'], '|', 0],
  'dates name columns': [['site,2015-01-01,2016-01-01', 'Alston,895,220', 'Raver,304,298'], ',', 0],
  'spans of years below groups': [
    [
      'Month,winter,winter,spring,spring',
      'Month,2012/13,2013/14,2012/13,2013/14',
      'June,6.5,7.3,6.6,7.4',
      'July,7,8,9,8',
    ],
    ',',
    1,
  ],
  'a heading of a section is data': [['account,text,', '6 - travel,,', '641100,by car,', '641200,by train,'], ',', 0],
  'units below names': [['time,load,temp', 's,kg,°C', '1,20,30', '2,21,31'], ',', 1],
  'words below names are data': [['time,load,temp', 'none,none,none', '1,20,30', '2,21,31'], ',', 0],
  'a word that completes a name': [['unit,Total,Total', ',,Restated', 'A,672,641', 'B,119,115'], ',', 1],
  'a comma between digits beside semicolons': [['day;net, EUR;tax', '1;1,5;2', '2;2,5;3', '3;3;4'], ';', 0],
  'a short row at the end': [['id,name', '1,Ada', '2,Bob', '3,Eve', 'end'], ',', 0],
};

for (const [name, [lines, delimiter, headerRow]] of Object.entries(FILES)) {
  t.test(name, async (t) => {
    const found = done(detectForm(Buffer.from(`${lines.join('\n')}\n`), true, UNKNOWN, tools));
    t.equal(found.delimiter, delimiter);
    t.equal(found.headerRow, headerRow);
  });
}

t.test('single quotes, where nothing is in double ones', async (t) => {
  const quoteOf = (text: string): string => done(detectForm(Buffer.from(text), true, UNKNOWN, tools)).quote;
  t.equal(quoteOf("'id','name'\n'1','Ada, B.'\n'2','Bob, C.'\n"), "'");
  t.equal(quoteOf("'Fiji',   'fj'\n'Mali',   'ml'\n'Cuba',   'cu'\n"), "'");
  t.equal(quoteOf("id,name\n1,'tis so\n2,rock 'n' roll\n"), '"');
  t.equal(quoteOf('\'id,"name"\n1,"Ada"\n'), '"');
});

t.test('the names that a Template expects decide, wherever they are', async (t) => {
  const records = [
    ['a', 'b'],
    ['1', '2'],
    ['Betrag', 'Datum'],
  ];
  t.equal(done(detectHeaderRow(listed(records), (text) => text === 'Betrag')), 2);
});

function isEven(text: string, ended: boolean): boolean {
  return evenCut(new SampleScanner(Buffer.from(text), ended, tools), ',') !== null;
}

t.test('the kernels know an even sample', async (t) => {
  for (const text of ['a,b', 'a,b\n1,2', 'a,b\r\n1,2\r\n', 'a,b\r1,2\r', 'a,"b\n,""c"\n1,2\n', '"a,b"\n1\n', ',\n1,\n'])
    t.ok(isEven(text, true), JSON.stringify(text));
  for (const text of ['a,b\n1,2\n3', 'a,b\n1,2\n3,4,5', 'a,b\n1,2\n3,"x" y'])
    t.notOk(isEven(text, true), JSON.stringify(text));
  t.ok(isEven('a,b\n1,2\n3', false), 'a record that the end of the sample cuts off');
  t.ok(isEven(`${'a,b\n'.repeat(2000)}3`, false), 'more records than the detectors look at');
  t.ok(isEven('a,b\n1,2\n3,"x', false), 'a quoted field that is cut off');
  t.notOk(isEven('a,b\n1,2\n3,"x\n4,5', false), "a quote that may be no field's");
  t.notOk(isEven('a,b\n1,2\n3,"x', true), 'a quote that nothing ends');
  t.ok(isEven(`${'a,b\n'.repeat(2000)}3`, true), 'a short record at the end');
  t.ok(isEven(`${'a,b\n'.repeat(4)}\n3\n\n\n`, true), 'blank lines and a note at the end');
  t.notOk(isEven(`${'a,b\n'.repeat(4)}\n3\n\n\n`, false), 'more may follow');
  t.notOk(isEven(`${'a,b\n'.repeat(9)}${'3\n'.repeat(5)}`, true), 'more than an end');
  t.notOk(isEven(`${'a,b\n'.repeat(9)}3\na,b\n`, true), 'in the middle');
  t.notOk(isEven(`${'a,b\n'.repeat(9)}1,2,3\n`, true), 'a longer one');
  t.notOk(isEven('a,b', false), 'no whole record');
  t.notOk(isEven('', true));
  t.equal(
    evenCut(new SampleScanner(Buffer.from('a,b\n1,2\n'), true, { kernel, arena: new Arena(heap, 256) }), ','),
    null,
    'no room',
  );
});

t.test('rows that the kernels report as even are even', async (t) => {
  const piece = fc.constantFrom('a', 'b1', ',', ',', '"', '""', '\n', '\n', '\r', '\r\n', '"x"', 'é', ' ', ';');
  const odd = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
  const row = fc.constantFrom(
    'a,b',
    '1,"2"',
    '"x,y",z',
    ',',
    '"a""b",c',
    '"l\r\nm",',
    'long words to fill blocks of 64 bytes,2',
  );
  const rows = fc.array(row, { maxLength: 12 }).map((lines) => `h,k\n${lines.join('\n')}`);
  const text = fc.oneof(
    odd,
    rows,
    fc.tuple(rows, odd).map((both) => both.join('')),
  );
  let even = 0;
  fc.assert(
    fc.property(text, fc.boolean(), (sample, ended) => {
      if (!isEven(sample, ended)) return;
      even++;
      const { records, strayQuotes } = new TextSample(sample, { delimiter: ',', quote: '"' }, ended);
      t.equal(strayQuotes, 0, JSON.stringify(sample));
      t.ok(isEvenBefore(records, ended), JSON.stringify(sample));
    }),
    { numRuns: sweep({ short: 190, long: 3000 }) },
  );
  t.ok(even > sweep({ short: 11, long: 180 }));
});

t.test('spaces before quotes are left out as the detector splits them, however bytes come', async (t) => {
  const dialect = { delimiter: ',', quote: '"' };
  let sounds = 0;
  const piece = fc.constantFrom(' ', '  ', ',', ', ', ', "', '"', '""', '\n', '\r\n', 'a', 'é', ' "x, y"', '",');
  const property = fc.property(
    fc.array(piece, { maxLength: 40 }),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
    (pieces, sizes) => {
      const text = pieces.join('');
      const source = new UnspacedSource(new BytesSource(Buffer.from(text)), dialect);
      const read: Uint8Array[] = [];
      for (let turn = 0; !source.ended; turn++) {
        const target = new Uint8Array(sizes[turn % sizes.length]!);
        read.push(target.subarray(0, source.read(target)));
      }
      const made = Buffer.concat(read).toString();
      const split = new TextSample(text, { ...dialect, spaced: true }, true);
      // A quote that is never closed fails the Run, but the detector continues after it.
      if (split.strayQuotes > 0) return;
      sounds++;
      const again = new TextSample(made, dialect, true);
      deepStrictEqual(again.records, split.records);
      deepStrictEqual([again.quotedFields, again.strayQuotes], [split.quotedFields, split.strayQuotes]);
    },
  );
  fc.assert(property, { numRuns: sweep({ short: 120, long: 2_000 }) });
  t.ok(sounds > sweep({ short: 7, long: 120 }), `${sounds} of them`);
});
