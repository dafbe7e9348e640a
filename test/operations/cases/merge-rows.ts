// Cases of the operation `merge_rows` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('merge_rows', { when: 'false', join: ['v'] }, KEPT),
    expected('merge_rows', { when: 'id == "3"', join: ['none'] }, KEPT.toSpliced(3, 1)),
    expected('merge_rows', { when: 'id == "3"', join: ['v'] }, KEPT.with(2, 'text:true 2026-01-31').toSpliced(3, 1)),
  ],
  lostCells: [
    { parameters: { when: 'k == "1"', join: ['v'] }, edits: ['v'], groups: true },
    { parameters: { when: 'false', join: ['v', 'w'] } },
  ],
  worstCases: [
    ...worstCases(['longRows', 'wide'], 'merge_rows', { when: 'run.row % 3 != 0', join: '*' }),
    worstCase('shortRows', 'merge_rows', { when: 'run.row % 3000 != 1', join: '*', separator: LONGEST_TEXT }),
  ],
};
