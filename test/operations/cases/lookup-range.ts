// Cases of the operation `lookup_range` for tests of all operations.

import { expected, KEPT, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      ...expected('lookup_range', { table: 'ranges', value: 'same', from: 'low', to: 'high' }, KEPT),
      tables: { ranges: 'low,high,w\na,z,1\n' },
    },
    {
      ...expected(
        'lookup_range',
        { table: 'ranges', value: 'v', from: 'low', to: 'high' },
        NULLS.with(1, 'text:found'),
        'w',
      ),
      tables: { ranges: 'low,high,w\n1.234,1.234,found\n' },
    },
  ],
  lostCells: [
    { parameters: { table: 'codes', value: 'v', from: 'key', to: 'key', columns: ['text'] } },
    { parameters: { table: 'codes', value: 'w', from: 'key', to: 'key', prefix: 'code_' } },
  ],
  worstCases: [
    worstCase('longRows', 'lookup_range', { table: 't', value: 'a', from: 'key', to: 'key', columns: ['value'] }),
    worstCase('wide', 'lookup_range', { table: 't', value: 'c1', from: 'key', to: 'key', columns: ['value'] }),
  ],
};
