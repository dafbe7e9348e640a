// Cases of the operation `generalize` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstNumbers } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      steps: [
        { op: 'cast', columns: { v: 'date' }, ...BLANK },
        { op: 'generalize', columns: 'v', to: 'year' },
      ],
      gives: [null, null, null, 'date:2026-01-01', 'date:2026-01-01', null, null],
    },
  ],
  lostCells: [...onCells({ to: 'year' }), ...onCells({ step: 10 })],
  worstCases: [worstNumbers('generalize', { columns: '*', step: 1000 })],
  linearTime: [], // It accepts only cells of other types, whose texts are short.
};
