// Kernels that calculate with vectors of numbers (number-vectors.ts), against references that use doubles and BigInt.
import { deepStrictEqual, equal } from 'node:assert/strict';
import {
  ADD,
  AND,
  DECIMAL,
  DIVIDE,
  DOUBLE,
  EQUAL,
  FALSE,
  GREATER,
  GREATER_OR_EQUAL,
  INTEGER,
  LESS,
  LESS_OR_EQUAL,
  MULTIPLY,
  NULL,
  OR,
  SET,
  SUBTRACT,
  TRUE,
  UNKNOWN,
} from '../../../workers/kernel/layout/expressions.ts';
import { DOWN, EXACT, HALF_EVEN, HALF_UP } from '../../../workers/kernel/layout/numbers.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, type KernelRig, type NumberVector } from './kernel-rig.ts';
import {
  atScale,
  type Computed,
  DIGITS_LIMIT,
  decimals,
  expectNumbers,
  fillVector,
  integers,
  type Num,
  numberOf,
  numbersOf,
  numbersOfForms,
} from './number-cells.ts';
import { combined, isSettled } from './scalar/states.ts';

const FORMS = [DOUBLE, INTEGER, DECIMAL];
const states = fc.constantFrom(FALSE, TRUE, NULL, UNKNOWN);
const modes = fc.constantFrom(SET, AND, OR);

const SCALE_MAX = 200;
const POWERS_MAX = 18;

const magnitude = (digits: bigint): bigint => (digits < 0n ? -digits : digits);

/** Magnitude of the digits at a larger scale, estimated with doubles: the limit need not be exact. */
const size = (cell: Num, scale: number): number => Math.abs(Number(cell.value)) * 10 ** (scale - cell.scale);

/** Both numbers at the larger of their scales, or null if they might not fit 64 bits. */
function aligned(a: Num, b: Num): [left: bigint, right: bigint, scale: number] | null {
  const scale = Math.max(a.scale, b.scale);
  if (scale - Math.min(a.scale, b.scale) > POWERS_MAX) return null;
  if (size(a, scale) > DIGITS_LIMIT || size(b, scale) > DIGITS_LIMIT) return null;
  return [atScale(a, scale), atScale(b, scale), scale];
}

function calculated(form: number, operator: number, a: Num, b: Num): Computed {
  if (form === DOUBLE) {
    const [x, y] = [Number(a.value), Number(b.value)];
    return {
      value: operator === ADD ? x + y : operator === SUBTRACT ? x - y : operator === MULTIPLY ? x * y : x / y,
      scale: 0,
    };
  }
  if (operator === DIVIDE) return UNKNOWN;
  if (form === INTEGER) {
    const [x, y] = [BigInt(a.value), BigInt(b.value)];
    const exact = operator === ADD ? x + y : operator === SUBTRACT ? x - y : x * y;
    return magnitude(exact) > Number.MAX_SAFE_INTEGER ? UNKNOWN : { value: Number(exact), scale: 0 };
  }
  if (operator === MULTIPLY) {
    const exact = BigInt(a.value) * BigInt(b.value);
    const isLarge = size(a, a.scale) * size(b, b.scale) > DIGITS_LIMIT || a.scale + b.scale > SCALE_MAX;
    return isLarge ? UNKNOWN : { value: exact, scale: a.scale + b.scale };
  }
  const same = aligned(a, b);
  if (same === null || size(a, same[2]) + size(b, same[2]) > DIGITS_LIMIT) return UNKNOWN;
  return { value: operator === ADD ? same[0] + same[1] : same[0] - same[1], scale: same[2] };
}

/** Applies a function to pairs of known numbers. If a number is null or unknown, the result is too. */
function onPairs(left: readonly Num[], right: readonly Num[], apply: (a: Num, b: Num) => Computed): Computed[] {
  return left.map((a, position) => {
    const b = right[position]!;
    return a.mark !== 0 || b.mark !== 0 ? Math.max(a.mark, b.mark) : apply(a, b);
  });
}

/** Two columns of the same form. The second one may be a constant: one number for all positions. */
const pairs = numbersOfForms(FORMS).chain(({ form, cells }) =>
  fc.record({
    form: fc.constant(form),
    left: fc.constant(cells),
    right: fc.array(numberOf(form), { minLength: cells.length, maxLength: cells.length }),
    isConstant: fc.boolean(),
  }),
);

interface Placed {
  readonly left: NumberVector;
  readonly right: NumberVector;
  readonly others: readonly Num[];
}

