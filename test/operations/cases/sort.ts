// Cases of the operation `sort` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('sort', { by: [{ column: 'id', order: 'desc' }] }, KEPT.toReversed()),
    expected('sort', { by: [{ column: 'v', compare: { order: ['x', 'true', '1.234'] } }] }, [
      ...[2, 1, 0, 5, 3, 4, 6].map((row) => KEPT[row]!),
    ]),
  ],
  lostCells: [{ parameters: { by: ['v'] } }, { parameters: { by: [{ column: 'k', order: 'desc' }, { column: 'v' }] } }],
  worstCases: [
    ...worstCases(['longRows', 'shortRows'], 'sort', { by: ['a'] }),
    ...worstCases(['longRows'], 'sort', { by: [{ column: 'a', compare: 'natural', order: 'desc' }] }),
    ...worstCases(['longRows', 'shortRows'], 'sort', { by: [{ column: 'a', compare: { locale: 'hu' } }] }),
    ...worstCases(['longRows'], 'sort', { by: [{ column: 'a', compare: 'case_insensitive' }] }),
    worstCase('wide', 'sort', { by: ['c1', 'c2'] }),
  ],
  linearTime: ['natural', 'case_insensitive', { locale: 'cs' }, { order: ['a'] }].map((compare) => ({
    by: [{ column: 'a', compare }],
  })),
};
