// Cases of the operation `rename` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('rename', { columns: { v: 'w' } }, KEPT, 'w')],
  lostCells: [
    { parameters: { columns: { w: 'x' } }, removes: ['w'] },
    { parameters: { style: 'upper', columns: undefined }, removes: ['id', 'k', 'v', 'w'], groups: true },
  ],
  worstCases: [
    ...worstCases(['wide'], 'rename', { style: 'upper' }),
    worstCase('wide', 'rename', { pattern: '^', replace: LONGEST_TEXT }),
  ],
};
