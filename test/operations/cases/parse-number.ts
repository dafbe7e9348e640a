// Cases of the operation `parse_number` for tests of all operations.

import { LONG_FIND } from '../adversarial-parameters.ts';
import { onCells } from '../lost-cells.ts';
import { BLANK, expected, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

const TWO_FORMATS = [
  { decimal: ',', grouping: '.' },
  { decimal: '.', grouping: ',' },
];

export const cases: OperationCases = {
  nativeKinds: [
    expected('parse_number', { columns: 'v', decimal: ',', grouping: '.', percent: true, strip: ['1'], ...BLANK }, [
      'decimal:1234.50',
      'decimal:1.234',
      ...NULLS.slice(2),
    ]),
    expected('parse_number', { columns: 'v', decimal: ',', grouping: '.', scale: 1, rounding: 'half_up', ...BLANK }, [
      'decimal:1234.5',
      'decimal:1.2',
      ...NULLS.slice(2),
    ]),
    ...['first', 'error', 'column_vote'].map((ambiguous) =>
      expected('parse_number', { columns: 'v', formats: TWO_FORMATS, ambiguous, units: { k: 10 }, ...BLANK }, [
        'decimal:1234.50',
        'decimal:1.234',
        ...NULLS.slice(2),
      ]),
    ),
    expected('parse_number', { columns: 'v', decimal: ',', grouping: '.', type: 'number', ...BLANK }, [
      'number:1234.5',
      'number:1.234',
      ...NULLS.slice(2),
    ]),
  ],
  lostCells: [
    ...onCells({}),
    ...onCells({ decimal: ',', type: 'integer' }),
    ...onCells({ formats: [{ decimal: ',' }, {}], units: { k: 1000 } }),
    ...onCells({ formats: [{ grouping: ',', groups: 'indian' }, { decimal: ',' }], ambiguous: 'column_vote' }),
    { parameters: { columns: { except: ['id', 'k', 'w'] } }, edits: ['v'] },
  ],
  worstCases: worstCases(['digits', 'wideNumbers'], 'parse_number', {
    columns: '*',
    grouping: '.',
    decimal: ',',
    strip: ['€'],
  }),
  linearTime: [
    { columns: 'a' },
    { columns: 'a', decimal: ',', grouping: '.', percent: true, exponent: true },
    { columns: 'a', grouping: ' ', strip: ['9', '€', LONG_FIND], negative: ['-x', 'x-', '(x)', 'x CR'] },
  ],
};
