// Cases of the operation `fill_down` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { expected, KEPT, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('fill_down', { columns: 'v' }, KEPT),
    expected('fill_down', { columns: 'none', into: 'w' }, NULLS, 'w'),
  ],
  lostCells: [...onCells({}), ...onCells({ group_by: 'k' }), ...onCells({ reset_when: 'k == "1"' })],
  worstCases: worstCases(['longRows', 'wide'], 'fill_down', { columns: '*' }),
  linearTime: [{ columns: ['a'] }],
};
