// Groups and their metrics as rows come: a hash table numbers the keys, kernels fold the cells into the states of the groups.
// When the budget refuses more groups, rows of those that are known are folded on, all others are put off to files by the
// hash of their key, and their groups come behind the rest, in their order.
// States: open (groups are added) → closed (unknown ones are put off) → finished.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import { inSlices } from '../cells/slices.ts';
import { HashTable, KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import { KeyCache, type MissedRows } from '../keys/key-cache.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { PARTITION_LEVELS, RowPartitions } from '../spill/row-partitions.ts';
import { rowsBetween } from '../spill/rows-between.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';
import { GroupRows } from './group-rows.ts';
import { GroupStates } from './group-states.ts';
import type { GroupMetric } from './metric-state.ts';
import { knownRows, type Spread, spreadRows } from './spread-rows.ts';

export interface HashAggregatePlan {
  /** Columns that are read: indexes in the batches, groups first; and their types. */
  readonly reads: readonly number[];
  readonly readTypes: readonly StoredType[];
  /** How many of the first columns make the group. */
  readonly groups: number;
  readonly metrics: readonly GroupMetric[];
  /** Where a group has several cells of metrics; else it has one. */
  readonly spread?: Spread;
  /** Whether groups come by their cells instead of in the order first seen. */
  readonly sorted: boolean;
}

/** What writes rows that are put off; made when they are needed. */
interface Deferral {
  readonly codec: RowCodec;
  readonly partitions: RowPartitions;
}

/** Rows with their keys; `order` gives a position's place among all rows. */
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

  add(batch: Batch): void {
    for (const index of this.#plan.reads) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const read = batch.withColumns(this.#plan.reads.map((index) => batch.columns[index]!));
    const taken = this.#taken;
    this.#taken += batch.live;
    this.#take(read, (position) => taken + position);
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

  /** Takes the rows that were put off, part by part; each part's groups are handed on before the next begins. */
  *#takeParts(emit: () => Steps): Steps {
    if (this.#deferral === null) return;
    const { arena } = this.#context;
    const { codec, partitions } = this.#deferral;
    const reader = new SpillReader(arena, codec, BATCH_ROOM);
    const waiting = partitions.end().map((file) => ({ file, level: 1 }));
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const { file, level } = part;
      this.#clear(level >= PARTITION_LEVELS);
      partitions.begin(Math.min(level, PARTITION_LEVELS - 1));
      reader.open(file);
      while (reader.advance() > 0) {
        const order = (position: number): number => arena.heap.f64[(reader.orders >>> 3) + position]!;
        const mark = arena.next;
        this.#take(reader.batch(), order);
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

  #take(batch: Batch, order: (position: number) => number): void {
    this.#keys.prepare(batch);
    this.#deferral?.codec.prepare(batch);
    const { arena } = this.#context;
    inSlices(batch, (from, to) => {
      const count = to - from;
      const all = { rows: batch.selection + from * 4, count, ids: arena.tryTake(count * 4) };
      const places = this.#plan.spread?.places(batch, all.rows, count) ?? -1;
      const missed = all.ids === 0 || places === 0 ? null : this.#known.find(batch, all);
      if (missed === null) return false;
      const isComplete = missed.count === 0 || this.#number(batch, missed, (position) => order(from + position));
      if (isComplete === null) return false;
      this.#known.settle(batch, missed, all, isComplete);
      if (places > 0) this.#states.fold(batch, spreadRows(arena, all, places, this.#plan.spread!.width));
      else this.#states.fold(batch, isComplete ? all : knownRows(arena, all));
      return true;
    });
  }

  /** Gives the rows that were missed the ids of their groups, KEY_ABSENT to those that are put off; false when there are such, null when the arena is full. */
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

  /** Adds groups as long as there is room; gives the position reached. */
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

  /** Orders of the rows that brought new groups. */
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

  /** Puts the rows off that are of no known group. */
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

  /** Hands the groups of the table on, in their order. */
  *#emit(next: (batch: Batch, orders: number) => Slices): Steps {
    yield* this.#states.settle(this.#table.count);
    yield* this.#rows.read((batch, from, orders) => this.#emitSome(batch, from, orders, next));
  }

  /** As many groups at once as the arena has room for. */
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

  /** Null when there is no room for so many. */
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
