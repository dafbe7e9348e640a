// Groups with more values than memory may hold: their metrics let go of the values here, where they are sorted by group,
// metric and value, in files when the budget has no room. The rows of these groups wait in a file until all values have
// come; then each metric takes its values in order.
import type { Batch } from '../../batch.ts';
import type { ColumnType } from '../../schema.ts';
import { RowCodec } from '../../spill/row-codec.ts';
import { type ReaderRoom, RowReader } from '../../spill/row-reader.ts';
import { RowWriter } from '../../spill/row-writer.ts';
import { SpillFile } from '../../spill/spill-file.ts';
import { CellReader } from '../cells/cell-values.ts';
import type { OperatorContext } from '../operation.ts';
import type { Accumulator, Holding } from './accumulator.ts';
import type { HeldBytes } from './held-values.ts';
import { viewsOf } from './row-places.ts';
import { RowSorter } from './row-sorter.ts';
import { SortKeys } from './sort-keys.ts';
import { type ValueRow, valueBatch } from './value-batch.ts';

/** Values, and characters of their texts, that are handed to the sorter at once. */
const VALUES_MAX = 512;
const TEXT_LENGTH_MAX = 262_144;

/** For rows of groups, which are read one by one and may be wide. */
const WAITING_ROOM: ReaderRoom = { rowsMax: 16, bufferBytes: 65_536 };

/** Columns before those of the values: number of the group, index of the metric, how often the value came. */
const HEAD_TYPES: readonly ColumnType[] = ['integer', 'integer', 'integer'];

/** The metrics of an operation, of which some hold values. */
export interface HoldingMetrics {
  readonly held: HeldBytes;
  /** By the cells that come out behind those of the group. */
  readonly accumulators: readonly Accumulator[];
  /** The cell of a metric's value. */
  cell(value: unknown): unknown;
}

export class LateGroups {
  readonly #context: OperatorContext;
  readonly #metrics: HoldingMetrics;
  readonly #rowTypes: readonly ColumnType[];
  readonly #cellsBefore: number;
  readonly #types: readonly ColumnType[];
  readonly #sorter: RowSorter;
  readonly #codec: RowCodec;
  readonly #waiting: SpillFile;
  readonly #writer: RowWriter;
  #rows: ValueRow[] = [];
  #textLength = 0;
  /** Groups that were closed: the number of the one at hand. */
  #group = 0;
  #places = 0;
  /** Values of the group at hand by metric; null while it has let go of none. */
  #counts: number[] | null = null;

  /**
   * @param rowTypes of the cells of a group's row
   * @param cellsBefore those before the metrics' cells
   */
  constructor(context: OperatorContext, metrics: HoldingMetrics, rowTypes: readonly ColumnType[], cellsBefore: number) {
    const { arena, kernel, spill } = context;
    this.#context = context;
    this.#metrics = metrics;
    this.#rowTypes = rowTypes;
    this.#cellsBefore = cellsBefore;
    const types = metrics.accumulators.flatMap(({ holding }) => (holding === undefined ? [] : [holding.type]));
    this.#types = [...HEAD_TYPES, ...new Set(types)];
    const order = { descending: false, nullsFirst: true, compare: 'typed' } as const;
    const terms = this.#types.map((type, index) => ({ ...order, type, index })).filter(({ index }) => index !== 2);
    this.#sorter = new RowSorter(context, this.#types, new SortKeys(context, terms));
    this.#codec = new RowCodec(arena.heap, kernel, rowTypes);
    this.#waiting = new SpillFile(spill);
    this.#writer = new RowWriter(arena.heap, this.#codec, this.#waiting);
  }

  /** Whether the group at hand has let go of values: `close` ends it. */
  get isOpen(): boolean {
    return this.#counts !== null;
  }

  /** Takes all values that the metrics hold of the group at hand. May allocate. */
  take(): void {
    const { accumulators, held } = this.#metrics;
    this.#counts ??= accumulators.map(() => 0);
    for (const [metric, { holding }] of accumulators.entries()) {
      if (holding === undefined) continue;
      for (const { value, count } of holding.letGo()) {
        this.#counts[metric]! += count;
        this.#put(metric, count, value, holding.type);
      }
    }
    this.#flush();
    held.release();
  }

