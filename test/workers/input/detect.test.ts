// What the detectors make of small files as people have them: delimiter and header row, nothing told.
import fc from 'fast-check';
import t from 'tap';
import { Arena } from '../../../workers/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/budget.ts';
import { Heap } from '../../../workers/heap.ts';
import { detectForm } from '../../../workers/input/detect/detect-form.ts';
import { evenCut } from '../../../workers/input/detect/even-cut.ts';
import { detectHeaderRow } from '../../../workers/input/detect/header-row.ts';
import { plainForm } from '../../../workers/input/detect/plain-form.ts';
import { splitSample } from '../../../workers/input/detect/sample.ts';
import { ExpectedHeaders } from '../../../workers/input/expected-headers.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/kernel.ts';
import { sound } from '../check-problems.ts';

const UNKNOWN = { delimiter: null, quote: null, headerRow: null, expected: null };

const kernel = instantiateKernel(compileKernels());
const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
const tools = { kernel, arena: new Arena(heap) };

/** Name: [lines of the file, delimiter, 0-based header row or null]. */
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
};

for (const [name, [lines, delimiter, headerRow]] of Object.entries(FILES)) {
  t.test(name, async (t) => {
    const found = detectForm(Buffer.from(`${lines.join('\n')}\n`), true, UNKNOWN, tools);
    t.equal(found.delimiter, delimiter);
    t.equal(found.headerRow, headerRow);
  });
}

t.test('the names that a Template looks for decide, wherever they stand', async (t) => {
  const records = [
    ['a', 'b'],
    ['1', '2'],
    ['Betrag', 'Datum'],
  ];
  t.equal(
    detectHeaderRow(
      (most) => records.slice(0, most),
      (text) => text === 'Betrag',
    ),
    2,
  );
});

function isEven(text: string, ended: boolean): boolean {
  return evenCut(Buffer.from(text), ended, ',', tools) !== null;
}

t.test('the kernels know an even sample', async (t) => {
  for (const text of ['a,b', 'a,b\n1,2', 'a,b\r\n1,2\r\n', 'a,b\r1,2\r', 'a,"b\n,""c"\n1,2\n', '"a,b"\n1\n', ',\n1,\n'])
    t.ok(isEven(text, true), JSON.stringify(text));
  for (const text of ['a,b\n1,2\n3', 'a,b\n1,2\n3,4,5', 'a,b\n1,2\n3,"x" y'])
    t.notOk(isEven(text, true), JSON.stringify(text));
  t.ok(isEven('a,b\n1,2\n3', false), 'a record that the end of the sample cuts off');
  t.ok(isEven(`${'a,b\n'.repeat(2000)}3`, false), 'more records than the detectors look at');
  t.notOk(isEven('a,b\n1,2\n3,"x', false), 'a quoted field that is cut off');
  t.notOk(isEven(`${'a,b\n'.repeat(2000)}3`, true));
  t.notOk(isEven('a,b', false), 'no whole record');
  t.notOk(isEven('', true));
  t.equal(evenCut(Buffer.from('a,b\n1,2\n'), true, ',', { kernel, arena: new Arena(heap, 256) }), null, 'no room');
});

t.test('what the kernels call even is even', async (t) => {
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
      const { records, strayQuotes } = splitSample(sample, { delimiter: ',', quote: '"' }, ended);
      t.equal(strayQuotes, 0, JSON.stringify(sample));
      t.equal(new Set(records.map(({ length }) => length)).size, 1, JSON.stringify(sample));
    }),
    { numRuns: 3000 },
  );
  t.ok(even > 300);
});

t.test('what the bytes of a plain file say is what its split text says', async (t) => {
  const names = ['id', 'Größe', 'a"b', 'two words'];
  const pieces = [...names, 'ID', 'x', 'é', ' ', '7'];
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  const cells = fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: fc.constantFrom(...pieces), maxLength: 2 }).map(quoted) },
    { weight: 20, arbitrary: fc.constantFrom(...pieces.filter((piece) => !piece.includes('"')), '') },
    { weight: 1, arbitrary: fc.constantFrom('a"b', '"x"y', '"open', 'a\nb', '"a\n,b"', ';') },
  );
  const lines = fc.integer({ min: 2, max: 4 }).chain((columns) => {
    const record = fc.array(cells, { minLength: columns, maxLength: columns }).map((fields) => fields.join(','));
    return fc.array(fc.oneof({ weight: 20, arbitrary: record }, { weight: 1, arbitrary: cells }), { maxLength: 6 });
  });
  const texts = fc
    .tuple(lines, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean())
    .map(([all, end, isEnded]) => all.join(end) + (isEnded ? end : ''));
  for (const match of ['exact', 'normal', 'loose']) {
    const columns = names.map((name) => JSON.stringify({ name })).join(', ');
    const expected = ExpectedHeaders.of(sound(`input: {header_match: ${match}, columns: [${columns}]}`))!;
    let plainFiles = 0;
    const property = fc.property(texts, fc.boolean(), (text, ended) => {
      const found = plainForm(Buffer.from(text), ended, expected, tools);
      const line = text.split(/[\r\n]/)[0]!;
      const delimiters = [',', ';'].filter((delimiter) => line.includes(delimiter));
      const [delimiter = ''] = delimiters;
      const { records, strayQuotes } = splitSample(text, { delimiter, quote: '"' }, ended);
      const isEven = records.every(({ length }) => length === records[0]!.length);
      if (delimiters.length !== 1 || !isEven || strayQuotes > 0) return found === null;
      if (found === null) return true;
      plainFiles++;
      const hasNames = records.some((record) => record.some((cell) => cell.trim() !== '' && expected.has(cell)));
      const headerRow = hasNames
        ? detectHeaderRow(
            (most) => records.slice(0, most),
            (cell) => expected.has(cell),
          )
        : null;
      return found.delimiter === delimiter && found.headerRow === headerRow;
    });
    fc.assert(property, { numRuns: 2_000 });
    t.ok(plainFiles > 500);
  }
});

t.test('the form of a file is the same where the kernels tell of its rows and where they cannot', async (t) => {
  const expected = ExpectedHeaders.of(sound('input: {columns: [{name: id}]}'));
  const cramped = { kernel, arena: new Arena(heap, 256) };
  const rows = '1;"a;b"\n2;c\n';
  for (const ended of [true, false]) {
    for (const [text, delimiter] of [
      [`id;note\n${rows.repeat(400)}3;d`, ';'],
      [`one\nid;note\n${rows.repeat(400)}`, ';'],
      [`id;note\n${rows.repeat(100)}1;2;3\n`, ';'],
    ] as const) {
      const bytes = Buffer.from(text);
      const told = detectForm(bytes, ended, { ...UNKNOWN, expected }, tools);
      t.same(detectForm(bytes, ended, { ...UNKNOWN, expected }, cramped), told);
      t.same(told, { delimiter, quote: '"', headerRow: text.startsWith('id') ? 0 : 1 });
    }
  }
});
