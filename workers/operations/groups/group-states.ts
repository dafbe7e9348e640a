// The states of all metrics of all groups, one record for each group, in the Run's memory: a group has one place, whatever
// the number of metrics. It asks the budget for room and says when it is refused.
import type { Batch, ColumnData } from '../../batch.ts';
import { FOLD_BYTES } from '../../kernel/fold-kernels.ts';
import type { OperatorContext } from '../operation.ts';
import { type FoldedMetric, GroupFold } from './group-fold.ts';

/** Groups for which there is room at the start. */
const GROUPS_FIRST = 256;

/** Rows with the ids of their groups, u32 each. */
export interface GroupedRows {
  readonly rows: number;
  readonly ids: number;
  readonly count: number;
}

export class GroupStates {
  readonly #context: OperatorContext;
  readonly #folds: readonly GroupFold[];
  readonly #offsets: readonly number[];
  readonly #stride: number;
  readonly #description: number;
  #at: number;
  #groupsMax = GROUPS_FIRST;

  constructor(context: OperatorContext, metrics: readonly FoldedMetric[]) {
    const { arena, kernel, budget } = context;
    this.#context = context;
    this.#folds = metrics.map((metric) => new GroupFold(metric, arena, kernel.exports, budget));
    let stride = 0;
    this.#offsets = this.#folds.map(({ stateBytes }) => {
      const offset = stride;
      stride += stateBytes;
      return offset;
    });
    this.#stride = stride;
    this.#description = arena.heap.allocate(FOLD_BYTES);
    this.#at = arena.heap.allocate(GROUPS_FIRST * stride);
    this.#initialise(0);
  }

  /** Makes room for `groups` in all; false when the budget refuses. */
  ensure(groups: number, forced: boolean): boolean {
    if (groups <= this.#groupsMax) return true;
    const { heap } = this.#context.arena;
    const groupsMax = Math.max(groups, this.#groupsMax * 2);
    const at = heap.tryAllocate(groupsMax * this.#stride, forced);
    if (at === 0) return false;
    const before = this.#groupsMax;
    heap.u8.copyWithin(at, this.#at, this.#at + before * this.#stride);
    this.#at = at;
    this.#groupsMax = groupsMax;
    this.#initialise(before);
    return true;
  }

  /** Takes the cells of rows into the states of their groups. */
  fold(batch: Batch, { rows, ids, count }: GroupedRows): void {
    this.#context.arena.heap.u32.set([rows, ids], this.#description >>> 2);
    for (const [index, fold] of this.#folds.entries()) fold.fold(batch, this.#description, count, this.#states(index));
  }

  /** The metrics of groups `from` to `from + count` as columns in the arena, null when it is full. */
  columns(from: number, count: number): ColumnData[] | null {
    const columns: ColumnData[] = [];
    for (const [index, fold] of this.#folds.entries()) {
      const column = fold.column(from, count, this.#states(index));
      if (column === null) return null;
      columns.push(column);
    }
    return columns;
  }

  /** All groups are as without rows; the memory stays for the next ones. */
  clear(): void {
    for (const fold of this.#folds) fold.clear();
    this.#initialise(0);
  }

  #states(index: number): { readonly at: number; readonly stride: number } {
    return { at: this.#at + this.#offsets[index]!, stride: this.#stride };
  }

  /** Writes one group and copies it on, twice as many each time. */
  #initialise(from: number): void {
    const { u8 } = this.#context.arena.heap;
    const start = this.#at + from * this.#stride;
    const end = this.#at + this.#groupsMax * this.#stride;
    for (const [index, fold] of this.#folds.entries()) fold.initialise(start + this.#offsets[index]!);
    for (let made = this.#stride; start + made < end; made *= 2) {
      u8.copyWithin(start + made, start, start + Math.min(made, end - start - made));
    }
  }
}
