// Arithmetic and comparison of vectors of numbers (vector.ts). Doubles as IEEE 754 has them; integers and decimals exactly
// or not at all: what might overflow is unknown.
import { ADD, DECIMAL, DIVIDE, EQUAL, FALSE, GREATER, GREATER_OR_EQUAL, INTEGER, LESS, LESS_OR_EQUAL, MULTIPLY, NULL, SUBTRACT, TRUE, UNKNOWN, VECTOR_MARKS, VECTOR_SCALES } from '../layout/expressions';
import { markAt, SAFE_MAX, scaleAt, valueAt } from './vector';
import { isSettled, putState } from './states';

/** Results below this size are far from the ends of 64 bits, whatever the doubles that judge them have rounded away. */
const DIGITS_LIMIT: f64 = 9e18;

/** Largest scale of a product; a meta byte holds no more than 253. */
const SCALE_MAX: u32 = 200;

const TENS: usize = memory.data<i64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);

/** Adds, subtracts, multiplies or (doubles only) divides position by position. */
export function calculate(form: u32, operator: u32, left: usize, right: usize, result: usize, count: u32): void {
  const marks = <usize>load<u32>(result, VECTOR_MARKS);
  for (let i: usize = 0; i < <usize>count; i++) {
    let mark = jointMark(left, right, i);
    if (mark == 0) {
      if (form == DECIMAL) mark = calculateDecimal(operator, left, right, result, i);
      else {
        const value = ofDoubles(operator, load<f64>(valueAt(left, i)), load<f64>(valueAt(right, i)));
        if (form == INTEGER && abs(value) > SAFE_MAX) mark = UNKNOWN;
        // An integer has no negative zero.
        store<f64>(valueAt(result, i), form == INTEGER ? value + 0 : value);
      }
    }
    store<u8>(marks + i, <u8>mark);
  }
}

/** Compares position by position; with null on a side an order is null, and equality is false. */
export function compareNumbers(form: u32, operator: u32, left: usize, right: usize, count: u32, negate: u32, states: usize, mode: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (isSettled(states, i, mode)) continue;
    let state = jointMark(left, right, i);
    if (state == 0) {
      state = form == DECIMAL
        ? compareDecimals(operator, left, right, i)
        : ofOrder(operator, load<f64>(valueAt(left, i)), load<f64>(valueAt(right, i)));
    } else if (state == NULL && operator == EQUAL) state = markAt(left, i) == markAt(right, i) ? TRUE : FALSE;
    putState(states, i, mode, state > TRUE ? state : state ^ negate);
  }
}

// @ts-ignore: decorator
@inline
function jointMark(left: usize, right: usize, i: usize): u32 {
  return max(markAt(left, i), markAt(right, i));
}

// @ts-ignore: decorator
@inline
function ofDoubles(operator: u32, a: f64, b: f64): f64 {
  if (operator == ADD) return a + b;
  if (operator == SUBTRACT) return a - b;
  return operator == MULTIPLY ? a * b : a / b;
}

// @ts-ignore: decorator
@inline
function ofOrder<T>(operator: u32, a: T, b: T): u32 {
  if (operator == LESS) return <u32>(a < b);
  if (operator == LESS_OR_EQUAL) return <u32>(a <= b);
  if (operator == GREATER) return <u32>(a > b);
  return operator == GREATER_OR_EQUAL ? <u32>(a >= b) : <u32>(a == b);
}

/** Digits at a larger scale; `tooLarge` tells of those that might not fit. */
// @ts-ignore: decorator
@inline
function raised(digits: i64, by: u32): i64 {
  return digits * load<i64>(TENS + ((<usize>by) << 3));
}

// @ts-ignore: decorator
@inline
function tooLarge(digits: i64, by: u32): bool {
  return by > 18 || abs(<f64>digits) * <f64>load<i64>(TENS + ((<usize>by) << 3)) > DIGITS_LIMIT;
}

function calculateDecimal(operator: u32, left: usize, right: usize, result: usize, i: usize): u32 {
  const a = load<i64>(valueAt(left, i)), b = load<i64>(valueAt(right, i));
  const aScale = scaleAt(left, i), bScale = scaleAt(right, i);
  const scales = <usize>load<u32>(result, VECTOR_SCALES);
  if (operator == MULTIPLY) {
    if (abs(<f64>a) * abs(<f64>b) > DIGITS_LIMIT || aScale + bScale > SCALE_MAX) return UNKNOWN;
    store<i64>(valueAt(result, i), a * b);
    store<u8>(scales + i, <u8>(aScale + bScale));
    return 0;
  }
  const scale = max(aScale, bScale);
  if (operator == DIVIDE || tooLarge(a, scale - aScale) || tooLarge(b, scale - bScale)) return UNKNOWN;
  const x = raised(a, scale - aScale), y = raised(b, scale - bScale);
  if (abs(<f64>x) + abs(<f64>y) > DIGITS_LIMIT) return UNKNOWN;
  store<i64>(valueAt(result, i), operator == ADD ? x + y : x - y);
  store<u8>(scales + i, <u8>scale);
  return 0;
}

function compareDecimals(operator: u32, left: usize, right: usize, i: usize): u32 {
  const a = load<i64>(valueAt(left, i)), b = load<i64>(valueAt(right, i));
  const aScale = scaleAt(left, i), bScale = scaleAt(right, i);
  const scale = max(aScale, bScale);
  if (tooLarge(a, scale - aScale) || tooLarge(b, scale - bScale)) return UNKNOWN;
  return ofOrder(operator, raised(a, scale - aScale), raised(b, scale - bScale));
}

/** The order of two numbers that are known: below 0, 0, above; 2 where there is none, or none that 64 bits tell. */
export function orderNumbers(form: u32, left: usize, right: usize, i: usize): i32 {
  if (form != DECIMAL) {
    const a = load<f64>(valueAt(left, i)), b = load<f64>(valueAt(right, i));
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
  }
  const less = compareDecimals(LESS, left, right, i);
  if (less == UNKNOWN) return 2;
  return less == TRUE ? -1 : <i32>compareDecimals(GREATER, left, right, i);
}
