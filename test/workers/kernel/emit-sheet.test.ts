// The sheet kernel against its scalar reference implementation: a buffer of a few bytes leaves every row to the reference, and
// the archives are the same. Escapes at all positions of a step, all types and kinds; the checksum and the lengths of texts are
// compared with the runtime's.
import assert from 'node:assert/strict';
import t from 'tap';
import type { ColumnData } from '../../../workers/batch/batch.ts';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { KIND_JSON, KIND_NUMBER, KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { outputFormats } from '../../../workers/output/index.ts';
import { PlannedOutput } from '../../../workers/output/planned-output.ts';
import type { XlsxSettings } from '../../../workers/output/xlsx/xlsx-section.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import {
  type Bench,
  batchOf,
  drive,
  newBench,
  select,
  type TypedValue,
  typedColumn,
  viewsColumn,
} from '../batch/build-batch.ts';
import { keepingSink } from '../output/output-settings.ts';
import { partOf } from '../output/read-workbook.ts';

const SETTINGS: XlsxSettings = {
  sheet: 'Data',
  header: true,
  freezeHeader: false,
  autofilter: false,
  widths: new Map(),
  numberFormat: new Map(),
  overflow: 'truncate',
};

const unit = fc.constantFrom(
  ...['a', '&', '<', '>', '_', '_x0041_', '_x00', ' ', '\t', '\n', '\r', '\u0000', '\u001f', '\u007f', 'é', '€', '😀'],
  ...['\ufffe', '\uffff', '\ufeff', '\uffef', '"', "'", '='],
);
const text = fc.oneof(
  fc.string({ unit, maxLength: 40 }),
  fc.tuple(fc.integer({ min: 13, max: 70 }), unit).map(([length, last]) => 'x'.repeat(length) + last),
);
const bigint64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const small = fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n });
const days = fc.oneof(
  fc.bigInt({ min: -719162n, max: 2932896n }),
  fc.bigInt({ min: -25_520n, max: -25_500n }),
  fc.bigInt({ min: 2932890n, max: 2932896n }),
);
const micros = fc
  .tuple(days, fc.bigInt({ min: 0n, max: 86_399_999_999n }))
  .map(([day, rest]) => day * 86_400_000_000n + rest);
const two = (most: number) => fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'));
const dayText = fc
  .tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32))
  .map(([year, month, date]) => `${String(year).padStart(4, '0')}-${month}-${date}`);
const timeText = fc
  .tuple(two(25), two(60), two(60), fc.constantFrom('', '.', '.5', '.123456', '.1234567891', '.x'))
  .map(([hour, minute, second, rest]) => `${hour}:${minute}:${second}${rest}`);
const numberText = fc.oneof(
  fc.double().map(String),
  fc.stringMatching(/^-?[0-9]{1,20}(\.[0-9]{1,20})?$/),
  fc.constantFrom(
    '0',
    '-0',
    '1.',
    '.5',
    '-',
    '1e5',
    '1E400',
    '1e-400',
    '0.000',
    '1'.repeat(301),
    `1${'0'.repeat(299)}`,
  ),
);
/** A kind, and a text that usually has this kind. */
const native = fc.tuple(
  fc.integer({ min: KIND_TEXT, max: KIND_JSON }),
  fc.oneof(
    text,
    numberText,
    dayText,
    timeText,
    fc.constantFrom('true', 'false', 'TRUE', '1'),
    fc.tuple(dayText, timeText, fc.constantFrom('', 'Z')).map(([date, time, zone]) => `${date}T${time}${zone}`),
  ),
);

const TYPES: readonly { readonly type: ColumnType; readonly value: fc.Arbitrary<TypedValue> }[] = [
  { type: 'integer', value: fc.oneof(bigint64, small) },
  {
    type: 'decimal',
    value: fc.record({ unscaled: fc.oneof(small, bigint64, fc.bigInt()), scale: fc.integer({ min: 0, max: 40 }) }),
  },
  { type: 'number', value: fc.double() },
  { type: 'boolean', value: fc.boolean() },
  { type: 'date', value: days },
  { type: 'datetime', value: micros },
];

interface Made {
  readonly types: readonly ColumnType[];
  readonly columns: (bench: Bench) => ColumnData[];
}

const ROWS = 8;
const rows = <T>(value: fc.Arbitrary<T>) =>
  fc.array(fc.option(value, { freq: 5 }), { minLength: ROWS, maxLength: ROWS });

interface Cells {
  readonly texts: readonly (string | null)[];
  readonly natives: readonly (readonly [kind: number, text: string] | null)[];
  readonly typed: readonly (readonly (TypedValue | null)[])[];
}

