// Cases of the operation `slice` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('slice', { skip: 1 }, KEPT.slice(1)), expected('slice', { skip_last: 1 }, KEPT.slice(0, 6))],
  lostCells: [{ parameters: { skip: 1, limit: 7 }, ends: true }, { parameters: { skip_last: 2 } }],
  worstCases: worstCases(['longRows', 'wide'], 'slice', { skip: 1, skip_last: 5 }),
};
