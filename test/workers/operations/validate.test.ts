// The checks of validate, compared with independent implementations, and its state compared with its definition.

import { test } from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { validate } from '../../../workers/operations/validate.ts';
import { isBic, isCountry, isCurrency, isEan, isIsin, isLei, isLuhn } from '../../../workers/values/identifiers.ts';
import { fc, noise } from '../../random.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

/** The code of a rule for a cell; null if the cell passes. */
function codeOf(rule: Record<string, unknown>, cell: Cell, type: ColumnType = 'text'): string | null {
  const input = { columns: ['c'], types: [type], rows: [[cell]] };
  const { errors, problems } = runOperation(validate, { op: 'validate', rules: [{ column: 'c', ...rule }] }, input);
  if (problems.length > 0) throw new Error(problems.join());
  return Object.keys(errors)[0] ?? null;
}

/** More values than a rule searches one after the other. */
const MANY = Array.from({ length: 300 }, (_, index) => `v${index}`);

const CASES: readonly [rule: Record<string, unknown>, cell: Cell, code: string | null, type?: ColumnType][] = [
  [{ check: 'between', min: '2026-01-01', max: '2026-01-31' }, '2026-01-31T23:59:59.5Z', null, 'datetime'],
  [{ check: 'between', min: '2026-01-01', max: '2026-01-31' }, '2026-02-01T00:00:00Z', 'OUT_OF_RANGE', 'datetime'],
  [{ check: 'min', value: '2026-01-01T12:00:00Z' }, '2026-01-01T11:59:59.9Z', 'OUT_OF_RANGE', 'datetime'],
  [{ check: 'min', value: 1 }, 'x', 'NOT_A_NUMBER'],
  [{ check: 'not_future' }, '2999-01-01', 'OUT_OF_RANGE', 'date'],
  [{ check: 'not_future' }, '2999-01-01T00:00:00Z', 'OUT_OF_RANGE', 'datetime'],
  [{ check: 'not_future' }, '2026-01-31T12:00:00Z', null, 'datetime'],
  [{ check: 'not_future' }, 'x', 'NOT_A_DATE'],
  [{ check: 'digits', max: 0 }, '1', 'TOO_LONG'],
  [{ check: 'digits', max: 2000 }, '1', null],
  [{ check: 'digits', min: 1500 }, '1', 'OUT_OF_RANGE'],
  [{ check: 'in', values: MANY }, 'v299', null],
  [{ check: 'in', values: MANY }, 'w', 'NOT_IN_SET'],
  [{ check: 'starts_with', values: MANY }, 'v299.x', null],
  [{ check: 'starts_with', values: MANY }, 'w', 'PATTERN_MISMATCH'],
  [{ check: 'type', type: 'boolean' }, ' TRUE ', null],
  [{ check: 'type', type: 'number' }, '.5', null],
  [{ check: 'type', type: 'number' }, '1e', 'NOT_A_NUMBER'],
  [{ check: 'type', type: 'date' }, '2026-01-01', null],
  [{ check: 'type', type: 'datetime' }, '2026-01-01', 'NOT_A_DATE'],
  [{ check: 'type', type: 'integer' }, 'x', 'NOT_A_NUMBER'],
  [{ check: 'type', type: 'text' }, 'x', null],
  [{ check: 'required' }, null, 'REQUIRED_EMPTY'],
  [{ check: 'required' }, 'x', null],
  [{ check: 'in', values: ['a', 'b'] }, 'A', 'NOT_IN_SET'],
  [{ check: 'in', values: ['a', 'b'], match: 'loose' }, ' A', null],
  [{ check: 'in', values: [1, '2.50'] }, '1.00', null, 'decimal'],
  [{ check: 'in', values: [1, '2.50'] }, '2.5', null, 'decimal'],
  [{ check: 'in', values: [10] }, '1', 'NOT_IN_SET', 'integer'],
  [{ check: 'not_in', values: ['x'] }, 'x', 'NOT_IN_SET'],
  [{ check: 'not_in', values: ['x'] }, null, null],
  [{ check: 'type', type: 'integer' }, '12.5', 'PRECISION_LOSS'],
  [{ check: 'type', type: 'integer' }, '9223372036854775808', 'OUT_OF_RANGE'],
  [{ check: 'type', type: 'integer' }, '9223372036854775807', null],
  [{ check: 'type', type: 'decimal' }, '1,5', 'NOT_A_NUMBER'],
  [{ check: 'type', type: 'date' }, '2026-02-29', 'NOT_A_DATE'],
  [{ check: 'type', type: 'boolean' }, 'yes', 'NOT_A_BOOLEAN'],
  [{ check: 'type', type: 'json' }, '{', 'BAD_JSON'],
  [{ check: 'min', value: 0 }, '-0.01', 'OUT_OF_RANGE'],
  [{ check: 'min', min: '0.1' }, '0.10', null],
  [{ check: 'max', value: 5 }, '5.0', null, 'decimal'],
  [{ check: 'max', value: 5 }, '5.1', 'OUT_OF_RANGE', 'number'],
  [{ check: 'min', value: '2026-01-01' }, '2025-12-31', 'OUT_OF_RANGE', 'date'],
  [{ check: 'between', min: 1, max: 3 }, '3', null, 'integer'],
  [{ check: 'between', min: 1, max: 3 }, '4', 'OUT_OF_RANGE', 'integer'],
  [{ check: 'length', value: 3 }, 'äöü', null],
  [{ check: 'length', max: 2 }, 'a😀b', 'TOO_LONG'],
  [{ check: 'length', min: 4 }, 'a😀b', 'OUT_OF_RANGE'],
  [{ check: 'digits' }, '١٢', 'PATTERN_MISMATCH'],
  [{ check: 'digits', max: 2 }, '012', 'TOO_LONG'],
  [{ check: 'pattern', pattern: '^[A-Z]{2}-\\d+$' }, 'AB-12', null],
  [{ check: 'pattern', pattern: '^[A-Z]{2}-\\d+$' }, 'AB-', 'PATTERN_MISMATCH'],
  [{ check: 'starts_with', values: ['DE', 'AT'] }, 'ATU1', null],
  [{ check: 'starts_with', value: 'DE' }, 'ATU1', 'PATTERN_MISMATCH'],
  [{ check: 'email' }, 'a.b+c@ex-ample.co.uk', null],
  [{ check: 'email' }, 'jürgen@müller.de', null],
  [{ check: 'email' }, 'a..b@example.org', 'PATTERN_MISMATCH'],
  [{ check: 'email' }, 'a@example', 'PATTERN_MISMATCH'],
  [{ check: 'email' }, 'a@-example.org', 'PATTERN_MISMATCH'],
  [{ check: 'url' }, 'https://example.org/a?b=c#d', null],
  [{ check: 'url' }, 'example.org', 'PATTERN_MISMATCH'],
  [{ check: 'url' }, 'https://a b', 'PATTERN_MISMATCH'],
  [{ check: 'phone_e164' }, '+4930123456', null],
  [{ check: 'phone_e164' }, '030 123456', 'PATTERN_MISMATCH'],
  [{ check: 'iban' }, 'DE89370400440532013000', null],
  [{ check: 'iban' }, 'DE89370400440532013001', 'CHECKSUM'],
  [{ check: 'bic' }, 'DEUTDEFF500', null],
  [{ check: 'bic' }, 'DEUTXXFF', 'PATTERN_MISMATCH'],
  [{ check: 'luhn' }, '4111 1111 1111 1111', null],
  [{ check: 'ean' }, '4006381333931', null],
  [{ check: 'isin' }, 'US0378331005', null],
  [{ check: 'lei' }, '5493001KJTIIGC8Y1R12', null],
  [{ check: 'currency' }, 'EUR', null],
  [{ check: 'currency' }, 'DEM', 'NOT_IN_SET'],
  [{ check: 'country' }, 'UK', 'NOT_IN_SET'],
  [{ check: 'date_between', min: '2026-01-01', max: '2026-12-31' }, '2026-12-31', null],
  [{ check: 'date_between', max: '2026-12-31' }, '31.12.2026', 'NOT_A_DATE'],
  [{ check: 'date_between', max: '2026-12-31' }, '2026-12-31T23:59:59Z', null, 'datetime'],
  [{ check: 'date_between', max: '2026-12-31' }, '2027-01-01T00:00:00Z', 'OUT_OF_RANGE', 'datetime'],
  [{ check: 'not_future' }, '2026-01-31', null, 'date'],
  [{ check: 'not_future' }, '2026-02-01', 'OUT_OF_RANGE'],
  [{ check: 'expr', expr: 'value.size() == 2' }, 'ab', null],
  [{ check: 'expr', expr: 'value.size() == 2' }, 'abc', 'OUT_OF_RANGE'],
  [{ check: 'expr', expr: 'int(value) > 2' }, 'abc', 'NOT_A_NUMBER'],
];

