// Dates and times: patterns, invalid dates, two-digit years, time zones and daylight saving, day numbers of workbooks,
// formatting.
import { golden } from './golden.ts';

/** One column `d` of texts through parse_date. Refused texts become empty cells. */
const parsed = (name: string, parameters: string, cells: readonly (readonly [string, string])[]) => ({
  name,
  template: `operations: [{parse_date: {columns: [d], into: v, on_error: blank, ${parameters}}}, {drop: {columns: [d]}}]`,
  input: `d\tx\n${cells.map(([text]) => `${text}\t.\n`).join('')}`,
  output: `x,v\n${cells.map(([, value]) => `.,${value}\n`).join('')}`,
});

golden('patterns', [
  {
    name: 'day numbers, their system as a number',
    template: 'operations: [{parse_date: {columns: a, formats: [yyyy-MM-dd], excel_serial: 1904}}]',
    input: 'a\n0\n43538\n2026-01-31\n',
    output: 'a\n1904-01-01\n2023-03-15\n2026-01-31\n',
  },
  parsed('two digits and four', 'formats: [dd.MM.yyyy]', [
    ['31.01.2026', '2026-01-31'],
    [' 31.01.2026 ', '2026-01-31'],
    ['1.1.2026', ''],
    ['31.01.26', ''],
    ['31.02.2026', ''],
    ['29.02.2024', '2024-02-29'],
    ['29.02.2023', ''],
    ['31.01.2026 12:00', ''],
    ['31/01/2026', ''],
    ['00.01.2026', ''],
    ['31.13.2026', ''],
  ]),
  parsed('spaces of other kinds', "formats: ['M/d/yyyy, h:mm a', 'dd.MM.yyyy HH:mm']", [
    ['3/5/2026, 3:05 PM', '2026-03-05T15:05:00Z'],
    ['3/5/2026, 3:05\u202fPM', '2026-03-05T15:05:00Z'],
    ['3/5/2026,\u00a03:05\u00a0am', '2026-03-05T03:05:00Z'],
    ['3/5/2026, 3:05\u202f\u202fPM', ''],
    ['3/5/2026, 3:05PM', ''],
    ['3/5/2026, 3:05\u200bPM', ''],
    ['05.03.2026\u00a015:05', '2026-03-05T15:05:00Z'],
    ['05.03.2026\u300015:05', '2026-03-05T15:05:00Z'],
    ['05.03.2026.15:05', ''],
  ]),
  parsed('of digits alone, which a kernel reads', 'formats: [dd.MM.yyyy HH:mm]', [
    ['05.03.2026 15:05', '2026-03-05T15:05:00Z'],
    ['05.03.2026\u202f15:05', '2026-03-05T15:05:00Z'],
    ['05.03.2026\u000b15:05', ''],
  ]),
  parsed('a no-break space in the pattern is that alone', 'formats: ["dd.MM.yyyy\u00a0HH:mm"]', [
    ['05.03.2026\u00a015:05', '2026-03-05T15:05:00Z'],
    ['05.03.2026 15:05', ''],
  ]),
  parsed('quarters and weeks', "formats: [yyyy-QQQ, QQQ yyyy, yyyy/Q, YYYY-'W'ww, YYYY-'W'ww-e]", [
    ['2026-Q3', '2026-07-01'],
    ['q4 2026', '2026-10-01'],
    ['2026/1', '2026-01-01'],
    ['2026-Q5', ''],
    ['2026-Q0', ''],
    ['2026-W01', '2025-12-29'],
    ['2026-W07-3', '2026-02-11'],
    ['2026-W53', '2026-12-28'],
    ['2025-W53', ''],
    ['2026-W00', ''],
    ['2026-W07-8', ''],
    ['2026-W07-0', ''],
    ['9999-W52-6', ''],
  ]),
  parsed('days without a year', 'formats: [dd.MM., MMM d], default_year: 2024', [
    ['29.02.', '2024-02-29'],
    ['Jan 5', '2024-01-05'],
    ['30.02.', ''],
  ]),
  parsed('a year of its own wins', 'formats: [dd.MM.yyyy, dd.MM.], default_year: 2025', [
    ['29.02.', ''],
    ['28.02.', '2025-02-28'],
    ['29.02.2024', '2024-02-29'],
  ]),
  parsed('seconds since 1970', 'formats: [yyyy-MM-dd], epoch: s', [
    ['1767225600', '2026-01-01T00:00:00Z'],
    ['-0.5', '1969-12-31T23:59:59.5Z'],
    ['2026-01-31', '2026-01-31T00:00:00Z'],
    ['253402300800', ''],
    ['1e9', ''],
  ]),
  parsed('milliseconds whose day counts elsewhere', 'epoch: ms, type: date, to_timezone: Europe/Berlin', [
    ['1767222000000', '2026-01-01'],
    ['1767221999999', '2025-12-31'],
  ]),
  parsed('a month without a day', 'formats: [MM/yyyy, MMMM yyyy, yyyy-M]', [
    ['03/2024', '2024-03-01'],
    ['12/2023', '2023-12-01'],
    ['13/2024', ''],
    ['3/2024', ''],
    ['15/03/2024', ''],
    ['March 2024', '2024-03-01'],
    ['2024-2', '2024-02-01'],
    ['2024', ''],
  ]),
  ...['dd.yyyy', 'D.MM.yyyy', 'DD.MM.yyyy', 'dd.MM', 'mm/yyyy', 'MM/yyyy HH:mm', 'E MM/yyyy'].map((format) => ({
    name: `${format} names no day`,
    template: `operations: [{parse_date: {columns: [d], formats: ['${format}']}}]`,
    problems: ['/operations/0/parse_date/formats/0 BAD_PATTERN'],
  })),
  ...[
    ['yyyyMM', 'yyMMdd'],
    ['MM/yy', 'yy/MM'],
  ].map((formats) => ({
    name: `${formats} contradict each other`,
    template: `operations: [{parse_date: {columns: [d], formats: ${JSON.stringify(formats)}}}]`,
    problems: ['/operations/0/parse_date/formats/1 AMBIGUOUS_FORMATS'],
  })),
  {
    name: 'a month without a day in an expression',
    template: `operations: [{set: {columns: {t: 'parse_date(d, "MM/yyyy")'}}}]`,
    input: 'd\n03/2024\n',
    output: 'd,t\n03/2024,2024-03-01\n',
  },
  parsed('spaces of other kinds vote', "formats: ['dd/MM/yyyy HH:mm', 'MM/dd/yyyy HH:mm'], ambiguous: column_vote", [
    ['01/02/2026 10:00', '2026-01-02T10:00:00Z'],
    ['01/31/2026\u00a010:00', '2026-01-31T10:00:00Z'],
  ]),
  {
    name: 'a space that contradicts a no-break one',
    template: 'operations: [{parse_date: {columns: [d], formats: [dd/MM/yyyy HH, "MM/dd/yyyy\u00a0HH"]}}]',
    problems: ['/operations/0/parse_date/formats/1 AMBIGUOUS_FORMATS'],
  },
  {
    name: 'spaces of other kinds in an expression',
    template: `operations: [{set: {columns: {t: 'parse_date(d, "h:mm a, d.M.yyyy")'}}}]`,
    input: 'd\tx\n3:05\u202fPM, 5.3.2026\t.\n',
    output: 'd,x,t\n"3:05\u202fPM, 5.3.2026",.,2026-03-05T15:05:00Z\n',
  },
  parsed('one or two digits', 'formats: [d.M.yyyy]', [
    ['1.1.2026', '2026-01-01'],
    ['01.01.2026', '2026-01-01'],
    ['31.12.1999', '1999-12-31'],
  ]),
  parsed('several patterns', 'formats: [dd.MM.yyyy, yyyy-MM-dd, yyyyMMdd]', [
    ['31.01.2026', '2026-01-31'],
    ['2026-01-31', '2026-01-31'],
    ['20260131', '2026-01-31'],
    ['2026131', ''],
  ]),
  parsed('names of months', 'formats: [d MMM yyyy, "MMMM d, yyyy"]', [
    ['31 Jan 2026', '2026-01-31'],
    ['January 31, 2026', '2026-01-31'],
    ['1 feb 2026', '2026-02-01'],
    ['1 Foo 2026', ''],
  ]),
  parsed('German names', 'formats: [d. MMMM yyyy, d. MMM yyyy], locale: de', [
    ['3. März 2026', '2026-03-03'],
    ['3. Dezember 2026', '2026-12-03'],
    ['3. MÄRZ 2026', '2026-03-03'],
    ['3. Ma\u0308rz 2026', '2026-03-03'],
    ['3. March 2026', ''],
  ]),
  parsed('two digits of a year', 'formats: [dd.MM.yy]', [
    ['31.01.26', '2026-01-31'],
    ['31.01.68', '2068-01-31'],
    ['31.01.69', '1969-01-31'],
    ['31.01.2026', ''],
  ]),
  parsed('with a pivot', 'formats: [dd.MM.yy], two_digit_year: {pivot: 30}', [
    ['31.01.30', '2030-01-31'],
    ['31.01.31', '1931-01-31'],
  ]),
  parsed('both lengths of a year', 'formats: [dd.MM.yyyy, dd.MM.yy]', [
    ['31.01.26', '2026-01-31'],
    ['31.01.2026', '2026-01-31'],
  ]),
  parsed('text in quotes', 'formats: ["\'on\' dd.MM.yyyy"]', [['on 31.01.2026', '2026-01-31']]),
  parsed('days of a workbook', "formats: [yyyy-MM-dd], excel_serial: '1900'", [
    ['2026-01-31', '2026-01-31'],
    ['1', '1900-01-01'],
    ['59', '1900-02-28'],
    ['60', ''],
    ['61', '1900-03-01'],
    ['44197', '2021-01-01'],
    ['-1', ''],
  ]),
  parsed('times of a workbook', "formats: ['yyyy-MM-dd HH:mm'], excel_serial: '1900', timezone: UTC", [
    ['45000.5', '2023-03-15T12:00:00Z'],
    ['45000.541667', '2023-03-15T13:00:00Z'],
    ['45000.5416666667', '2023-03-15T13:00:00Z'],
    ['45000.123456789', '2023-03-15T02:57:46.667Z'],
    ['45000.999999', '2023-03-16T00:00:00Z'],
    ['45000.9999999999', '2023-03-16T00:00:00Z'],
  ]),
  parsed('days of an old workbook', "formats: [yyyy-MM-dd], excel_serial: '1904'", [['0', '1904-01-01']]),
]);