  /** Ends the group: `row` has its cells, but for those of metrics that hold values. May allocate. */
  close(row: ValueRow): void {
    const counts = this.#counts ?? [];
    this.#counts = null;
    // A metric's first record has no value, it tells how many will come.
    for (const [metric, { holding }] of this.#metrics.accumulators.entries()) {
      if (holding !== undefined) this.#put(metric, counts[metric]!, null, holding.type);
    }
    this.#flush();
    this.#group++;
    const { arena } = this.#context;
    const mark = arena.next;
    const batch = valueBatch(this.#context, [row], this.#rowTypes);
    this.#writer.write(batch, { rows: batch.selection, count: 1, orders: arena.take(8) });
    arena.release(mark);
  }

  /** Hands on the complete rows of the groups. */
  *finish(next: (row: ValueRow) => void): Iterable<void> {
    this.#writer.flush();
    const rows = this.#waitingRows();
    const complete = (made: ReadonlyMap<number, unknown>): void => {
      const { value: row } = rows.next();
      if (row === undefined) throw new Error('each group that is late has a row that waits');
      const cells = [...row.cells];
      // The cell that is there is what the operation puts for null.
      for (const [metric, value] of made) if (value !== null) cells[this.#cellsBefore + metric] = value;
      next({ cells, source: row.source });
    };
    const values = new SortedValues(this.#metrics, this.#types);
    for (const _ of this.#sorter.finish((batch) => {
      for (const made of values.read(batch)) complete(made);
    }))
      yield;
    complete(values.end());
    this.#waiting.drop();
  }

  *#waitingRows(): Generator<ValueRow, undefined> {
    const reader = new RowReader(this.#context.arena, this.#codec, WAITING_ROOM);
    const cells = this.#rowTypes.map((type, index) => new CellReader(type, index));
    reader.open(this.#waiting);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      const rows = Array.from({ length: batch.live }, (_, row): ValueRow => {
        for (const cell of cells) cell.bind(batch);
        return { cells: cells.map((cell) => cell.read(row)), source: batch.sourceRow(row) };
      });
      yield* rows;
    }
  }

  #put(metric: number, count: number, value: unknown, type: ColumnType): void {
    const cells: unknown[] = this.#types.map(() => null);
    cells[0] = this.#group;
    cells[1] = metric;
    cells[2] = count;
    cells[this.#types.indexOf(type, HEAD_TYPES.length)] = value;
    this.#rows.push({ cells, source: this.#places++ });
    if (typeof value === 'string') this.#textLength += value.length;
    if (this.#rows.length >= VALUES_MAX || this.#textLength >= TEXT_LENGTH_MAX) this.#flush();
  }

  #flush(): void {
    if (this.#rows.length === 0) return;
    const { arena } = this.#context;
    const mark = arena.next;
    this.#sorter.add(valueBatch(this.#context, this.#rows, this.#types));
    arena.release(mark);
    this.#rows = [];
    this.#textLength = 0;
  }
}

/** Reads sorted values: gives the metrics of each group when the next one begins. */
class SortedValues {
  readonly #metrics: HoldingMetrics;
  readonly #readers: readonly CellReader[];
  readonly #readerOf: readonly number[];
  #group = 0;
  #metric = -1;
  #holding: Holding | null = null;
  #key: Buffer = Buffer.alloc(0);
  #made = new Map<number, unknown>();

  constructor(metrics: HoldingMetrics, types: readonly ColumnType[]) {
    this.#metrics = metrics;
    this.#readers = types.map((type, index) => new CellReader(type, index + 1));
    this.#readerOf = metrics.accumulators.map(({ holding }) =>
      holding === undefined ? -1 : types.indexOf(holding.type, HEAD_TYPES.length),
    );
  }

  *read(batch: Batch): Iterable<ReadonlyMap<number, unknown>> {
    const keys = viewsOf(batch.columns[0]!) >>> 2;
    const bind = (): void => {
      for (const reader of this.#readers) reader.bind(batch);
    };
    bind();
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const [group, metric, count] = this.#readers.slice(0, HEAD_TYPES.length).map((reader) => reader.read(row));
      if (group !== this.#group) {
        const made = this.end();
        this.#group = group as number;
        yield made;
        bind();
      }
      const { u8, u32 } = batch.heap;
      const key = u8.subarray(u32[keys + row * 2]!, u32[keys + row * 2]! + u32[keys + row * 2 + 1]!);
      const isNew = !this.#key.equals(key);
      if (isNew) this.#key = Buffer.from(key);
      const value = this.#readers[this.#readerOf[metric as number]!]!.read(row);
      if (value === null) this.#begin(metric as number, count as number);
      else this.#holding!.sorted.add({ value, count: count as number }, isNew, batch.sourceRow(row));
    }
  }

  /** The metrics of the group at hand. */
  end(): ReadonlyMap<number, unknown> {
    this.#endMetric();
    const made = this.#made;
    this.#made = new Map();
    return made;
  }

  #begin(metric: number, count: number): void {
    this.#endMetric();
    this.#metric = metric;
    this.#holding = this.#metrics.accumulators[metric]!.holding!;
    this.#holding.sorted.begin(count);
  }

  #endMetric(): void {
    if (this.#holding !== null) this.#made.set(this.#metric, this.#metrics.cell(this.#holding.sorted.end()));
    this.#holding = null;
  }
}