test('each check and its code; null passes all but required', async (t) => {
  for (const [rule, cell, code, type] of CASES) {
    t.equal(codeOf(rule, cell, type), code, `${JSON.stringify(rule)} ${cell}`);
    if (rule['check'] !== 'required') t.equal(codeOf(rule, null, type), null);
  }
});

test('rules that make no sense are refused with a suggestion', async (t) => {
  const rules = [
    { column: 'c', check: 'in' },
    { column: 'c', check: 'email', values: ['x'] },
    { check: 'min', value: 3 },
    { column: 'c', check: 'pattern', pattern: '(?=x)' },
    { column: 'c', check: 'between', min: 3, max: 1 },
    { column: 'c', check: 'min', value: 'x' },
    { column: 'c', check: 'expr', expr: '"text"' },
    { column: 'c', check: 'unique_together', columns: ['c'] },
  ];
  for (const rule of rules) {
    const { problems } = runOperation(validate, { op: 'validate', rules: [rule] }, { columns: ['c'], rows: [] });
    t.equal(problems.length, 1, JSON.stringify(rule));
    t.match(problems[0], /^\/rules\/0/);
  }
});

/** Computes check digits with bigints and tables instead of loops over characters. */
const asNumber = (text: string): bigint =>
  BigInt([...text].map((c) => (c <= '9' ? c : String(c.charCodeAt(0) - 55))).join(''));
