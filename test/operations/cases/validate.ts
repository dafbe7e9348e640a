// Cases of the operation `validate` for tests of all operations.

import { PATTERN, TYPES } from '../adversarial-parameters.ts';
import { expected, KEPT } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { LONGEST_TEXT, TEXT_FILES, worstCase, worstCases } from '../worst-cases.ts';

const CHECKS = ['email', 'url', 'phone_e164', 'iban', 'bic', 'luhn', 'ean', 'isin', 'lei', 'currency', 'country'];

export const cases: OperationCases = {
  nativeKinds: [
    expected('validate', { rules: [{ column: 'v', check: 'required' }] }, KEPT),
    expected('validate', { rules: [{ column: 'v', check: 'not_in', values: ['true'], on_error: 'blank' }] }, [
      ...KEPT.slice(0, 2),
      null,
      ...KEPT.slice(3),
    ]),
  ],
  lostCells: [
    { parameters: { rules: [{ column: 'v', check: 'required' }] }, edits: ['v'] },
    { parameters: { rules: [{ column: 'w', check: 'in', values: ['w1', 'w2'] }] }, edits: ['w'] },
    { parameters: { rules: [{ column: 'k', check: 'unique' }] }, edits: ['k'] },
  ],
  worstCases: [
    ...worstCases([...TEXT_FILES, 'digits'], 'validate', {
      rules: [
        ...[
          'email',
          'url',
          'phone_e164',
          'iban',
          'bic',
          'luhn',
          'ean',
          'isin',
          'lei',
          'currency',
          'country',
          'required',
        ].map((check) => ({ column: 'a', check })),
        { column: 'a', check: 'pattern', pattern: '^(a|b)*$' },
        { column: 'a', check: 'in', values: [LONGEST_TEXT], match: 'loose' },
        { column: 'a', check: 'length', max: 10 },
        { column: 'a', check: 'expr', expr: 'a + "x" == "y"' },
      ],
    }),
    worstCase('longRows', 'validate', {
      rules: [
        { column: 'a', check: 'unique' },
        { check: 'unique_together', columns: ['a', 'b'] },
      ],
    }),
    worstCase('longRows', 'validate', { rules: [{ column: 'a', check: 'increasing' }] }),
  ],
  linearTime: [
    ...CHECKS.map((check) => ({ rules: [{ column: 'a', check }] })),
    ...TYPES.map((type) => ({ rules: [{ column: 'a', check: 'type', type }] })),
    { rules: [{ column: 'a', check: 'in', values: ['é'], match: 'loose' }] },
    { rules: [{ column: 'a', check: 'pattern', pattern: PATTERN }] },
    { rules: [{ column: 'a', check: 'digits', min: 1 }] },
    { rules: [{ column: 'a', check: 'starts_with', values: ['a'] }] },
  ],
};
