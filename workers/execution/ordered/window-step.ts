// The contract of the functions of `window`.
import type { StoredType } from '../../batch/schema.ts';

/** One direction of a function. */
export interface WindowStep {
  /** A group begins. */
  begin(): void;
  /**
   * The next row. `value`: the cell of its column. `hidden`: what the other direction has put into the row. `tied`: it is
   * equal to the row before by `order_by`.
   */
  next(value: unknown, hidden: unknown, tied: boolean): unknown;
}

export interface WindowFunction {
  readonly type: StoredType;
  /** Type of what `forward` makes, which is the result where there is no `backward`. */
  readonly hiddenType: StoredType | null;
  readonly forward: WindowStep | null;
  readonly backward: WindowStep | null;
}
