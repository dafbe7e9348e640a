// Cases of the operation `parse_time` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK, expected, KEPT, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('parse_time', { columns: 'v', formats: ['HHmm'], ...BLANK }, [
      ...NULLS.slice(0, 4),
      'time:13:05:00.5',
      'time:13:05:00',
      null,
    ]),
    expected('parse_time', { columns: 'v', where: 'id == "4"', on_error: 'keep' }, KEPT.with(4, 'time:13:05:00.5')),
  ],
  lostCells: [...onCells({}), ...onCells({ formats: ['H'] })],
  worstCases: worstCases(['digits', 'wide', 'longRows'], 'parse_time', { columns: '*' }),
  linearTime: [{ columns: 'a' }, { columns: 'a', formats: ["h:mm a 'x'", 'HHmm'] }],
};
