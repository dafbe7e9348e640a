// Cases of the operation `explode` for tests of all operations.

import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { JSON_FILES, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('explode', { column: 'v', separator: '|' }, KEPT),
    expected('explode', { column: 'v', separator: '-' }, [
      ...KEPT.slice(0, 3),
      ...['text:2026', 'text:01', 'text:31', 'text:2026', 'text:01', 'text:31T13:05:00.5'],
      ...KEPT.slice(5),
    ]),
    expected('explode', { column: 'v', json: true, ...{ on_error: 'keep' } }, [
      ...KEPT.slice(0, 6),
      'text:1',
      'text:b',
    ]),
  ],
  lostCells: [
    { parameters: { column: 'v', separator: '-', index_into: 'no' }, edits: ['v'], groups: true },
    { parameters: { column: 'v', json: true }, edits: ['v'], groups: true },
  ],
  worstCases: [
    ...worstCases(['separators', 'letters', 'longRows'], 'explode', { column: 'a', separator: ',', index_into: 'i' }),
    ...worstCases(JSON_FILES, 'explode', { column: 'a', json: true }),
    {
      file: 'wideLong',
      operations: [
        { op: 'text', columns: 'a', steps: [{ truncate: 100 }] },
        { op: 'explode', column: 'a', separator: 'x' },
      ],
    },
  ],
  linearTime: [
    { column: 'a', separator: ' ' },
    { column: 'a', separator: '9'.repeat(100) },
    { column: 'a', json: true },
  ],
};