const made: fc.Arbitrary<Made> = fc
  .record({ texts: rows(text), natives: rows(native), typed: fc.tuple(...TYPES.map(({ value }) => rows(value))) })
  .map(sheetOf);

function sheetOf({ texts, natives, typed }: Cells): Made {
  return {
    types: ['text', 'text', ...TYPES.map(({ type }) => type)],
    columns(bench) {
      const views = viewsColumn(
        bench,
        natives.map((cell) => cell?.[1] ?? null),
      );
      const kinds = bench.heap.allocate(ROWS);
      bench.heap.u8.set(
        natives.map((cell) => cell?.[0] ?? KIND_NUMBER),
        kinds,
      );
      const values = typed.map((column, index) => typedColumn(bench, TYPES[index]!.type as 'integer', column));
      return [viewsColumn(bench, texts), { ...views, kinds }, ...values];
    },
  };
}

const NOTHING: readonly null[] = Array.from({ length: ROWS }, () => null);
const ALL_ROWS = Array.from({ length: ROWS }, (_, row) => row);

/** A row with only decimals. */
function decimalsOnly(...values: readonly { unscaled: bigint; scale: number }[]): Made {
  const cells = [...values, ...NOTHING.slice(values.length)];
  const typed = TYPES.map(({ type }) => (type === 'decimal' ? cells : NOTHING));
  return sheetOf({ texts: NOTHING, natives: NOTHING, typed });
}

/** Cases that random tests once found. */
const EXAMPLES: [Made, number[]][] = [
  // Zeros before and after the decimal point, at the limit of the digits that a spreadsheet keeps.
  [
    decimalsOnly(
      ...[0n, 1n, -1n, 10n].map((change) => ({ unscaled: 10n ** 16n + change, scale: 1 })),
      ...[0, 1, 15, 17].map((scale) => ({ unscaled: -(10n ** 16n), scale })),
    ),
    ALL_ROWS,
  ],
  [decimalsOnly(...[0, 1, 2, 10, 30, 31].map((scale) => ({ unscaled: 123n * 10n ** 30n, scale }))), ALL_ROWS],
];

async function written({ types, columns }: Made, order: readonly number[], bufferBytes: number): Promise<string> {
  const bench = newBench();
  const schema = types.map((type, id) => ({ id, name: `c${id}`, type }));
  const output = {
    format: 'xlsx',
    columns: null,
    settings: SETTINGS,
    formulaGuard: 'auto',
    name: 'x',
    splitBy: [],
    fileName: null,
  } as const;
  const planned = new PlannedOutput(outputFormats, { output, schema, nullValues: [] });
  await done(planned.ready());
  const sink = keepingSink();
  const writer = planned.createWriter({ ...bench, sink, bufferBytes });
  drive(writer.push(select(bench, batchOf(bench, ROWS, columns(bench)), order)));
  writer.finish();
  return partOf(sink.bytes(), 'xl/worksheets/sheet1.xml');
}

t.test('the kernel writes the bytes of the scalar reference', async () => {
  const order = fc.shuffledSubarray(ALL_ROWS, { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(made, order, async (made, order) => {
      const byTwin = await written(made, order, 16);
      assert.equal(await written(made, order, 262_144), byTwin);
      // The kernel writes some rows, the reference the others.
      assert.equal(await written(made, order, 9_000), byTwin);
    }),
    { numRuns: sweep({ short: 75, long: 5_000 }), examples: EXAMPLES },
  );
});

t.test('a checksum in pieces', async (t) => {
  const bench = newBench();
  // The checksum of this text that the authors of the format publish.
  const bytes = Buffer.from('123456789');
  const at = bench.heap.allocate(100);
  bench.heap.u8.set(bytes, at);
  const { crc32 } = bench.kernel.exports;
  t.equal(crc32(0, at, 9) >>> 0, 0xcbf43926);
  for (let cut = 0; cut <= 9; cut++)
    t.equal(crc32(crc32(0, at, cut), at + cut, 9 - cut) >>> 0, 0xcbf43926, `cut at ${cut}`);
  t.equal(crc32(0, at, 0), 0);
});

t.test('long texts are counted in UTF-16 units', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(text), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 50 }),
      (texts, unitsMax) => {
        const bench = newBench();
        const views = viewsColumn(bench, texts);
        const { selection, live } = batchOf(bench, texts.length, [views]);
        const found = bench.heap.allocate(texts.length * 4);
        const count = bench.kernel.exports.findLongTexts(views.at, selection, live, unitsMax, found);
        const expected = texts.flatMap((cell, row) => (cell !== null && cell.length > unitsMax ? [row] : []));
        assert.deepEqual([...bench.heap.u32.subarray(found >>> 2, (found >>> 2) + count)], expected);
      },
    ),
  );
});
