// Cases of the operation `pivot` for tests of all operations.

import { CANONICAL, expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, numberedNames, worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('pivot', { group_by: ['id'], names_from: 'same', values_from: 'v', values: ['s'] }, KEPT, 's'),
    expected('pivot', { group_by: ['v'], names_from: 'same', values_from: 'id', values: ['s'] }, KEPT),
    expected('pivot', { group_by: ['id'], names_from: 'same', values_from: 'v' }, KEPT, 's'),
    expected(
      'pivot',
      { group_by: ['id'], names_from: 'same', values_from: 'v', values: ['s'], aggregate: 'max' },
      KEPT,
      's',
    ),
    expected(
      'pivot',
      { group_by: ['id'], names_from: 'same', values_from: 'v', values: ['s'], aggregate: 'join' },
      CANONICAL,
      's',
    ),
  ],
  lostCells: [
    {
      parameters: { group_by: ['id', 'v'], names_from: 'k', values_from: 'w', values: ['0', '1', '2'] },
      removes: ['k', 'w'],
      groups: true,
    },
  ],
  worstCases: [
    worstCase('longRows', 'pivot', { group_by: 'b', names_from: 'g', values_from: 'a', values: ['0', '1'] }),
    worstCase('longRows', 'pivot', {
      group_by: 'g',
      names_from: 'b',
      values_from: 'a',
      values: ['b0', 'b1', 'b2'],
      aggregate: 'join',
      other: { into: 'o' },
    }),
    worstCase('shortRows', 'pivot', {
      group_by: 'g',
      names_from: 'b',
      values_from: 'a',
      values: numberedNames(1000),
      fill: LONGEST_TEXT,
      aggregate: 'join',
    }),
  ],
};
