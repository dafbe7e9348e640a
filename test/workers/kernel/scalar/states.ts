// Scalar reference of combined states of conditions.
import { AND, FALSE, NULL, SET, TRUE, UNKNOWN } from '../../../../workers/kernel/layout/expressions.ts';

/** `&&` and `||` of CEL with null: one side that decides is enough, and an unknown side takes precedence over null. */
export function combined(left: number, right: number, mode: number): number {
  if (mode === SET) return right;
  const decisive = mode === AND ? FALSE : TRUE;
  if (left === decisive || right === decisive) return decisive;
  if (left === UNKNOWN || right === UNKNOWN) return UNKNOWN;
  return left === NULL || right === NULL ? NULL : left;
}

/** True if a state already decides the result, so that the kernels skip the position. */
export function isSettled(state: number, mode: number): boolean {
  return mode !== SET && state === (mode === AND ? FALSE : TRUE);
}