golden('two readings of one text', [
  {
    name: 'are a mistake of the Template',
    template: 'operations: [{parse_date: {columns: [d], formats: [dd/MM/yyyy, MM/dd/yyyy]}}]',
    problems: ['/operations/0/parse_date/formats/1 AMBIGUOUS_FORMATS'],
  },
  parsed('unless the first counts', 'formats: [dd/MM/yyyy, MM/dd/yyyy], ambiguous: first', [
    ['01/02/2026', '2026-02-01'],
    ['12/31/2026', '2026-12-31'],
    ['31/12/2026', '2026-12-31'],
  ]),
  parsed('or they are an error', 'formats: [dd/MM/yyyy, MM/dd/yyyy], ambiguous: error', [
    ['01/02/2026', ''],
    ['02/02/2026', '2026-02-02'],
    ['12/31/2026', '2026-12-31'],
  ]),
]);

const ZONED_TIMES = ['2026-03-29 02:30', '2026-10-25 02:30', '2026-10-25 03:00'];

/** `d` read as Berlin time: a time that clocks skipped, one that occurred twice, and one that occurred once. */
const zoned = (dst: string, cells: readonly string[], errors: readonly string[]) => ({
  name: `local times in Berlin with ${dst === '' ? 'nothing declared' : dst}`,
  template: `operations: [{parse_date: {columns: d, formats: ["yyyy-MM-dd HH:mm"], timezone: Europe/Berlin, on_error: blank, ${dst}}}]`,
  input: `d\tx\n${ZONED_TIMES.map((text) => `${text}\t.\n`).join('')}`,
  output: `d,x\n${cells.map((value) => `${value},.\n`).join('')}`,
  errors,
});

