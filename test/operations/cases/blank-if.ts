// Cases of the operation `blank_if` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, TEXT_FILES, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('blank_if', { columns: 'v', values: ['true'] }, KEPT.with(2, null))],
  lostCells: [...onCells({ values: ['12', 'x'] }), ...onCells({})],
  worstCases: worstCases([...TEXT_FILES, 'wide'], 'blank_if', {
    columns: '*',
    values: [LONGEST_TEXT],
    case_sensitive: false,
  }),
  linearTime: [
    { columns: 'a', values: ['É', 'n/a'], case_sensitive: false },
    { columns: 'a', where: 'value.endsWith("?")' },
  ],
};
