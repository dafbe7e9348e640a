// Cases of the operation `complete` for tests of all operations.

import { KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      steps: [
        { op: 'cast', columns: { id: 'integer' } },
        { op: 'complete', column: 'id' },
      ],
      column: 'v',
      gives: KEPT,
    },
    {
      steps: [
        { op: 'cast', columns: { id: 'integer' } },
        { op: 'complete', column: 'id', group_by: ['v'], range: { to: 7 } },
        { op: 'filter', where: 'id == 7' },
        { op: 'dedupe', by: ['v'] },
        { op: 'filter', where: 'v == "true"' },
      ],
      column: 'v',
      gives: KEPT.filter((cell) => cell === 'boolean:true'),
    },
  ],
  // Only of dates: no other column of this file can be a series.
  lostCells: [{ parameters: { column: 'v', group_by: ['id'] } }],
  worstCases: ['a', 'g'].map((group) => ({
    file: 'longRows',
    operations: [
      { op: 'window', columns: [{ fn: 'row_number', as: 'n' }] },
      { op: 'complete', column: 'n', group_by: group, every: 3, range: { to: 1000 }, fill: { b: LONGEST_TEXT } },
    ],
  })),
};
