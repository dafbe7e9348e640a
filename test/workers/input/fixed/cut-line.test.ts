// Lines of fixed columns: bytes of ASCII and code points give the same cells, and these are the cells of a direct cut of the
// text.

import { test } from 'tap';
import { LineCutter } from '../../../../workers/input/fixed/fixed-reader.ts';
import type { FixedColumn } from '../../../../workers/template/template.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';

interface Cut {
  readonly cells: readonly (string | null)[];
  readonly isLonger: boolean;
}

function plainCut(text: string, columns: readonly FixedColumn[]): Cut {
  const characters = [...text];
  const cells = columns.map(({ start, length }) => {
    if (characters.length < start) return null;
    return characters
      .slice(start - 1, start - 1 + length)
      .join('')
      .replace(/^ +| +$/g, '');
  });
  const end = Math.max(...columns.map(({ start, length }) => start - 1 + length));
  return { cells, isLonger: /[^ ]/u.test(characters.slice(end).join('')) };
}

/** Cuts the line, which has other lines before and after it. */
function cut(text: string, columns: readonly FixedColumn[], isAscii: boolean): Cut {
  const bytes = Buffer.from(`before\n${text}\nbehind it stand more`);
  const cutter = new LineCutter(columns);
  const isLonger = cutter.cut(bytes, 7, 7 + Buffer.byteLength(text), isAscii);
  const cells = columns.map((_, column) => {
    const [from, to] = [cutter.cells[column * 2]!, cutter.cells[column * 2 + 1]!];
    return from === 0 ? null : bytes.subarray(from, to).toString();
  });
  return { cells, isLonger };
}

const columns = fc.array(
  fc.record({ start: fc.integer({ min: 1, max: 30 }), length: fc.integer({ min: 1, max: 12 }) }),
  { minLength: 1, maxLength: 6 },
);
const named = columns.map((some) => some.map((column, index) => ({ name: `c${index}`, ...column })));

test('lines of ASCII are cut alike by bytes, by code points and as texts', async (t) => {
  const text = fc.string({ unit: fc.constantFrom(' ', ' ', 'a', '1', '-', '\t'), maxLength: 50 });
  const property = fc.property(text, named, (line, some) => {
    const expected = JSON.stringify(plainCut(line, some));
    return JSON.stringify(cut(line, some, true)) === expected && JSON.stringify(cut(line, some, false)) === expected;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 120, long: 5_000 }) }));
});

test('other lines are cut by code points', async (t) => {
  const text = fc.string({ unit: fc.constantFrom(' ', ' ', 'a', 'ß', '漢', '😀', '\u0301'), maxLength: 50 });
  const property = fc.property(text, named, (line, some) => {
    return JSON.stringify(cut(line, some, false)) === JSON.stringify(plainCut(line, some));
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 120, long: 5_000 }) }));
});
