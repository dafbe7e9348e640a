// Cases of the operation `select` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('select', { columns: ['v'] }, KEPT)],
  lostCells: [
    { parameters: { columns: ['id', 'v'] }, removes: ['k', 'w'] },
    { parameters: { columns: ['v', 'id'], keep_rest: true } },
  ],
  worstCases: worstCases(['wide', 'longRows'], 'select', { columns: '*' }),
};
