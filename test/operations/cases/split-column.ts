// Cases of the operation `split_column` for tests of all operations.

import { LONG_FIND, PATTERN } from '../adversarial-parameters.ts';
import { CANONICAL, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { numberedNames, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('split_column', { column: 'v', by: { separator: '|' }, into: ['w'], too_many: 'drop' }, CANONICAL, 'w'),
    expected('split_column', { column: 'v', by: { separator: '|' }, into: ['w', null] }, CANONICAL, 'w'),
  ],
  lostCells: [
    {
      parameters: { column: 'v', by: { separator: '-' }, into: ['v', 'y'], too_many: 'fail', too_few: 'fail' },
      edits: ['v'],
    },
    { parameters: { column: 'v', by: { separator: ',' }, into: ['x', 'y'], keep_source: true } },
    { parameters: { column: 'v', by: { separator: ',' }, into: [null, 'y', null] }, removes: ['v'] },
  ],
  worstCases: [
    ...worstCases(['separators', 'letters'], 'split_column', {
      column: 'a',
      by: { separator: ',' },
      into: numberedNames(100),
    }),
    worstCase('separators', 'split_column', {
      column: 'a',
      by: { pattern: ',' },
      into: numberedNames(100),
      too_many: 'merge_last',
    }),
    worstCase('letters', 'split_column', {
      column: 'a',
      by: { widths: Array.from({ length: 100 }, () => 1) },
      into: numberedNames(100),
    }),
  ],
  linearTime: [
    ...[{ separator: ' ' }, { separator: LONG_FIND }, { pattern: PATTERN }, { widths: [1, 2, 3000] }].map((by) => ({
      column: 'a',
      by,
      into: ['x', 'y'],
      trim: true,
      too_many: 'merge_last',
    })),
  ],
};
