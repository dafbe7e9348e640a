// Adds metrics of whole groups to each of their rows: the cells of all rows are folded into the states of their groups,
// the results are stored in a table, and the rows get their cells from the table.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { done, PAUSE, type Pause, type Slices } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';
import { setCell } from '../cells/value-cells.ts';
import type { NumberedRows as NumberedList } from '../keys/hash-table.ts';
import type { KeyFacts } from '../keys/numbered-rows.ts';
import { GroupStates } from './group-states.ts';
import type { GroupMetric } from './metric-state.ts';

/** Number of groups whose cells are computed at once. */
const GROUPS_AT_ONCE = 2048;

/** Cells of 8 bytes, followed by one meta or kind byte per cell. */
const CELL_BYTES = 8;

/**
 * Maximum number of decimals beyond 64 bits, which are on the JavaScript heap. With more of them, groups are sorted
 * instead.
 */
const BIG_CELLS_MAX = 4096;

/** Combines the cell of a row with the total of its group. */
export interface ShareOfTotal {
  readonly type: StoredType;
  /** Index of the column with the row's cells, and its stored type. */
  readonly column: number;
  readonly columnType: StoredType;
  value(own: unknown, total: unknown): unknown;
}

export interface TotalColumn {
  readonly metric: GroupMetric;
  /** null if the column is the total itself. */
  readonly share: ShareOfTotal | null;
}

/** The cells of one metric, by group number. */
interface Cells {
  readonly at: number;
  readonly meta: number;
  readonly big: Map<number, { readonly unscaled: bigint; readonly scale: number }>;
}

export class GroupTotals implements KeyFacts {
  readonly #context: OperatorContext;
  readonly #columns: readonly TotalColumn[];
  readonly #next: Next;
  readonly #states: GroupStates;
  #cells: Cells[] = [];
  #cellsAt = 0;
  #cellsBytes = 0;

  /** @param next receives rows with their totals appended as columns */
  constructor(context: OperatorContext, columns: readonly TotalColumn[], next: Next) {
    this.#context = context;
    this.#columns = columns;
    this.#next = next;
    this.#states = new GroupStates(
      context,
      columns.map(({ metric }) => metric),
      1,
      'refuse',
    );
  }

  reserve(keys: number): boolean {
    return this.#states.ensure(keys, false);
  }

  take(batch: Batch, list: NumberedList): boolean {
    done(this.#states.fold(batch, list));
    return !this.#states.isFull;
  }

  *settle(keys: number): Generator<Pause | undefined, boolean> {
    for (const step of this.#states.settle(keys)) yield step === PAUSE ? PAUSE : undefined;
    const { heap } = this.#context.arena;
    this.#cellsBytes = Math.max(1, keys) * this.#columns.length * (CELL_BYTES + 1);
    this.#cellsAt = heap.tryAllocate(this.#cellsBytes);
    if (this.#cellsAt === 0) return false;
    const metas = this.#cellsAt + keys * this.#columns.length * CELL_BYTES;
    this.#cells = this.#columns.map((_, index) => {
      return { at: this.#cellsAt + index * keys * CELL_BYTES, meta: metas + index * keys, big: new Map() };
    });
    for (let from = 0; from < keys; from += GROUPS_AT_ONCE) {
      this.#hold(from, Math.min(keys, from + GROUPS_AT_ONCE));
      if (this.#cells.reduce((sum, { big }) => sum + big.size, 0) > BIG_CELLS_MAX) return false;
      yield;
    }
    return true;
  }

  *emit(batch: Batch, ids: number): Slices {
    const { clock } = this.#context;
    const made: ColumnData[] = [];
    for (const [index, { metric, share }] of this.#columns.entries()) {
      const total = this.#gather(this.#cells[index]!, metric.makes, ids, batch.live);
      made.push(share === null ? total : this.#shares(batch, share, total, metric.makes));
      if (clock.isDue()) yield PAUSE;
    }
    yield* this.#next(batch.withColumns([...batch.columns, ...made]));
  }

  drop(): void {
    this.#states.drop();
    if (this.#cellsAt !== 0) this.#context.arena.heap.release(this.#cellsAt, this.#cellsBytes);
    this.#cells = [];
  }

  /** Copies the cells of groups `from` to `to` from the states, as many at once as fit into the arena. */
  #hold(from: number, to: number): void {
    const { arena } = this.#context;
    const mark = arena.next;
    const columns = this.#states.columns(from, to - from);
    if (columns !== null)
      for (const [index, column] of columns.entries()) this.#put(this.#cells[index]!, column, from, to);
    arena.release(mark);
    if (columns !== null) return;
    if (to - from === 1) arena.enlarge(arena.capacityBytes * 2);
    const middle = to - from === 1 ? to : (from + to) >>> 1;
    this.#hold(from, middle);
    if (middle < to) this.#hold(middle, to);
  }

  #put({ at, meta, big }: Cells, column: ColumnData, from: number, to: number): void {
    if (column.kind === 'raw') throw new Error('metrics make no raw columns');
    const { u8 } = this.#context.arena.heap;
    u8.copyWithin(at + from * CELL_BYTES, column.at, column.at + (to - from) * CELL_BYTES);
    const metas = column.kind === 'typed' ? column.meta : column.kinds;
    if (metas !== undefined) u8.copyWithin(meta + from, metas, metas + to - from);
    if (column.kind === 'typed') for (const [row, value] of column.big ?? []) big.set(from + row, value);
  }

  /** Collects the cells of rows by their group numbers. */
  #gather(cells: Cells, type: StoredType, ids: number, count: number): ColumnData {
    const { arena } = this.#context;
    const [at, meta] = [arena.take(count * CELL_BYTES), arena.take(count)];
    const { u8, u32, f64 } = arena.heap;
    const [from, to] = [cells.at >>> 2, at >>> 2];
    for (let row = 0; row < count; row++) {
      const id = f64[(ids >>> 3) + row]!;
      u32[to + row * 2] = u32[from + id * 2]!;
      u32[to + row * 2 + 1] = u32[from + id * 2 + 1]!;
      u8[meta + row] = u8[cells.meta + id]!;
    }
    if (type === 'text' || type === 'json') return { kind: 'views', at };
    if (type === 'text_with_kind') return { kind: 'views', at, kinds: meta };
    return { kind: 'typed', type, at, meta, big: this.#bigOf(cells, ids, count) };
  }

  #bigOf({ big }: Cells, ids: number, count: number): TypedColumn['big'] {
    if (big.size === 0) return null;
    const { f64 } = this.#context.arena.heap;
    const found: [number, { readonly unscaled: bigint; readonly scale: number }][] = [];
    for (let row = 0; row < count; row++) {
      const value = big.get(f64[(ids >>> 3) + row]!);
      if (value !== undefined) found.push([row, value]);
    }
    return found.length === 0 ? null : new Map(found);
  }

  #shares(batch: Batch, share: ShareOfTotal, total: ColumnData, totalType: StoredType): ColumnData {
    const { arena } = this.#context;
    const own = new CellReader(share.columnType, share.column);
    const whole = new CellReader(totalType, batch.columns.length);
    const both = batch.withColumns([...batch.columns, total]);
    own.bind(both);
    whole.bind(both);
    const builder = new ColumnBuilder(arena, share.type);
    while (!builder.begin(batch.rows)) arena.enlarge(arena.capacityBytes * 2);
    for (let row = 0; row < batch.live; row++) {
      if (!setCell(builder, row, share.value(own.read(row), whole.read(row)))) throw new Error('a number always fits');
    }
    return builder.column;
  }
}
