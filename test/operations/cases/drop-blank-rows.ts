// Cases of the operation `drop_blank_rows` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('drop_blank_rows', {}, KEPT)],
  lostCells: [{ parameters: {} }, { parameters: { columns: 'v' } }],
  worstCases: worstCases(['longRows', 'wide'], 'drop_blank_rows', {}),
};
