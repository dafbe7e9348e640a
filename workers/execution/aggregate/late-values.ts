// The memory in which metrics hold values of groups, and the values of groups for which memory is exhausted.
import { Batch, type ColumnData } from '../../batch/batch.ts';
import { NativeText } from '../../batch/native-cell.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import { DONE, type Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { type ValueRow, valueBatch } from '../cells/value-cells.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';
import { viewsOf } from '../sort/top-of-groups.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { type ReaderSize, SpillReader, SpillWriter } from '../spill/row-files.ts';
import type { Accumulator } from './accumulators.ts';
import type { FoldStates } from './metric-state.ts';

// Values of groups for which memory is exhausted. They are sorted by group and metric, and for metrics on sorted values
// also by value, in files if the budget refuses memory. After the last row, each metric processes its values in order,
// and the resulting cells wait in a file until their groups are emitted.

/**
 * Maximum number of rows of cells written at once, and maximum number of characters of their texts in memory. The
 * second limit does not apply to the cells of a single group.
 */
const ROWS_MAX = 512;
const TEXT_LENGTH_MAX = 262_144;

/** Read buffer for rows of cells, which are read one by one and may be wide. */
const WAITING_READER_SIZE: ReaderSize = { rowsMax: 16, bufferBytes: 65_536 };

/** Types of the columns before the values: group number, metric index. */
const HEAD_TYPES = ['integer', 'integer'] as const;

/** A metric that may have late values. */
interface LateMetric {
  /** Type of its values. */
  readonly type: StoredType;
  readonly makes: StoredType;
  readonly accumulator: Accumulator;
  /** Converts its value to a cell. */
  cell(value: unknown): unknown;
}

/** Consecutive values with their group numbers (u32 per value). */
export interface GroupValues {
  readonly groups: number;
  readonly column: ColumnData;
  readonly count: number;
}

export class LateValues {
  readonly #context: OperatorContext;
  readonly #metrics: readonly LateMetric[];
  readonly #types: readonly StoredType[];
  /** For each metric, the index of its column among the types. Metrics on sorted values share a column. */
  readonly #columnOf: readonly number[];
  readonly #sorter: RowSorter;
  readonly #codec: RowCodec;
  readonly #waiting: SpillFile;
  readonly #writer: SpillWriter;
  #taken = 0;
  #rows: ValueRow[] = [];
  #textLength = 0;
  #cells: Iterator<readonly unknown[]> | null = null;
  /** Cells that have been read, from the first group on. */
  #window: (readonly unknown[])[] = [];
  #windowLength = 0;
  #first = 0;

