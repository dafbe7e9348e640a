// Kernels that parse, round and write numbers (numbers.ts), against the arithmetic of values/decimal.ts.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { META_BIG, META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { DECIMAL, DOUBLE, INTEGER } from '../../../workers/kernel/layout/expressions.ts';
import {
  AS_WRITTEN,
  DOWN,
  EXACT,
  HALF_EVEN,
  HALF_UP,
  READ_ARE_WRITTEN,
  ROUNDING_GIVEN_UP,
  SCALE_MAX,
  WRITING_GIVEN_UP,
} from '../../../workers/kernel/layout/numbers.ts';
import {
  Decimal,
  decimalFromNumber,
  decimalText,
  decimalToNumber,
  type Rounding,
  roundDecimal,
} from '../../../workers/values/decimal.ts';
import { parseNumberText } from '../../../workers/values/number-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel, columnOf, type KernelRig, rowOf } from './kernel-rig.ts';

const RUNS = sweep({ short: 80, long: 300 });
const ROUNDINGS: readonly (readonly [code: number, name: Rounding])[] = [
  [EXACT, 'error'],
  [HALF_EVEN, 'half_even'],
  [HALF_UP, 'half_up'],
  [DOWN, 'down'],
];
const rounding = fc.constantFrom(...ROUNDINGS);

const digits = fc.constantFrom('0', '7', '12', '125', '1234', '50', '00', '1234567', '99999999', '123456789012345');
/** Numbers in the common form, texts that are nearly numbers, and null. */
const numberText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('', '', '-'), digits, fc.constantFrom('', '.', ',', '.5', ',25', '.125', ',00'))
      .map((parts) => parts.join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.array(fc.constantFrom('1', '12', '123', '234'), { minLength: 1, maxLength: 4 }),
      )
      .map(([sign, groups]) => sign + groups.join("'")),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '-',
      '.',
      '.5',
      '5.',
      '+1',
      '1e3',
      '1 2',
      'é',
      '1-',
      '--1',
      "1'2",
      "'1",
      '-0',
      '-0.0',
    ),
  },
  { weight: 1, arbitrary: fc.tuple(digits, digits).map((parts) => parts.join('')) },
);

interface Reading {
  readonly form: number;
  readonly scale: number;
  readonly mark: string;
  readonly grouping: string;
  readonly signed: boolean;
  readonly minusZero: boolean;
}

const readings = fc.constantFrom<readonly [number, number]>(
  ...([INTEGER, DECIMAL, DOUBLE].map((form) => [form, 0]) as [number, number][]),
  ...([DECIMAL, DOUBLE].flatMap((form) => [AS_WRITTEN, 2].map((scale) => [form, scale])) as [number, number][]),
);
const reading = fc
  .record({
    formAndScale: readings,
    mark: fc.constantFrom('.', ','),
    grouping: fc.constantFrom('', "'"),
    signed: fc.boolean(),
    minusZero: fc.boolean(),
  })
  .map(({ formAndScale: [form, scale], ...others }): Reading => ({ form, scale, ...others }));

/** The value of a text at the scale, or null. */
function numberIn(text: string, { scale, mark, grouping, signed }: Reading, mode: Rounding): Decimal | null {
  const negative = signed ? (['-x'] as const) : (['x-'] as const);
  const value = parseNumberText(text, { decimal: mark, grouping, negative: [...negative] });
  return value === null || scale === AS_WRITTEN ? value : roundDecimal(value, scale, mode);
}

/** True for texts that the kernel parses itself: at most 15 digits, without groups. */
function isCommon(text: string, { mark, signed }: Reading): boolean {
  const sign = signed ? '-?' : '';
  return text.length <= 15 && new RegExp(`^${sign}[0-9]+(?:[${mark}][0-9]+)?$`).test(text);
}

checkKernel(
  'readNumbers: the value and scale of each text, or it lists the row',
  fc.tuple(columnOf(fc.option(numberText, { nil: null, freq: 8 })), reading, rounding),
  (rig, [cells, settings, [roundingCode, mode]], before) => {
    const { form, scale, mark, grouping, signed, minusZero } = settings;
    const count = cells.length;
    const views = rig.texts(cells, before);
    const code = (text: string): number => (text === '' ? 0 : text.charCodeAt(0));
    const format = rig.wordList(
      [code(mark), code(grouping), Number(signed), form, scale, roundingCode, Number(minusZero), 9],
      8,
    );
    const [at, meta] = [rig.region(count * 16, 16), rig.region(count * 2 + 1, before)];
    const todo = rig.region((count + 1) * 4, before);
    const filled = rig.exports.readNumbers(views, rig.rows(count), count, format, at, meta, todo);
    const left = new Set(rig.wordValues(todo + 4, rig.word(todo)));
    let areWritten = true;
    for (const [position, cell] of cells.entries()) {
      const row = rowOf(position);
      const value = cell === null ? null : numberIn(cell, settings, mode);
      if (left.has(row)) {
        ok(cell !== null && (value === null || !isCommon(cell, settings)), `left: ${cell}`);
        continue;
      }
      equal(rig.bytes[meta + row], cell === null ? META_NULL : form === DECIMAL ? value!.scale : 0);
      if (cell === null) continue;
      if (form === DOUBLE) {
        const isMinusZero = minusZero && cell.startsWith('-') && Number(value!.digits) === 0;
        deepStrictEqual(rig.double(at + row * 8), isMinusZero ? -0 : decimalToNumber(value!));
      } else equal(rig.long(at + row * 8), BigInt(value!.digits));
      areWritten &&= decimalText(value!).replace('.', mark) === cell;
    }
    equal(filled, cells.filter((cell, position) => cell !== null && !left.has(rowOf(position))).length);
    // A double is written with the fewest digits, so the flag does not apply to doubles.
    if (form === DOUBLE) return;
    const isFlagged = rig.word(format + READ_ARE_WRITTEN) === 1;
    ok(areWritten || !isFlagged);
    if (left.size === 0) equal(isFlagged, areWritten);
  },
  RUNS,
);

