// Cases of the operation `stop_when` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('stop_when', { where: 'v == "13:05:00"' }, KEPT.slice(0, 5))],
  lostCells: [{ parameters: { where: 'id == "r7"' }, ends: true }],
  worstCases: worstCases(['longRows'], 'stop_when', { where: 'a + "x" == "y"' }),
};
