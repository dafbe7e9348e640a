// Dates read and written by kernels, against their scalar reference implementation: the same day or the same error for any text
// and pattern.

import { test } from 'tap';
import { formatDate } from '../../../workers/operations/format-date.ts';
import { parseDate } from '../../../workers/operations/parse-date.ts';
import { compileDatePattern, type DatePattern } from '../../../workers/values/date-pattern.ts';
import { DAY_MAX, DAY_MIN, dateText, timestampOf, timestampText } from '../../../workers/values/timestamp.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from '../operations/harness.ts';

const PATTERNS = [
  'yyyy-MM-dd',
  'd.M.yyyy',
  'dd.MM.yy',
  'yyyyMMdd',
  'dd.MM.yyyy HH:mm',
  'HHmmss ddMMyy',
  'dd.MM.yyyy',
  "y'年'M'月'd",
  'd MMM yyyy',
  "yyyy-MM-dd'T'HH:mm:ss",
  'dd/MM/yyyy H:m:s.SSS',
  'yyyy-MM-dd HH:mm:ss.SSSSSSSSS',
  'yyyy-MM-dd hh:mm a',
  "yyyy-MM-dd'T'HH:mm:ssX",
  'dd.MM.yyyy HH:mm XX',
];

function compiled(source: string): DatePattern {
  const pattern = compileDatePattern(source);
  if ('problem' in pattern) throw new Error(pattern.problem);
  return pattern;
}

const day = fc.integer({ min: DAY_MIN, max: DAY_MAX });
// Fractions of seconds only if a double can hold the microseconds, because the harness reads them as a double.
const moment = fc.oneof(
  fc.record({
    days: fc.nat(80_000),
    second: fc.nat(86_399),
    nanos: fc.constantFrom(0, 120_000_000, 999_999_999),
    offsetSeconds: fc.constantFrom(0, 0, 7_200, -34_200),
  }),
  fc.record({ days: day, second: fc.nat(86_399), nanos: fc.constant(0), offsetSeconds: fc.constant(0) }),
);
const source = fc.constantFrom(...PATTERNS);
const text = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(source, moment).map(([pattern, fields]) => compiled(pattern).format(fields)) },
  fc
    .tuple(source, moment, fc.constantFrom(' ', '\t', '0', '.', ' x'))
    .map(([pattern, fields, after]) => compiled(pattern).format(fields) + after),
  fc.tuple(source, moment).map(([pattern, fields]) => compiled(pattern).format(fields).replace('Z', 'z')),
  fc
    .array(fc.constantFrom('0', '1', '29', '30', '31', '12', '13', '02', '1900', '2000', '-', '.', '/', ' '), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join('')),
);
const cells = fc.array(fc.option(text, { nil: null, freq: 9 }), { minLength: 1, maxLength: 40 });

test('parse_date reads as its twin does', (t) => {
  const formats = fc.uniqueArray(source, { minLength: 1, maxLength: 3 });
  const type = fc.constantFrom('date' as const, 'datetime' as const);
  fc.assert(
    fc.property(formats, type, cells, fc.boolean(), (sources, makes, texts, sparse) => {
      const patterns = sources.map(compiled);
      const expected = texts.map((cell) => {
        const read =
          cell === null
            ? null
            : patterns.map((pattern) => pattern.parse(cell.trim())).find((fields) => fields !== null);
        if (read === null || read === undefined) return null;
        if (makes === 'date') return dateText(read.days);
        const seconds = read.days * 86_400 + read.second - (read.offsetSeconds ?? 0);
        // A cell of this type has microseconds.
        if (read.nanos % 1000 !== 0) return null;
        return timestampText(timestampOf(seconds, read.nanos)!);
      });
      const operation = { op: 'parse_date', columns: 'a', formats: sources, type: makes, ambiguous: 'first' };
      const made = runOperation(
        parseDate,
        operation,
        { columns: ['a'], rows: texts.map((cell) => [cell]) },
        { sparse },
      );
      const failed = texts.filter((cell, at) => cell !== null && expected[at] === null).length;
      return (
        JSON.stringify(made.rows.map(([cell]) => cell)) === JSON.stringify(expected) &&
        (made.errors.NOT_A_DATE?.count ?? 0) + (made.errors.PRECISION_LOSS?.count ?? 0) === failed &&
        made.report.cells_changed === texts.filter((cell) => cell !== null).length
      );
    }),
    { numRuns: sweep({ short: 25, long: 500 }) },
  );
  t.pass();
  t.end();
});

