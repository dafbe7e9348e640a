// Cases of the operation `window` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { metric, worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('window', { columns: [{ fn: 'row_number' }] }, KEPT),
    expected('window', { columns: [{ fn: 'previous', column: 'v', as: 'w' }] }, [null, ...KEPT.slice(0, 6)], 'w'),
    expected('window', { columns: [{ fn: 'next', column: 'v', as: 'w' }] }, [...KEPT.slice(1), null], 'w'),
    expected(
      'window',
      { columns: [{ fn: 'previous', column: 'v', offset: 3, as: 'w' }] },
      [null, null, null, ...KEPT.slice(0, 4)],
      'w',
    ),
    expected('window', { partition_by: ['id'], columns: [{ fn: 'min', column: 'v', as: 'w' }] }, KEPT, 'w'),
    expected(
      'window',
      { columns: [{ fn: 'max', column: 'v', frame: 'up_to_here', as: 'w', where: 'id == "2"' }] },
      [null, null, ...KEPT.slice(0, 5).fill('boolean:true')],
      'w',
    ),
    expected('window', { partition_by: ['id'], columns: [{ fn: 'first', column: 'v', as: 'w' }] }, KEPT, 'w'),
    expected('window', { partition_by: ['id'], columns: [{ fn: 'last', column: 'v', as: 'w' }] }, KEPT, 'w'),
  ],
  lostCells: [
    {
      parameters: {
        partition_by: 'k',
        columns: [
          { fn: 'previous', column: 'v', as: 'made' },
          { fn: 'row_number', as: 'no' },
        ],
      },
    },
    {
      parameters: {
        columns: [
          { fn: 'max', column: 'v', as: 'made' },
          { fn: 'count', as: 'no', where: 'w != "w1"', frame: 'up_to_here' },
        ],
      },
    },
  ],
  worstCases: [
    ...['previous', 'next', 'first', 'last'].map((fn) =>
      worstCase('longRows', 'window', { partition_by: 'g', columns: [metric(fn)] }),
    ),
    worstCase('longRows', 'window', {
      partition_by: 'a',
      order_by: ['a'],
      columns: [{ fn: 'row_number' }, { fn: 'rank' }],
    }),
    worstCase('wide', 'window', { order_by: ['c1'], columns: [{ fn: 'row_number' }] }),
  ],
};
