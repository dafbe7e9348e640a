// Cases of the operation `copy` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('copy', { from: 'v', to: 'w' }, KEPT, 'w')],
  lostCells: [{ parameters: { from: 'v', to: 'made' } }],
  worstCases: worstCases(['longRows'], 'copy', { from: 'a', to: 'z' }),
};
