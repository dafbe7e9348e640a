// Values of groups for which memory has no room: they are sorted by group, metric and, for metrics over the order of values,
// by value, in files when the budget has no room. Once all have come each metric takes them in order, and the cells that come
// of them wait in a file until their groups are handed on.
import { Batch, type ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { NativeText } from '../../batch/native-text.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { DONE, type Steps } from '../../run/time-slices.ts';
import { type ValueRow, valueBatch } from '../cells/value-batch.ts';
import { viewsOf } from '../sort/row-places.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortKeys } from '../sort/sort-keys.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { type ReaderRoom, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';
import type { Accumulator } from './accumulator.ts';

/** Rows of cells that are written at once, and characters of their texts that are held at once, but for those of one group. */
const ROWS_MAX = 512;
const TEXT_LENGTH_MAX = 262_144;

/** For rows of cells, which are read one by one and may be wide. */
const WAITING_ROOM: ReaderRoom = { rowsMax: 16, bufferBytes: 65_536 };

/** Columns before those of the values: number of the group, index of the metric. */
const HEAD_TYPES = ['integer', 'integer'] as const;

/** A metric that may have values here. */
export interface LateMetric {
  /** Of its values. */
  readonly type: StoredType;
  readonly makes: StoredType;
  readonly accumulator: Accumulator;
  /** The cell of its value. */
  cell(value: unknown): unknown;
}

/** Values in a row, with the numbers of their groups (u32 by position). */
export interface GroupValues {
  readonly groups: number;
  readonly column: ColumnData;
  readonly count: number;
}

export class LateValues {
  readonly #context: OperatorContext;
  readonly #metrics: readonly LateMetric[];
  readonly #types: readonly StoredType[];
  /** Index of each metric's column among the types: metrics over the order of values share the sorted ones. */
  readonly #columnOf: readonly number[];
  readonly #sorter: RowSorter;
  readonly #codec: RowCodec;
  readonly #waiting: SpillFile;
  readonly #writer: SpillWriter;
  #taken = 0;
  #rows: ValueRow[] = [];
  #textLength = 0;
  #cells: Iterator<readonly unknown[]> | null = null;
  /** Cells of groups from the first one on that were read. */
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

  /** Takes values of a metric; those of a group come in the order of the source. */
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

  /** Makes the cells of groups 0 to `groups`. @param countOf values of a group by metric */
  *settle(groups: number, countOf: (metric: number, group: number) => number): Steps {
    const walk = new LateWalk(this.#metrics, countOf, (cells) => this.#put(cells));
    const readers = this.#types.map((type, index) => new CellReader(type, index + 1));
    yield* this.#sorter.finish((batch) => {
      for (const reader of readers) reader.bind(batch);
      for (let position = 0; position < batch.live; position++) {
        const row = batch.physicalRow(position);
        const metric = readers[1]!.read(row) as number;
        walk.reach(readers[0]!.read(row) as number, metric);
        const { u8, u32 } = batch.heap;
        const view = (viewsOf(batch.columns[0]!) >>> 2) + row * 2;
        const key = u8.subarray(u32[view]!, u32[view]! + u32[view + 1]!);
        walk.add(key, readers[this.#columnOf[metric]!]!.read(row), batch.sourceRow(row));
      }
      return DONE;
    });
    walk.reach(groups, -1);
    this.#flush();
    this.#writer.flush();
    this.#cells = this.#waitingCells();
  }

  /** Cells of groups before this one are not asked for any more. */
  release(group: number): void {
    while (this.#first < group && this.#window.length > 0) {
      this.#windowLength -= textLengthOf(this.#window.shift()!);
      this.#first++;
    }
  }

  /** Reads the cells of groups before `end`; false when their texts are too long to be read at once. */
  reach(end: number): boolean {
    while (this.#first + this.#window.length < end) {
      if (this.#windowLength > TEXT_LENGTH_MAX) return false;
      this.#readOne();
    }
    return this.#windowLength <= TEXT_LENGTH_MAX;
  }

  /** The cell of a group. Those that were asked for stay until they are released. */
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
    const reader = new SpillReader(this.#context.arena, this.#codec, WAITING_ROOM);
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

  /** Columns of nulls. */
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

/** Gives the values of each group and metric to the metric, and hands the cells of each group on. */
class LateWalk {
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

  /** Goes on to this metric of this group; those between have no values. */
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