const DOUBLED = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
const luhnSum = (digits: string): number =>
  [...digits]
    .reverse()
    .reduce((sum, digit, index) => sum + (index % 2 === 1 ? DOUBLED[Number(digit)]! : Number(digit)), 0);

test('checksums agree with other ways to compute them', async (t) => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
  fc.assert(fc.property(fc.stringMatching(/^[0-9]{2,19}$/), (text) => isLuhn(text) === (luhnSum(text) % 10 === 0)));
  fc.assert(
    fc.property(fc.constantFrom(7, 11, 12, 13).chain(digits), (body) => {
      const padded = body.padStart(17, '0');
      let sum = 0;
      for (let at = 0; at < 17; at += 2) sum += 3 * Number(padded[at]);
      for (let at = 1; at < 17; at += 2) sum += Number(padded[at]);
      const right = (10 - (sum % 10)) % 10;
      for (let digit = 0; digit < 10; digit++) if (isEan(body + digit) !== (digit === right)) return false;
      return true;
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{2}[A-Z0-9]{9}$/), (body) => {
      const valid = [...'0123456789'].filter((digit) => isIsin(body + digit));
      return valid.length === 1 && luhnSum(asNumber(`${body}${valid[0]}`).toString()) % 10 === 0;
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z0-9]{18}$/), (body) => {
      const check = 98n - (asNumber(`${body}00`) % 97n);
      const text = body + String(check).padStart(2, '0');
      const other = body + String((Number(check) + 7) % 97).padStart(2, '0');
      return isLei(text) && !isLei(other);
    }),
  );
  t.ok(isBic('DEUTDEFF', isCountry) && !isBic('DEUTDEF', isCountry) && !isBic('deutdeff', isCountry));
});

