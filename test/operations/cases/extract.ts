// Cases of the operation `extract` for tests of all operations.

import { PATTERN } from '../adversarial-parameters.ts';
import { CANONICAL, expected } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { TEXT_FILES, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [expected('extract', { column: 'v', pattern: '^(?P<w>.*)$', into: { w: 'w' } }, CANONICAL, 'w')],
  lostCells: [{ parameters: { column: 'v', pattern: '(?P<no>[0-9]+)', into: { no: 'made' } } }],
  worstCases: worstCases(TEXT_FILES, 'extract', {
    column: 'a',
    pattern: '(.*)(.)(.*)',
    into: { 1: 'x', 2: 'y', 3: 'z' },
  }),
  linearTime: [{ column: 'a', pattern: `(?P<x>${PATTERN})`, into: { x: 'made' } }],
};