test('format_date writes as its twin does', (t) => {
  const days = fc.array(fc.option(day, { nil: null, freq: 9 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...PATTERNS, 'E, d MMMM y', "'d' d"), days, (pattern, given) => {
      const rows = given.map((value) => [value === null ? null : dateText(value)]);
      const operation = { op: 'format_date', columns: 'a', format: pattern };
      const made = runOperation(formatDate, operation, { columns: ['a'], types: ['date'], rows }, { arenaBytes: 2048 });
      const expected = given.map((value) =>
        value === null ? null : compiled(pattern).format({ days: value, second: 0, nanos: 0, offsetSeconds: 0 }),
      );
      return JSON.stringify(made.rows.map(([cell]) => cell)) === JSON.stringify(expected);
    }),
    { numRuns: sweep({ short: 19, long: 300 }) },
  );
  t.pass();
  t.end();
});

test('format_date writes times as its twin does', (t) => {
  const moment = fc.record({ days: day, second: fc.nat(86_399), half: fc.boolean() });
  const moments = fc.array(fc.option(moment, { nil: null, freq: 9 }), { minLength: 1, maxLength: 40 });
  const patterns = fc.constantFrom(...PATTERNS, 'yyyy-MM-dd HH', 'H:m:s d.M.yy', 'HH:mm:ss.SSS', 'h:mm a', 'HHmm X');
  fc.assert(
    fc.property(patterns, moments, (pattern, given) => {
      const rows = given.map((value) => [value === null ? null : timeText(value)]);
      const operation = { op: 'format_date', columns: 'a', format: pattern };
      const made = runOperation(
        formatDate,
        operation,
        { columns: ['a'], types: ['datetime'], rows },
        { arenaBytes: 2048 },
      );
      const expected = given.map((value) =>
        value === null ? null : compiled(pattern).format({ ...value, nanos: value.half ? 5e8 : 0, offsetSeconds: 0 }),
      );
      return JSON.stringify(made.rows.map(([cell]) => cell)) === JSON.stringify(expected);
    }),
    { numRuns: sweep({ short: 19, long: 300 }) },
  );
  t.pass();
  t.end();
});

function timeText({ days, second, half }: { days: number; second: number; half: boolean }): string {
  const parts = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60];
  const time = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${dateText(days)}T${time}${half ? '.5' : ''}Z`;
}

test('the ends of all years and of every February are written and read back', (t) => {
  const rows: [string][] = [];
  for (let year = 1; year <= 9999; year++) {
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    for (const end of ['01-01', isLeap ? '02-29' : '02-28', '03-01', '12-31'])
      rows.push([`${String(year).padStart(4, '0')}-${end}`]);
  }
  for (let from = 0; from < rows.length; from += 4000) {
    const dates = rows.slice(from, from + 4000);
    const format = { op: 'format_date', columns: 'a', format: 'dd.MM.yyyy' };
    const written = runOperation(formatDate, format, { columns: ['a'], types: ['date'], rows: dates });
    const expected = dates.map(([date]) => [date.replace(/^(.*)-(.*)-(.*)$/, '$3.$2.$1')]);
    t.equal(JSON.stringify(written.rows), JSON.stringify(expected));
    const parse = { op: 'parse_date', columns: 'a', formats: ['dd.MM.yyyy'] };
    t.equal(
      JSON.stringify(runOperation(parseDate, parse, { columns: ['a'], rows: expected }).rows),
      JSON.stringify(dates),
    );
  }
  t.end();
});
