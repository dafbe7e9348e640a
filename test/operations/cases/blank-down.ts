// Cases of the operation `blank_down` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('blank_down', { columns: 'v', into: 'w' }, KEPT, 'w')],
  lostCells: [...onCells({}), { parameters: { columns: ['k', 'v'] }, edits: ['k', 'v'] }],
  worstCases: worstCases(['longRows', 'wide'], 'blank_down', { columns: '*' }),
  linearTime: [{ columns: ['a'] }],
};
