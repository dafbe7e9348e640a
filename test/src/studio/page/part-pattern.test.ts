// The pattern that is proposed for a selected part of a cell: it extracts exactly this part, and fits the other cells.
import { test } from 'tap';
import { partMenu, proposedPattern } from '../../../../src/studio/page/part-pattern.ts';
import { compileRegularExpression } from '../../../../workers/expression/patterns/regular-expression.ts';
import { fc, seed } from '../../../random.ts';

/** @param marked a text with the part between [[ and ]] */
function patternOf(marked: string, others: readonly string[] = []): string {
  const from = marked.indexOf('[[');
  const text = marked.replace('[[', '').replace(']]', '');
  return proposedPattern({ text, from, to: marked.indexOf(']]') - 2 }, others);
}

test('patterns name what is around the part', async (t) => {
  t.equal(patternOf('Invoice [[17]] of 2026', ['Invoice 18 of 2025']), 'Invoice ([0-9]+)');
  t.equal(patternOf('INV-[[2024]]-17'), 'INV-([0-9]+)');
  t.equal(patternOf('[[Ada]] Lovelace'), '^([A-Za-z]+)');
  // The word before differs in the other cells.
  t.equal(patternOf('Anna ([[a@b.de]])', ['Bob (x.y@c.com)', 'Cid (c@d.org)']), ' \\(([^)]+)');
  t.equal(patternOf('12,50 [[EUR]]', ['7,00 USD']), ' ([A-Z]+)$');
  // The part ends at a label, and not after as many characters.
  const others = ['To: Kiel Works Text: 03/26', 'From: Weiss KG Text: 99812', 'Text: FEES'];
  t.equal(patternOf('From: [[Meyer & Sons Ltd]] Text: RG 17', others), ': (.+?) Text');
});

test('a sign of two code units is not cut', async (t) => {
  t.equal(patternOf('[[a]]😀', ['B😀', 'C😀']), '^([^😀]+)');
});

const sign = fc.constantFrom(
  'a',
  'B',
  '7',
  'ß',
  '😀',
  ' ',
  '-',
  '(',
  ']',
  '^',
  '\\',
  '.',
  '/',
  '\n',
  '\r',
  '\u2028',
  '\u00a0',
  '"',
);

test('each pattern extracts exactly the part, with the engine of Templates', async (t) => {
  const property = fc.property(
    fc.array(sign, { minLength: 1, maxLength: 12 }),
    fc.nat(),
    fc.nat(),
    fc.array(
      fc.array(sign, { maxLength: 8 }).map((signs) => signs.join('')),
      { maxLength: 3 },
    ),
    (signs, first, second, others) => {
      const start = first % signs.length;
      const end = start + 1 + (second % (signs.length - start));
      const text = signs.join('');
      const from = signs.slice(0, start).join('').length;
      const to = signs.slice(0, end).join('').length;
      const compiled = compileRegularExpression(proposedPattern({ text, from, to }, others));
      if ('problem' in compiled) throw new Error(compiled.problem);
      const match = compiled.first(text);
      t.equal(match?.groups[1], text.slice(from, to));
    },
  );
  fc.assert(property, { seed, numRuns: 2_000 });
});

test('a part becomes a separator, or the place where a text is split', async (t) => {
  const split = (text: string, from: number, to: number): unknown =>
    partMenu('a', { text, from, to }, []).entries.find(({ label }) => label === 'Split here…')?.step;
  t.strictSame(split('10 x 20', 2, 5), { split_column: { column: 'a', by: { widths: [2, 5] }, into: ['a_1', 'a_2'] } });
  t.strictSame(split('10/20', 2, 3), { split_column: { column: 'a', by: { separator: '/' }, into: ['a_1', 'a_2'] } });
  // The second of three signs, and the last one.
  t.strictSame(split('a-b-c-d', 3, 4), {
    split_column: { column: 'a', by: { separator: '-' }, into: ['a_1', 'a_2', 'a_3'] },
  });
  t.strictSame(split('a-b-c-d', 5, 6), {
    split_column: { column: 'a', by: { separator: '-' }, into: ['a_1', 'a_2'], from_end: true },
  });
  t.strictSame(split('AB20', 0, 2), { split_column: { column: 'a', by: { widths: [2, 2] }, into: ['a_1', 'a_2'] } });
});
