// Cases of the operation `drop_repeated_headers` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('drop_repeated_headers', {}, KEPT)],
  lostCells: [{ parameters: {} }],
  worstCases: worstCases(['longRows', 'wide'], 'drop_repeated_headers', {}),
  linearTime: [{}],
};