  constructor(context: OperatorContext, metrics: readonly LateMetric[]) {
    const { arena, kernel, spill } = context;
    this.#context = context;
    this.#metrics = metrics;
    const isSorted = ({ accumulator }: LateMetric): boolean => accumulator.holding !== undefined;
    const sorted = [...new Set(metrics.filter(isSorted).map(({ type }) => type))];
    const plain = [...new Set(metrics.filter((metric) => !isSorted(metric)).map(({ type }) => type))];
    this.#types = [...HEAD_TYPES, ...sorted, ...plain];
    this.#columnOf = metrics.map((metric) => {
      const place = isSorted(metric) ? sorted.indexOf(metric.type) : sorted.length + plain.indexOf(metric.type);
      return HEAD_TYPES.length + place;
    });
    const order = { descending: false, nullsFirst: true, compare: 'typed' } as const;
    const terms = [...HEAD_TYPES, ...sorted].map((type, index) => ({ ...order, type: columnTypeOf(type), index }));
    this.#sorter = new RowSorter(context, this.#types, new SortKeys(context, terms));
    const makes = metrics.map(({ makes }) => makes);
    this.#codec = new RowCodec(arena.heap, kernel, makes);
    this.#waiting = new SpillFile(spill);
    this.#writer = new SpillWriter(arena.heap, this.#codec, this.#waiting);
  }

  /** Adds values of a metric. Values of a group arrive in source order. */
  add(metric: number, { groups, column, count }: GroupValues): void {
    if (count === 0) return;
    const { arena } = this.#context;
    const mark = arena.next;
    const numbers = this.#integers(count, (row) => arena.heap.u32[(groups >>> 2) + row]!);
    const metrics = this.#integers(count, () => metric);
    const nothing = this.#nothing(count);
    const values = this.#types.slice(HEAD_TYPES.length).map((type, index): ColumnData => {
      return index + HEAD_TYPES.length === this.#columnOf[metric] ? column : nothing(type);
    });
    const selection = arena.take(count * 4);
    for (let row = 0; row < count; row++) arena.heap.u32[(selection >>> 2) + row] = row;
    const sourceRows = { first: this.#taken };
    this.#taken += count;
    const columns = [numbers, metrics, ...values];
    const materialise = (): never => {
      throw new Error('values have no raw columns');
    };
    this.#sorter.add(
      new Batch({ arena, rows: count, selection, live: count, columns, raw: null, sourceRows, materialise }),
    );
    arena.release(mark);
  }

  /**
   * Computes the cells of groups 0 to `groups`.
   * @param countOf returns the number of values of a group for a metric
   */
  *settle(groups: number, countOf: (metric: number, group: number) => number): Steps {
    const traversal = new LateTraversal(this.#metrics, countOf, (cells) => this.#put(cells));
    const readers = this.#types.map((type, index) => new CellReader(type, index + 1));
    yield* this.#sorter.finish((batch) => {
      for (const reader of readers) reader.bind(batch);
      for (let position = 0; position < batch.live; position++) {
        const row = batch.physicalRow(position);
        const metric = readers[1]!.read(row) as number;
        traversal.reach(readers[0]!.read(row) as number, metric);
        const { u8, u32 } = batch.heap;
        const view = (viewsOf(batch.columns[0]!) >>> 2) + row * 2;
        const key = u8.subarray(u32[view]!, u32[view]! + u32[view + 1]!);
        traversal.add(key, readers[this.#columnOf[metric]!]!.read(row), batch.sourceRow(row));
      }
      return DONE;
    });
    traversal.reach(groups, -1);
    this.#flush();
    this.#writer.flush();
    this.#cells = this.#waitingCells();
  }

  /** Releases the cells of the groups before this one. */
  release(group: number): void {
    while (this.#first < group && this.#window.length > 0) {
      this.#windowLength -= textLengthOf(this.#window.shift()!);
      this.#first++;
    }
  }

  /** Reads the cells of groups before `end`. Returns false if their texts are too long to be in memory at once. */
  reach(end: number): boolean {
    while (this.#first + this.#window.length < end) {
      if (this.#windowLength > TEXT_LENGTH_MAX) return false;
      this.#readOne();
    }
    return this.#windowLength <= TEXT_LENGTH_MAX;
  }

  /** Returns the cell of a group. Cells stay in memory until they are released. */
  value(metric: number, group: number): unknown {
    while (this.#first + this.#window.length <= group) this.#readOne();
    return this.#window[group - this.#first]![metric];
  }

  drop(): void {
    this.#waiting.drop();
  }

  #readOne(): void {
    const cells = this.#cells!.next().value as readonly unknown[];
    this.#window.push(cells);
    this.#windowLength += textLengthOf(cells);
  }

  *#waitingCells(): Generator<readonly unknown[], undefined> {
    const reader = new SpillReader(this.#context.arena, this.#codec, WAITING_READER_SIZE);
    const cells = this.#metrics.map(({ makes }, index) => new CellReader(makes, index));
    reader.open(this.#waiting);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      for (let row = 0; row < batch.live; row++) {
        for (const cell of cells) cell.bind(batch);
        yield cells.map((cell) => cell.read(row));
      }
    }
    return undefined;
  }

  #put(cells: readonly unknown[]): void {
    this.#rows.push({ cells, source: 0 });
    this.#textLength += textLengthOf(cells);
    if (this.#rows.length >= ROWS_MAX || this.#textLength >= TEXT_LENGTH_MAX) this.#flush();
  }

  #flush(): void {
    if (this.#rows.length === 0) return;
    const { arena } = this.#context;
    const mark = arena.next;
    const types = this.#metrics.map(({ makes }) => makes);
    const batch = valueBatch(this.#context, this.#rows, types);
    this.#writer.write(batch, { rows: batch.selection, count: batch.live, orders: arena.take(batch.live * 8) });
    arena.release(mark);
    this.#rows = [];
    this.#textLength = 0;
  }

  #integers(count: number, value: (row: number) => number): ColumnData {
    const { arena } = this.#context;
    const [at, meta] = [arena.take(count * 8), arena.take(count)];
    const { u8, u32 } = arena.heap;
    u8.fill(0, meta, meta + count);
    for (let row = 0; row < count; row++) {
      u32[(at >>> 2) + row * 2] = value(row);
      u32[(at >>> 2) + row * 2 + 1] = 0;
    }
    return { kind: 'typed', type: 'integer', at, meta, big: null };
  }

  /** Returns columns of nulls. */
  #nothing(count: number): (type: StoredType) => ColumnData {
    const { arena } = this.#context;
    const [at, meta] = [arena.take(count * VIEW_BYTES), arena.take(count)];
    arena.heap.u8.fill(0, at, at + count * VIEW_BYTES);
    arena.heap.u8.fill(META_NULL, meta, meta + count);
    return (type) => {
      if (type === 'text_with_kind') return { kind: 'views', at, kinds: meta };
      if (type === 'text' || type === 'json') return { kind: 'views', at };
      return { kind: 'typed', type, at, meta, big: null };
    };
  }
}

