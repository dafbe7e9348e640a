// Cases of the operation `map_values` for tests of all operations.

import { onCells } from '../lost-cells.ts';
import { expected, KEPT, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, TEXT_FILES, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('map_values', { columns: 'v', map: { true: 'yes' } }, KEPT.with(2, 'text:yes')),
    expected('map_values', { columns: 'v', map: { true: 'yes' }, default: 'blank' }, NULLS.with(2, 'text:yes')),
  ],
  lostCells: [
    ...onCells({ map: { '12': 'twelve', x: null } }),
    ...onCells({ map: { '12': 'twelve' }, default: 'error' }),
    ...onCells({ map: { '12': 'twelve' }, default: 'blank' }),
    ...onCells({ table: 'codes', key: 'key', value: 'text', default: 'error' }),
  ],
  worstCases: [
    ...worstCases(TEXT_FILES, 'map_values', {
      columns: '*',
      map: { y: LONGEST_TEXT, b1: LONGEST_TEXT },
      match: 'loose',
    }),
    worstCase('wide', 'map_values', { columns: '*', map: { v1: LONGEST_TEXT }, default: { value: LONGEST_TEXT } }),
    worstCase('shortRows', 'map_values', { columns: 'b', map: { none: '-' }, default: { value: LONGEST_TEXT } }),
  ],
  linearTime: ['case_insensitive', 'normal', 'loose'].map((match) => ({ columns: 'a', map: { é: 'x' }, match })),
};
