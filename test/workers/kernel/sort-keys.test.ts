// The kernel that builds sort keys (sort.ts), against the writer that builds the key of one row.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { SortKeyWriter } from '../../../workers/execution/sort/sort-keys.ts';
import { META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { BOOLEAN, DECIMAL, INTEGER, NUMBER, TEXT } from '../../../workers/kernel/layout/keys.ts';
import { Decimal } from '../../../workers/values/decimal.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, columnOf, type KernelRig, rowCounts, rowOf } from './kernel-rig.ts';

/** Maximum bytes of a column that is not text, and of the bytes that the kernel adds to a text. */
const FIXED_BYTES = 24;

type Value = string | number | bigint | boolean | Decimal | null;

const long = fc.oneof(
  fc.bigInt({ min: -300n, max: 300n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 255n, 256n, -256n, -257n, 65_535n, 65_536n, -(2n ** 63n), 2n ** 63n - 1n),
);
const text = fc
  .tuple(fc.array(fc.constantFrom('a', '\0', 'é', '😀'), { maxLength: 5 }), fc.constantFrom(0, 0, 15, 16, 33))
  .map(([letters, fill]) => `${'b'.repeat(fill)}${letters.join('')}`);

/** Values of each kind of sort term, and the type that the writer uses for them. */
const KINDS = [
  { kind: TEXT, type: 'text', values: text },
  { kind: INTEGER, type: 'integer', values: long },
  {
    kind: DECIMAL,
    type: 'decimal',
    values: fc
      .tuple(
        fc.oneof(long, fc.constantFrom(10n, 100n, 1_200n, -90n, 10_000n, -3_000_000n)),
        fc.constantFrom(0, 1, 2, 19, 253),
      )
      .map(([digits, scale]) => new Decimal(digits, scale)),
  },
  {
    kind: NUMBER,
    type: 'number',
    values: fc.oneof(fc.double(), fc.constantFrom(0, -0, Number.NaN, Infinity, -Infinity, 5e-324)),
  },
  { kind: BOOLEAN, type: 'boolean', values: fc.boolean() },
] as const;

const term = fc.record({
  form: fc.constantFrom(...KINDS),
  descending: fc.boolean(),
  nullsFirst: fc.boolean(),
});

const table = fc.tuple(fc.array(term, { minLength: 1, maxLength: 3 }), rowCounts).chain(([terms, count]) =>
  fc.tuple(
    ...terms.map((one) =>
      fc
        .array(fc.option(one.form.values as fc.Arbitrary<Value>, { nil: null, freq: 6 }), {
          minLength: count,
          maxLength: count,
        })
        .map((values) => ({ ...one, values })),
    ),
  ),
);

/** Places a column. Returns the addresses of its values and of their meta. */
function placeColumn(rig: KernelRig, kind: number, values: readonly Value[], before: number): [number, number] {
  if (kind === TEXT) return [rig.texts(values as (string | null)[], before), 0];
  const at = rig.region(values.length * 16, 16);
  const meta = rig.region(values.length * 2 + 1, before);
  for (const [position, value] of values.entries()) {
    const row = rowOf(position);
    rig.bytes[meta + row] =
      value === null ? META_NULL : value instanceof Decimal ? value.scale : Number(value === true);
    if (typeof value === 'number') rig.setDouble(at + row * 8, value);
    else if (typeof value === 'bigint') rig.setLong(at + row * 8, value);
    else if (value instanceof Decimal) rig.setLong(at + row * 8, BigInt(value.digits));
  }
  return [at, meta];
}

checkKernel(
  'sortKeys: the key of each row, and nothing if there is too little memory',
  fc.tuple(table, fc.boolean()),
  (rig, [columns, isShort], before) => {
    const count = columns[0]!.values.length;
    const writer = new SortKeyWriter(
      columns.map(({ form, descending, nullsFirst }) => ({
        type: form.type,
        descending,
        nullsFirst,
        compare: 'typed',
      })),
    );
    const expected = Array.from({ length: count }, (_, position) => [
      ...writer.key(columns.map(({ values }) => values[position]!)),
    ]);
    const terms = rig.wordList(
      columns.flatMap(({ form, descending, nullsFirst, values }) => [
        form.kind,
        ...placeColumn(rig, form.kind, values, before),
        Number(descending),
        Number(nullsFirst),
      ]),
      8,
    );
    const made = expected.reduce((sum, key) => sum + key.length, 0);
    // The kernel requires space for two bytes per byte of a text.
    const free = isShort ? Math.max(0, made - 1) : made * 2 + FIXED_BYTES * columns.length;
    const keys = rig.region(count * 16, before);
    const next = rig.region(free, before);
    const end = rig.exports.sortKeys(terms, columns.length, rig.rows(count), count, keys, next, next + free) >>> 0;
    equal(end, isShort && made > 0 ? 0 : next + made);
    if (end === 0) return;
    for (const [position, key] of expected.entries()) {
      const view = keys + rowOf(position) * 8;
      deepStrictEqual(rig.byteValues(rig.word(view), rig.word(view + 4)), key);
    }
  },
  sweep({ short: 100, long: 1000 }),
);

checkKernel(
  'joinKeys: the bytes of both keys of each row, and nothing if there is too little memory',
  fc.tuple(columnOf(fc.tuple(text, text)), fc.boolean()),
  (rig, [keys, isShort], before) => {
    const count = keys.length;
    const [left, right] = [0, 1].map((side) =>
      rig.texts(
        keys.map((pair) => pair[side]!),
        before,
      ),
    );
    const joined = keys.map(([a, b]) => a + b);
    const bytes = Buffer.byteLength(joined.join(''));
    const free = isShort ? Math.max(0, bytes - 1) : bytes;
    const next = rig.region(free, before);
    const views = rig.region(count * 16, 16);
    const end = rig.exports.joinKeys(left!, right!, rig.rows(count), count, views, next, next + free);
    equal(end, free < bytes ? 0 : next + bytes);
    if (end !== 0) deepStrictEqual(rig.textsOf(views, count), joined);
  },
);
