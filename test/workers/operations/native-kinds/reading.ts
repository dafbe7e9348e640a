// Results of operations that parse texts as values, for each native kind, and of operations that use the values.
import { bad, type Entry, KEPT, none, one, TEXTS } from './entry.ts';

const TWO_FORMATS = [
  { decimal: ',', grouping: '.' },
  { decimal: '.', grouping: ',' },
];

export const READING: Readonly<Record<string, readonly Entry[]>> = {
  flatten_json: [
    one(
      'flatten_json',
      { column: 'v', fields: { '[1]': 'w' }, ...bad },
      [null, null, null, null, null, null, 'text:b'],
      'w',
    ),
    { ...one('flatten_json', { column: 'v', fields: { '[1]': 'w' }, on_error: 'drop_row' }, KEPT.slice(1)) },
  ],
  parse_json: [
    one('parse_json', { columns: 'v', ...bad }, [
      null,
      'json:1.234',
      'json:true',
      'json:"2026-01-31"',
      'json:"2026-01-31T13:05:00.5"',
      'json:"13:05:00"',
      'json:[1,"b"]',
    ]),
  ],
  to_json: [
    one(
      'to_json',
      { columns: ['v'], into: 'w' },
      [
        'json:{"v":"1.234,50"}',
        'json:{"v":1.234}',
        'json:{"v":true}',
        'json:{"v":"2026-01-31"}',
        'json:{"v":"2026-01-31T13:05:00.5"}',
        'json:{"v":"13:05:00"}',
        'json:{"v":[1,"b"]}',
      ],
      'w',
    ),
  ],
  parse_number: [
    one('parse_number', { columns: 'v', decimal: ',', grouping: '.', percent: true, strip: ['1'], ...bad }, [
      'decimal:1234.50',
      'decimal:1.234',
      ...none.slice(2),
    ]),
    one('parse_number', { columns: 'v', decimal: ',', grouping: '.', scale: 1, rounding: 'half_up', ...bad }, [
      'decimal:1234.5',
      'decimal:1.2',
      ...none.slice(2),
    ]),
    ...['first', 'error', 'column_vote'].map((ambiguous) =>
      one('parse_number', { columns: 'v', formats: TWO_FORMATS, ambiguous, units: { k: 10 }, ...bad }, [
        'decimal:1234.50',
        'decimal:1.234',
        ...none.slice(2),
      ]),
    ),
    one('parse_number', { columns: 'v', decimal: ',', grouping: '.', type: 'number', ...bad }, [
      'number:1234.5',
      'number:1.234',
      ...none.slice(2),
    ]),
  ],
  format_number: [
    {
      steps: [
        { op: 'parse_number', columns: 'v', decimal: ',', grouping: '.', ...bad },
        { op: 'format_number', columns: 'v', scale: 1, rounding: 'down' },
      ],
      gives: ['text:1234.5', 'text:1.2', ...none.slice(2)],
    },
  ],
  round: [
    {
      steps: [
        { op: 'parse_number', columns: 'v', decimal: ',', grouping: '.', ...bad },
        { op: 'round', columns: 'v', scale: 0 },
      ],
      gives: ['decimal:1234', 'decimal:1', ...none.slice(2)],
    },
  ],
  parse_date: [
    one('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], ...bad }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    one('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], excel_serial: '1904', ...bad }, [
      null,
      'date:1904-01-02',
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    one('parse_date', { columns: 'v', epoch: 's', ...bad }, [
      null,
      'datetime:1970-01-01T00:00:01.234Z',
      null,
      'datetime:2026-01-31T00:00:00Z',
      'datetime:2026-01-31T13:05:00.5Z',
      null,
      null,
    ]),
    one('parse_date', { columns: 'v', formats: ['dd.MM.'], default_year: 2026, ...bad }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    one('parse_date', { columns: 'v', formats: ['dd.MM.yyyy', 'MM.dd.yyyy'], ambiguous: 'column_vote', ...bad }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    one('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], type: 'datetime', timezone: 'Europe/Berlin', ...bad }, [
      null,
      null,
      null,
      'datetime:2026-01-30T23:00:00Z',
      'datetime:2026-01-31T12:05:00.5Z',
      null,
      null,
    ]),
    one('parse_date', { columns: 'v', formats: ['dd.MM.yyyy'], to_timezone: 'America/New_York', ...bad }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
  ],
  parse_time: [
    one('parse_time', { columns: 'v', formats: ['HHmm'], ...bad }, [
      ...none.slice(0, 4),
      'time:13:05:00.5',
      'time:13:05:00',
      null,
    ]),
    one('parse_time', { columns: 'v', where: 'id == "4"', on_error: 'keep' }, KEPT.with(4, 'time:13:05:00.5')),
  ],
  parse_duration: [
    one('parse_duration', { columns: 'v', plain: 'min', ...bad }, [
      null,
      'decimal:74.04',
      ...none.slice(2, 5),
      'decimal:47100',
      null,
    ]),
  ],
  format_date: [
    {
      steps: [
        { op: 'parse_date', columns: 'v', formats: ['dd.MM.yyyy'], ...bad },
        { op: 'format_date', columns: 'v', format: 'dd.MM.yyyy' },
      ],
      gives: [null, null, null, 'text:31.01.2026', 'text:31.01.2026', null, null],
    },
  ],
  cast: [
    one('cast', { columns: { v: 'text' } }, TEXTS),
    one('cast', { columns: { v: 'text' }, where: 'id == "1"' }, KEPT.with(1, 'text:1.234')),
    one('cast', { columns: { v: 'decimal' }, ...bad }, [null, 'decimal:1.234', 'decimal:1', ...none.slice(3)]),
    one('cast', { columns: { v: 'integer' }, ...bad }, [null, null, 'integer:1', ...none.slice(3)]),
    one('cast', { columns: { v: 'number' }, ...bad }, [null, 'number:1.234', 'number:1', ...none.slice(3)]),
    one('cast', { columns: { v: 'boolean' }, true_values: ['ja', '1.234'], false_values: ['true'], ...bad }, [
      null,
      'boolean:true',
      'boolean:true',
      ...none.slice(3),
    ]),
    one('cast', { columns: { v: 'date' }, ...bad }, [
      null,
      null,
      null,
      'date:2026-01-31',
      'date:2026-01-31',
      null,
      null,
    ]),
    one('cast', { columns: { v: 'datetime' }, ...bad }, [
      null,
      null,
      null,
      'datetime:2026-01-31T00:00:00Z',
      'datetime:2026-01-31T13:05:00.5Z',
      null,
      null,
    ]),
    one('cast', { columns: { v: 'json' }, ...bad }, [
      null,
      'json:1.234',
      'json:true',
      'json:"2026-01-31"',
      'json:"2026-01-31T13:05:00.5"',
      'json:"13:05:00"',
      'json:[1,"b"]',
    ]),
  ],
  generalize: [
    {
      steps: [
        { op: 'cast', columns: { v: 'date' }, ...bad },
        { op: 'generalize', columns: 'v', to: 'year' },
      ],
      gives: [null, null, null, 'date:2026-01-01', 'date:2026-01-01', null, null],
    },
  ],
};
