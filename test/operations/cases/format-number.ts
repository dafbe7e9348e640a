// Cases of the operation `format_number` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstNumbers } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      steps: [
        { op: 'parse_number', columns: 'v', decimal: ',', grouping: '.', ...BLANK },
        { op: 'format_number', columns: 'v', scale: 1, rounding: 'down' },
      ],
      gives: ['text:1234.5', 'text:1.2', ...NULLS.slice(2)],
    },
  ],
  lostCells: onCells({ scale: 1, suffix: ' €' }),
  worstCases: [
    worstNumbers('format_number', { columns: '*', scale: 100, prefix: '-'.repeat(100), suffix: '-'.repeat(100) }),
  ],
  linearTime: [], // It accepts only cells of other types, whose texts are short.
};
