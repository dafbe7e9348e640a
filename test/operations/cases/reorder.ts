// Cases of the operation `reorder` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('reorder', { first: ['v'] }, KEPT)],
  lostCells: [{ parameters: { first: ['v'], last: 'id' } }],
  worstCases: worstCases(['wide'], 'reorder', { first: 'c16383' }),
};