golden('local times that a change of the clock leaves out or repeats', [
  zoned(
    '',
    ['', '2026-10-25T00:30:00Z', '2026-10-25T02:00:00Z'],
    ['parse_date: DATE_IN_DST_GAP 1 1', 'parse_date: DATE_IN_DST_OVERLAP 1 2'],
  ),
  zoned(
    'dst: error',
    ['', '', '2026-10-25T02:00:00Z'],
    ['parse_date: DATE_IN_DST_GAP 1 1', 'parse_date: DATE_IN_DST_OVERLAP 1 2'],
  ),
  zoned(
    'dst: earlier',
    ['2026-03-29T00:30:00Z', '2026-10-25T00:30:00Z', '2026-10-25T02:00:00Z'],
    ['parse_date: DATE_IN_DST_GAP 1 1', 'parse_date: DATE_IN_DST_OVERLAP 1 2'],
  ),
  zoned(
    'dst: later',
    ['2026-03-29T01:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:00:00Z'],
    ['parse_date: DATE_IN_DST_GAP 1 1', 'parse_date: DATE_IN_DST_OVERLAP 1 2'],
  ),
  zoned(
    'dst: shift',
    ['2026-03-29T01:30:00Z', '2026-10-25T00:30:00Z', '2026-10-25T02:00:00Z'],
    ['parse_date: DATE_IN_DST_GAP 1 1', 'parse_date: DATE_IN_DST_OVERLAP 1 2'],
  ),
  {
    name: 'a counted guess neither drops the row nor adds to max_errors',
    template:
      'defaults: {max_errors: 0}\noperations: [{parse_date: {columns: d, formats: ["yyyy-MM-dd HH:mm"], timezone: Europe/Berlin, on_error: drop_row}}]',
    input: 'd\n2026-10-25 02:30\n',
    output: 'd\n2026-10-25T00:30:00Z\n',
    errors: ['parse_date: DATE_IN_DST_OVERLAP 1 1'],
  },
  {
    name: 'one by one, where no kernel reads the pattern, and days of a workbook',
    template:
      'operations: [{parse_date: {columns: d, formats: ["d MMM yyyy HH:mm"], timezone: Europe/Berlin, dst: later, excel_serial: 1900}}]',
    input: 'd\n25 Oct 2026 02:30\n46320.1041666667\n',
    output: 'd\n2026-10-25T01:30:00Z\n2026-10-25T01:30:00Z\n',
    errors: ['parse_date: DATE_IN_DST_OVERLAP 2 1 2'],
  },
  {
    name: 'the day of a time that exists twice, counted in another zone',
    template:
      'operations: [{parse_date: {columns: d, formats: ["yyyy-MM-dd HH:mm"], type: date, timezone: America/Havana, to_timezone: UTC, dst: error, on_error: reject}}]',
    input: 'd\n2026-11-01 00:30\n2026-11-01 01:30\n',
    output: 'd\n2026-11-01\n',
    errors: ['parse_date: DATE_IN_DST_OVERLAP 1 1'],
  },
]);