test('codes of countries and currencies are those that the runtime knows names for', async (t) => {
  const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const currencies = new Set(Intl.supportedValuesOf('currency'));
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const pairs = letters.flatMap((a) => letters.map((b) => a + b));
  t.equal(pairs.filter(isCountry).length, 249);
  t.same(
    pairs.filter((code) => isCountry(code) && countries.of(code) === undefined),
    [],
  );
  const all = pairs.flatMap((pair) => letters.map((c) => pair + c)).filter(isCurrency);
  t.same(
    all.filter((code) => !currencies.has(code) && !NEWER_OR_SPECIAL.includes(code)),
    [],
  );
});

/** Codes of ISO 4217 that some runtimes do not list as currencies. */
const NEWER_OR_SPECIAL = [
  'BOV',
  'CHE',
  'CHW',
  'CLF',
  'COU',
  'MXV',
  'SLE',
  'USN',
  'UYI',
  'UYW',
  'VED',
  'XAD',
  'XCG',
].concat(['XAG', 'XAU', 'XBA', 'XBB', 'XBC', 'XBD', 'XDR', 'XPD', 'XPT', 'XSU', 'XTS', 'XUA', 'X'.repeat(3)]);

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 1000, budgetBytes: 300_000 },
  { batchRows: 999, budgetBytes: 150_000, arenaBytes: 65_536 },
];

function rowsOf(count: number, keys: number): Cell[][] {
  const next = noise(count);
  return Array.from({ length: count }, (_, row) => {
    const key = next(keys);
    const other = next(5) === 0 ? null : `o${next(keys)}`;
    return [String(row), key === 0 ? null : `key ${'ä'.repeat(key % 5)}${key}`, other];
  });
}

test('unique and unique_together find the same rows in order, spilling or not', async (t) => {
  const rules = [
    { column: 'k', check: 'unique', on_error: 'blank' },
    { check: 'unique_together', columns: ['k', 'o'], where: 'n != "7"', on_error: 'drop_row' },
    { column: 'o', check: 'unique', where: '!n.endsWith("3")', on_error: 'blank' },
  ];
  for (const [count, keys] of [
    [3000, 50],
    [12_000, 100_000],
  ] as const) {
    const rows = rowsOf(count, keys);
    const seen = [new Set<string>(), new Set<string>(), new Set<string>()];
    const again = (set: number, key: string | null): boolean => {
      if (key === null) return false;
      const known = seen[set]!.has(key);
      seen[set]!.add(key);
      return known;
    };
    const expected: Cell[][] = [];
    let found = 0;
    for (const [n, k, o] of rows) {
      const first = again(0, k!);
      const second = n !== '7' && again(1, k === null || o === null ? null : JSON.stringify([k, o]));
      const third = !n!.endsWith('3') && again(2, o!);
      found += Number(first) + Number(second) + Number(third && !second);
      if (!second) expected.push([n!, first ? null : k!, third ? null : o!]);
    }
    for (const way of WAYS) {
      const made = runOperation(validate, { op: 'validate', rules }, { columns: ['n', 'k', 'o'], rows }, way);
      t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), `${keys} keys ${JSON.stringify(way)}`);
      t.equal(made.errors.NOT_UNIQUE?.count, found);
      t.equal(made.spilled, keys > 50 && way.budgetBytes !== undefined);
    }
  }
});

