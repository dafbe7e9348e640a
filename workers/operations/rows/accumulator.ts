// The contract of a metric over the rows of one group.
import type { ColumnType } from '../../schema.ts';

/** Groups come one after the other; within a group values come in the order of the source. */
export interface Accumulator {
  begin(): void;
  /** The cell's value, null for none, in the order of the source. */
  add(value: unknown): void;
  /** The metric's value, null, or a CellFault. */
  end(): unknown;
  /** Of a metric that holds the values of a group: how they go elsewhere when there are too many. */
  readonly holding?: Holding;
}

/** A value that is held, and how often it came. */
export interface HeldValue {
  readonly value: unknown;
  readonly count: number;
}

/** How a metric lets go of the values of a group, and what it makes of them when they come back sorted. */
export interface Holding {
  /** The type of a column that takes the values. */
  readonly type: ColumnType;
  /** The values that are held, in the order in which they first came; the metric holds none afterwards. */
  letGo(): Iterable<HeldValue>;
  readonly sorted: SortedMetric;
}

/** A metric over the values of a group in rising order, equal ones in the order in which they came: it holds but a few. */
export interface SortedMetric {
  /** @param count how many values will come, equal ones counted each */
  begin(count: number): void;
  /**
   * @param isNew whether it differs from the one before
   * @param place rises with the order in which values came
   */
  add(held: HeldValue, isNew: boolean, place: number): void;
  /** As of an accumulator. */
  end(): unknown;
}
