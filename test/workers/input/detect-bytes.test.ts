// The scan of a file's first bytes compared with detection from the decoded texts.
import { deepStrictEqual } from 'node:assert/strict';
import t from 'tap';
import { detectForm } from '../../../workers/input/detect/detect-form.ts';
import { detectHeaderRow } from '../../../workers/input/detect/header-row.ts';
import { obviousForm } from '../../../workers/input/detect/obvious-form.ts';
import { listed } from '../../../workers/input/detect/records.ts';
import { SampleScanner } from '../../../workers/input/detect/scan-text.ts';
import { TextSample } from '../../../workers/input/detect/text-sample.ts';
import { ExpectedHeaders } from '../../../workers/input/expected-headers.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { sound } from '../template/check-problems.ts';
import { isEvenBefore } from './split-at-once.ts';

const UNKNOWN = { delimiter: null, quote: null, headerRow: null, expected: null };

const kernel = instantiateKernel(compileKernels());
const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
const tools = { kernel, arena: new Arena(heap) };

t.test('detection from the bytes of a plain file equals detection from its split text', async (t) => {
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
    let namedFiles = 0;
    const property = fc.property(texts, fc.boolean(), (text, ended) => {
      const found = done(obviousForm(new SampleScanner(Buffer.from(text), ended, tools), expected));
      const line = text.split(/[\r\n]/)[0]!;
      const delimiters = [',', ';'].filter((delimiter) => line.includes(delimiter));
      const fitting = delimiters.filter((delimiter) => {
        const { records, strayQuotes } = new TextSample(text, { delimiter, quote: '"' }, ended);
        return strayQuotes === 0 && isEvenBefore(records, ended) && (delimiters.length === 1 || records.length > 1);
      });
      const [delimiter = ''] = fitting;
      if (fitting.length !== 1) return found === null;
      if (found === null) return true;
      const split = new TextSample(text, { delimiter, quote: '"' }, ended).records;
      const records = split.filter(({ length }) => length === split[0]!.length);
      plainFiles++;
      if (found.headerRow !== null) namedFiles++;
      const hasNames = records.some((record) => record.some((cell) => cell.trim() !== '' && expected.has(cell)));
      const headerRow = hasNames ? done(detectHeaderRow(listed(records), (cell) => expected.has(cell))) : null;
      // The header row may also be null if the neighbouring lines may belong to the header.
      return found.delimiter === delimiter && (found.headerRow === headerRow || found.headerRow === null);
    });
    fc.assert(property, { numRuns: sweep({ short: 500, long: 2_000 }) });
    t.ok(plainFiles > sweep({ short: 60, long: 300 }));
    t.ok(namedFiles > sweep({ short: 12, long: 60 }), `${namedFiles} of ${plainFiles} with names`);
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
      const told = done(detectForm(bytes, ended, { ...UNKNOWN, expected }, tools));
      t.same(done(detectForm(bytes, ended, { ...UNKNOWN, expected }, cramped)), told);
      t.same(told, { delimiter, quote: '"', headerRow: text.startsWith('id') ? 0 : 1 });
    }
  }
});

t.test('a table whose names are all found is the one that all its bytes tell of', async (t) => {
  const expected = ExpectedHeaders.of(sound('input: {columns: [{name: id}, {name: note}, {name: sum}]}'));
  const cramped = { kernel, arena: new Arena(heap, 256) };
  const word = fc.constantFrom(
    '',
    'Ada',
    'two words',
    "O'Hara",
    'größer',
    '2024-05-01',
    '17',
    '1.50',
    '12:30',
    'x@example.com',
  );
  const above = fc.array(fc.constantFrom('', 'Report of May', 'Date: 2024-05-01', 'Page 1', 'id', 'made by hand'), {
    maxLength: 4,
  });
  const quoted = fc.constantFrom('"a;b, c|d"', '"say ""x"""', '"two\nlines"');
  const row = fc.tuple(
    fc.nat(99).map(String),
    fc.oneof({ weight: 5, arbitrary: word }, { weight: 1, arbitrary: quoted }),
    word,
  );
  const rows = fc.array(
    fc.oneof({ weight: 9, arbitrary: row }, { weight: 1, arbitrary: fc.constantFrom([], ['1'], ['1', 'x', '2', 'y']) }),
    { minLength: 8, maxLength: 30 },
  );
  let odd = 0;
  const property = fc.property(
    above,
    rows,
    fc.constantFrom(',', ';', '\t', '|'),
    fc.boolean(),
    (preamble, table, delimiter, ended) => {
      const lines = [...preamble, ...[['id', 'note', 'sum'], ...table].map((cells) => cells.join(delimiter))];
      const bytes = Buffer.from(`${lines.join('\n')}\n`);
      if (done(obviousForm(new SampleScanner(bytes, ended, tools), expected)) === null) odd++;
      const known = { ...UNKNOWN, expected };
      const told = done(detectForm(bytes, ended, known, tools));
      deepStrictEqual(told, { delimiter, quote: '"', headerRow: preamble.length });
      deepStrictEqual(told, done(detectForm(bytes, ended, known, cramped)));
    },
  );
  fc.assert(property, { numRuns: sweep({ short: 500, long: 3_000 }) });
  t.ok(odd > sweep({ short: 120, long: 600 }), `${odd} of them not plain`);
});
