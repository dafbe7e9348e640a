// Metrics that need all values of a group: the lists that hold the values, distinct values, percentiles, and the metric
// itself.
import { Batch, type ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { FOLD_FORMS } from '../../kernel/bindings/expression-words.ts';
import { META_BIG, META_NULL } from '../../kernel/layout/cells.ts';
import {
  CONDITION,
  CURSOR_BYTES,
  CURSOR_CELL,
  CURSOR_CHUNK,
  CURSOR_GROUP,
  ENTRY_BYTES,
  HELD_BYTES,
  HELD_COUNT,
  IDS,
  META,
  ROWS,
  STATE_META,
  STATES,
  STRIDE_BYTES,
  VALUES,
} from '../../kernel/layout/groups.ts';
import { Failed } from '../../protocol/failure.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { Decimal, decimalFromNumber, decimalOf } from '../../values/decimal.ts';
import { CellFault } from '../cells/value-cells.ts';
import { HashTable } from '../keys/hash-table.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { type Accumulator, HeldBytes, makeAccumulator } from './accumulators.ts';
import {
  conditionMeta,
  type GroupValues,
  type HeldMemory,
  type Holder,
  type LateValues,
  lateRows,
} from './late-values.ts';
import type { FoldStates, GroupMetric, GroupRange, MetricState } from './metric-state.ts';

// Reads the lists of held values, a limited number of values at a time.

/** Number of values read at once. */
const VALUES_READ = 2048;

/** Buffers for the values being read. */
interface ReadBuffers {
  readonly cursor: number;
  readonly words: number;
  readonly metas: number;
  readonly groups: number;
  readonly selection: number;
}

/** Values in these buffers. */
interface ReadValues extends GroupValues {
  readonly words: number;
  readonly metas: number;
}

class HeldLists {
  readonly #context: OperatorContext;
  readonly #type: StoredType;
  readonly #bigs: readonly Decimal[];
  #made: ReadBuffers | null = null;

  /** @param bigs decimals beyond 64 bits, to which the lists refer by index */
  constructor(context: OperatorContext, type: StoredType, bigs: readonly Decimal[]) {
    this.#context = context;
    this.#type = type;
    this.#bigs = bigs;
  }

  /** Sets the first group to read. */
  begin(group: number): void {
    const { cursor } = this.#buffers;
    const { u32 } = this.#context.arena.heap;
    u32[(cursor + CURSOR_GROUP) >>> 2] = group;
    u32[(cursor + CURSOR_CHUNK) >>> 2] = 0;
    u32[(cursor + CURSOR_CELL) >>> 2] = 0;
  }

  /** Returns the next values of groups before `end`, empty at the end. Valid until the next call. */
  next({ at, stride }: FoldStates, end: number): ReadValues {
    const { cursor, words, metas, groups } = this.#buffers;
    const { exports } = this.#context.kernel;
    const count = exports.gatherHeld(at, stride, cursor, end, VALUES_READ, words, metas, groups);
    return { groups, words, metas, column: this.#column(words, metas, count), count };
  }

  /** Wraps columns of values as a batch. */
  batch(columns: readonly ColumnData[], count: number): Batch {
    const { arena } = this.#context;
    const materialise = (): never => {
      throw new Error('held values have no raw columns');
    };
    const { selection } = this.#buffers;
    return new Batch({
      arena,
      rows: count,
      selection,
      live: count,
      columns,
      raw: null,
      sourceRows: { first: 0 },
      materialise,
    });
  }

  #column(at: number, meta: number, count: number): ColumnData {
    const type = this.#type;
    if (type === 'text' || type === 'json' || type === 'text_with_kind') return { kind: 'views', at };
    const big = new Map<number, { readonly unscaled: bigint; readonly scale: number }>();
    const { u8, i64 } = this.#context.arena.heap;
    for (let row = 0; row < count && this.#bigs.length > 0; row++) {
      if (u8[meta + row] !== META_BIG) continue;
      const { digits, scale } = this.#bigs[Number(i64[(at >>> 3) + row]!)]!;
      big.set(row, { unscaled: BigInt(digits), scale });
    }
    return { kind: 'typed', type, at, meta, big: big.size === 0 ? null : big };
  }

  get #buffers(): ReadBuffers {
    if (this.#made !== null) return this.#made;
    const { heap } = this.#context.arena;
    const [cursor, words, metas] = [
      heap.allocate(CURSOR_BYTES),
      heap.allocate(VALUES_READ * 8),
      heap.allocate(VALUES_READ),
    ];
    const [groups, selection] = [heap.allocate(VALUES_READ * 4), heap.allocate(VALUES_READ * 4)];
    for (let row = 0; row < VALUES_READ; row++) heap.u32[(selection >>> 2) + row] = row;
    this.#made = { cursor, words, metas, groups, selection };
    return this.#made;
  }
}

// Medians and other percentiles of held values: a kernel sorts the list of each group and writes the cell into its
// state.

/** Number of groups settled at once. */
const PERCENTILE_GROUPS_AT_ONCE = 4096;

/** Initial number of keys. A sort needs twice the memory of its keys. */
const KEYS_FIRST = 4096;
const KEY_BYTES = 8;

/**
 * Maximum length of a list that is processed without the kernel if the kernel does not support it. Longer lists are
 * sorted elsewhere.
 */
const ACCUMULATED_MOST = 65_536;

/** Limits within which the percentage times the number of values fits into the kernel's 64 bits. */
const PART_MOST = 1e9;
const PART_SCALE_MOST = 9;

interface Percentiles {
  readonly context: OperatorContext;
  readonly states: FoldStates;
  readonly groups: number;
  readonly type: StoredType;
  /** From 0 to 100. */
  readonly percent: number;
  /** Writes the cell of a group into its state without the kernel. */
  put(group: number): void;
  /** Receives the number of settled groups. */
  settled(groups: number): void;
}

/** Returns false if there is no memory for it. */
function* settlePercentiles(work: Percentiles): Generator<void, boolean> {
  const { heap } = work.context.arena;
  const keys = { at: heap.allocate(KEYS_FIRST * KEY_BYTES * 2), cells: KEYS_FIRST };
  const isDone = yield* settleWithin(work, keys);
  heap.release(keys.at, keys.cells * KEY_BYTES * 2);
  return isDone;
}

function* settleWithin(work: Percentiles, keys: { at: number; cells: number }): Generator<void, boolean> {
  const { context, states, groups, type, percent, put, settled } = work;
  const { heap } = context.arena;
  const part = decimalFromNumber(percent)!;
  const isNarrow = Number(part.digits) <= PART_MOST && part.scale <= PART_SCALE_MOST;
  const form = type === 'number' ? FOLD_FORMS.double : FOLD_FORMS.decimal;
  const settle = (from: number, end: number): number => {
    if (!isNarrow) return from;
    const digits = BigInt(part.digits);
    const { at, stride } = states;
    return context.kernel.exports.settlePercentiles(
      at,
      stride,
      from,
      end,
      form,
      digits,
      part.scale,
      keys.at,
      keys.cells,
    );
  };
  for (let from = 0; from < groups; ) {
    const end = Math.min(groups, from + PERCENTILE_GROUPS_AT_ONCE);
    from = settle(from, end);
    settled(from);
    yield;
    if (from === end) continue;
    const count = heap.u32[(states.at + from * states.stride + HELD_COUNT) >>> 2]!;
    if (count > keys.cells && isNarrow) {
      const at = heap.tryAllocate(count * KEY_BYTES * 2);
      if (at === 0) return false;
      heap.release(keys.at, keys.cells * KEY_BYTES * 2);
      [keys.at, keys.cells] = [at, count];
      if (settle(from, from + 1) === from + 1) {
        from++;
        continue;
      }
    }
    if (count > ACCUMULATED_MOST) return false;
    put(from++);
  }
  settled(groups);
  return true;
}

// Distinct values of each group, with a hash table over groups and values: their number, or the most frequent value.

/** Number of groups whose values are in the table at a time. */
const GROUPS_AT_ONCE = 1024;

/** Initial number of entries. */
const ENTRIES_FIRST = 4096;

interface Settling {
  readonly states: FoldStates;
  readonly groups: number;
  readonly mostFrequent: boolean;
  /** Receives the number of settled groups. */
  settled(groups: number): void;
}

class DifferentValues {
  readonly #context: OperatorContext;
  readonly #lists: HeldLists;
  readonly #table: HashTable;
  readonly #entries: Entries;
  readonly #keys: RowKeys;
  /** Address of the count of the most frequent value of each group. */
  readonly #best: number;

  constructor(context: OperatorContext, lists: HeldLists) {
    const { heap } = context.arena;
    this.#context = context;
    this.#lists = lists;
    this.#table = new HashTable(heap, context.kernel);
    this.#entries = new Entries(context);
    this.#keys = new RowKeys(context, [0, 1], 'exact');
    this.#best = heap.allocate(GROUPS_AT_ONCE * 4);
  }

  /**
   * Writes the cell of each group into its state. Returns false if there is no memory for the values of some groups.
   */
  *settle({ states, groups, mostFrequent, settled }: Settling): Generator<void, boolean> {
    const lists = this.#lists;
    const table = this.#table;
    for (let from = 0; from < groups; from += GROUPS_AT_ONCE) {
      const end = Math.min(groups, from + GROUPS_AT_ONCE);
      table.clear();
      lists.begin(from);
      for (let values = lists.next(states, end); values.count > 0; values = lists.next(states, end)) {
        if (!this.#enter(values)) return false;
        yield;
      }
      const { exports } = this.#context.kernel;
      const { at, stride } = states;
      const which = mostFrequent ? 1 : 0;
      exports.settleEntries(at, stride, from, end, this.#entries.at, table.count, which, this.#best);
      settled(end);
      yield;
    }
    return true;
  }

  /** Returns false if the budget refuses memory for more distinct values. */
  #enter(values: ReadValues): boolean {
    const { arena, kernel } = this.#context;
    const [table, entries, keys, lists] = [this.#table, this.#entries, this.#keys, this.#lists];
    const { count, groups, words, metas, column } = values;
    const mark = arena.next;
    const hashes = arena.take(count * 8);
    const ids = arena.take(count * 4);
    const numbers = groupColumn(arena, groups, count);
    const batch = lists.batch([numbers, column], count);
    let views = keys.make(batch, batch.selection, count);
    for (; views === 0; views = keys.make(batch, batch.selection, count)) arena.enlarge(arena.capacityBytes * 2);
    const known = table.count;
    const list = { views, rows: batch.selection, count, hashes, ids };
    table.hash(list);
    const isIn = entries.ensure(known + count) && table.insert(list) === count;
    if (isIn) kernel.exports.countEntries(entries.at, known, ids, count, words, metas, groups);
    arena.release(mark);
    return isIn;
  }
}

function groupColumn(arena: OperatorContext['arena'], groups: number, count: number): ColumnData {
  const [at, meta] = [arena.take(count * 8), arena.take(count)];
  const { u8, u32 } = arena.heap;
  u8.fill(0, meta, meta + count);
  for (let row = 0; row < count; row++) {
    u32[(at >>> 2) + row * 2] = u32[(groups >>> 2) + row]!;
    u32[(at >>> 2) + row * 2 + 1] = 0;
  }
  return { kind: 'typed', type: 'integer', at, meta, big: null };
}

/** A growing array of facts about the values. */
class Entries {
  readonly #heap: OperatorContext['arena']['heap'];
  #at: number;
  #most = ENTRIES_FIRST;

  constructor({ arena }: OperatorContext) {
    this.#heap = arena.heap;
    this.#at = arena.heap.allocate(ENTRIES_FIRST * ENTRY_BYTES);
  }

  get at(): number {
    return this.#at;
  }

  /** Returns false if the budget refuses the memory. */
  ensure(count: number): boolean {
    if (count <= this.#most) return true;
    const most = Math.max(count, this.#most * 2);
    const at = this.#heap.tryAllocate(most * ENTRY_BYTES);
    if (at === 0) return false;
    this.#heap.u8.copyWithin(at, this.#at, this.#at + this.#most * ENTRY_BYTES);
    this.release();
    this.#at = at;
    this.#most = most;
    return true;
  }

  release(): void {
    this.#heap.release(this.#at, this.#most * ENTRY_BYTES);
  }
}

// A metric that needs all values of a group. Holds them in a list per group. After the last row, the cell is computed
// by a kernel over the list, by a hash table of the distinct values, or by an accumulator that iterates over the list.

const TWO_32 = 2 ** 32;

export class HeldValues implements MetricState, Holder {
  readonly stateBytes = HELD_BYTES;
  readonly type: StoredType;
  readonly makes: StoredType;
  readonly accumulator: Accumulator;
  readonly #metric: GroupMetric;
  readonly #context: OperatorContext;
  readonly #memory: HeldMemory;
  readonly #number: number;
  readonly #lists: HeldLists;
  readonly #held: HeldBytes;
  readonly #builder: ColumnBuilder;
  /** Decimals beyond 64 bits. The lists contain their index in this array. */
  readonly #bigs: Decimal[] = [];
  #different: DifferentValues | null = null;
  /** Groups before this one have their cell in their state. */
  #settled = 0;

  constructor(metric: GroupMetric, context: OperatorContext, memory: HeldMemory) {
    this.#metric = metric;
    this.#context = context;
    this.#memory = memory;
    this.#held = new HeldBytes(context.budget);
    const { separator, percent } = metric;
    const isPercentile = metric.fn === 'median' || metric.fn === 'percentile';
    const type = isPercentile && metric.type === 'integer' ? 'decimal' : metric.type;
    this.accumulator = makeAccumulator(metric.fn, type, { separator, percent, held: this.#held });
    this.type = isPercentile ? type! : metric.reads!;
    this.makes = metric.makes;
    this.#builder = new ColumnBuilder(context.arena, metric.makes);
    this.#lists = new HeldLists(context, this.type, this.#bigs);
    this.#number = memory.enter(this);
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
    // A column of nulls may be stored in another form than its type suggests.
    if ((column.kind === 'typed') === (this.type === 'text' || this.type === 'json')) return;
    const { heap } = this.#context.arena;
    const { u32 } = heap;
    u32[(fold + CONDITION) >>> 2] = conditionMeta(batch, condition);
    u32[(fold + VALUES) >>> 2] = column.at;
    u32[(fold + META) >>> 2] = column.kind === 'typed' ? column.meta : 0;
    u32[(fold + STATES) >>> 2] = states.at;
    u32[(fold + STRIDE_BYTES) >>> 2] = states.stride;
    if (column.kind === 'typed' && column.big !== null && this.#memory.late === null) {
      for (const [row, { unscaled, scale }] of column.big) {
        heap.i64[(column.at >>> 3) + row] = BigInt(this.#bigs.push(decimalOf(unscaled, scale)!) - 1);
        this.#held.hold();
      }
    }
    const { exports } = this.#context.kernel;
    const memory = this.#memory;
    if (this.#held.isOver && memory.late === null && !memory.freeMemory()) return;
    for (let at = 0; at < count; ) {
      if (memory.late !== null) {
        const list = { rows: heap.u32[(fold + ROWS) >>> 2]!, ids: heap.u32[(fold + IDS) >>> 2]!, from: at, count };
        lateRows(this.#context.arena, batch, { place, condition }, list, (values) => {
          this.#countLate(states, values.groups, values.count);
          memory.late!.add(this.#number, { ...values, column: this.#asHeld(values.column) });
        });
        return;
      }
      const { blocks, reached } = memory;
      at = exports.holdValues(fold, at, count, blocks.next, blocks.limit, reached);
      blocks.next = heap.u32[reached >>> 2]!;
      if (at < count && !memory.advance()) return;
    }
  }

  *settle(groups: number, states: FoldStates): Generator<void, boolean> {
    const { fn, percent } = this.#metric;
    const context = this.#context;
    const settled = (group: number): void => {
      this.#settled = group;
    };
    if (fn === 'median' || fn === 'percentile') {
      const put = (group: number): void => this.#accumulateGroup(group, states);
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
    const { late } = this.#memory;
    if (late === null && this.#settled === 0) return this.#accumulate(range, states) ? builder.column : null;
    const made = builder.column;
    if (made.kind === 'raw') throw new Error('a built column is never raw');
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
    // Settled cells refer to these values.
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

  /** Computes the cells of groups with the accumulator. Returns false if the arena is full. */
  #accumulate({ first, step, count }: GroupRange, states: FoldStates): boolean {
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

  /** Writes the cell of one group, computed by the accumulator, into its state. */
  #accumulateGroup(group: number, states: FoldStates): void {
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

  /** Passes the values of groups `from` to `end` to `next` until it returns false, and then returns false. */
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

  /** For a percentile, integers are treated as decimals. */
  #asHeld(column: ColumnData): ColumnData {
    if (column.kind !== 'typed' || this.type !== 'decimal') return column;
    return { ...column, type: 'decimal' };
  }
}
