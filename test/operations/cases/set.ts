// Cases of the operation `set` for tests of all operations.

import { CANONICAL, expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, numberedNames, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('set', { columns: { w: 'v' } }, CANONICAL, 'w'),
    expected('set', { columns: { v: 'v == "x" ? null : v' } }, KEPT),
    expected('set', { each: { pattern: '^v$' }, expr: 'value == "x" ? null : value' }, KEPT),
    expected('set', { each: 'v', expr: 'value', into: 'w' }, CANONICAL, 'w'),
    expected(
      'set',
      { columns: { v: 'v + "x"' } },
      CANONICAL.map((text) => `${text}x`),
    ),
  ],
  lostCells: [
    { parameters: { column: 'v', value: 5 }, edits: ['v'] },
    { parameters: { column: 'v', value: 'five' }, edits: ['v'] },
    { parameters: { column: 'v', value: '[5]', type: 'json' }, edits: ['v'] },
    { parameters: { column: 'v', value: { column: 'w' } }, edits: ['v'] },
    { parameters: { columns: { v: 'int(k) + 1', w: 'w + "!"' } }, edits: ['v', 'w'] },
    { parameters: { columns: { v: 'dyn([k])' } }, edits: ['v'] },
    { parameters: { columns: { v: '10 / int(k)' } }, edits: ['v'] },
    { parameters: { columns: { v: 'string(10 / int(k))', made: '[v]' } }, edits: ['v'] },
    { parameters: { columns: { made: 'date(w)' } } },
    { parameters: { each: ['v', 'w'], expr: 'dyn([value])' }, edits: ['v', 'w'] },
    { parameters: { each: ['v'], expr: 'string(10 / int(value))', into: '{name}_made' } },
  ],
  worstCases: [
    ...worstCases(['two'], 'set', { columns: { a: 'a + "x" + b', b: 'b + a' } }),
    worstCase('two', 'set', { columns: Object.fromEntries(numberedNames(50).map((name) => [name, 'a + ""'])) }),
    worstCase('shortRows', 'set', { column: 'z', value: LONGEST_TEXT }),
  ],
  linearTime: [{ columns: { made: 'a + "x"' } }],
};
