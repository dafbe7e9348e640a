// Cases of the operation `filter` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('filter', { where: 'v != "x"' }, KEPT)],
  lostCells: [
    { parameters: { where: 'k != "1"' } },
    { parameters: { where: 'int(w) > 1' } },
    { parameters: { where: 'k == "0"', mode: 'drop' } },
  ],
  worstCases: [...worstCases(['longRows', 'wideLong'], 'filter', { where: 'a + "x" != "y"' })],
  linearTime: [{ where: 'a.contains("99x") || a == b' }],
};
