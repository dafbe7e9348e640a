// Cases of the operation `unpivot` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('unpivot', { columns: ['v'] }, KEPT, 'value'),
    expected('unpivot', { columns: ['v'], pattern: '(v)', names_to: ['.value'] }, KEPT),
    {
      steps: [
        { op: 'cast', columns: { id: 'integer' } },
        { op: 'unpivot', columns: ['v', 'id'] },
        { op: 'filter', where: 'name == "v"' },
      ],
      column: 'value',
      gives: KEPT,
    },
  ],
  lostCells: [
    { parameters: { columns: ['v', 'w'], names_to: 'n', values_to: 'x' }, removes: ['v', 'w'], groups: true },
    {
      parameters: { columns: ['v', 'w'], pattern: '()(.)', names_to: ['n', 'm'], values_to: 'x' },
      removes: ['v', 'w'],
      groups: true,
    },
  ],
  worstCases: worstCases(['longRows', 'wide', 'wideLong'], 'unpivot', { columns: '*' }),
};
