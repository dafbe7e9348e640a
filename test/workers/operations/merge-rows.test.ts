// The operation merge_rows joins the same rows as a single pass over all rows, for all divisions into batches.

import { test } from 'tap';
import { mergeRows } from '../../../workers/operations/merge-rows.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1 },
  { batchRows: 3, sparse: true, arenaBytes: 64 },
  { batchRows: 1000, arenaBytes: 512 },
  { batchRows: 7, budgetBytes: 0 },
];

/** Rows are [mark, a, b, kept]. A row with the mark `+` continues the previous row. */
function reference(rows: readonly (readonly Cell[])[]): Cell[][] {
  const made: Cell[][] = [];
  for (const row of rows) {
    const above = made.at(-1);
    if (row[0] !== '+' || above === undefined) made.push([...row]);
    else for (const at of [1, 2]) above[at] = [above[at], row[at]].filter((cell) => cell !== null).join(', ') || null;
  }
  return made;
}

test('merge_rows joins the same rows as a single pass over all rows', async (t) => {
  const cell = fc.constantFrom('x', 'ä', 'longer than a few bytes', null);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('+', '-', null), cell, cell, cell), { maxLength: 40 }),
      fc.constantFrom(...WAYS),
      (rows, way) => {
        const operation = { op: 'merge_rows', when: 'mark == "+"', join: ['a', 'b'], separator: ', ' };
        const made = runOperation(mergeRows, operation, { columns: ['mark', 'a', 'b', 'kept'], rows }, way);
        const [is, meant] = [JSON.stringify(made.rows), JSON.stringify(reference(rows))];
        if (is !== meant) throw new Error(`${is} is not ${meant}`);
      },
    ),
    { numRuns: sweep({ short: 20, long: 2000 }) },
  );
  t.pass();
});
