// Cases of the operation `dedupe` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('dedupe', { by: ['v'] }, KEPT),
    expected('dedupe', { by: ['v'], keep: 'last' }, KEPT),
    expected('dedupe', { by: ['id'], keep: 'none' }, KEPT),
    expected('dedupe', { by: ['v'], count_into: 'w' }, KEPT),
    expected('dedupe', { any_of: ['v', ['id']], count_into: 'w' }, KEPT),
    expected('dedupe', { by: ['id'], similar: { column: 'v' } }, KEPT),
  ],
  lostCells: [
    { parameters: { by: ['v'] } },
    { parameters: { by: ['k'], keep: 'last' } },
    { parameters: { by: ['k', 'v'], keep: 'none' } },
    { parameters: { any_of: [['k', 'v'], ['w']] } },
    { parameters: { any_of: [['v']], keep: 'last', match: 'loose' } },
    { parameters: { by: ['k'], similar: { column: 'v', threshold: 0.5 } } },
  ],
  worstCases: [
    ...worstCases(['longRows', 'wide', 'shortRows'], 'dedupe', {}),
    ...worstCases(['longRows', 'wide'], 'dedupe', { keep: 'last', match: 'case_insensitive' }),
    worstCase('longRows', 'dedupe', { by: 'a', keep: 'none' }),
    ...worstCases(['longRows', 'shortRows'], 'dedupe', { similar: { column: 'a', threshold: 1 }, match: 'loose' }),
    ...worstCases(['longRows', 'shortRows'], 'dedupe', { any_of: ['a', ['a']], match: 'loose' }),
  ],
  linearTime: [
    ...['normal', 'loose'].map((match) => ({ by: ['a'], match })),
    { by: ['a'], similar: { column: 'a' }, match: 'loose' },
  ],
};
