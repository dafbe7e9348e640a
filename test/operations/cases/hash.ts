// Cases of the operation `hash` for tests of all operations.
import { createHash } from 'node:crypto';
import { onCells } from '../lost-cells.ts';
import { CELLS, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { TEXT_FILES, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected(
      'hash',
      { columns: 'v', method: 'sha256_unkeyed' },
      CELLS.map((cell) => `text:${createHash('sha256').update(cell![1]).digest('hex')}`),
    ),
  ],
  lostCells: onCells({ method: 'sha256_unkeyed' }),
  worstCases: worstCases([...TEXT_FILES, 'wide'], 'hash', { columns: '*', key: 'pepper' }),
  linearTime: [{ columns: 'a', key: 'demo' }],
};
