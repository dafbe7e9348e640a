// Cases of the operation `fill_up` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('fill_up', { columns: 'v', into: 'w' }, KEPT, 'w')],
  lostCells: [...onCells({}), ...onCells({ group_by: 'k' })],
  worstCases: [
    ...worstCases(['longRows', 'wide'], 'fill_up', { columns: '*' }),
    worstCase('longRows', 'fill_up', { columns: 'a', group_by: 'g' }),
  ],
  linearTime: [{ columns: ['a'] }],
};
