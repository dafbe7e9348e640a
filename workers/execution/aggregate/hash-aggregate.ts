// Groups rows and computes metrics with a hash table that numbers the keys. It also assigns rows to cells of groups,
// and keeps the first row of each group.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import type { Arena } from '../../memory/arena.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import { DONE, PAUSE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';
import { type BatchPiece, piecesOf } from '../cells/cell-operator.ts';
import { HashTable, KEY_ABSENT, KeyCache, type KeyList, type MissedRows } from '../keys/hash-table.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec, type RowTarget, targetBatch } from '../spill/row-codec.ts';
import {
  BATCH_READER_SIZE,
  PARTITION_LEVELS,
  type RowList,
  RowPartitions,
  SpillReader,
  SpillWriter,
} from '../spill/row-files.ts';
import { rowsBetween } from '../spill/row-store.ts';
import { type GroupedRows, GroupStates } from './group-states.ts';
import type { GroupMetric } from './metric-state.ts';

// The first row of each group, as records in the Run's memory, in the order in which the groups were first seen.

/**
 * Sizes of blocks of records. The first block is small, for small files. Later blocks are larger, so that memory is
 * requested rarely.
 */
const BLOCK_BYTES_FIRST = 65_536;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

/** Number of groups in an output batch. */
const GROUPS_READ = 2048;

interface Block {
  readonly at: number;
  readonly bytes: number;
  /** Address after the last record. */
  end: number;
}

class GroupRows {
  readonly #context: OperatorContext;
  readonly #codec: RowCodec;
  readonly #blocks: Block[] = [];
  #block = 0;
  #target: RowTarget | null = null;
  #selection = 0;