function placePair(
  rig: KernelRig,
  given: { form: number; left: readonly Num[]; right: readonly Num[]; isConstant: boolean },
  before: number,
): Placed {
  const isConstant = given.isConstant && given.right.length > 0;
  return {
    left: fillVector(rig, given.left, given.form, before),
    right: fillVector(rig, given.right, given.form, before, isConstant ? 0 : 8),
    others: isConstant ? given.right.map(() => given.right[0]!) : given.right,
  };
}

checkKernel(
  'calculate: doubles as in JavaScript, integers and decimals exact or unknown',
  fc.tuple(pairs, fc.constantFrom(ADD, SUBTRACT, MULTIPLY, DIVIDE)),
  (rig, [given, asked], before) => {
    const { form, left } = given;
    // Expressions divide doubles only.
    const operator = form === INTEGER && asked === DIVIDE ? ADD : asked;
    const placed = placePair(rig, given, before);
    const result = rig.numberVector(left.length, before);
    rig.exports.calculate(form, operator, placed.left.at, placed.right.at, result.at, left.length);
    expectNumbers(
      rig,
      result,
      form,
      onPairs(left, placed.others, (a, b) => calculated(form, operator, a, b)),
    );
  },
);

/** -1, 0 or 1, or NaN if the numbers have no order. null: they might not fit 64 bits. */
function order(form: number, a: Num, b: Num): number | null {
  if (form !== DECIMAL) {
    const [x, y] = [Number(a.value), Number(b.value)];
    return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN;
  }
  const same = aligned(a, b);
  if (same === null) return null;
  return same[0] < same[1] ? -1 : same[0] > same[1] ? 1 : 0;
}

const HOLDS: Readonly<Record<number, (order: number) => boolean>> = {
  [LESS]: (sign) => sign < 0,
  [LESS_OR_EQUAL]: (sign) => sign <= 0,
  [GREATER]: (sign) => sign > 0,
  [GREATER_OR_EQUAL]: (sign) => sign >= 0,
  [EQUAL]: (sign) => sign === 0,
};

function compared(form: number, operator: number, a: Num, b: Num): number {
  const mark = Math.max(a.mark, b.mark);
  if (mark === UNKNOWN) return UNKNOWN;
  if (mark === NULL) return operator !== EQUAL ? NULL : a.mark === b.mark ? TRUE : FALSE;
  const sign = order(form, a, b);
  if (sign === null) return UNKNOWN;
  return HOLDS[operator]!(sign) ? TRUE : FALSE;
}

checkKernel(
  'compareNumbers: each comparison, also negated, combined with states',
  fc.tuple(
    pairs,
    fc.constantFrom(LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL),
    fc.boolean(),
    fc.infiniteStream(states),
    modes,
  ),
  (rig, [given, operator, negate, stream, mode], before) => {
    const { form, left } = given;
    const placed = placePair(rig, given, before);
    const old = [...stream.take(left.length)];
    const at = rig.byteList(old, before);
    rig.exports.compareNumbers(form, operator, placed.left.at, placed.right.at, left.length, Number(negate), at, mode);
    deepStrictEqual(
      rig.byteValues(at, left.length),
      left.map((a, position) => {
        const state = compared(form, operator, a, placed.others[position]!);
        const result = negate && state <= TRUE ? TRUE - state : state;
        return isSettled(old[position]!, mode) ? old[position] : combined(old[position]!, result, mode);
      }),
    );
  },
);

checkKernel(
  'extremeNumbers: minimum or maximum, and the first of equal numbers',
  fc.tuple(pairs, fc.boolean()),
  (rig, [given, greatest], before) => {
    const { form, left } = given;
    const placed = placePair(rig, given, before);
    const result = rig.numberVector(left.length, before);
    rig.exports.extremeNumbers(form, Number(greatest), placed.left.at, placed.right.at, result.at, left.length);
    expectNumbers(
      rig,
      result,
      form,
      onPairs(left, placed.others, (a, b) => {
        const sign = order(form, a, b);
        if (sign === null || Number.isNaN(sign)) return UNKNOWN;
        return (greatest ? sign < 0 : sign > 0) ? b : a;
      }),
    );
  },
);

checkKernel('toDecimals: integers become decimals with scale 0', numbersOf(INTEGER), (rig, cells, before) => {
  const vector = fillVector(rig, cells, INTEGER, before);
  const result = rig.numberVector(cells.length, before);
  rig.exports.toDecimals(vector.at, result.at, cells.length);
  expectNumbers(
    rig,
    result,
    DECIMAL,
    cells.map(({ mark, value }) => (mark === 0 ? { value: BigInt(value), scale: 0 } : mark)),
  );
});

