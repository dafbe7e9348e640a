// Cases of the operation `append_rows` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, numberedNames, worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('append_rows', { rows: [{ v: '9' }] }, [...KEPT, 'text:9'])],
  lostCells: [{ parameters: { rows: [{ id: 'new', w: 'x' }] } }],
  worstCases: [
    worstCase('longRows', 'append_rows', { rows: numberedNames(200).map(() => ({ a: LONGEST_TEXT })) }),
    worstCase('wide', 'append_rows', { rows: numberedNames(200).map(() => ({ c1: LONGEST_TEXT })) }),
    {
      file: 'longRows',
      operations: [
        { op: 'set', columns: { key: 'g', value: 'b' } },
        { op: 'append_rows', table: 't' },
      ],
    },
  ],
};
