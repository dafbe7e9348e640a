// Lines of fixed columns in windows and pieces of any size: the rows, their numbers and the counts do not change.

import { test } from 'tap';
import { openFixedReader } from '../../../../workers/input/fixed/fixed-reader.ts';
import { MetaSearch } from '../../../../workers/input/meta-values.ts';
import { compileKernels, instantiateKernel } from '../../../../workers/kernel/bindings/kernel.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { type ReadSettings, readRows } from '../read-rows.ts';

const COLUMNS = [
  { name: 'a', start: 1, length: 3 },
  { name: 'b', start: 5, length: 4 },
];
const kernel = instantiateKernel(compileKernels());

const read = (text: string, settings: ReadSettings) =>
  readRows(
    ({ heap, arena, source, nullValues, ragged, largeRow, windowBytes }) =>
      openFixedReader({
        ...{
          format: 'fixed',
          encoding: 'utf-8',
          columns: COLUMNS,
          headerRow: null,
          preamble: new MetaSearch([], []),
          values: {},
        },
        ...{ heap, arena, source, nullValues, ragged, largeRow },
        ...(windowBytes === undefined ? {} : { windowBytes }),
      }),
    kernel,
    Buffer.from(text),
    settings,
  );

test('rows do not depend on windows, pieces and batches', async (t) => {
  const line = fc.string({ unit: fc.constantFrom(' ', 'a', 'b', 'ß', '漢'), maxLength: 14 });
  const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 });
  const chunks = fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }).filter((sizes) => sizes.some((size) => size > 0));
  const property = fc.asyncProperty(
    lines,
    chunks,
    fc.integer({ min: 16, max: 80 }),
    fc.integer({ min: 1, max: 9 }),
    async (some, pieces, windowBytes, batch) => {
      const text = some.map((parts) => parts.join('')).join('');
      const texts = text.split(/\r\n|\n|\r/).filter((one) => one !== '');
      const rows = texts.map((one) => {
        const characters = [...one];
        return COLUMNS.map(({ start, length }) => {
          const cell = characters.slice(start - 1, start - 1 + length).join('');
          return cell.replace(/^ +| +$/g, '') || null;
        });
      });
      const longer = texts.flatMap((one, row) => (/[^ ]/u.test([...one].slice(8).join('')) ? [row + 1] : []));
      const found = await read(text, { chunks: pieces, windowBytes, batches: [batch] });
      const numbers = JSON.stringify(found.sourceRows) === JSON.stringify(rows.map((_, row) => row + 1));
      const counted = JSON.stringify(found.counts.RAGGED_ROW?.rows ?? []) === JSON.stringify(longer.slice(0, 20));
      return found.failure === null && numbers && counted && JSON.stringify(found.rows) === JSON.stringify(rows);
    },
  );
  await t.resolves(fc.assert(property, { numRuns: sweep({ short: 75, long: 3_000 }) }));
});

test('a line over 16 MiB is refused by its number', async (t) => {
  const found = await read(`abc\n\n${'x'.repeat(17 * 1024 * 1024)}\n`, {});
  t.match(found.failure, /^Line 3 begins a row of more than 16 MiB/);
});
