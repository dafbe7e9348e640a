// Cases of the operation `fill_empty` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { CELLS, expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('fill_empty', { columns: 'v', value: 'x' }, KEPT),
    expected('fill_empty', { columns: 'none', from: ['v'] }, KEPT, 'none'),
    expected(
      'fill_empty',
      { columns: 'none', value: 'x' },
      CELLS.map(() => 'text:x'),
      'none',
    ),
  ],
  lostCells: [
    ...onCells({ value: '2026-02-01' }),
    ...onCells({ value: '9' }),
    ...onCells({ from: ['w'] }),
    ...onCells({ expr: 'v' }),
    ...onCells({ expr: 'w' }),
  ],
  worstCases: [
    ...worstCases(['longRows'], 'fill_empty', { columns: '*', value: 'x' }),
    worstCase('wide', 'fill_empty', { columns: '*', value: LONGEST_TEXT }),
  ],
  linearTime: [{ columns: 'a', value: 'x' }],
};
