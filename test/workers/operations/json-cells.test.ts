// Operations on JSON in cells use kernels: the same results as the scalar path, for valid and invalid texts, escapes, duplicate
// keys and small arenas. Input that a kernel does not support sends all cells to the scalar path, so each operation is compared
// with itself.
import { test } from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { flattenJson } from '../../../workers/operations/flatten-json.ts';
import { parseJson } from '../../../workers/operations/parse-json.ts';
import { toJson } from '../../../workers/operations/to-json.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, type RunResult, runOperation } from './harness.ts';

const ways: fc.Arbitrary<RunOptions> = fc.record({
  batchRows: fc.constantFrom(1, 3, 1000),
  arenaBytes: fc.constantFrom(512, 4096, 1_048_576),
  sparse: fc.boolean(),
  onError: fc.constantFrom('blank' as const, 'drop_row' as const),
});

const scalar = fc.constantFrom(
  ...[
    'null',
    'true',
    'false',
    '0',
    '-1.50',
    '12345678901234567890',
    '1e400',
    '""',
    '"a"',
    '"é😀"',
    '"\\u00e9\\ud83d\\ude00"',
  ],
  ...['"\\ud800"', '"quote \\" and \\\\ in a longer text"', '"\\\\"', '"a longer text without escapes, of many bytes"'],
);
const key = fc.constantFrom(
  '"a"',
  '"b"',
  '"a.b"',
  '"é"',
  '"\\u0061"',
  '"\\u00e9"',
  '"\\ud800"',
  '""',
  '"a longer key than most"',
);
const space = fc.constantFrom('', '', '', ' ', '\n', ' \t\r\n');
const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('object'), tie('list')),
  list: fc
    .tuple(fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }), space)
    .map(([items, inside]) => `[${items.map((parts) => parts.join('')).join(',') || inside}]`),
  object: fc
    .tuple(fc.array(fc.tuple(space, key, space, fc.constant(':'), space, tie('value'), space), { maxLength: 5 }), space)
    .map(([members, inside]) => `{${members.map((parts) => parts.join('')).join(',') || inside}}`),
}));
const sound = fc.tuple(space, value, space).map((parts) => parts.join(''));
const broken = fc
  .tuple(sound, fc.nat(), fc.constantFrom('', ',', '"', '}', 'x', '\u00a0', '\u0001'))
  // UTF-8 cannot contain an unpaired surrogate.
  .map(([text, at, put]) => Buffer.from(text.slice(0, at % (text.length + 1)) + put).toString());
const deep = fc.constantFrom(`${'['.repeat(200)}${']'.repeat(200)}`, `${'['.repeat(201)}${']'.repeat(201)}`);
const cell = fc.option(fc.oneof({ weight: 8, arbitrary: sound }, { weight: 3, arbitrary: broken }, deep), {
  nil: null,
});

const PATHS = [
  'a',
  'b',
  'é',
  'a.b',
  '["a.b"]',
  'a.a.b',
  '[0]',
  '[2]',
  'a[0]',
  'a[1].b',
  'b[0][1]',
  '["a longer key than most"].a',
  '[7].é',
];

test('flatten_json equals the reference', async (t) => {
  const paths = fc.uniqueArray(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(cell, { maxLength: 12 }),
      paths,
      ways,
      fc.constantFrom('text', 'json'),
      (cells, wanted, way, type) => {
        const kept = type === 'text' ? cells : cells.filter((text) => text === null || isJson(text));
        const input = { columns: ['j'], types: [type as ColumnType], rows: kept.map((text) => [text]) };
        const fields = Object.fromEntries(wanted.map((path, index) => [path, `f${index}`]));
        const made = runOperation(flattenJson, { op: 'flatten_json', column: 'j', fields }, input, way);
        // A key that UTF-8 cannot hold is only compared by the scalar path.
        const all = { ...fields, '\ufffd': 'other' };
        const byHand = runOperation(flattenJson, { op: 'flatten_json', column: 'j', fields: all }, input, way);
        same(made, { ...byHand, rows: byHand.rows.map((row) => row.slice(0, -1)) }, { cells: kept, wanted, way });
      },
    ),
    { numRuns: sweep({ short: 15, long: 5000 }) },
  );
  t.pass('all are the same');
});

