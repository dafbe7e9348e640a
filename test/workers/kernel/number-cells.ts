// Numbers for direct tests of the kernels over number vectors: values at the limits of the forms, and comparison of results.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { DECIMAL, DOUBLE, INTEGER, NULL, UNKNOWN } from '../../../workers/kernel/layout/expressions.ts';
import { fc } from '../../random.ts';
import { columnOf, type KernelRig, type NumberVector } from './kernel-rig.ts';

/** A number of a vector: a double, or a bigint with its scale. */
export interface Num {
  /** 0, NULL or UNKNOWN. */
  readonly mark: number;
  readonly value: number | bigint;
  readonly scale: number;
}

/** Expected result: a number, or the mark of a position without a known number. */
export type Computed = { readonly value: number | bigint; readonly scale: number } | number;

/** Limit of the digits of a decimal that kernels calculate. */
export const DIGITS_LIMIT = 9e18;

const marks = fc.constantFrom(0, 0, 0, 0, 0, NULL, UNKNOWN);

const doubles = fc.record<Num>({
  mark: marks,
  value: fc.oneof(
    fc.constantFrom(0, -0, 1, 0.1, -0.5, 1e308, -1e308, 5e-324, Infinity, -Infinity, NaN, 2 ** 53),
    fc.double(),
  ),
  scale: fc.constant(0),
});

export const integers = fc.record<Num>({
  mark: marks,
  value: fc.oneof(
    fc.constantFrom(0, 1, -1, 7, 94_906_265, 94_906_266, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
    fc.integer({ min: -1000, max: 1000 }),
    fc.maxSafeInteger(),
  ),
  scale: fc.constant(0),
});

export const decimals = fc.record<Num>({
  mark: marks,
  value: fc.oneof(
    fc.constantFrom(0n, 1n, -1n, 15n, 25n, -25n, 10n ** 18n, 4n * 10n ** 18n, -5n * 10n ** 18n, 3n * 10n ** 9n),
    fc.constantFrom(BigInt(DIGITS_LIMIT), 2n ** 63n - 1n, -(2n ** 63n)),
    fc.bigInt({ min: -10_000n, max: 10_000n }),
    fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  ),
  scale: fc.constantFrom(0, 0, 1, 2, 2, 3, 18, 19, 101, 253),
});

export function numberOf(form: number): fc.Arbitrary<Num> {
  return form === DOUBLE ? doubles : form === INTEGER ? integers : decimals;
}

export function numbersOf(form: number): fc.Arbitrary<Num[]> {
  return columnOf(numberOf(form));
}

export function numbersOfForms(forms: readonly number[]): fc.Arbitrary<{ form: number; cells: Num[] }> {
  return fc.constantFrom(...forms).chain((form) => numbersOf(form).map((cells) => ({ form, cells })));
}

/** The digits at a scale that is not smaller than the number's own scale. */
export function atScale(cell: Num, scale: number): bigint {
  return BigInt(cell.value) * 10n ** BigInt(scale - cell.scale);
}

/** A vector with these numbers. At null and unknown positions, the values are arbitrary. */
export function fillVector(
  rig: KernelRig,
  cells: readonly Num[],
  form: number,
  before: number,
  stepBytes = 8,
): NumberVector {
  const vector = rig.numberVector(cells.length, before, stepBytes);
  for (const [position, { mark, value, scale }] of cells.entries()) {
    const place = vector.values + position * 8;
    if (form === DECIMAL) rig.setLong(place, BigInt(value));
    else rig.setDouble(place, mark === 0 ? Number(value) : 1e300);
    rig.bytes[vector.marks + position] = mark;
    rig.bytes[vector.scales + position] = scale;
  }
  return vector;
}

/** Compares the numbers of a vector: marks always, values and scales only of known numbers. */
export function expectNumbers(rig: KernelRig, vector: NumberVector, form: number, expected: readonly Computed[]): void {
  deepStrictEqual(
    rig.byteValues(vector.marks, expected.length),
    expected.map((cell) => (typeof cell === 'number' ? cell : 0)),
  );
  for (const [position, cell] of expected.entries()) {
    if (typeof cell === 'number') continue;
    const place = vector.values + position * 8;
    if (form !== DECIMAL) {
      deepStrictEqual(rig.double(place), Number(cell.value));
      continue;
    }
    equal(rig.long(place), cell.value);
    equal(rig.bytes[vector.scales + position], cell.scale);
  }
}
