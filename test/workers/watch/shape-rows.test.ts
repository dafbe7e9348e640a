// Rows with cells of new shapes: found in one pass over a file, by hashes of the shapes that a profile reports.
import { test } from 'tap';
import { shapeOf } from '../../../workers/watch/column-profile.ts';
import { ShapeRows, shapeHash } from '../../../workers/watch/snapshot-answers.ts';
import { fc } from '../../random.ts';
import { applyTemplate } from '../apply-template.ts';

const READ_ALONE = { operations: [{ filter: { where: 'false' } }] };

function hashOf(text: string): number {
  const bytes = Buffer.from(`..${text}..`);
  return shapeHash(bytes, 2, bytes.length - 4);
}

async function rowsOf(input: string, firstRows: number, batchRows = 4096): Promise<readonly number[]> {
  const watch = new ShapeRows(firstRows);
  const { outcome } = await applyTemplate(READ_ALONE, input, batchRows, {}, { watch });
  if (outcome.failure !== null) throw new Error(outcome.failure.message);
  return watch.found;
}

test('texts have the same hash where they have the same shape', async (t) => {
  const piece = fc.constantFrom('a', 'Z', 'ab', '7', '12', '+', ' ', ',', 'ä', 'Ö', '٣', '😀', 'x'.repeat(39));
  const text = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    fc.string(),
  );
  fc.assert(fc.property(text, text, (a, b) => (hashOf(a) === hashOf(b)) === (shapeOf(a) === shapeOf(b))));
  t.equal(hashOf('DE12 3456'), hashOf('FR9 1'.replace('9', '99').replace('1', '11')));
  t.not(hashOf('1,50'), hashOf('1.50'));
  t.strictSame(['DE12 x', 'Ärger 7', 'A+', 'zz--99', ''].map(shapeOf), ['A+9+ a', 'Aa+ 9', 'A+', 'a+--9+', '']);
});

test('the first row of each new shape in each column', async (t) => {
  const rows = Array.from({ length: 9_000 }, (_, index) => `${index},2026-01-01,x`);
  rows[100] = '100,01.01.2026,x';
  rows[5_000] = '5000,01/01/2026,x';
  rows[5_001] = '5001,02/02/2026,x';
  rows[6_000] = 'A6,2026-01-01,';
  rows[8_999] = '8999,01.01.2026,É9';
  for (const batchRows of [7, 4096]) {
    t.strictSame(await rowsOf(`a,b,c\n${rows.join('\n')}\n`, 1_000, batchRows), [5_001, 6_001, 9_000]);
  }
});

test('free text does not use up the limit of other columns, and the number of noted rows is limited', async (t) => {
  const note = (index: number): string => [...index.toString(2)].map((bit) => (bit === '1' ? 'a ' : '- ')).join('');
  const rows = Array.from({ length: 20_000 }, (_, index) => `${note(index)},${index === 19_999 ? 'odd' : '1'}`);
  const found = await rowsOf(`note,number\n${rows.join('\n')}\n`, 10);
  t.equal(found.length, 101);
  t.equal(found.at(-1), 20_000);
  const columns = Array.from({ length: 30 }, (_, column) => `c${column}`).join(',');
  const wide = Array.from({ length: 5_000 }, (_, index) =>
    Array.from({ length: 30 }, (_, column) => (index % 30 === column ? note(index) : '1')).join(','),
  );
  t.equal((await rowsOf(`${columns}\n${wide.join('\n')}\n`, 10)).length, 1_000);
});
