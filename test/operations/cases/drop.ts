// Cases of the operation `drop` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('drop', { columns: ['id'] }, KEPT)],
  lostCells: [{ parameters: { columns: ['w'] }, removes: ['w'] }],
  worstCases: worstCases(['wide'], 'drop', { columns: { pattern: '7' } }),
};
