// Cases of the operation `format_date` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    {
      steps: [
        { op: 'parse_date', columns: 'v', formats: ['dd.MM.yyyy'], ...BLANK },
        { op: 'format_date', columns: 'v', format: 'dd.MM.yyyy' },
      ],
      gives: [null, null, null, 'text:31.01.2026', 'text:31.01.2026', null, null],
    },
  ],
  lostCells: [...onCells({ format: 'dd.MM.yyyy' }), ...onCells({ epoch: 's' })],
  worstCases: [
    {
      file: 'wideNumbers',
      operations: [
        { op: 'parse_date', columns: '*', formats: ['yyyyMMdd'], excel_serial: '1900' },
        { op: 'format_date', columns: '*', format: 'dd. MMMM yyyy HH:mm', locale: 'de' },
      ],
    },
  ],
  linearTime: [], // It accepts only cells of other types, whose texts are short.
};
