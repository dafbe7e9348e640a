// Cases of the operation `parse_duration` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK, expected, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('parse_duration', { columns: 'v', plain: 'min', ...BLANK }, [
      null,
      'decimal:74.04',
      ...NULLS.slice(2, 5),
      'decimal:47100',
      null,
    ]),
  ],
  lostCells: [...onCells({}), ...onCells({ plain: 'h', unit: 'min' })],
  worstCases: worstCases(['digits', 'wide', 'longRows'], 'parse_duration', { columns: '*', plain: 's' }),
  linearTime: [{ columns: 'a' }, { columns: 'a', clock: 'minutes_seconds', plain: 'h', decimal: ',' }],
};