interface Cell {
  readonly digits: bigint;
  readonly scale: number;
}

const decimals = fc.oneof(
  {
    weight: 9,
    arbitrary: columnOf(
      fc.option(
        fc.record<Cell>({
          digits: fc.oneof(fc.bigInt({ min: -2000n, max: 2000n }), fc.constantFrom(0n, 25n, -35n, 9_999_999n)),
          scale: fc.constantFrom(0, 1, 2, 3),
        }),
        { nil: null, freq: 8 },
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: columnOf(
      fc.record<Cell>({
        digits: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        scale: fc.constantFrom(0, 5, SCALE_MAX, SCALE_MAX + 1, META_BIG),
      }),
    ),
  },
);

/** Places a column of decimals. Returns the addresses of its digits and its scales. */
function placeDecimals(rig: KernelRig, cells: readonly (Cell | null)[], before: number): [at: number, meta: number] {
  const [at, meta] = [rig.region(cells.length * 16, 16), rig.region(cells.length * 2 + 1, before)];
  for (const [position, cell] of cells.entries()) {
    rig.setLong(at + rowOf(position) * 8, cell?.digits ?? 77n);
    rig.bytes[meta + rowOf(position)] = cell?.scale ?? META_NULL;
  }
  return [at, meta];
}

const RESULT_LIMIT = 9e18;

/** The decimal at a scale; null if the kernel does not support it or the rounding mode refuses it. */
function atScale({ digits: all, scale }: Cell, to: number, mode: Rounding): Decimal | null {
  if (scale > SCALE_MAX) return null;
  if (scale <= to && Math.abs(Number(all)) * 10 ** (to - scale) > RESULT_LIMIT) return null;
  return roundDecimal(new Decimal(all, scale), to, mode);
}

const scales = fc.constantFrom(0, 1, 2, 3, SCALE_MAX);

checkKernel(
  'roundDecimals: the rounded decimals and the number of changes, or it gives up',
  fc.tuple(decimals, scales, rounding, fc.boolean(), fc.constantFrom(0, 1)),
  (rig, [cells, scale, [roundingCode, mode], isInPlace, changes], before) => {
    const count = cells.length;
    const [at, meta] = placeDecimals(rig, cells, before);
    const [made, madeMeta] = isInPlace ? [at, meta] : [rig.region(count * 16, 16), rig.region(count * 2 + 1, before)];
    const expected = cells.map((cell) => (cell === null ? null : atScale(cell, scale, mode)));
    const form = [scale, roundingCode, made, madeMeta, changes] as const;
    const changed = rig.exports.roundDecimals(at, meta, rig.rows(count), count, ...form) >>> 0;
    if (cells.some((cell, position) => cell !== null && expected[position] === null)) {
      equal(changed, ROUNDING_GIVEN_UP);
      return;
    }
    let differing = 0;
    for (const [position, value] of expected.entries()) {
      const row = rowOf(position);
      equal(rig.bytes[madeMeta + row], value === null ? META_NULL : scale);
      if (value === null) continue;
      equal(rig.long(made + row * 8), BigInt(value.digits));
      const cell = cells[position]!;
      if (changes === 0 || cell.scale !== scale || cell.digits !== BigInt(value.digits)) differing += 1;
    }
    equal(changed, differing);
  },
  RUNS,
);

interface Writing {
  readonly mark: string;
  readonly grouping: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly negative: readonly [before: string, after: string];
}

const writing = fc.record<Writing>({
  mark: fc.constantFrom('.', ',', '·'),
  grouping: fc.constantFrom('', '.', '\u202f', 'a long separator of groups'),
  prefix: fc.constantFrom('', '€ ', 'a prefix that is longer than a vector '),
  suffix: fc.constantFrom('', ' €', ' and a suffix that is longer than one'),
  negative: fc.constantFrom<[string, string]>(['-', ''], ['', '-'], ['(', ')']),
});

function written(value: Decimal, { mark, grouping, prefix, suffix, negative: [first, last] }: Writing): string {
  const plain = decimalText(value);
  const [whole = '', fraction] = plain.replace('-', '').split('.');
  const groups = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, '|').replaceAll('|', grouping);
  const number = prefix + groups + (fraction === undefined ? '' : mark + fraction) + suffix;
  return plain.startsWith('-') ? first + number + last : number;
}

checkKernel(
  'writeNumbers: the texts of decimals and integers, or it gives up',
  fc.tuple(decimals, fc.oneof(scales, fc.constant(AS_WRITTEN)), rounding, writing, fc.boolean(), fc.boolean()),
  (rig, [given, scale, [roundingCode, mode], form, areIntegers, isShort], before) => {
    const cells = areIntegers ? given.map((cell) => (cell === null ? null : { ...cell, scale: 0 })) : given;
    const count = cells.length;
    const [at, meta] = placeDecimals(rig, cells, before);
    const { mark, grouping, prefix, suffix, negative } = form;
    const places = [mark, grouping, prefix, suffix, ...negative].flatMap((text) => {
      const bytes = [...Buffer.from(text)];
      return [rig.byteList(bytes, before), bytes.length];
    });
    const program = rig.wordList([scale, roundingCode, ...places], 8);
    const values = cells.map((cell) =>
      cell === null ? null : atScale(cell, scale === AS_WRITTEN ? cell.scale : scale, mode),
    );
    const texts = values.map((value) => (value === null ? null : written(value, form)));
    const made = texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
    // The kernel asks for space for the longest number.
    const spare = 64 + places.filter((_, index) => index % 2 === 1).reduce((sum, bytes) => sum + bytes * 8, 0);
    const free = isShort ? Math.max(0, made - 1) : made + spare;
    const next = rig.region(free, before);
    const views = rig.region(count * 16, before);
    const target = [program, views, next, next + free] as const;
    const end = rig.exports.writeNumbers(at, meta, rig.rows(count), count, Number(areIntegers), ...target) >>> 0;
    const isGivenUp = cells.some((cell, position) => cell !== null && values[position] === null);
    if (isGivenUp) {
      ok(end === WRITING_GIVEN_UP || (isShort && end === 0));
      return;
    }
    equal(end, isShort && made > 0 ? 0 : next + made);
    if (end !== 0) deepStrictEqual(rig.textsOf(views, count), texts);
  },
  RUNS,
);

const doubles = fc.oneof(
  fc.tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.nat(6)).map(([all, places]) => all / 10 ** places),
  fc.constantFrom(0, -0, 0.5, 1.5, -2.5, 1.005, 2.675, 0.1 + 0.2, 999_999_999_999_999, 1e15, 1e-16, 5e-324),
  fc.constantFrom(Number.NaN, Infinity, -Infinity, 2 ** 53, -0.0004),
  fc.double(),
);

