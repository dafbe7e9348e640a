// The states of all metrics of all groups, one record for each group, in the Run's memory: a group has one place, whatever
// the number of metrics. A record may have several cells, each with a state of every metric. It asks the budget for room and
// says when it is refused.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { FOLD_BYTES, IDS, ROWS } from '../../kernel/layout/fold.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Steps } from '../../run/time-slices.ts';
import { AggregateState, isFolded } from './aggregate-state.ts';
import { HeldRoom, type WhenFull } from './held-room.ts';
import { HeldValues } from './held-values.ts';
import { KeptText, keepsText } from './kept-text.ts';
import type { FoldStates, GroupMetric, MetricState } from './metric-state.ts';

/** Groups for which there is room at the start, and cells, where groups have many. */
const GROUPS_FIRST = 256;
const CELLS_FIRST = 4096;

/** Cells that are read back at once, where there are several groups. */
const LATE_CELLS_MOST = 64;

/** Rows with the ids of their cells, u32 each: a group's first cell is its number times the width. */
export interface GroupedRows {
  readonly rows: number;
  readonly ids: number;
  readonly count: number;
}

export class GroupStates {
  readonly #context: OperatorContext;
  readonly #metrics: readonly MetricState[];
  readonly #offsets: readonly number[];
  /** Bytes of a cell. */
  readonly #stride: number;
  readonly #width: number;
  readonly #description: number;
  readonly #room: HeldRoom;
  #at: number;
  #groupsMax: number;
  /** Of these, groups that have states. */
  #made = 0;

  /** @param width cells of a group */
  constructor(context: OperatorContext, metrics: readonly GroupMetric[], width = 1, whenFull: WhenFull = 'sort') {
    const { heap } = context.arena;
    this.#context = context;
    this.#width = width;
    this.#groupsMax = Math.max(1, Math.min(GROUPS_FIRST, Math.floor(CELLS_FIRST / width)));
    const holders: number[] = [];
    this.#room = new HeldRoom(
      context,
      (holder) => this.#states(holders[holder]!),
      () => this.#made * width,
      whenFull,
    );
    this.#metrics = metrics.map((metric, index) => {
      if (isFolded(metric.fn, metric.type))
        return new AggregateState(metric, context.arena, context.kernel.exports, context.budget);
      holders.push(index);
      return keepsText(metric)
        ? new KeptText(metric, context, this.#room)
        : new HeldValues(metric, context, this.#room);
    });
    let stride = 0;
    this.#offsets = this.#metrics.map(({ stateBytes }) => {
      const offset = stride;
      stride += stateBytes;
      return offset;
    });
    this.#stride = stride;
    this.#description = heap.allocate(FOLD_BYTES);
    this.#at = heap.allocate(this.#groupsMax * this.#groupBytes);
  }

  /** Makes room for `groups` in all, and those that are new as without rows; false when the budget refuses. */
  ensure(groups: number, forced: boolean): boolean {
    if (groups > this.#groupsMax && !this.#grow(groups, forced)) return false;
    // Just before they are used: a whole new half would have left the processor's cache by then.
    if (groups > this.#made) this.#initialise(groups);
    return true;
  }

  #grow(groups: number, forced: boolean): boolean {
    const { heap } = this.#context.arena;
    const groupsMax = Math.max(groups, this.#groupsMax * 2);
    const at = heap.tryAllocate(groupsMax * this.#groupBytes, forced);
    if (at === 0) return false;
    heap.u8.copyWithin(at, this.#at, this.#at + this.#made * this.#groupBytes);
    heap.giveBack(this.#at, this.#groupsMax * this.#groupBytes);
    this.#at = at;
    this.#groupsMax = groupsMax;
    return true;
  }

  /** Takes the cells of rows into the states of their groups. */
  fold(batch: Batch, { rows, ids, count }: GroupedRows): void {
    const { u32 } = this.#context.arena.heap;
    for (const [index, metric] of this.#metrics.entries()) {
      u32[(this.#description + ROWS) >>> 2] = rows;
      u32[(this.#description + IDS) >>> 2] = ids;
      metric.fold(batch, this.#description, count, this.#states(index));
    }
  }

  /** See HeldRoom. */
  get isFull(): boolean {
    return this.#room.isFull;
  }

  /** When all rows have come, before columns are asked for. */
  settle(groups: number): Steps {
    return this.#room.settle(groups * this.#width);
  }

  /** The metrics of groups `from` to `from + count`, of each cell in turn, as columns in the arena; null when that has no room for so many. */
  columns(from: number, count: number): ColumnData[] | null {
    const columns: ColumnData[] = [];
    const width = this.#width;
    const { late } = this.#room;
    if (late !== null) {
      late.release(from * width);
      // Cells that are read back are values, some of which may be large.
      if (count > 1 && (count * width > LATE_CELLS_MOST || !late.reach((from + count) * width))) return null;
    }
    for (let cell = 0; cell < width; cell++) {
      const range = { first: from * width + cell, step: width, count };
      for (const [index, metric] of this.#metrics.entries()) {
        const column = metric.column(range, this.#states(index));
        if (column === null) return null;
        columns.push(column);
      }
    }
    return columns;
  }

  /** Leaves its memory to others; nobody asks for it any more. */
  drop(): void {
    for (const metric of this.#metrics) metric.clear();
    this.#room.drop();
    this.#context.arena.heap.giveBack(this.#at, this.#groupsMax * this.#groupBytes);
  }

  /** All groups are as without rows; the memory stays for the next ones. */
  clear(): void {
    for (const metric of this.#metrics) metric.clear();
    this.#room.clear();
    this.#made = 0;
  }

  get #groupBytes(): number {
    return this.#stride * this.#width;
  }

  #states(index: number): FoldStates {
    return { at: this.#at + this.#offsets[index]!, stride: this.#stride };
  }

  /** Makes groups up to a number: writes one cell and copies it on, twice as many each time. */
  #initialise(groups: number): void {
    const { u8 } = this.#context.arena.heap;
    const start = this.#at + this.#made * this.#groupBytes;
    const end = this.#at + groups * this.#groupBytes;
    this.#made = groups;
    for (const [index, metric] of this.#metrics.entries()) metric.initialise(start + this.#offsets[index]!);
    for (let made = this.#stride; start + made < end; made *= 2) {
      u8.copyWithin(start + made, start, start + Math.min(made, end - start - made));
    }
  }
}