function roundedTo(cell: Num, scale: number, rounding: number): Computed {
  if (Math.abs(cell.scale - scale) > POWERS_MAX) return UNKNOWN;
  if (cell.scale <= scale) {
    return size(cell, scale) > DIGITS_LIMIT ? UNKNOWN : { value: atScale(cell, scale), scale };
  }
  const unit = 10n ** BigInt(cell.scale - scale);
  const digits = magnitude(BigInt(cell.value));
  const [quotient, double] = [digits / unit, (digits % unit) * 2n];
  if (double !== 0n && rounding === EXACT) return UNKNOWN;
  const isTieUp = double === unit && (rounding === HALF_UP || quotient % 2n === 1n);
  const rounded = rounding !== DOWN && (double > unit || isTieUp) ? quotient + 1n : quotient;
  return { value: BigInt(cell.value) < 0n ? -rounded : rounded, scale };
}

checkKernel(
  'roundVector: decimals by each rounding',
  fc.tuple(numbersOf(DECIMAL), fc.nat(20), fc.constantFrom(EXACT, HALF_EVEN, HALF_UP, DOWN)),
  (rig, [cells, scale, rounding], before) => {
    const vector = fillVector(rig, cells, DECIMAL, before);
    const result = rig.numberVector(cells.length, before);
    rig.exports.roundVector(vector.at, scale, rounding, result.at, cells.length);
    expectNumbers(
      rig,
      result,
      DECIMAL,
      cells.map((cell) => (cell.mark === 0 ? roundedTo(cell, scale, rounding) : cell.mark)),
    );
  },
);

checkKernel(
  'chooseNumbers: one of two numbers by a state',
  fc.tuple(pairs, fc.infiniteStream(states)),
  (rig, [given, stream], before) => {
    const { form, left } = given;
    const placed = placePair(rig, given, before);
    const chosen = [...stream.take(left.length)];
    const result = rig.numberVector(left.length, before);
    const at = rig.byteList(chosen, before);
    rig.exports.chooseNumbers(at, left.length, placed.left.at, placed.right.at, result.at);
    expectNumbers(
      rig,
      result,
      form,
      left.map((a, position) => {
        const cell = chosen[position] === TRUE ? a : placed.others[position]!;
        return chosen[position] === UNKNOWN ? UNKNOWN : cell.mark === 0 ? cell : cell.mark;
      }),
    );
  },
);

checkKernel(
  'fillNumbers: nulls, or all numbers, become those of another vector',
  fc.tuple(pairs, fc.boolean()),
  (rig, [given, all], before) => {
    const { form, left } = given;
    const placed = placePair(rig, given, before);
    rig.exports.fillNumbers(placed.left.at, placed.right.at, left.length, Number(all));
    expectNumbers(
      rig,
      placed.left,
      form,
      left.map((a, position) => {
        const cell = all || a.mark === NULL ? placed.others[position]! : a;
        return cell.mark === 0 ? cell : cell.mark;
      }),
    );
  },
);

/** Space that writeVector requires before each number, in bytes. */
const NUMBER_BYTES_MAX = 288;

function decimalText(digits: bigint, scale: number): string {
  const text = magnitude(digits)
    .toString()
    .padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  return (digits < 0n ? '-' : '') + whole + (scale === 0 ? '' : `.${text.slice(text.length - scale)}`);
}

checkKernel(
  'writeVector: integers and decimals as texts',
  fc.tuple(
    fc.oneof(
      columnOf(integers).map((cells) => ({ form: INTEGER, cells })),
      columnOf(decimals).map((cells) => ({ form: DECIMAL, cells })),
    ),
    fc.boolean(),
  ),
  (rig, [{ form, cells }, isShort], before) => {
    const texts = cells.map(({ mark, value, scale }) => (mark === 0 ? decimalText(BigInt(value), scale) : null));
    const bytes = texts.reduce((sum, written) => sum + (written?.length ?? 0), 0);
    const last = texts.findLast((written) => written !== null)?.length ?? 0;
    const free = bytes - last + NUMBER_BYTES_MAX - (isShort ? 1 : 0);
    const vector = fillVector(rig, cells, form, before);
    const made = rig.region(cells.length * 8, before);
    const next = rig.region(free, before);
    const end = rig.exports.writeVector(form, 0, vector.at, cells.length, made, next, next + free) >>> 0;
    equal(end, isShort && last > 0 ? 0 : next + bytes);
    if (end === 0) return;
    deepStrictEqual(
      rig.vectorTexts(made, cells.length),
      cells.map(({ mark }, position) => (mark === UNKNOWN ? undefined : texts[position])),
    );
  },
);