checkKernel(
  'roundDoubles: the rounded doubles and the number of changes, or it lists the row',
  fc.tuple(
    columnOf(fc.option(doubles, { nil: null, freq: 8 })),
    fc.constantFrom(0, 1, 2, 15),
    rounding,
    fc.boolean(),
    fc.constantFrom(0, 1),
  ),
  (rig, [cells, scale, [roundingCode, mode], isInPlace, changes], before) => {
    const count = cells.length;
    const [at, meta] = [rig.region(count * 16, 16), rig.region(count * 2 + 1, before)];
    for (const [position, cell] of cells.entries()) {
      rig.setDouble(at + rowOf(position) * 8, cell ?? 77);
      rig.bytes[meta + rowOf(position)] = cell === null ? META_NULL : 0;
    }
    const [made, madeMeta] = isInPlace ? [at, meta] : [rig.region(count * 16, 16), rig.region(count * 2 + 1, before)];
    const todo = rig.region((count + 1) * 4, before);
    const form = [scale, roundingCode, made, madeMeta, changes, todo] as const;
    const changed = rig.exports.roundDoubles(at, meta, rig.rows(count), count, ...form);
    const left = new Set(rig.wordValues(todo + 4, rig.word(todo)));
    let differing = 0;
    for (const [position, cell] of cells.entries()) {
      const row = rowOf(position);
      const value = cell === null ? null : decimalFromNumber(cell);
      const rounded = value === null ? null : roundDecimal(value, scale, mode);
      equal(rig.bytes[madeMeta + row], cell === null ? META_NULL : 0);
      if (left.has(row)) {
        const isCommon = value !== null && Math.abs(Number(value.digits)) < 1e15 && value.scale <= 15;
        ok(cell !== null && (rounded === null || !isCommon), `left: ${cell}`);
      } else if (cell !== null) {
        deepStrictEqual(rig.double(made + row * 8), decimalToNumber(rounded!));
        if (changes === 0 || !Object.is(cell, decimalToNumber(rounded!))) differing += 1;
      }
    }
    equal(changed, differing);
  },
  RUNS,
);
