// Cases of the operation `replace` for tests of all operations.

import { LONG_FIND, PATTERN } from '../adversarial-parameters.ts';
import { onCells } from '../lost-cells.ts';
import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('replace', { columns: 'v', find: '2026', replace: '2027' }, [
      ...KEPT.slice(0, 3),
      'text:2027-01-31',
      'text:2027-01-31T13:05:00.5',
      ...KEPT.slice(5),
    ]),
  ],
  lostCells: [
    ...onCells({ find: '1', replace: '' }),
    { parameters: { columns: 'v', find: '[a-z]+', replace: 'Z', mode: 'regex' }, edits: ['v'] },
  ],
  worstCases: [
    ...worstCases(['letters', 'wideLetters'], 'replace', { columns: '*', find: 'x', replace: LONGEST_TEXT }),
    ...worstCases(['letters', 'wideLetters'], 'replace', { columns: '*', find: '字|x', replace: 'yy', mode: 'regex' }),
    ...worstCases(['letters', 'wideLetters'], 'replace', {
      columns: 'a',
      pairs: { x: 'y', ß: 's', é: 'e' },
      case_sensitive: false,
    }),
    ...worstCases(['wide'], 'replace', { columns: '*', find: 'v', replace: LONGEST_TEXT }),
  ],
  linearTime: [
    { columns: 'a', find: '9', replace: 'nine' },
    { columns: 'a', find: LONG_FIND, replace: '' },
    { columns: 'a', find: 'aé', replace: 'x', case_sensitive: false },
    { columns: 'a', find: 'x', replace: 'y', mode: 'whole_cell', case_sensitive: false },
    { columns: 'a', find: PATTERN, replace: '$1', mode: 'regex' },
    { columns: 'a', find: 'x(?:.*y)?', replace: '$0', mode: 'regex' },
    { columns: 'a', find: ' +$', replace: '', mode: 'regex' },
  ],
};
