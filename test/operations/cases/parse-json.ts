// Cases of the operation `parse_json` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { JSON_FILES, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('parse_json', { columns: 'v', ...BLANK }, [
      null,
      'json:1.234',
      'json:true',
      'json:"2026-01-31"',
      'json:"2026-01-31T13:05:00.5"',
      'json:"13:05:00"',
      'json:[1,"b"]',
    ]),
  ],
  lostCells: onCells({}),
  worstCases: worstCases(JSON_FILES, 'parse_json', { columns: 'a' }),
  linearTime: [{ columns: 'a' }],
};
