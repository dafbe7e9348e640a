// Cases of the operation `expect_columns` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('expect_columns', { columns: ['v'] }, KEPT)],
  lostCells: [{ parameters: { columns: ['id', 'k', 'v', 'w'] } }],
  worstCases: worstCases(['wide'], 'expect_columns', { columns: ['c1'], extra: 'allow' }),
};
