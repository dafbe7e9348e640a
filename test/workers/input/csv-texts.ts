// Random CSV texts, valid and damaged, and ways to read them.
import { fc } from '../../random.ts';
import type { ReadRows, ReadSettings } from './read-rows.ts';

/** Pieces of CSV text in which quotes, line breaks and delimiters meet in all ways. Long plain pieces fill SIMD blocks. */
export const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(',', ',', '\n', '\n', '"', '""', '\r\n', '\r', 'a', 'é', ' ', 'NA') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"x,y"', '"x\ny"', '"a""b"', ',"",', ',"q"\n', '\n\n', '1,2\n', '1,2,3\n', '"\r\n"'),
  },
  { weight: 2, arbitrary: fc.nat(70).map((length) => 'abcdefghij'.repeat(7).slice(0, length)) },
);
export const sound = fc.array(piece, { maxLength: 120 }).map((pieces) => Buffer.from(pieces.join('')));
export const spoiled = fc
  .array(fc.oneof({ weight: 40, arbitrary: piece }, { weight: 1, arbitrary: fc.constantFrom('\0', '\u{1f600}') }), {
    maxLength: 80,
  })
  .chain((pieces) => {
    const bytes = Buffer.from(pieces.join(''));
    return fc
      .nat(bytes.length)
      .map((at) => (at % 3 === 0 ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]) : bytes));
  });
export const settings: fc.Arbitrary<ReadSettings> = fc.record({
  dialect: fc.record({
    delimiter: fc.constantFrom(',', ',', ';', 'a'),
    quote: fc.constantFrom('"', '"', '"', '', "'"),
    headerRow: fc.constantFrom(0, 0, 0, 1, 2, null, null),
  }),
  nullValues: fc.constantFrom([''], [''], ['', 'NA'], ['NA'], [], ['', '"', 'a"b']),
  ragged: fc.constantFrom('pad', 'pad', 'fail'),
  strayQuotes: fc.constantFrom('keep', 'keep', 'fail'),
  chunks: fc.constantFrom([Number.POSITIVE_INFINITY], [1], [7, 0], [0, 1, 100], [64]),
  windowBytes: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constant(65_536)),
  batches: fc.constantFrom([4096], [1], [2, 3], [1, 0], [0]),
});

/** The result without its rows if a batch had 0 rows: such batches only count rows. */
export function comparable(rows: ReadRows, batches: readonly number[] | undefined): unknown {
  return batches?.includes(0) ? { ...rows, rows: null, sourceRows: null } : rows;
}