test('increasing compares with the row before, across batches', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: -3, max: 3 }), { nil: null }), { maxLength: 30 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      (values, equal, batchRows) => {
        const rules = [{ column: 'c', check: 'increasing', allow_equal: equal, on_error: 'drop_row' }];
        const rows = values.map((value) => [value === null ? null : String(value)]);
        const input = { columns: ['c'], types: ['integer' as const], rows };
        const made = runOperation(validate, { op: 'validate', rules }, input, { batchRows, sparse: true });
        const expected = values.filter((value, at) => {
          const before = values.slice(0, at).findLast((other) => other !== null);
          return (
            value === null || before === undefined || before === null || value > before || (equal && value === before)
          );
        });
        return (
          JSON.stringify(made.rows.flat()) === JSON.stringify(expected.map((v) => (v === null ? null : String(v))))
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('exists_in and unique agree with sets, spilling or not', async (t) => {
  const rows = rowsOf(6000, 4000);
  const listed = Array.from({ length: 3000 }, (_, n) => `key ${'ä'.repeat((n * 3) % 5)}${n * 3}`);
  const tables = { known: ['id,x', ...listed.map((id) => `${id},${'y'.repeat(40)}`)].join('\n') };
  const rules = [
    { column: 'k', check: 'exists_in', table: 'known', key: 'id', where: 'n != "5"', on_error: 'drop_row' },
    { column: 'o', check: 'unique', on_error: 'blank' },
  ];
  const known = new Set(listed);
  const seen = new Set<string>();
  const expected: Cell[][] = [];
  for (const [n, k, o] of rows) {
    const again = o !== null && seen.has(o!);
    if (o !== null) seen.add(o!);
    if (n === '5' || k === null || known.has(k!)) expected.push([n!, k!, again ? null : o!]);
  }
  for (const way of WAYS) {
    const made = runOperation(
      validate,
      { op: 'validate', rules },
      { columns: ['n', 'k', 'o'], rows },
      { ...way, tables },
    );
    t.same(made.problems, []);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), JSON.stringify(way));
  }
  const wrong = [{ column: 'k', check: 'exists_in', table: 'known', key: 'no' }];
  const { problems } = runOperation(
    validate,
    { op: 'validate', rules: wrong },
    { columns: ['k'], rows: [] },
    { tables },
  );
  t.match(problems[0], /^\/rules\/0\/key UNKNOWN_TABLE_COLUMN/);
});

test('rules that can hold for no cell, or do not go with the column', async (t) => {
  const cases: readonly (readonly [rule: Record<string, unknown>, type: ColumnType, problem: string])[] = [
    [{ check: 'between', min: 2, max: 1 }, 'integer', 'min BAD_VALUE The rule allows nothing: min is above max.'],
    [
      { check: 'between', min: '2026-02-01', max: '2026-01-01' },
      'date',
      'min BAD_VALUE The rule allows nothing: min is above max.',
    ],
    [{ check: 'length', min: 3, max: 2 }, 'text', 'min BAD_VALUE The rule allows nothing: min is above max.'],
    [{ check: 'length', min: -1 }, 'text', 'min BAD_VALUE Write a number of characters, not -1.'],
    [{ check: 'length', max: 1.5 }, 'text', 'max BAD_VALUE Write a number of characters, not 1.5.'],
    [
      { check: 'between', min: 1, max: 'x' },
      'integer',
      'max BAD_VALUE "x" is not a valid decimal. Write a number such as "12.50".',
    ],
    [
      { check: 'between', min: 'x', max: 1 },
      'integer',
      'min BAD_VALUE "x" is not a valid decimal. Write a number such as "12.50".',
    ],
    [
      { check: 'in', values: ['x'] },
      'date',
      'values BAD_VALUE "x" is not a valid date. Write a date such as "2026-01-31".',
    ],
    [
      { check: 'in', values: [1], match: 'loose' },
      'integer',
      'match BAD_VALUE "match" is for texts; this column is integer.',
    ],
  ];
  for (const [rule, type, problem] of cases) {
    const input = { columns: ['c'], types: [type], rows: [[null]] };
    const { problems } = runOperation(validate, { op: 'validate', rules: [{ column: 'c', ...rule }] }, input);
    t.strictSame(problems, [`/rules/0/${problem}`]);
  }
});
