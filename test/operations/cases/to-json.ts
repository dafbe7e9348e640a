// Cases of the operation `to_json` for tests of all operations.

import { expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected(
      'to_json',
      { columns: ['v'], into: 'w' },
      [
        'json:{"v":"1.234,50"}',
        'json:{"v":1.234}',
        'json:{"v":true}',
        'json:{"v":"2026-01-31"}',
        'json:{"v":"2026-01-31T13:05:00.5"}',
        'json:{"v":"13:05:00"}',
        'json:{"v":[1,"b"]}',
      ],
      'w',
    ),
  ],
  lostCells: [{ parameters: { columns: ['v', 'w'], into: 'made' } }],
  worstCases: worstCases(['wide', 'longRows', 'wideLong'], 'to_json', { columns: '*', into: 'j' }),
  linearTime: [{ columns: ['a', 'b'], into: 'made' }],
};
