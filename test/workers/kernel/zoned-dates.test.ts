// Dates and instants in the local time of a zone, which a kernel reads and converts, against reading them one by one.
import { test } from 'tap';
import { parseDate } from '../../../workers/operations/parse-date.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from '../operations/harness.ts';

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Goose_Bay',
  'Asia/Kathmandu',
  '-03:30',
];
/** A format that no text has and no kernel supports: the formats after it are read one by one. */
const NEVER = "'never' d MMMM yyyy";

const two = (value: number): string => String(value).padStart(2, '0');
/** Includes hours around changes of clocks, and the ends of the calendar. */
const moment = fc.oneof(
  fc.tuple(fc.integer({ min: 1890, max: 2110 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 31 })),
  fc.constantFrom(
    [2026, 3, 29],
    [2026, 10, 25],
    [2026, 11, 1],
    [2026, 3, 8],
    [2026, 4, 5],
    [2010, 11, 7],
    [1, 1, 1],
    [9999, 12, 31],
  ),
) as fc.Arbitrary<[number, number, number]>;
const text = fc
  .tuple(
    moment,
    fc.nat(24),
    fc.nat(60),
    fc.constantFrom('', '.5', '.999999', '.1234560', '.1234567'),
    fc.constantFrom('', 'Z', '+05:30', '-11:00', ' '),
  )
  .map(
    ([[year, month, day], hour, minute, fraction, after]) =>
      `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:07${fraction}${after}`,
  );
const cells = fc.array(fc.option(fc.oneof(text, fc.constantFrom('', 'x')), { nil: null, freq: 12 }), { maxLength: 24 });
const FORMATS = [
  ['yyyy-MM-dd HH:mm:ss'],
  ['yyyy-MM-dd HH:mm:ss', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'yyyy-MM-dd HH:mm:ss.SSSSSSS'],
  ['yyyy-MM-dd HH:mm:ssX', 'yyyy-MM-dd HH:mm:ss'],
  ['yyyy-MM-dd HH:mm:ss.SX'],
];

test('converted times and errors equal those of the plain reader', async (t) => {
  const zone = fc.constantFrom(...ZONES);
  const given = fc.record(
    {
      timezone: zone,
      to_timezone: zone,
      type: fc.constantFrom('date' as const, 'datetime' as const),
      dst: fc.constantFrom('error' as const, 'earlier' as const, 'later' as const, 'shift' as const),
      into: fc.constant('made'),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(cells, given, fc.constantFrom(...FORMATS), fc.boolean(), (texts, parameters, formats, sparse) => {
      const { to_timezone: day, ...others } = parameters;
      const options = { ...others, ...(parameters.type === 'date' && day !== undefined ? { to_timezone: day } : {}) };
      const operation = { op: 'parse_date', columns: 'd', on_error: 'blank', ambiguous: 'first', ...options };
      const input = { columns: ['d'], rows: texts.map((each) => [each]) };
      const made = runOperation(parseDate, { ...operation, formats }, input, { sparse });
      const plain = runOperation(parseDate, { ...operation, formats: [NEVER, ...formats] }, input, { sparse });
      const [found, expected] = [made, plain].map(({ rows, errors, report }) =>
        JSON.stringify({ rows, errors, report }),
      );
      if (found !== expected) throw new Error(JSON.stringify({ texts, operation, formats, found, expected }));
    }),
    { numRuns: sweep({ short: 20, long: 1000 }) },
  );
  t.pass('all are the same');
});
