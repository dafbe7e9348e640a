// Cases of the operation `split_pairs` for tests of all operations.

import { LONG_FIND } from '../adversarial-parameters.ts';
import { expected, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { numberedNames, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('split_pairs', { column: 'v', into: { 13: 'w' } }, [...NULLS.slice(0, 5), 'text:05:00', null], 'w'),
  ],
  lostCells: [{ parameters: { column: 'v', pair: ',', key: '1', into: { x: 'made', 2: 'other' } } }],
  worstCases: worstCases(['separators', 'letters'], 'split_pairs', {
    column: 'a',
    pair: ',',
    into: Object.fromEntries(numberedNames(100).map((name) => [name, name])),
  }),
  linearTime: [
    ...[' ', LONG_FIND].map((pair) => ({ column: 'a', pair, key: 'x', into: { a: 'x', '9': 'y' } })),
    ...['a', '"'].map((quote) => ({ column: 'a', pair: ' ', key: 'x', quote, into: { a: 'x' } })),
  ],
};
