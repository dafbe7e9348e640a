// Cases of the operation `check_totals` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('check_totals', { checks: [{ expr: 'count()', equals: 7 }] }, KEPT)],
  lostCells: [{ parameters: { checks: [{ expr: 'count()', between: [1, 1000] }] } }],
  worstCases: [worstCase('longRows', 'check_totals', { checks: [{ expr: 'count()', equals: 6 }] })],
};
