// Cases of the operation `flatten_json` for tests of all operations.

import { BLANK, expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { JSON_FILES, numberedNames, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected(
      'flatten_json',
      { column: 'v', fields: { '[1]': 'w' }, ...BLANK },
      [null, null, null, null, null, null, 'text:b'],
      'w',
    ),
    { ...expected('flatten_json', { column: 'v', fields: { '[1]': 'w' }, on_error: 'drop_row' }, KEPT.slice(1)) },
  ],
  lostCells: [{ parameters: { column: 'v', fields: { x: 'made' } } }],
  worstCases: [
    ...worstCases(JSON_FILES, 'flatten_json', {
      column: 'a',
      fields: Object.fromEntries(numberedNames(500).map((name, n) => [`[${n}].k`, name])),
    }),
    ...worstCases(JSON_FILES, 'flatten_json', {
      column: 'a',
      fields: Object.fromEntries(numberedNames(500).map((name, n) => [`["${n}"]`, name])),
    }),
  ],
  linearTime: [{ column: 'a', fields: { a: 'x', '[3]': 'y', 'a.a[0].a': 'z', '["1"]': 'one' } }],
};