  constructor(context: OperatorContext, types: readonly StoredType[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#codec = new RowCodec(heap, context.kernel, types);
    const at = heap.allocate(BLOCK_BYTES_FIRST);
    this.#blocks.push({ at, bytes: BLOCK_BYTES_FIRST, end: at });
  }

  /**
   * Adds rows of a batch that contains the group columns. Returns false if the budget refused the memory; the rows are
   * added nevertheless.
   */
  add(batch: Batch, list: RowList): boolean {
    let granted = true;
    for (let from = 0; from < list.count; ) {
      const block = this.#blocks[this.#block]!;
      const { next, reached } = this.#codec.encode(batch, { ...list, from }, block.end, block.at + block.bytes);
      block.end = next;
      from = reached;
      if (from < list.count) granted = this.#nextBlock() && granted;
    }
    return granted;
  }

  /**
   * Passes the groups to `next`: their rows as a batch, with the order numbers (f64 per row) that the rows had when
   * they were added. The batch is valid until the generator continues.
   */
  *read(next: (batch: Batch, from: number, orders: number) => Slices): Steps {
    const { arena } = this.#context;
    const target = this.#readTarget();
    let from = 0;
    for (const { at, end } of this.#blocks.slice(0, this.#block + 1)) {
      for (let position = at; position < end; ) {
        const { rows, reached } = this.#codec.decode(target, position, end);
        position = reached;
        const columns: ColumnData[] = this.#codec.columns(target, rows);
        const mark = arena.next;
        yield* next(
          targetBatch({ arena, columns, rows, selection: this.#selection, sources: target.sources }),
          from,
          target.orders,
        );
        arena.release(mark);
        from += rows;
        yield;
      }
    }
  }

  clear(): void {
    for (const block of this.#blocks) block.end = block.at;
    this.#block = 0;
  }

  #nextBlock(): boolean {
    const { heap } = this.#context.arena;
    const last = this.#blocks[this.#block]!;
    const isEmpty = last.end === last.at;
    if (!isEmpty && this.#block + 1 < this.#blocks.length) {
      this.#block++;
      return true;
    }
    const bytes = isEmpty ? last.bytes * 2 : Math.min(BLOCK_BYTES_MOST, last.bytes * 2);
    let at = heap.tryAllocate(bytes, isEmpty);
    const granted = at !== 0;
    if (!granted) at = heap.allocate(bytes);
    if (isEmpty) this.#blocks[this.#block] = { at, bytes, end: at };
    else this.#block = this.#blocks.push({ at, bytes, end: at }) - 1;
    return granted;
  }

  #readTarget(): RowTarget {
    if (this.#target !== null) return this.#target;
    const { heap } = this.#context.arena;
    const rowsMax = this.#codec.rowsWithin(GROUPS_READ);
    this.#target = this.#codec.target(rowsMax);
    this.#selection = heap.allocate(rowsMax * 4);
    for (let row = 0; row < rowsMax; row++) heap.u32[(this.#selection >>> 2) + row] = row;
    return this.#target;
  }
}

// Assigns rows to cells: to the cells of their groups, or to one of several cells of a group.

/** Distributes the rows of a group over several cells. */
interface Spread {
  readonly width: number;
  /** Types of the emitted cells, and their computation from the cells of the metrics. */
  readonly makes: readonly StoredType[];
  made(columns: readonly ColumnData[], count: number): ColumnData[] | null;
  /** Returns the address of the cell index of each row (u32, KEY_ABSENT for no cell), or 0 if the arena is full. */
  places(batch: Batch, rows: number, count: number): number;
  /** Called once for each row without a cell. */
  dropped?(batch: Batch, row: number): void;
}

/** Returns the rows of a list that have a group. */
function knownRows(arena: Arena, { rows, ids, count }: GroupedRows): GroupedRows {
  const known = { rows: arena.take(count * 4), ids: arena.take(count * 4), count: 0 };
  const { u32 } = arena.heap;
  for (let position = 0; position < count; position++) {
    const id = u32[(ids >>> 2) + position]!;
    if (id === KEY_ABSENT) continue;
    u32[(known.rows >>> 2) + known.count] = u32[(rows >>> 2) + position]!;
    u32[(known.ids >>> 2) + known.count++] = id;
  }
  return known;
}

/** Returns the rows of a list that have a group and a cell in it (`places`: u32 per row), with the cell numbers. */
function spreadRows(batch: Batch, { rows, ids, count }: GroupedRows, places: number, spread: Spread): GroupedRows {
  const { arena } = batch;
  const cells = { rows: arena.take(count * 4), ids: arena.take(count * 4), count: 0 };
  const { u32 } = arena.heap;
  const { width } = spread;
  for (let position = 0; position < count; position++) {
    const id = u32[(ids >>> 2) + position]!;
    const place = u32[(places >>> 2) + position]!;
    if (id === KEY_ABSENT) continue;
    if (place === KEY_ABSENT) {
      spread.dropped?.(batch, u32[(rows >>> 2) + position]!);
      continue;
    }
    u32[(cells.rows >>> 2) + cells.count] = u32[(rows >>> 2) + position]!;
    u32[(cells.ids >>> 2) + cells.count++] = id * width + place;
  }
  return cells;
}

// Groups rows and computes metrics with a hash table that numbers the keys; kernels fold the cells into the states of
// the groups. If the budget refuses memory for more groups, rows of known groups are still folded. All other rows are
// deferred to files by the hash of their key and processed at the end; the output order is as if they had fit. States:
// open (groups are added) → closed (rows of unknown groups are deferred) → finished.

export interface HashAggregatePlan {
  /** Indexes of the columns read from the batches, group columns first, and their types. */
  readonly reads: readonly number[];
  readonly readTypes: readonly StoredType[];
  /** Number of leading columns that form the group key. */
  readonly groups: number;
  readonly metrics: readonly GroupMetric[];
  /** Set if a group has several cells of metrics instead of one. */
  readonly spread?: Spread;
  /** True if groups are emitted sorted by their cells instead of in the order first seen. */
  readonly sorted: boolean;
}

/** Number of columns between two checks of the clock. */
const COLUMNS_AT_ONCE = 256;

/** Writers for deferred rows, created when needed. */
interface Deferral {
  readonly codec: RowCodec;
  readonly partitions: RowPartitions;
}

/** Rows with their keys. `order` returns the number among all rows for a position. */
interface Slice extends KeyList {
  readonly batch: Batch;
  order(position: number): number;
}

export class HashAggregate {
  readonly #context: OperatorContext;
  readonly #plan: HashAggregatePlan;
  readonly #types: readonly StoredType[];
  readonly #keys: RowKeys;
  readonly #known: KeyCache;
  readonly #table: HashTable;
  readonly #states: GroupStates;
  readonly #rows: GroupRows;
  #deferral: Deferral | null = null;
  #closed = false;
  #taken = 0;

  constructor(context: OperatorContext, plan: HashAggregatePlan) {
    const { arena, kernel } = context;
    this.#context = context;
    this.#plan = plan;
    const groupTypes = plan.readTypes.slice(0, plan.groups);
    this.#types = [...groupTypes, ...(plan.spread?.makes ?? plan.metrics.map(({ makes }) => makes))];
    this.#keys = new RowKeys(
      context,
      groupTypes.map((_, index) => index),
      'exact',
    );
    this.#known = new KeyCache(context, plan.groups);
    this.#table = new HashTable(arena.heap, kernel);
    this.#states = new GroupStates(context, plan.metrics, plan.spread?.width);
    this.#rows = new GroupRows(context, groupTypes);
  }

  /** Number of groups in memory. */
  get groupCount(): number {
    return this.#table.count;
  }

  /** Number of rows that were added. */
  get rowCount(): number {
    return this.#taken;
  }

  /** @param firstOrder order number of the first row of all; later rows have the next numbers */
  *add(batch: Batch, firstOrder = 0): Slices {
    const { clock } = this.#context;
    for (const [place, index] of this.#plan.reads.entries()) {
      if (batch.columns[index]!.kind !== 'typed') batch.views(index);
      if (place % COLUMNS_AT_ONCE === COLUMNS_AT_ONCE - 1 && clock.isDue()) yield PAUSE;
    }
    const read = batch.withColumns(this.#plan.reads.map((index) => batch.columns[index]!));
    const taken = firstOrder + this.#taken;
    this.#taken += batch.live;
    yield* this.#take(read, (position) => taken + position);
  }

  *finish(next: Next): Steps {
    if (this.#plan.sorted) {
      yield* this.#finishSorted(next);
      return;
    }
    yield* this.#emit(next);
    if (this.#deferral === null) return;
    const { arena, kernel, spill } = this.#context;
    const codec = new RowCodec(arena.heap, kernel, this.#types);
    const results: SpillFile[] = [];
    const writer = new SpillWriter(arena.heap, codec, new SpillFile(spill));
    yield* this.#takeParts(() => {
      const file = new SpillFile(spill);
      writer.turnTo(file);
      results.push(file);
      return this.#emit((batch, orders) => {
        writer.write(batch, { rows: batch.selection, count: batch.live, orders });
        return DONE;
      });
    });
    writer.flush();
    yield* mergeFiles({ arena, kernel, spill, types: this.#types }, results, byOrder(arena), next);
  }

  /** Writes the groups with their metrics to files. In each file, groups have the order in which they were first seen. */
  *writeGroups(create: () => SpillFile): Steps {
    const { arena, kernel } = this.#context;
    const writer = new SpillWriter(arena.heap, new RowCodec(arena.heap, kernel, this.#types), create());
    const write = (): Steps =>
      this.#emit((batch, orders) => {
        writer.write(batch, { rows: batch.selection, count: batch.live, orders });
        return DONE;
      });
    yield* write();
    yield* this.#takeParts(() => {
      writer.turnTo(create());
      return write();
    });
    writer.flush();
  }

  *#finishSorted(next: Next): Steps {
    const order = { descending: false, nullsFirst: false, compare: 'typed' } as const;
    const terms = this.#types
      .slice(0, this.#plan.groups)
      .map((type, index) => ({ ...order, index, type: columnTypeOf(type) }));
    const sorter = new RowSorter(this.#context, this.#types, new SortKeys(this.#context, terms));
    const emit = (): Steps =>
      this.#emit((batch) => {
        sorter.add(batch);
        return DONE;
      });
    yield* emit();
    yield* this.#takeParts(emit);
    yield* sorter.finish((batch) => next(batch.withColumns(batch.columns.slice(1))));
  }

  /**
   * Processes the deferred rows partition by partition. The groups of each partition are emitted before the next
   * begins.
   */
  *#takeParts(emit: () => Steps): Steps {
    if (this.#deferral === null) return;
    const { arena } = this.#context;
    const { codec, partitions } = this.#deferral;
    const reader = new SpillReader(arena, codec, BATCH_READER_SIZE);
    const waiting = partitions.end().map((file) => ({ file, level: 1 }));
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const { file, level } = part;
      this.#clear(level >= PARTITION_LEVELS);
      partitions.begin(Math.min(level, PARTITION_LEVELS - 1));
      reader.open(file);
      while (reader.advance() > 0) {
        const order = (position: number): number => arena.heap.f64[(reader.orders >>> 3) + position]!;
        const mark = arena.next;
        yield* this.#take(reader.batch(), order);
        arena.release(mark);
        yield;
      }
      file.drop();
      yield* emit();
      waiting.push(...partitions.end().map((rest) => ({ file: rest, level: level + 1 })));
    }
  }

  #clear(forced: boolean): void {
    this.#known.clear();
    this.#table.clear();
    this.#table.forced = forced;
    this.#states.clear();
    this.#rows.clear();
    this.#closed = false;
  }