golden('times finer than a microsecond', [
  {
    name: 'cast, also of zeros and of more than nanoseconds',
    template: 'operations: [{cast: {columns: {d: datetime}, on_error: blank}}]',
    input:
      'd\tx\n2026-01-31T12:00:00.123456789Z\t.\n2026-01-31T12:00:00.123456000000Z\t.\n2026-01-31T12:00:00.0000000000001Z\t.\n',
    output: 'd,x\n,.\n2026-01-31T12:00:00.123456Z,.\n,.\n',
    errors: ['cast: PRECISION_LOSS 2 1 3'],
  },
  {
    name: 'patterns, by the kernel and without it',
    template:
      'operations: [{parse_date: {columns: [a, b], formats: ["yyyy-MM-dd HH:mm:ss.SSSSSSSSS"], on_error: blank}}, ' +
      '{parse_date: {columns: [c], formats: ["d MMM yyyy HH:mm:ss.SSSSSSS"], on_error: blank}}]',
    input: 'a,b,c\n2026-01-31 12:00:00.123456789,2026-01-31 12:00:00.123456000,31 Jan 2026 12:00:00.1234567\n',
    output: 'a,b,c\n,2026-01-31T12:00:00.123456Z,\n',
    errors: ['parse_date: PRECISION_LOSS 1 1', 'parse_date: PRECISION_LOSS 1 1'],
  },
  {
    name: 'the day of such a time is a day',
    template:
      'operations: [{parse_date: {columns: d, formats: ["yyyy-MM-dd HH:mm:ss.SSSSSSSSS"], type: date, timezone: Asia/Tokyo, to_timezone: UTC}}]',
    input: 'd\n2026-01-31 08:59:59.123456789\n',
    output: 'd\n2026-01-30\n',
  },
  {
    name: 'expressions compute with nanoseconds, cells hold microseconds',
    template: 'operations: [{set: {columns: {t: string(timestamp(d)), u: timestamp(d)}, on_error: blank}}]',
    input: 'd\n2026-01-31T12:00:00.123456789Z\n',
    output: 'd,t,u\n2026-01-31T12:00:00.123456789Z,2026-01-31T12:00:00.123456789Z,\n',
    errors: ['set: PRECISION_LOSS 1 1'],
  },
  {
    name: 'as in validate',
    template: 'operations: [{validate: {rules: [{column: d, check: type, type: datetime, on_error: drop_row}]}}]',
    input: 'd\n2026-01-31T12:00:00.1234567Z\n2026-01-31T12:00:00.123456Z\n',
    output: 'd\n2026-01-31T12:00:00.123456Z\n',
    errors: ['validate: PRECISION_LOSS 1 1'],
  },
]);

