// Detection of the kinds of cells, and splitting of texts, unit by unit. The references are patterns of the kinds, and a scalar
// reference implementation that splits a whole text at once.
import { deepStrictEqual } from 'node:assert/strict';
import t from 'tap';
import { cellKind } from '../../../workers/input/detect/cell-kind.ts';
import { SampleScanner } from '../../../workers/input/detect/scan-text.ts';
import { scannedSample } from '../../../workers/input/detect/scanned-sample.ts';
import { TextSample } from '../../../workers/input/detect/text-sample.ts';
import { compileKernels, instantiateKernel } from '../../../workers/kernel/bindings/kernel.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { RUN_RESERVATION_BYTES, unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { splitAtOnce } from './split-at-once.ts';

const kernel = instantiateKernel(compileKernels());
const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), RUN_RESERVATION_BYTES);
const tools = { kernel, arena: new Arena(heap) };

/** Patterns of common cells, in the order in which they are tried. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['number', /^[-+]?(?:\d+|\d{1,3}(?:[ ,.'\u00a0]\d{3})+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?$/],
  ['money', /^(?:[-+]?[$€£¥]\s?|[A-Z]{3}\s)[-+]?\d[\d.,' ]*$|^[-+]?\d[\d.,' ]*\s?(?:[$€£¥%]|[A-Z]{3})$/],
  ['date', /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}$|^\d{1,2}[-/. ](?:[A-Za-z]{3,9})[-/. ]\d{2,4}$/],
  ['time', /^\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?$/],
  [
    'datetime',
    /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:Z|UTC|[-+]\d{2}:?\d{2})?$/,
  ],
  ['email', /^[^\s@,;"]+@[^\s@,;"]+\.[A-Za-z]{2,}$/],
  ['url', /^(?:https?:\/\/|www\.)[^\s"]+$/i],
  ['phone', /^\+?\d[\d ()./-]{5,18}\d$/],
  ['code', /^(?:NA|N\/A|n\/a|null|NULL|None|-|true|false|TRUE|FALSE|yes|no)$/],
];

const TEXT = /^[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M} _.'’/&()#%:+*!?-]*$/u;

function kindByPattern(cell: string): string | null {
  if (cell === '') return '';
  const found = KINDS.find(([, pattern]) => pattern.test(cell));
  if (found !== undefined) return found[0];
  return TEXT.test(cell) ? 'text' : null;
}

const units = fc.constantFrom(
  ...[
    ...'0123456789',
    ...'012',
    '.',
    ',',
    '-',
    '/',
    ':',
    ' ',
    '+',
    'e',
    'E',
    'T',
    'Z',
    'A',
    'm',
    'p',
    '$',
    '%',
    '@',
    'x',
  ],
  ...["'", '\u00a0', 'ü', 'Ж', '日', '½', '×', '’', '(', ')', '"', ';', '\u2028', '\u{1F600}', '\u{1D49C}', '\ud800'],
  ...['EUR', '€', 'org', 'http://', 'HTTPS://', 'www.', 'null', 'N/A', 'May', 'UTC', '000', '2024', '12:30'],
);

t.test('a cell is of the kind whose pattern it has', async (t) => {
  const seen = new Set<string | null>();
  const cell = fc.array(units, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(cell, (text) => {
      const kind = kindByPattern(text.trim());
      seen.add(kind);
      deepStrictEqual([cellKind(text), cellKind(`7a${text}a7`, 2, 2 + text.length)], [kind, kind]);
    }),
    { numRuns: sweep({ short: 5_000, long: 400_000 }) },
  );
  t.ok(seen.size >= 8, `kinds that came: ${[...seen].join(' ')}`);
});

t.test('cells as people write them have their kinds', async (t) => {
  for (const [kind, cells] of [
    ['number', ['0', '-1,5', '1.234.567,89', '1 234', "1'000.5", '1e5', '+3.2E-7', '12\u00a0345', '1,234,5678']],
    ['money', ['$5', '-€ 12,50', 'EUR 3', '12.50 EUR', '7 %', '3€', "CHF 1'200.-5".slice(0, 9)]],
    ['date', ['2024-01-02', '3/4/24', '03.04.2024', '3 May 2024', '12-December-99']],
    ['time', ['9:30', '12:30:05,123', '9:30 pm', '11:59PM']],
    ['datetime', ['2024-01-02T03:04', '2024-01-02 03:04:05.6 UTC', '1.2.2024 3:04+01:00', '2024-01-02T03:04:05Z']],
    ['email', ['a@b.co', 'first.last@mail.example.org']],
    ['url', ['http://x', 'HTTPS://example.org/a?b', 'www.example.org']],
    ['phone', ['+44 (0)20 7946-0958', '030/1234567', '192.168.1.1']],
    ['code', ['NA', 'n/a', 'true', '-']],
    ['text', ['Ada Lovelace', 'Größe', "O'Neil & Co.", '日本', '½ kg', 'A-1']],
    [null, ['"x"', '(x)', 'a;b', '@', 'a,b', '×2', '?']],
  ] as const) {
    for (const cell of cells) {
      t.equal(cellKind(cell), kind, cell);
      t.equal(kindByPattern(cell), kind, cell);
    }
  }
});

t.test('a sample that is split as far as somebody asks has the records of one that is split at once', async (t) => {
  let scans = 0;
  const piece = fc.constantFrom(
    'a',
    ' ',
    ',',
    ',',
    ';',
    '"',
    '"',
    '""',
    "'",
    '\n',
    '\n',
    '\r',
    '\r\n',
    '"x,y"',
    'é',
    '¦',
  );
  const dialect = fc.record({
    delimiter: fc.constantFrom(',', ';', '¦', ''),
    quote: fc.constantFrom('"', "'", ''),
    spaced: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), dialect, fc.boolean(), fc.nat(6), (pieces, form, ended, most) => {
      const text = pieces.join('');
      const all = splitAtOnce(text, form, ended, Number.POSITIVE_INFINITY);
      const part = splitAtOnce(text, form, ended, most);
      const scanned = scannedSample(new SampleScanner(Buffer.from(text), ended, tools), form);
      if (scanned !== null) scans++;
      for (const sample of [new TextSample(text, form, ended), scanned ?? new TextSample(text, form, ended)]) {
        deepStrictEqual(sample.first(most), part.records);
        deepStrictEqual(sample.quotedFieldsIn(most), part.quotedFields);
        const widths = all.records.map((_, record) => sample.has(record) && sample.width(record));
        deepStrictEqual([sample.length, widths], [all.records.length, all.records.map(({ length }) => length)]);
        deepStrictEqual([sample.quotedFields, sample.strayQuotes], [all.quotedFields, all.strayQuotes]);
        for (const [record, cells] of all.records.entries()) {
          deepStrictEqual(sample.isFilled(record), cells.length > 1 || cells[0] !== '');
          deepStrictEqual(sample.filledWidth(record), cells.findLastIndex((cell) => cell.trim() !== '') + 1);
          cells.forEach(
            (cell, column) => void deepStrictEqual(sample.kind(record, column), kindByPattern(cell.trim())),
          );
        }
        deepStrictEqual(sample.first(Number.POSITIVE_INFINITY), all.records);
      }
    }),
    { numRuns: sweep({ short: 500, long: 20_000 }) },
  );
  t.ok(scans > sweep({ short: 45, long: 1_800 }), `${scans} of them by the scan`);
});
