// Cases of the operation `join` for tests of all operations.

import { expected, KEPT, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      ...expected(
        'join',
        { table: 'others', on: [{ left: 'same', right: 'key' }], multiple: 'all', columns: ['w'] },
        KEPT,
      ),
      tables: { others: 'key,w\ns,1\n' },
    },
    {
      ...expected(
        'join',
        { table: 'others', on: [{ left: 'v', right: 'key' }], columns: ['w'] },
        NULLS.with(1, 'text:found'),
        'w',
      ),
      tables: { others: 'key,w\n1.234,found\n' },
    },
  ],
  lostCells: [
    { parameters: { table: 'codes', on: [{ left: 'v', right: 'key' }], columns: ['text'] } },
    { parameters: { table: 'codes', on: [{ left: 'w', right: 'key' }], type: 'anti' } },
    { parameters: { table: 'codes', on: [{ left: 'w', right: 'key' }], type: 'inner' } },
  ],
  worstCases: [
    worstCase('longRows', 'join', {
      table: 't',
      on: [{ left: 'g', right: 'key' }],
      columns: ['value'],
      multiple: 'all',
    }),
    worstCase('longRows', 'join', { table: 't', on: [{ left: 'a', right: 'key' }], columns: ['value'] }),
    worstCase('wide', 'join', { table: 't', on: [{ left: 'c1', right: 'key' }], columns: ['value'] }),
  ],
};
