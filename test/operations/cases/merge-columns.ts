// Cases of the operation `merge_columns` for tests of all operations.

import { CELLS, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected(
      'merge_columns',
      { columns: ['id', 'v'], into: 'w' },
      CELLS.map((cell, row) => `text:${row} ${cell![1]}`),
      'w',
    ),
  ],
  lostCells: [
    { parameters: { columns: ['v', 'w'], into: 'v', keep_source: true }, edits: ['v'] },
    { parameters: { columns: ['v', 'w'], into: 'w' }, edits: ['w'], removes: ['v'] },
    { parameters: { template: '{v}/{k}', into: 'made', keep_source: true } },
  ],
  worstCases: [
    ...worstCases(['wide', 'wideLong'], 'merge_columns', { columns: '*', into: 'm', separator: LONGEST_TEXT }),
    worstCase('longRows', 'merge_columns', { columns: '*', into: 'm', separator: LONGEST_TEXT }),
    worstCase('two', 'merge_columns', { template: '{a}{b}{a}{b}'.repeat(200), into: 'm' }),
  ],
  linearTime: [
    { columns: ['a', 'b'], into: 'made' },
    { template: '{a}{{{b}', into: 'made' },
  ],
};
