// Owns arithmetic on ints and uints: exact on machine numbers while they are safe integers, 64 bits beyond, an error
// past that.
import { DIVISION_BY_ZERO, OVERFLOW } from '../compile/evaluation-error.ts';
import { INT_MAX, INT_MIN, type Integer, narrowInteger, UINT_MAX, Uint } from '../compile/value.ts';

export function addIntegers(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInteger(BigInt(left) + BigInt(right));
}

export function subtractIntegers(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInteger(BigInt(left) - BigInt(right));
}

export function multiplyIntegers(left: Integer, right: Integer): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right;
    // Adding zero turns -0 into 0: an int has no sign of zero.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return checkedInteger(BigInt(left) * BigInt(right));
}

/** Cut towards zero. */
export function divideIntegers(left: Integer, right: Integer): Integer {
  if (right === 0) throw DIVISION_BY_ZERO;
  if (typeof left === 'number' && typeof right === 'number') return Math.trunc(left / right) + 0;
  return checkedInteger(BigInt(left) / BigInt(right));
}

/** With the sign of the dividend. */
export function remainderOfIntegers(left: Integer, right: Integer): Integer {
  if (right === 0) throw DIVISION_BY_ZERO;
  if (typeof left === 'number' && typeof right === 'number') return (left % right) + 0;
  return checkedInteger(BigInt(left) % BigInt(right));
}

export function negateInteger(value: Integer): Integer {
  return typeof value === 'number' ? 0 - value : checkedInteger(-value);
}

/** The static form of an int, or OVERFLOW beyond 64 bits. */
export function checkedInteger(value: bigint): Integer {
  if (value < INT_MIN || value > INT_MAX) throw OVERFLOW;
  return narrowInteger(value);
}

/** A uint, or OVERFLOW beyond 64 bits and below zero. */
export function checkedUint(value: bigint): Uint {
  if (value < 0n || value > UINT_MAX) throw OVERFLOW;
  return new Uint(value);
}

export function divideUints(left: Uint, right: Uint): Uint {
  if (right.value === 0n) throw DIVISION_BY_ZERO;
  return new Uint(left.value / right.value);
}

export function remainderOfUints(left: Uint, right: Uint): Uint {
  if (right.value === 0n) throw DIVISION_BY_ZERO;
  return new Uint(left.value % right.value);
}

/** The int of a double, cut towards zero; OVERFLOW when it does not lie within 64 bits. */
export function integerOfNumber(value: number): Integer {
  // The ends themselves are refused: a double near them may stand for a number beyond them.
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw OVERFLOW;
  return narrowInteger(BigInt(Math.trunc(value)));
}
