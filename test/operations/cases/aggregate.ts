// Cases of the operation `aggregate` for tests of all operations.

import { CANONICAL, expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, metric, worstCase } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('aggregate', { group_by: ['v'], metrics: [{ fn: 'count' }] }, KEPT),
    expected('aggregate', { group_by: ['v'], metrics: [{ fn: 'count' }], totals: { label: 'x' } }, [...KEPT, 'text:x']),
    expected('aggregate', { group_by: ['id'], metrics: [{ fn: 'count' }], rest: 'first' }, KEPT),
    expected('aggregate', { group_by: ['v', 'id'], metrics: [{ fn: 'count' }], totals: { label: 'x', by: 'v' } }, [
      ...KEPT.flatMap((cell) => [cell, cell]),
      'text:x',
    ]),
    ...['first', 'last', 'min', 'max'].map((fn) =>
      expected('aggregate', { group_by: ['id'], metrics: [{ fn, column: 'v', as: 'w' }] }, KEPT, 'w'),
    ),
    ...['mode', 'join'].map((fn) =>
      expected('aggregate', { group_by: ['id'], metrics: [{ fn, column: 'v', as: 'w' }] }, CANONICAL, 'w'),
    ),
  ],
  lostCells: [
    { parameters: { group_by: ['id', 'v'], metrics: [{ fn: 'count', as: 'n' }] }, removes: ['k', 'w'], groups: true },
    {
      parameters: {
        group_by: ['id'],
        metrics: [
          { fn: 'first', column: 'v', as: 'v' },
          { fn: 'last', column: 'w', as: 'w' },
        ],
      },
      removes: ['k'],
      groups: true,
    },
  ],
  worstCases: [
    ...['count_distinct', 'min', 'max', 'first', 'last', 'mode', 'join'].flatMap((fn) => [
      worstCase('longRows', 'aggregate', { group_by: 'g', metrics: [metric(fn)] }),
      worstCase('longRows', 'aggregate', { group_by: 'a', metrics: [metric(fn)] }),
    ]),
    worstCase('longRows', 'aggregate', {
      group_by: 'b',
      metrics: ['first', 'last', 'min', 'max'].map(metric),
      order: 'sorted',
    }),
    worstCase('shortRows', 'aggregate', { group_by: 'g', metrics: [{ ...metric('join'), separator: LONGEST_TEXT }] }),
    worstCase('shortRows', 'aggregate', { metrics: [metric('count_distinct'), metric('mode'), metric('join')] }),
    {
      file: 'shortRows',
      operations: [
        { op: 'parse_number', columns: 'a' },
        { op: 'aggregate', metrics: ['median', 'stdev', 'variance', 'sum', 'mean'].map(metric) },
      ],
    },
    worstCase('longRows', 'aggregate', { group_by: 'a', metrics: [metric('join')], totals: { label: LONGEST_TEXT } }),
    worstCase('longRows', 'aggregate', {
      group_by: ['a', 'g'],
      metrics: [metric('max')],
      totals: { label: LONGEST_TEXT, by: 'a' },
    }),
  ],
  linearTime: [
    {
      group_by: [],
      metrics: [
        { fn: 'count_distinct', column: 'a' },
        { fn: 'max', column: 'a', as: 'm' },
      ],
    },
  ],
};
