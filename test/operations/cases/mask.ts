// Cases of the operation `mask` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { CELLS, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { TEXT_FILES, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected(
      'mask',
      { columns: 'v', keep_last: 1 },
      CELLS.map((cell) => `text:${masked(cell![1])}`),
    ),
  ],
  lostCells: onCells({ keep_last: 1 }),
  worstCases: worstCases([...TEXT_FILES, 'wide'], 'mask', { columns: '*', keep_last: 4, char: '•' }),
  linearTime: [{ columns: 'a', keep_first: 2, keep_last: 2 }],
};

function masked(text: string): string {
  return text.length < 5 ? '*'.repeat(text.length) : '*'.repeat(text.length - 1) + text.at(-1);
}
