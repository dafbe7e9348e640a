// Cases of the operation `transpose` for tests of all operations.

import { KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      steps: [
        { op: 'filter', where: 'id == "0"' },
        { op: 'transpose', header_from: 'same', columns: ['s'] },
        { op: 'filter', where: 'same == "v"' },
      ],
      column: 's',
      gives: KEPT.slice(0, 1),
    },
  ],
  lostCells: [
    {
      parameters: { header_from: 'id', columns: Array.from({ length: 50 }, (_, row) => `r${row}`) },
      removes: ['k', 'v', 'w'],
      groups: true,
    },
  ],
  worstCases: worstCases(['longRows'], 'transpose', { header_from: 'b', columns: ['b0', 'b1'], on_error: 'drop_row' }),
};