  *#take(batch: Batch, order: (position: number) => number): Slices {
    this.#keys.prepare(batch);
    this.#deferral?.codec.prepare(batch);
    for (const piece of piecesOf(batch)) {
      const { from, to } = piece;
      const rows = this.#groupedRows(batch, { from, to }, (position) => order(from + position));
      if (rows === null) piece.isTooLarge = true;
      else yield* this.#states.fold(batch, rows);
    }
  }

  /** Assigns the rows to groups. Returns the rows whose cells are to be folded, or null if the arena is full. */
  #groupedRows(
    batch: Batch,
    { from, to }: Pick<BatchPiece, 'from' | 'to'>,
    order: (position: number) => number,
  ): GroupedRows | null {
    const { arena } = this.#context;
    const count = to - from;
    const all = { rows: batch.selection + from * 4, count, ids: arena.tryTake(count * 4) };
    const { spread } = this.#plan;
    const places = spread?.places(batch, all.rows, count) ?? -1;
    const missed = all.ids === 0 || places === 0 ? null : this.#known.find(batch, all);
    if (missed === null) return null;
    const isComplete = missed.count === 0 || this.#number(batch, missed, order);
    if (isComplete === null) return null;
    this.#known.settle(batch, missed, all, isComplete);
    if (places > 0) return spreadRows(batch, all, places, spread!);
    return isComplete ? all : knownRows(arena, all);
  }

  /**
   * Assigns group ids to the missed rows, KEY_ABSENT to rows that are deferred. Returns false if rows are deferred, and
   * null if the arena is full.
   */
  #number(batch: Batch, missed: MissedRows, orderOf: (position: number) => number): boolean | null {
    const { arena } = this.#context;
    const { rows, count, ids, at } = missed;
    const views =
      this.#plan.groups === 0
        ? this.#keys.makeFilled(batch.withSelection(rows, count))
        : this.#keys.make(batch, rows, count);
    if (views === 0) return null;
    const [hashes, chosen] = [arena.tryTake(count * 8), arena.tryTake(count * 4)];
    if (hashes === 0 || chosen === 0) return null;
    const order = (position: number): number => orderOf(at === 0 ? position : arena.heap.u32[(at >>> 2) + position]!);
    const slice = { batch, views, rows, count, hashes, ids, order };
    this.#table.hash(slice);
    const reached = this.#closed ? 0 : this.#addGroups(slice, chosen);
    if (reached === count) return true;
    this.#putOff(slice, reached);
    return false;
  }

  /** Adds groups while there is memory. Returns the position reached. */
  #addGroups(slice: Slice, chosen: number): number {
    const { kernel } = this.#context;
    const known = this.#table.count;
    const forced = this.#table.forced || known === 0;
    if (!this.#states.ensure(known + slice.count, forced)) {
      this.#closed = true;
      return 0;
    }
    const reached = this.#table.insert(slice);
    this.#closed = reached < slice.count;
    const fresh = this.#table.count - known;
    if (fresh === 0) return reached;
    kernel.exports.splitByNew(slice.rows, 0, reached, slice.ids, known, chosen, 0);
    const orders = this.#orders(slice, reached, known, fresh);
    const granted = this.#rows.add(slice.batch, { rows: chosen, count: fresh, orders });
    if (!granted && !this.#table.forced) this.#closed = true;
    return reached;
  }

  /** Returns the orders of the rows that introduced new groups. */
  #orders({ ids, order }: Slice, reached: number, known: number, fresh: number): number {
    const { arena } = this.#context;
    const at = arena.take(fresh * 8);
    const { u32, f64 } = arena.heap;
    let made = 0;
    for (let position = 0; position < reached && made < fresh; position++) {
      if (u32[(ids >>> 2) + position] === known + made) f64[(at >>> 3) + made++] = order(position);
    }
    return at;
  }

  /** Defers the rows whose group is unknown. */
  #putOff(slice: Slice, from: number): void {
    const { arena } = this.#context;
    const { batch, rows, count, ids, hashes, order } = slice;
    this.#deferral ??= this.#makeDeferral(batch);
    this.#table.find(slice, from);
    const put = { rows: arena.take(count * 4), hashes: arena.take(count * 8), orders: arena.take(count * 8), count: 0 };
    const { u32, f64 } = arena.heap;
    for (let position = from; position < count; position++) {
      if (u32[(ids >>> 2) + position] !== KEY_ABSENT) continue;
      u32[(put.rows >>> 2) + put.count] = u32[(rows >>> 2) + position]!;
      u32[(put.hashes >>> 2) + put.count * 2 + 1] = u32[(hashes >>> 2) + position * 2 + 1]!;
      f64[(put.orders >>> 3) + put.count++] = order(position);
    }
    if (put.count > 0) this.#deferral.partitions.add(batch, put);
  }

  /** Emits the groups of the table in their order. */
  *#emit(next: (batch: Batch, orders: number) => Slices): Steps {
    yield* this.#states.settle(this.#table.count);
    yield* this.#rows.read((batch, from, orders) => this.#emitSome(batch, from, orders, next));
  }

  /** Emits as many groups at once as fit into the arena. */
  *#emitSome(batch: Batch, from: number, orders: number, next: (batch: Batch, orders: number) => Slices): Slices {
    const { arena } = this.#context;
    const { rows } = batch;
    const mark = arena.next;
    let columns = this.#columns(from, rows);
    if (columns === null && rows > 1) {
      arena.release(mark);
      const half = rows >>> 1;
      yield* this.#emitSome(rowsBetween(batch, 0, half), from, orders, next);
      arena.release(mark);
      yield* this.#emitSome(rowsBetween(batch, half, rows), from + half, orders + half * 8, next);
      return;
    }
    for (; columns === null; columns = this.#columns(from, rows)) arena.enlarge(arena.capacityBytes * 2);
    yield* next(batch.withColumns([...batch.columns, ...columns]), orders);
  }

  /** Returns null if the arena has no space for `count` groups. */
  #columns(from: number, count: number): ColumnData[] | null {
    const columns = this.#states.columns(from, count);
    const { spread } = this.#plan;
    return columns === null || spread === undefined ? columns : spread.made(columns, count);
  }

  #makeDeferral(batch: Batch): Deferral {
    const { arena, kernel, spill } = this.#context;
    const codec = new RowCodec(arena.heap, kernel, this.#plan.readTypes);
    codec.prepare(batch);
    return { codec, partitions: new RowPartitions(arena, codec, spill) };
  }
}
