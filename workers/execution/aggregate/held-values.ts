// A metric that needs all values of a group: it holds them in a list of each group, and makes a cell of them when all rows
// have come: by a kernel over the list, by a hash table of the different values, or by an accumulator that walks through it.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import { META_BIG, META_NULL } from '../../kernel/layout/cells.ts';
import { CONDITION, IDS, META, ROWS, STATE_META, STATES, STRIDE_BYTES, VALUES } from '../../kernel/layout/fold.ts';
import { HELD_BYTES, HELD_COUNT } from '../../kernel/layout/held-values.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { Failed } from '../../protocol/failure.ts';
import { Decimal, decimalOf } from '../../values/decimal.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { Accumulator } from './accumulator.ts';
import { makeAccumulator } from './accumulators.ts';
import { DifferentValues } from './different-values.ts';
import { HeldLists } from './held-lists.ts';
import type { HeldRoom, Holder } from './held-room.ts';
import { HeldBytes } from './holistic-metrics.ts';
import { conditionMeta, lateRows } from './late-rows.ts';
import type { LateValues } from './late-values.ts';
import type { FoldStates, GroupMetric, GroupRange, MetricState } from './metric-state.ts';
import { settlePercentiles } from './percentiles.ts';

const TWO_32 = 2 ** 32;

export class HeldValues implements MetricState, Holder {
  readonly stateBytes = HELD_BYTES;
  readonly type: StoredType;
  readonly makes: StoredType;
  readonly accumulator: Accumulator;
  readonly #metric: GroupMetric;
  readonly #context: OperatorContext;
  readonly #room: HeldRoom;
  readonly #number: number;
  readonly #lists: HeldLists;
  readonly #held: HeldBytes;
  readonly #builder: ColumnBuilder;
  /** Decimals beyond 64 bits: a list has their index here. */
  readonly #bigs: Decimal[] = [];
  #different: DifferentValues | null = null;
  /** Groups before this one have their cell in their state. */
  #settled = 0;