function textLengthOf(cells: readonly unknown[]): number {
  let length = 0;
  for (const cell of cells) {
    const text = cell instanceof NativeText ? cell.text : cell;
    if (typeof text === 'string') length += text.length;
  }
  return length;
}

/** Passes the values of each group to its metrics, and the cells of each group to `next`. */
class LateTraversal {
  readonly #metrics: readonly LateMetric[];
  readonly #countOf: (metric: number, group: number) => number;
  readonly #next: (cells: readonly unknown[]) => void;
  #group = 0;
  #metric = -1;
  #cells: unknown[] = [];
  #key: Buffer = Buffer.alloc(0);

  constructor(
    metrics: readonly LateMetric[],
    countOf: (metric: number, group: number) => number,
    next: (cells: readonly unknown[]) => void,
  ) {
    this.#metrics = metrics;
    this.#countOf = countOf;
    this.#next = next;
  }

  /** Moves on to this metric of this group. Metrics in between have no values. */
  reach(group: number, metric: number): void {
    while (this.#group < group) {
      while (this.#metric < this.#metrics.length) this.#step();
      this.#next(this.#cells);
      this.#cells = [];
      this.#group++;
      this.#metric = -1;
    }
    while (this.#metric < metric) this.#step();
  }

  add(key: Uint8Array, value: unknown, place: number): void {
    const { accumulator } = this.#metrics[this.#metric]!;
    if (accumulator.holding === undefined) {
      accumulator.add(value);
      return;
    }
    const isNew = !this.#key.equals(key);
    if (isNew) this.#key = Buffer.from(key);
    accumulator.holding.sorted.add({ value, count: 1 }, isNew, place);
  }

  #step(): void {
    const before = this.#metrics[this.#metric];
    if (before !== undefined) {
      const { accumulator, cell } = before;
      this.#cells.push(cell(accumulator.holding?.sorted.end() ?? (accumulator.holding ? null : accumulator.end())));
    }
    this.#metric++;
    const next = this.#metrics[this.#metric];
    if (next === undefined) return;
    const { accumulator } = next;
    if (accumulator.holding === undefined) accumulator.begin();
    else accumulator.holding.sorted.begin(this.#countOf(this.#metric, this.#group));
  }
}

// Passes cells of rows directly to the late values.

/** The rows from index `from` on, with their group numbers. */
interface LateRows {
  readonly rows: number;
  readonly ids: number;
  readonly from: number;
  readonly count: number;
}

/** Returns the address of the booleans that select the rows of a metric, or 0 if it uses all rows. */
export function conditionMeta(batch: Batch, condition: number): number {
  if (condition < 0) return 0;
  const chosen = batch.columns[condition]!;
  if (chosen.kind !== 'typed') throw new Error('a condition is a column of booleans');
  return chosen.meta;
}

/** Passes on the non-null cells of a metric, without gaps. */
export function lateRows(
  arena: Arena,
  batch: Batch,
  { place, condition }: { readonly place: number; readonly condition: number },
  list: LateRows,
  next: (values: GroupValues) => void,
): void {
  const column = batch.columns[place]!;
  if (column.kind === 'raw') throw new Error('views of a metric’s column are made before');
  const mark = arena.next;
  const most = list.count - list.from;
  const [at, meta, groups] = [arena.take(most * 8), arena.take(most), arena.take(most * 4)];
  const { u8, u32 } = arena.heap;
  const chosen = conditionMeta(batch, condition);
  const metas = column.kind === 'typed' ? column.meta : (column.kinds ?? 0);
  const big = new Map<number, { readonly unscaled: bigint; readonly scale: number }>();
  let count = 0;
  for (let i = list.from; i < list.count; i++) {
    const row = u32[(list.rows >>> 2) + i]!;
    if (chosen !== 0 && u8[chosen + row] !== 1) continue;
    if (column.kind === 'typed' ? u8[metas + row] === META_NULL : u32[(column.at >>> 2) + row * 2] === 0) continue;
    u8.copyWithin(at + count * 8, column.at + row * 8, column.at + row * 8 + 8);
    u8[meta + count] = metas === 0 ? 0 : u8[metas + row]!;
    u32[(groups >>> 2) + count] = u32[(list.ids >>> 2) + i]!;
    const value = column.kind === 'typed' ? column.big?.get(row) : undefined;
    if (value !== undefined) big.set(count, value);
    count++;
  }
  next({ groups, column: cellsAt(column, at, meta, big), count });
  arena.release(mark);
}

function cellsAt(
  column: Exclude<ColumnData, { readonly kind: 'raw' }>,
  at: number,
  meta: number,
  big: Map<number, { readonly unscaled: bigint; readonly scale: number }>,
): ColumnData {
  if (column.kind === 'typed') return { kind: 'typed', type: column.type, at, meta, big: big.size === 0 ? null : big };
  return column.kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
}

// The memory in which the metrics of one operation hold values of groups. If the budget is exhausted, one of two
// policies applies. `sort`: all held values and all later ones are sorted (LateValues). `refuse`: the memory is
// reported as full, and its owner decides what to do. States: holding → late or full, until `clear`.

/** A metric that holds values. */
export interface Holder extends LateMetric {
  /**
   * Called before rows are emitted: computes cells from the held values. Returns false if there is no memory for that.
   */
  settle(groups: number, states: FoldStates): Generator<void, boolean>;
  /** Passes all held values of unsettled groups to `late`. */
  letGo(groups: number, states: FoldStates, late: LateValues): void;
  /** Total number of values of a group so far. */
  countOf(group: number, states: FoldStates): number;
}

/** Policy for values for which there is no memory. */
export type WhenFull = 'sort' | 'refuse';

export class HeldMemory {
  readonly #context: OperatorContext;
  readonly #holders: Holder[] = [];
  readonly #states: (holder: number) => FoldStates;
  readonly #groups: () => number;
  readonly #whenFull: WhenFull;
  readonly reached: number;
  #blocks: GrowingBlocks | null = null;
  #late: LateValues | null = null;
  #isFull = false;

  /**
   * @param states returns the states of a holder
   * @param groups returns the number of groups with states
   */
  constructor(
    context: OperatorContext,
    states: (holder: number) => FoldStates,
    groups: () => number,
    whenFull: WhenFull,
  ) {
    this.#context = context;
    this.#whenFull = whenFull;
    this.#states = states;
    this.#groups = groups;
    this.reached = context.arena.heap.allocate(8);
  }

  /** Registers a holder and returns its number. */
  enter(holder: Holder): number {
    return this.#holders.push(holder) - 1;
  }

  get blocks(): GrowingBlocks {
    this.#blocks ??= new GrowingBlocks(this.#context.arena.heap);
    return this.#blocks;
  }

  /** null while values are held. */
  get late(): LateValues | null {
    return this.#late;
  }

  /** True if values were refused, so that the held values are incomplete. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Moves to a block with more space, or makes all holders pass their values on. Returns false if the memory is full.
   */
  advance(): boolean {
    return this.blocks.advance() || this.freeMemory();
  }

  /**
   * Makes all holders pass their values on, including those outside the blocks. Returns false if the memory is full.
   */
  freeMemory(): boolean {
    if (this.#whenFull === 'refuse') this.#isFull = true;
    else this.#letGo();
    if (this.#isFull) return false;
    this.#blocks?.release();
    this.#blocks = null;
    return true;
  }

  /** Computes the cells of groups 0 to `groups`. Must be called before columns are requested. */
  *settle(groups: number): Steps {
    for (const [index, holder] of this.#holders.entries()) {
      if (this.#late !== null) break;
      // The blocks are kept, because settled cells may be in them.
      if (!(yield* holder.settle(groups, this.#states(index)))) this.#letGo();
    }
    yield* this.#late?.settle(groups, (index, group) => this.#holders[index]!.countOf(group, this.#states(index))) ??
      [];
  }

  /** Releases its memory. The object cannot be used afterwards. */
  drop(): void {
    this.#blocks?.release();
    this.#late?.drop();
  }

  clear(): void {
    this.#blocks?.restart();
    this.#isFull = false;
    this.#late?.drop();
    this.#late = null;
  }

  #letGo(): void {
    const late = new LateValues(this.#context, this.#holders);
    const groups = this.#groups();
    for (const [index, holder] of this.#holders.entries()) holder.letGo(groups, this.#states(index), late);
    this.#late = late;
  }
}
