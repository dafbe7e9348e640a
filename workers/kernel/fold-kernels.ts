// Signatures of the kernels that fold cells into the states of groups; what they do is told in assembly/fold.ts. All values
// are addresses, counts or the numbers named here.
import { FORMS } from './expression-kernels.ts';

/** What the values of a folded column are. */
export const FOLD_FORMS = { ...FORMS, boolean: 3 } as const;

/** Bytes of the description of a fold. */
export const FOLD_BYTES = 28;

export interface FoldKernels {
  foldCount(fold: number, count: number): void;
  foldValues(fold: number, count: number): void;
  foldSum(fold: number, from: number, count: number): number;
  foldDoubles(fold: number, from: number, count: number): number;
  foldExtreme(fold: number, from: number, count: number, form: number, largest: number): number;
  foldEnd(fold: number, from: number, count: number, form: number, last: number): number;
  unpackStates(states: number, stride: number, count: number, at: number, meta: number): void;
}
