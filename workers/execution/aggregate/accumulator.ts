// The contract of a metric over the rows of one group.
import type { ColumnType } from '../../batch/schema.ts';

/** Groups come one after the other; within a group values come in the order of the source. */
export interface Accumulator {
  begin(): void;
  /** The cell's value, null for none, in the order of the source. */
  add(value: unknown): void;
  /** The metric's value, null, or a CellFault. */
  end(): unknown;
  /** Of a metric that holds the values of a group, and could do with sorted ones. */
  readonly holding?: Holding;
}

/** A value that is held, and how often it came. */
export interface HeldValue {
  readonly value: unknown;
  readonly count: number;
}

/** What a metric makes of the values of a group when they come back sorted. */
export interface Holding {
  /** The type of a column that takes the values. */
  readonly type: ColumnType;
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
