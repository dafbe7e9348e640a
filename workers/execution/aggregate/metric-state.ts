// The contract of a metric over many groups at once: a state of each group in memory, cells that are folded into it, and the
// column that comes of the states.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { ColumnType, StoredType } from '../../batch/schema.ts';
import type { MetricName } from './accumulators.ts';

/** A metric, the place of its column in the batches (-1: none) and of the boolean column that chooses rows (-1: all). */
export interface GroupMetric {
  readonly fn: MetricName;
  readonly type: ColumnType | null;
  /** The type of the cells that it reads, and of those that it makes, as they are kept. */
  readonly reads: StoredType | null;
  readonly makes: StoredType;
  readonly place: number;
  readonly condition: number;
  readonly separator: string;
  /** 0 to 100. */
  readonly percent: number;
}

/** Where the states are: that of group 0, and bytes from one to the next. */
export interface FoldStates {
  readonly at: number;
  readonly stride: number;
}

/** Some of the groups: `first`, `first + step` and so on. */
export interface GroupRange {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export interface MetricState {
  /** Bytes of a group's state, a multiple of 8. */
  readonly stateBytes: number;
  /** Writes the state of a group without rows. */
  initialise(state: number): void;
  /** Takes the cells of rows: `fold` is a description with rows and ids filled in. */
  fold(batch: Batch, fold: number, count: number, states: FoldStates): void;
  /** The cells of groups as a column in the arena; null when it is full. */
  column(groups: GroupRange, states: FoldStates): ColumnData | null;
  /** Forgets what is beside the states. */
  clear(): void;
}