golden('times and zones', [
  parsed('without a zone they are UTC', 'formats: ["yyyy-MM-dd HH:mm:ss"]', [
    ['2026-01-31 23:59:59', '2026-01-31T23:59:59Z'],
    ['2026-01-31 24:00:00', '2026-02-01T00:00:00Z'],
  ]),
  parsed('in a zone', 'formats: ["dd.MM.yyyy HH:mm"], timezone: Europe/Berlin', [
    ['31.01.2026 12:00', '2026-01-31T11:00:00Z'],
    ['31.07.2026 12:00', '2026-07-31T10:00:00Z'],
    ['29.03.2026 02:30', ''],
    ['25.10.2026 02:30', '2026-10-25T00:30:00Z'],
  ]),
  parsed('over a gap', 'formats: ["dd.MM.yyyy HH:mm"], timezone: Europe/Berlin, dst: shift', [
    ['29.03.2026 02:30', '2026-03-29T01:30:00Z'],
  ]),
  parsed('with an offset', 'formats: ["yyyy-MM-dd\'T\'HH:mm:ssXXX"]', [
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z'],
  ]),
  parsed('twelve hours', 'formats: ["MM/dd/yyyy h:mm a"]', [
    ['01/31/2026 12:05 AM', '2026-01-31T00:05:00Z'],
    ['01/31/2026 1:05 pm', '2026-01-31T13:05:00Z'],
    ['01/31/2026 13:05 PM', ''],
  ]),
  parsed(
    'the day of a time, in another zone',
    'formats: ["yyyy-MM-dd\'T\'HH:mm:ssXXX"], type: date, to_timezone: Europe/Berlin',
    [
      ['2026-01-31T23:30:00Z', '2026-02-01'],
      ['2026-01-31T22:30:00Z', '2026-01-31'],
      ['9999-12-31T22:59:59Z', '9999-12-31'],
      ['9999-12-31T23:00:00Z', ''],
      ['9999-12-31T23:00:00-11:00', ''],
    ],
  ),
  parsed('the day of a time', 'formats: ["yyyy-MM-dd HH:mm"], type: date', [['2026-01-31 23:30', '2026-01-31']]),
  parsed(
    'fractions of any length, where a decimal mark is before them',
    'formats: ["yyyy-MM-dd HH:mm:ss.SSSX", yyyyMMddHHmmssSSS]',
    [
      ['2026-10-01 12:00:00.1+00', '2026-10-01T12:00:00.1Z'],
      ['2026-10-01 12:00:00.123456+02:00', '2026-10-01T10:00:00.123456Z'],
      ['2026-10-01 12:00:00.1200000000000Z', '2026-10-01T12:00:00.12Z'],
      ['2026-10-01 12:00:00.0000000001Z', ''],
      ['2026-10-01 12:00:00.Z', ''],
      ['20261001120000250', '2026-10-01T12:00:00.25Z'],
      ['2026100112000025', ''],
    ],
  ),
  parsed('AM and PM in any form', 'formats: ["dd/MM/yyyy h:mm a", "h:mma d MMM yyyy"]', [
    ['05/10/2026 3:15 p.\u00a0m.', '2026-10-05T15:15:00Z'],
    ['05/10/2026 3:15 p.m.', '2026-10-05T15:15:00Z'],
    ['05/10/2026 12:15 A. M.', '2026-10-05T00:15:00Z'],
    ['05/10/2026 3:15 P', '2026-10-05T15:15:00Z'],
    ['3:15p 5 Oct 2026', '2026-10-05T15:15:00Z'],
    ['05/10/2026 3:15 px', ''],
    ['05/10/2026 3:15 p..', ''],
  ]),
  parsed('midnight as 24:00', 'formats: ["yyyy-MM-dd HH:mm", "EEE d.M.yyyy HH:mm:ss"]', [
    ['2026-12-31 24:00', '2027-01-01T00:00:00Z'],
    ['2026-10-01 23:59', '2026-10-01T23:59:00Z'],
    ['Thu 1.10.2026 24:00:00', '2026-10-02T00:00:00Z'],
    ['Fri 1.10.2026 24:00:00', ''],
    ['2026-10-01 24:01', ''],
    ['2026-10-01 25:00', ''],
    ['9999-12-31 24:00', ''],
  ]),
  parsed('years alone, and days of a year', 'formats: [yyyy, yyyy-DDD, D/yyyy]', [
    ['2026', '2026-01-01'],
    ['0000', ''],
    ['2026-032', '2026-02-01'],
    ['2024-366', '2024-12-31'],
    ['2026-366', ''],
    ['2026-000', ''],
    ['60/2024', '2024-02-29'],
  ]),
  parsed('without formats, dates of ISO 8601', '', [
    ['2026-01-31', '2026-01-31'],
    ['20260131', '2026-01-31'],
    ['2026-1-31', ''],
    ['31.01.2026', ''],
    ['2026-01-31T10:00:00Z', ''],
  ]),
  parsed('without formats, times of ISO 8601', 'type: datetime', [
    ['2026-01-31T10:15:30.5+02:00', '2026-01-31T08:15:30.5Z'],
    ['2026-01-31 10:15', '2026-01-31T10:15:00Z'],
    ['2026-01-31T10:15Z', '2026-01-31T10:15:00Z'],
    ['2026-01-31T24:00:00', '2026-02-01T00:00:00Z'],
    ['2026-01-31 23:15:30 -0500', '2026-02-01T04:15:30Z'],
    ['2026-01-31 10:15:30.25 +02:00', '2026-01-31T08:15:30.25Z'],
    ['2026-01-31 10:15:30 UTC', '2026-01-31T10:15:30Z'],
    ['2026-01-31', '2026-01-31T00:00:00Z'],
    ['10:15', ''],
    ['2026-01-31 10:15:30 XYZ', ''],
  ]),
  parsed('microseconds since 1970', 'epoch: us', [
    ['1767225600250001', '2026-01-01T00:00:00.250001Z'],
    ['-1', '1969-12-31T23:59:59.999999Z'],
    ['253402300799999999', '9999-12-31T23:59:59.999999Z'],
    ['253402300800000000', ''],
    ['0.5', ''],
  ]),
  parsed('nanoseconds since 1970', 'epoch: ns', [
    ['1767225600250001000', '2026-01-01T00:00:00.250001Z'],
    ['999', ''],
  ]),
  parsed('fractions', 'formats: ["yyyy-MM-dd HH:mm:ss.SSS"]', [
    ['2026-01-31 12:00:00.250', '2026-01-31T12:00:00.25Z'],
    ['2026-01-31 12:00:00.000', '2026-01-31T12:00:00Z'],
  ]),
]);

