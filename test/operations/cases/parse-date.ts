// Cases of the operation `parse_date` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { BLANK, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], ...BLANK }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    expected('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], excel_serial: '1904', ...BLANK }, [
      null,
      'date:1904-01-02',
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    expected('parse_date', { columns: 'v', epoch: 's', ...BLANK }, [
      null,
      'datetime:1970-01-01T00:00:01.234Z',
      null,
      'datetime:2026-01-31T00:00:00Z',
      'datetime:2026-01-31T13:05:00.5Z',
      null,
      null,
    ]),
    expected('parse_date', { columns: 'v', formats: ['dd.MM.'], default_year: 2026, ...BLANK }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    expected(
      'parse_date',
      { columns: 'v', formats: ['dd.MM.yyyy', 'MM.dd.yyyy'], ambiguous: 'column_vote', ...BLANK },
      [null, null, null, 'date:2026-01-31', 'date:2026-01-31', null, null],
    ),
    expected(
      'parse_date',
      { columns: 'v', formats: ['dd.MM.yyyy'], type: 'datetime', timezone: 'Europe/Berlin', ...BLANK },
      [null, null, null, 'datetime:2026-01-30T23:00:00Z', 'datetime:2026-01-31T12:05:00.5Z', null, null],
    ),
    expected('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], to_timezone: 'America/New_York', ...BLANK }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
  ],
  lostCells: [
    ...onCells({ formats: ['yyyy-MM-dd'] }),
    ...onCells({ formats: ['yyyy-MM-dd'], type: 'datetime' }),
    ...onCells({ epoch: 's' }),
  ],
  worstCases: [
    ...worstCases(['digits', 'wide'], 'parse_date', { columns: '*', formats: ['yyyy-MM-dd', 'd. MMMM yyyy'] }),
    worstCase('longRows', 'parse_date', {
      columns: 'a',
      formats: ['dd/MM/yyyy', 'MM/dd/yyyy'],
      ambiguous: 'column_vote',
    }),
  ],
  linearTime: [
    { columns: 'a', formats: ['dd.MM.yyyy', 'EEEE d MMMM yyyy'], locale: 'fr' },
    { columns: 'a', formats: ["MMM d, yyyy 'at' h:mm a X"] },
  ],
};
