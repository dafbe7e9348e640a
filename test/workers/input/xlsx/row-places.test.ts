// Positions of data rows in their sheets, for all numbers of skipped rows and all sizes of batches.
import t from 'tap';
import { RowPlaces } from '../../../../workers/input/xlsx/row-batch.ts';
import { fc } from '../../../random.ts';

/** Sheets, as the numbers of rows that are skipped before each data row. */
const sheets = fc.array(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 30 }), { maxLength: 4 });

t.test('each row is found again', (t) => {
  const isRight = (gaps: readonly (readonly number[])[], atOnce: number): boolean => {
    const places = new RowPlaces();
    const expected: { sheet: number; row: number }[] = [];
    for (const [index, sheet] of gaps.entries()) {
      places.beginSheet(index + 1);
      let row = 1;
      const rows = sheet.map((gap) => (row += gap + 1));
      for (let at = 0; at < rows.length; at += atOnce) {
        const some = rows.slice(at, at + atOnce);
        if (atOnce === 1) places.add(expected.length + 1, some[0]!);
        else places.addAll(expected.length + 1, Uint32Array.from(some));
        expected.push(...some.map((number) => ({ sheet: index + 1, row: number })));
      }
    }
    const found = expected.map((_, row) => places.of(row + 1));
    return JSON.stringify(found) === JSON.stringify(expected) && places.of(expected.length + 1) === null;
  };
  fc.assert(fc.property(sheets, fc.integer({ min: 1, max: 5 }), isRight));
  t.end();
});

t.test('positions that would take too much memory are unknown', (t) => {
  const places = new RowPlaces();
  places.beginSheet(1);
  for (let row = 1; row <= 100_000; row++) places.add(row, row * 2);
  t.strictSame(places.of(5), { sheet: 1, row: 10 });
  t.equal(places.of(100_000), null);
  t.equal(places.of(0), null);
  t.end();
});