test('parse_json accepts the texts that JSON.parse accepts', async (t) => {
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 12 }), ways, fc.boolean(), (cells, way, isBeside) => {
      const operation = { op: 'parse_json', columns: ['j'], ...(isBeside && { into: 'made' }) };
      const made = runOperation(parseJson, operation, { columns: ['j'], rows: cells.map((text) => [text]) }, way);
      const expected = cells.flatMap((text): Cell[][] => {
        if (text !== null && !isJson(text) && way.onError === 'drop_row') return [];
        const parsed = text === null || !isJson(text) || text.trim() === 'null' ? null : text.trim();
        return [isBeside ? [text, parsed] : [parsed]];
      });
      const bad = cells.filter((text) => text !== null && !isJson(text)).length;
      if (JSON.stringify(made.rows) !== JSON.stringify(expected) || (made.errors['BAD_JSON']?.count ?? 0) !== bad) {
        throw new Error(JSON.stringify({ operation, way, cells, made: made.rows, errors: made.errors, expected }));
      }
    }),
    { numRuns: sweep({ short: 10, long: 3000 }) },
  );
  t.pass('all are the same');
});

test('to_json equals the reference', async (t) => {
  const integers = fc.bigInt({ min: 1n - 10n ** 18n, max: 10n ** 18n - 1n }).map(String);
  const decimals = fc
    .tuple(fc.boolean(), fc.nat(), fc.nat(9_999_999), fc.nat(7))
    .map(([isNegative, whole, part, places]) => {
      const text = places === 0 ? String(whole) : `${whole}.${String(part).padStart(7, '0').slice(0, places)}`;
      return isNegative && /[1-9]/.test(text) ? `-${text}` : text;
    });
  const dates = fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((day) => day.toISOString());
  const texts = fc.string({
    unit: fc.constantFrom('a', 'é', '😀', '"', '\\', '\n', '\u0001', '\u007f', ' '),
    maxLength: 40,
  });
  const nullable = (made: fc.Arbitrary<string>) => fc.option(made, { nil: null, freq: 4 });
  const row = fc.tuple(
    ...[
      nullable(texts),
      nullable(sound),
      nullable(integers),
      nullable(decimals),
      nullable(fc.constantFrom('true', 'false')),
    ],
    ...[nullable(dates.map((day) => day.slice(0, 10))), nullable(dates.map((day) => day.replace(/\.000Z/, 'Z')))],
  );
  const columns = ['t"é', 'j', 'i', 'd', 'b', 'day', 'at', 'double'];
  const types: ColumnType[] = ['text', 'json', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'number'];
  const wanted = fc.uniqueArray(fc.constantFrom(...columns.slice(0, -1)), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 12 }), wanted, ways, (rows, names, way) => {
      const input = { columns, types, rows: rows.map((cells) => [...cells, null]) };
      const operation = { op: 'to_json', columns: names, into: 'made', nulls: 'omit' };
      const made = runOperation(toJson, operation, input, way);
      // Doubles are only written by the scalar path; the kernels' run has no column of doubles.
      const byHand = runOperation(toJson, { ...operation, columns: [...names, 'double'] }, input, way);
      same(made, byHand, { rows, names, way });
      const withNulls = runOperation(toJson, { ...operation, nulls: 'include' }, input, way);
      const withNullsByHand = runOperation(
        toJson,
        { ...operation, columns: [...names, 'double'], nulls: 'include' },
        input,
        way,
      );
      const rest = withNullsByHand.rows.map((cells) => [
        ...cells.slice(0, -1),
        cells.at(-1)!.replace(',"double":null}', '}'),
      ]);
      same(withNulls, { ...withNullsByHand, rows: rest }, { rows, names, way });
    }),
    { numRuns: sweep({ short: 10, long: 3000 }) },
  );
  t.pass('all are the same');
});

test('long cells are left to the scalar path among others', async (t) => {
  const long = '"\u0001é'.repeat(40_000);
  const rows = ['a', long, null, 'b'].map((text) => [text]);
  const made = runOperation(toJson, { op: 'to_json', columns: ['x'], into: 'made' }, { columns: ['x'], rows });
  t.same(
    made.rows.map((cells) => cells[1]),
    rows.map(([text]) => JSON.stringify({ x: text })),
  );
});

/** Valid JSON within the nesting that the engine reads. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return !text.includes('['.repeat(201));
}

function same(made: RunResult, expected: RunResult, given: unknown): void {
  const whatCounts = ({ rows, errors, report }: RunResult) =>
    JSON.stringify({ rows, errors, changed: report.cells_changed });
  if (whatCounts(made) === whatCounts(expected)) return;
  throw new Error(`${JSON.stringify(given)}: ${whatCounts(made)} is not ${whatCounts(expected)}`);
}
