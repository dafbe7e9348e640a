// The states of all metrics of all groups, one record per group in the Run's memory, and metrics that keep one text.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import {
  CONDITION,
  FOLD_BYTES,
  IDS,
  KEEP_FIRST,
  KEEP_LARGEST,
  KEEP_LAST,
  KEEP_LEAST,
  META,
  ROWS,
  STATE_BYTES,
  STATE_META,
  STATES,
  STRIDE_BYTES,
  VALUES,
} from '../../kernel/layout/groups.ts';
import { PAUSE, type Sliced, type Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { type Accumulator, HeldBytes, type MetricName, makeAccumulator } from './accumulators.ts';
import { HeldValues } from './held-values.ts';
import { conditionMeta, HeldMemory, type Holder, type LateValues, lateRows, type WhenFull } from './late-values.ts';
import {
  AggregateState,
  type FoldStates,
  type GroupMetric,
  type GroupRange,
  isFolded,
  type MetricState,
} from './metric-state.ts';

// A metric that keeps one text per group: the first, last, smallest or largest. Its state is a view of the text, which
// is in the memory shared by the metrics, and the native kind of the text.

const KEPT: Partial<Record<MetricName, number>> = {
  first: KEEP_FIRST,
  last: KEEP_LAST,
  min: KEEP_LEAST,
  max: KEEP_LARGEST,
};

/** Number of groups whose texts are passed on at once. */
const GROUPS_AT_ONCE = 2048;

/** True if the metric keeps one text. */
function keepsText({ fn, type }: Pick<GroupMetric, 'fn' | 'type'>): boolean {
  return (type === 'text' || type === 'json') && KEPT[fn] !== undefined;
}

class KeptText implements MetricState, Holder {
  readonly stateBytes = STATE_BYTES;
  readonly type: StoredType;
  readonly makes: StoredType;
  readonly accumulator: Accumulator;
  readonly #metric: GroupMetric;
  readonly #context: OperatorContext;
  readonly #memory: HeldMemory;
  readonly #number: number;
  readonly #which: number;
  readonly #builder: ColumnBuilder;

  constructor(metric: GroupMetric, context: OperatorContext, memory: HeldMemory) {
    this.#metric = metric;
    this.#context = context;
    this.#memory = memory;
    this.#which = KEPT[metric.fn]!;
    this.type = metric.reads!;
    this.makes = metric.makes;
    const held = new HeldBytes(context.budget);
    this.accumulator = makeAccumulator(metric.fn, metric.type, { separator: '', percent: 0, held });
    this.#builder = new ColumnBuilder(context.arena, metric.makes);
    this.#number = memory.enter(this);
  }

  cell(value: unknown): unknown {
    return value;
  }

  initialise(state: number): void {
    this.#context.arena.heap.u8.fill(0, state, state + STATE_BYTES);
  }

  fold(batch: Batch, fold: number, count: number, states: FoldStates): void {
    const { place, condition } = this.#metric;
    const column = batch.columns[place]!;
    if (column.kind !== 'views') return;
    const { heap } = this.#context.arena;
    const { u32 } = heap;
    u32[(fold + CONDITION) >>> 2] = conditionMeta(batch, condition);
    u32[(fold + VALUES) >>> 2] = column.at;
    u32[(fold + META) >>> 2] = column.kinds ?? 0;
    u32[(fold + STATES) >>> 2] = states.at;
    u32[(fold + STRIDE_BYTES) >>> 2] = states.stride;
    const { exports } = this.#context.kernel;
    const memory = this.#memory;
    for (let at = 0; at < count; ) {
      if (memory.late !== null) {
        const list = { rows: heap.u32[(fold + ROWS) >>> 2]!, ids: heap.u32[(fold + IDS) >>> 2]!, from: at, count };
        lateRows(this.#context.arena, batch, { place, condition }, list, (values) =>
          memory.late!.add(this.#number, values),
        );
        return;
      }
      const { blocks, reached } = memory;
      at = exports.keepTexts(fold, at, count, this.#which, blocks.next, blocks.limit, reached);
      blocks.next = heap.u32[reached >>> 2]!;
      if (at < count && !memory.advance()) return;
    }
  }

  column({ first, step, count }: GroupRange, states: FoldStates): ColumnData | null {
    const builder = this.#builder;
    if (!builder.begin(count)) return null;
    const made = builder.column;
    if (made.kind !== 'views') throw new Error('a kept text is a view');
    const { late } = this.#memory;
    if (late === null) {
      const { arena, kernel } = this.#context;
      const kinds = made.kinds ?? arena.tryTake(count);
      if (kinds === 0) return null;
      kernel.exports.unpackStates(states.at + first * states.stride, states.stride * step, count, made.at, kinds);
      return made;
    }
    for (let row = 0; row < count; row++) {
      if (builder.set(row, late.value(this.#number, first + row * step)) === 'full') return null;
    }
    return made;
  }

  clear(): void {}

  /** Nothing to do: the states already contain the texts. */
  *settle(): Generator<void, boolean> {
    yield;
    return true;
  }

  letGo(groups: number, states: FoldStates, late: LateValues): void {
    const { arena } = this.#context;
    for (let from = 0; from < groups; from += GROUPS_AT_ONCE) {
      const mark = arena.next;
      const most = Math.min(GROUPS_AT_ONCE, groups - from);
      const [at, kinds, numbers] = [arena.take(most * 8), arena.take(most), arena.take(most * 4)];
      const { u8, u32 } = arena.heap;
      let count = 0;
      for (let group = from; group < from + most; group++) {
        const state = states.at + group * states.stride;
        if (u32[state >>> 2] === 0) continue;
        u8.copyWithin(at + count * 8, state, state + 8);
        u8[kinds + count] = u8[state + STATE_META]!;
        u32[(numbers >>> 2) + count++] = group;
      }
      const hasKinds = this.type === 'text_with_kind';
      late.add(this.#number, { groups: numbers, column: { kind: 'views', at, ...(hasKinds ? { kinds } : {}) }, count });
      arena.release(mark);
    }
  }

  countOf(): number {
    return 0;
  }
}

// The states of all metrics of all groups in the Run's memory, one record per group, so that a group is in one place
// whatever the number of metrics. A record may have several cells, each with a state of every metric. Asks the budget
// for memory and reports a refusal.

/** Initial number of groups, and of cells if each group has many. */
const GROUPS_FIRST = 256;
const CELLS_FIRST = 4096;

/** Number of late cells that are read back at once if there are several groups. */
const LATE_CELLS_MOST = 64;

/** Rows and the ids of their cells, as u32 lists. The first cell of a group has the id group number x width. */
export interface GroupedRows {
  readonly rows: number;
  readonly ids: number;
  readonly count: number;
}

/** Number of metrics between two checks of the clock. A metric takes up to 0.2 ms for the rows of a batch. */
const METRICS_AT_ONCE = 8;

export class GroupStates {
  readonly #context: OperatorContext;
  readonly #metrics: readonly MetricState[];
  readonly #offsets: readonly number[];
  /** Size of a cell in bytes. */
  readonly #stride: number;
  readonly #width: number;
  readonly #description: number;
  readonly #memory: HeldMemory;
  #at: number;
  #groupsMax: number;
  /** Number of groups with initialised states. */
  #made = 0;

  /** @param width number of cells per group */
  constructor(context: OperatorContext, metrics: readonly GroupMetric[], width = 1, whenFull: WhenFull = 'sort') {
    const { heap } = context.arena;
    this.#context = context;
    this.#width = width;
    this.#groupsMax = Math.max(1, Math.min(GROUPS_FIRST, Math.floor(CELLS_FIRST / width)));
    const holders: number[] = [];
    this.#memory = new HeldMemory(
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
        ? new KeptText(metric, context, this.#memory)
        : new HeldValues(metric, context, this.#memory);
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

  /** Provides `groups` groups in total, and initialises new ones. Returns false if the budget refuses the memory. */
  ensure(groups: number, forced: boolean): boolean {
    if (groups > this.#groupsMax && !this.#grow(groups, forced)) return false;
    // States are initialised just before use. If half of the table were initialised at once, its first states would no
    // longer be in the processor's cache when they are used.
    if (groups > this.#made) this.#initialise(groups);
    return true;
  }

  #grow(groups: number, forced: boolean): boolean {
    const { heap } = this.#context.arena;
    const groupsMax = Math.max(groups, this.#groupsMax * 2);
    const at = heap.tryAllocate(groupsMax * this.#groupBytes, forced);
    if (at === 0) return false;
    heap.u8.copyWithin(at, this.#at, this.#at + this.#made * this.#groupBytes);
    heap.release(this.#at, this.#groupsMax * this.#groupBytes);
    this.#at = at;
    this.#groupsMax = groupsMax;
    return true;
  }

  /** Folds the cells of rows into the states of their groups. */
  *fold(batch: Batch, { rows, ids, count }: GroupedRows): Sliced<void> {
    const { arena, clock } = this.#context;
    for (const [index, metric] of this.#metrics.entries()) {
      const { u32 } = arena.heap;
      u32[(this.#description + ROWS) >>> 2] = rows;
      u32[(this.#description + IDS) >>> 2] = ids;
      metric.fold(batch, this.#description, count, this.#states(index));
      if (index % METRICS_AT_ONCE === 0 && clock.isDue()) yield PAUSE;
    }
  }

  /** See HeldMemory. */
  get isFull(): boolean {
    return this.#memory.isFull;
  }

  /** Called after all rows and before `columns`. */
  settle(groups: number): Steps {
    return this.#memory.settle(groups * this.#width);
  }

  /**
   * Returns the metrics of groups `from` to `from + count`, for each cell in turn, as columns in the arena. Returns
   * null if the arena has no space for them.
   */
  columns(from: number, count: number): ColumnData[] | null {
    const columns: ColumnData[] = [];
    const width = this.#width;
    const { late } = this.#memory;
    if (late !== null) {
      late.release(from * width);
      // Late cells are read back as JavaScript values, some of which may be large, so few are read at once.
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

  /** Releases its memory. The object cannot be used afterwards. */
  drop(): void {
    for (const metric of this.#metrics) metric.clear();
    this.#memory.drop();
    this.#context.arena.heap.release(this.#at, this.#groupsMax * this.#groupBytes);
  }

  /** Resets all groups to the state without rows and keeps the memory. */
  clear(): void {
    for (const metric of this.#metrics) metric.clear();
    this.#memory.clear();
    this.#made = 0;
  }

  get #groupBytes(): number {
    return this.#stride * this.#width;
  }

  #states(index: number): FoldStates {
    return { at: this.#at + this.#offsets[index]!, stride: this.#stride };
  }

  /** Initialises groups up to a number: writes one cell and copies it, doubling the size each time. */
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
