// Cases of the operation `round` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstNumbers } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      steps: [
        { op: 'parse_number', columns: 'v', decimal: ',', grouping: '.', ...BLANK },
        { op: 'round', columns: 'v', scale: 0 },
      ],
      gives: ['decimal:1234', 'decimal:1', ...NULLS.slice(2)],
    },
  ],
  lostCells: [...onCells({ scale: 0 }), ...onCells({ scale: 20 })],
  worstCases: [worstNumbers('round', { columns: '*', scale: -2 })],
  linearTime: [], // It accepts only cells of other types, whose texts are short.
};