golden('dates as text, and arithmetic', [
  {
    name: 'format_date',
    template: `operations:
  - {parse_date: {columns: [d], formats: [yyyy-MM-dd]}}
  - {format_date: {columns: [d], format: "EEEE, d. MMMM yy", locale: de}}`,
    input: 'd,x\n2026-03-01,1\n,1\n',
    output: 'd,x\n"Sonntag, 1. März 26",1\n,1\n',
  },
  {
    name: 'the format of the output',
    template: `operations: [{parse_date: {columns: [d], formats: [yyyy-MM-dd]}}]
output: {csv: {date_format: dd.MM.yyyy}}`,
    input: 'd,x\n2026-03-01,1\n',
    output: 'd,x\n01.03.2026,1\n',
  },
  {
    name: 'functions',
    template: `operations:
  - {parse_date: {columns: [d], formats: [yyyy-MM-dd]}}
  - set:
      columns:
        y: year(d)
        m: month(d)
        t: day(d)
        w: weekday(d)
        k: iso_week(d)
        plus: add_days(d, 30)
        months: add_months(d, 1)
        first: start_of_month(d)
        last: end_of_month(d)
        since: days_between(date("2026-01-01"), d)
        text: format_date(d, "MM/yy")`,
    input: 'd\n2026-01-31\n2024-12-30\n',
    output:
      'd,y,m,t,w,k,plus,months,first,last,since,text\n' +
      '2026-01-31,2026,1,31,6,5,2026-03-02,2026-02-28,2026-01-01,2026-01-31,30,01/26\n' +
      '2024-12-30,2024,12,30,1,1,2025-01-29,2025-01-30,2024-12-01,2024-12-31,-367,12/24\n',
  },
  {
    name: 'comparing and sorting',
    template: `operations:
  - {parse_date: {columns: [d], formats: [dd.MM.yyyy]}}
  - {filter: {where: 'd >= date("2026-01-15")'}}
  - {sort: {by: [{column: d, order: desc}]}}`,
    input: 'd,x\n01.02.2026,a\n14.01.2026,b\n15.01.2026,c\n,d\n',
    output: 'd,x\n2026-02-01,a\n2026-01-15,c\n',
  },
]);
