// Cases of the operation `cast` for tests of all operations.

import { TYPES } from '../adversarial-parameters.ts';
import { BLANK, CANONICAL, expected, KEPT, NULLS } from '../native-kinds.ts';
import type { OperationCases } from '../operation-cases.ts';
import { JSON_FILES, worstCase, worstCases } from '../worst-cases.ts';

export const cases: OperationCases = {
  nativeKinds: [
    expected('cast', { columns: { v: 'text' } }, CANONICAL),
    expected('cast', { columns: { v: 'text' }, where: 'id == "1"' }, KEPT.with(1, 'text:1.234')),
    expected('cast', { columns: { v: 'decimal' }, ...BLANK }, [null, 'decimal:1.234', 'decimal:1', ...NULLS.slice(3)]),
    expected('cast', { columns: { v: 'integer' }, ...BLANK }, [null, null, 'integer:1', ...NULLS.slice(3)]),
    expected('cast', { columns: { v: 'number' }, ...BLANK }, [null, 'number:1.234', 'number:1', ...NULLS.slice(3)]),
    expected('cast', { columns: { v: 'boolean' }, true_values: ['ja', '1.234'], false_values: ['true'], ...BLANK }, [
      null,
      'boolean:true',
      'boolean:true',
      ...NULLS.slice(3),
    ]),
    expected('cast', { columns: { v: 'date' }, ...BLANK }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    expected('cast', { columns: { v: 'datetime' }, ...BLANK }, [
      null,
      null,
      null,
      'datetime:2026-01-31T00:00:00Z',
      'datetime:2026-01-31T13:05:00.5Z',
      null,
      null,
    ]),
    expected('cast', { columns: { v: 'json' }, ...BLANK }, [
      null,
      'json:1.234',
      'json:true',
      'json:"2026-01-31"',
      'json:"2026-01-31T13:05:00.5"',
      'json:"13:05:00"',
      'json:[1,"b"]',
    ]),
  ],
  lostCells: ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'].flatMap((type) => [
    { parameters: { columns: { v: type } }, edits: ['v'] },
    { parameters: { columns: { v: type }, into: { v: 'made' } } },
  ]),
  worstCases: [
    ...['json', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime'].map((type) =>
      worstCase('digits', 'cast', { columns: { a: type } }),
    ),
    ...worstCases(JSON_FILES, 'cast', { columns: { a: 'json' } }),
  ],
  linearTime: TYPES.map((type) => ({ columns: { a: type } })),
};
