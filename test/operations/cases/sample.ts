// Cases of the operation `sample` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('sample', { n: 7, seed: 1 }, KEPT)],
  lostCells: [{ parameters: { every: 2 } }, { parameters: { n: 3, seed: 7 } }],
  worstCases: worstCases(['longRows', 'wide'], 'sample', { n: 10 }),
};