  constructor(metric: GroupMetric, context: OperatorContext, room: HeldRoom) {
    this.#metric = metric;
    this.#context = context;
    this.#room = room;
    this.#held = new HeldBytes(context.budget);
    const { separator, percent } = metric;
    const isPercentile = metric.fn === 'median' || metric.fn === 'percentile';
    const type = isPercentile && metric.type === 'integer' ? 'decimal' : metric.type;
    this.accumulator = makeAccumulator(metric.fn, type, { separator, percent, held: this.#held });
    this.type = isPercentile ? type! : metric.reads!;
    this.makes = metric.makes;
    this.#builder = new ColumnBuilder(context.arena, metric.makes);
    this.#lists = new HeldLists(context, this.type, this.#bigs);
    this.#number = room.enter(this);
  }

  cell(value: unknown): unknown {
    if (!(value instanceof CellFault)) return value;
    throw new Failed('TEMPLATE_ROW_ERROR', `${value.code}: a sum or text is larger than a cell can be.`);
  }

  initialise(state: number): void {
    this.#context.arena.heap.u8.fill(0, state, state + HELD_BYTES);
  }

  fold(batch: Batch, fold: number, count: number, states: FoldStates): void {
    const { place, condition } = this.#metric;
    const column = batch.columns[place]!;
    if (column.kind === 'raw') throw new Error('views of held columns are made before');
    // A column of nulls may have another form than its type.
    if ((column.kind === 'typed') === (this.type === 'text' || this.type === 'json')) return;
    const { heap } = this.#context.arena;
    const { u32 } = heap;
    u32[(fold + CONDITION) >>> 2] = conditionMeta(batch, condition);
    u32[(fold + VALUES) >>> 2] = column.at;
    u32[(fold + META) >>> 2] = column.kind === 'typed' ? column.meta : 0;
    u32[(fold + STATES) >>> 2] = states.at;
    u32[(fold + STRIDE_BYTES) >>> 2] = states.stride;
    if (column.kind === 'typed' && column.big !== null && this.#room.late === null) {
      for (const [row, { unscaled, scale }] of column.big) {
        heap.i64[(column.at >>> 3) + row] = BigInt(this.#bigs.push(decimalOf(unscaled, scale)!) - 1);
        this.#held.hold();
      }
    }
    const { exports } = this.#context.kernel;
    const room = this.#room;
    if (this.#held.isOver && room.late === null && !room.makeRoom()) return;
    for (let at = 0; at < count; ) {
      if (room.late !== null) {
        const list = { rows: heap.u32[(fold + ROWS) >>> 2]!, ids: heap.u32[(fold + IDS) >>> 2]!, from: at, count };
        lateRows(this.#context.arena, batch, { place, condition }, list, (values) => {
          this.#countLate(states, values.groups, values.count);
          room.late!.add(this.#number, { ...values, column: this.#asHeld(values.column) });
        });
        return;
      }
      const { blocks, reached } = room;
      at = exports.holdValues(fold, at, count, blocks.next, blocks.limit, reached);
      blocks.next = heap.u32[reached >>> 2]!;
      if (at < count && !room.advance()) return;
    }
  }

  *settle(groups: number, states: FoldStates): Generator<void, boolean> {
    const { fn, percent } = this.#metric;
    const context = this.#context;
    const settled = (group: number): void => {
      this.#settled = group;
    };
    if (fn === 'median' || fn === 'percentile') {
      const put = (group: number): void => this.#walkInto(group, states);
      return yield* settlePercentiles({ context, states, groups, type: this.type, percent, put, settled });
    }
    if (fn !== 'mode' && fn !== 'count_distinct') return true;
    const mostFrequent = fn === 'mode';
    this.#different ??= new DifferentValues(context, this.#lists);
    return yield* this.#different.settle({ states, groups, mostFrequent, settled });
  }

  column(range: GroupRange, states: FoldStates): ColumnData | null {
    const builder = this.#builder;
    const { first, step, count } = range;
    if (!builder.begin(count)) return null;
    const { late } = this.#room;
    if (late === null && this.#settled === 0) return this.#walk(range, states) ? builder.column : null;
    const made = builder.column;
    if (made.kind === 'raw') throw new Error('a built column is no raw one');
    const { arena, kernel } = this.#context;
    const meta = made.kind === 'typed' ? made.meta : arena.tryTake(count);
    if (meta === 0) return null;
    kernel.exports.unpackStates(states.at + first * states.stride, states.stride * step, count, made.at, meta);
    for (let row = 0; row < count; row++) {
      const group = first + row * step;
      let value: unknown;
      if (late !== null && group >= this.#settled) value = late.value(this.#number, group);
      else if (this.#bigs.length === 0 || arena.heap.u8[meta + row] !== META_BIG) continue;
      else value = this.#bigs[Number(arena.heap.i64[(states.at + group * states.stride) >>> 3]!)];
      if (builder.set(row, value) === 'full') return null;
    }
    return builder.column;
  }

  clear(): void {
    this.#bigs.length = 0;
    this.#settled = 0;
    this.#held.release();
  }

  letGo(groups: number, states: FoldStates, late: LateValues): void {
    const lists = this.#lists;
    lists.begin(this.#settled);
    for (let values = lists.next(states, groups); values.count > 0; values = lists.next(states, groups)) {
      late.add(this.#number, values);
    }
    // Cells that are settled have theirs here.
    if (this.#settled > 0) return;
    this.#bigs.length = 0;
    this.#held.release();
  }

  countOf(group: number, states: FoldStates): number {
    const at = (states.at + group * states.stride + HELD_COUNT) >>> 2;
    const { u32 } = this.#context.arena.heap;
    return u32[at]! + u32[at + 1]! * TWO_32;
  }

  #countLate(states: FoldStates, groups: number, count: number): void {
    const { u32, i64 } = this.#context.arena.heap;
    for (let i = 0; i < count; i++) {
      const state = states.at + u32[(groups >>> 2) + i]! * states.stride;
      i64[(state + HELD_COUNT) >>> 3]!++;
    }
  }

  /** Sets the cells of groups by the accumulator; false when the arena is full. */
  #walk({ first, step, count }: GroupRange, states: FoldStates): boolean {
    const { accumulator } = this;
    const builder = this.#builder;
    const some = { at: states.at + first * states.stride, stride: states.stride * step };
    let row = 0;
    const reach = (next: number): boolean => {
      for (; row < next; row++) {
        if (builder.set(row, this.cell(accumulator.end())) === 'full') return false;
        this.#held.release();
        accumulator.begin();
      }
      return true;
    };
    accumulator.begin();
    const isDone = this.#each(some, 0, count, (group, value) => {
      if (!reach(group)) return false;
      accumulator.add(value);
      return true;
    });
    return isDone && reach(count);
  }

  /** Puts the cell of one group, as the accumulator makes it, into its state. */
  #walkInto(group: number, states: FoldStates): void {
    const { accumulator } = this;
    accumulator.begin();
    this.#each(states, group, group + 1, (_, value) => {
      accumulator.add(value);
      return true;
    });
    const value = this.cell(accumulator.end());
    this.#held.release();
    const { u8, f64, i64 } = this.#context.arena.heap;
    const state = states.at + group * states.stride;
    u8[state + STATE_META] = value === null ? META_NULL : 0;
    if (typeof value === 'number') f64[state >>> 3] = value;
    else if (value instanceof Decimal) {
      i64[state >>> 3] = BigInt(this.#bigs.push(value) - 1);
      u8[state + STATE_META] = META_BIG;
    }
  }

  /** Gives the values of groups `from` to `end` until `next` gives false; false then. */
  #each(states: FoldStates, from: number, end: number, next: (group: number, value: unknown) => boolean): boolean {
    const { arena } = this.#context;
    const lists = this.#lists;
    const reader = new CellReader(this.type, 0);
    lists.begin(from);
    for (let values = lists.next(states, end); values.count > 0; values = lists.next(states, end)) {
      reader.bind(lists.batch([values.column], values.count));
      for (let i = 0; i < values.count; i++) {
        if (!next(arena.heap.u32[(values.groups >>> 2) + i]!, reader.read(i))) return false;
      }
    }
    return true;
  }

  /** A percentile takes integers as decimals. */
  #asHeld(column: ColumnData): ColumnData {
    if (column.kind !== 'typed' || this.type !== 'decimal') return column;
    return { ...column, type: 'decimal' };
  }
}
