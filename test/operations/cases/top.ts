// Cases of the operation `top` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('top', { n: 3, by: ['id'] }, KEPT.slice(0, 3))],
  lostCells: [{ parameters: { n: 4, by: ['v'] } }],
  worstCases: [
    worstCase('longRows', 'top', { n: 10, by: 'a' }),
    worstCase('longRows', 'top', { n: 10, by: 'a', group_by: 'g' }),
  ],
};
