// Cases of the operation `redact` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, TEXT_FILES, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('redact', { columns: 'v', patterns: ['email'] }, KEPT)],
  lostCells: onCells({ patterns: ['phone', 'email'] }),
  worstCases: [
    ...worstCases([...TEXT_FILES, 'digits', 'wide'], 'redact', {
      columns: '*',
      patterns: ['email', 'iban', 'card', 'phone'],
    }),
    worstCase('digits', 'redact', { columns: '*', patterns: ['card'], replace: LONGEST_TEXT }),
  ],
  linearTime: ['email', 'iban', 'card', 'phone'].map((kind) => ({ columns: 'a', patterns: [kind] })),
};
