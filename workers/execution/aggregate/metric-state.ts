// The interface of a metric over many groups at once, and the metrics whose state has a fixed size.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { ColumnType, StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { FOLD_FORMS } from '../../kernel/bindings/expression-words.ts';
import { META_BIG, META_NULL } from '../../kernel/layout/cells.ts';
import {
  CONDITION,
  DOUBLES_BYTES,
  DOUBLES_LOW,
  DOUBLES_META,
  IDS,
  META,
  ROWS,
  STATE_BYTES,
  STATE_META,
  STATES,
  STRIDE_BYTES,
  VALUES,
} from '../../kernel/layout/groups.ts';
import type { Arena } from '../../memory/arena.ts';
import type { BudgetShare } from '../../memory/budget.ts';
import { Failed } from '../../protocol/failure.ts';
import { compareDecimals, Decimal, decimalOf, divideDecimals } from '../../values/decimal.ts';
import { CellFault, setCell } from '../cells/value-cells.ts';
import type { MetricName } from './accumulators.ts';
import { ExactSum, WideSum } from './sums.ts';

// The interface of a metric over many groups at once: a state per group in memory, folding cells into the states, and
// the resulting column.

/**
 * A metric. `place` is the index of its column in the batches (-1 without a column), `condition` the index of the
 * boolean column that selects rows (-1 for all rows).
 */
export interface GroupMetric {
  readonly fn: MetricName;
  readonly type: ColumnType | null;
  /** Stored type of the cells that it reads; null for a count of rows. */
  readonly reads: StoredType | null;
  /** Stored type of its result. */
  readonly makes: StoredType;
  readonly place: number;
  readonly condition: number;
  readonly separator: string;
  /** From 0 to 100. */
  readonly percent: number;
  /** For a mean of sums: index of the column with the number of values in each sum. */
  readonly countsPlace?: number;
  /** For the minimum or maximum of decimals from several parts of a file, see `#refuseTie`. */
  readonly refusesTies?: boolean;
  /** True if other threads compute the rest of the sum: a sum with too many digits then fails, and is no row error. */
  readonly isPartial?: boolean;
}

/** Location of the states: the address for group 0, and the distance to the next group in bytes. */
export interface FoldStates {
  readonly at: number;
  readonly stride: number;
}

/** A selection of groups: `first`, `first + step` and so on. */
export interface GroupRange {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export interface MetricState {
  /** Size of a group's state in bytes, a multiple of 8. */
  readonly stateBytes: number;
  /** Writes the state of a group without rows. */
  initialise(state: number): void;
  /** Folds the cells of rows. `fold` is a description in which rows and ids are already set. */
  fold(batch: Batch, fold: number, count: number, states: FoldStates): void;
  /** Returns the cells of groups as a column in the arena, or null if the arena is full. */
  column(groups: GroupRange, states: FoldStates): ColumnData | null;
  /** Drops the values kept outside the states. */
  clear(): void;
}

// One metric over many groups at once: kernels fold cells into the states of the groups (kernel/assembly/fold.ts).
// Values that a state cannot represent are kept here, in addition to the states. Does not own the memory of the states.

/** Description of a fold. `flag` is 1 for the maximum or the last value. */
interface FoldKind {
  readonly by: 'count' | 'values' | 'sum' | 'doubles' | 'extreme' | 'end';
  readonly form: number;
  readonly flag: 0 | 1;
}

/** Approximate heap memory of a value that is kept outside the states. */
const BESIDE_BYTES = 512;

const FORM_OF = {
  integer: FOLD_FORMS.int,
  date: FOLD_FORMS.int,
  datetime: FOLD_FORMS.int,
  decimal: FOLD_FORMS.decimal,
  number: FOLD_FORMS.double,
  boolean: FOLD_FORMS.boolean,
} as const;

/** Returns null if no kernel supports the metric. */
function foldKind(fn: MetricName, type: ColumnType | null): FoldKind | null {
  if (fn === 'count') return { by: 'count', form: 0, flag: 0 };
  if (fn === 'count_values') return { by: 'values', form: 0, flag: 0 };
  if (type === null || type === 'text' || type === 'json') return null;
  const form = FORM_OF[type];
  switch (fn) {
    case 'sum':
    case 'mean':
      return { by: type === 'number' ? 'doubles' : 'sum', form, flag: 0 };
    case 'min':
    case 'all':
      return { by: 'extreme', form, flag: 0 };
    case 'max':
    case 'any':
      return { by: 'extreme', form, flag: 1 };
    case 'first':
    case 'last':
      return { by: 'end', form, flag: fn === 'last' ? 1 : 0 };
    default:
      return null;
  }
}

/** True if `AggregateState` supports the metric. */
export function isFolded(fn: MetricName, type: ColumnType | null): boolean {
  return foldKind(fn, type) !== null;
}

export class AggregateState implements MetricState {
  readonly #metric: GroupMetric;
  readonly #kind: FoldKind;
  readonly #arena: Arena;
  readonly #kernel: KernelExports;
  readonly #budget: BudgetShare;
  readonly #reader: CellReader | null;
  readonly #builder: ColumnBuilder;
  /** Values outside the states, by group: sums beyond 64 bits, and decimals that do not fit. */
  readonly #wide = new Map<number, WideSum>();
  readonly #exact = new Map<number, ExactSum>();
  readonly #big = new Map<number, Decimal>();
  #chargedBytes = 0;

  constructor(metric: GroupMetric, arena: Arena, kernel: KernelExports, budget: BudgetShare) {
    const kind = foldKind(metric.fn, metric.type);
    if (kind === null) throw new Error('no kernel folds this metric');
    this.#metric = metric;
    this.#kind = kind;
    this.#arena = arena;
    this.#kernel = kernel;
    this.#budget = budget;
    this.#reader = metric.place < 0 || metric.type === null ? null : new CellReader(metric.type, metric.place);
    this.#builder = new ColumnBuilder(arena, metric.makes);
  }

  /** A mean has a count after its sum. */
  get stateBytes(): number {
    const bytes = this.#kind.by === 'doubles' ? DOUBLES_BYTES : STATE_BYTES;
    return this.#metric.fn === 'mean' ? bytes + STATE_BYTES : bytes;
  }

  initialise(state: number): void {
    const { u8 } = this.#arena.heap;
    u8.fill(0, state, state + this.stateBytes);
    const { by } = this.#kind;
    if (by !== 'count' && by !== 'values') u8[state + this.#metaOffset] = META_NULL;
  }

  fold(batch: Batch, fold: number, count: number, states: FoldStates): void {
    const { place, condition } = this.#metric;
    const column = place < 0 ? null : batch.columns[place]!;
    if (column?.kind === 'raw') throw new Error('views of folded columns are made before');
    const chosen = condition < 0 ? null : batch.columns[condition]!;
    if (chosen !== null && chosen.kind !== 'typed') throw new Error('a condition is a column of booleans');
    const { u32 } = this.#arena.heap;
    u32[(fold + CONDITION) >>> 2] = chosen === null ? 0 : chosen.meta;
    u32[(fold + VALUES) >>> 2] = column === null ? 0 : column.at;
    u32[(fold + META) >>> 2] = column?.kind === 'typed' ? column.meta : 0;
    u32[(fold + STATES) >>> 2] = states.at;
    u32[(fold + STRIDE_BYTES) >>> 2] = states.stride;
    const kernel = this.#kernel;
    const { by } = this.#kind;
    if (by === 'count') kernel.foldCount(fold, count);
    else if (by === 'values') kernel.foldValues(fold, count);
    else if (column?.kind === 'typed') this.#foldValues(batch, fold, count, states);
  }

  column({ first: from, step, count }: GroupRange, states: FoldStates): ColumnData | null {
    const builder = this.#builder;
    if (!builder.begin(count)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('a folded metric is typed');
    const first = states.at + from * states.stride;
    const stride = states.stride * step;
    const needsValues = this.#kind.by === 'doubles' || this.#metric.fn === 'mean';
    if (!needsValues) this.#kernel.unpackStates(first, stride, count, made.at, made.meta);
    if (!needsValues && this.#wide.size + this.#big.size === 0) return made;
    for (let row = 0; row < count; row++) {
      const id = from + row * step;
      if (!needsValues && !this.#wide.has(id) && !this.#big.has(id)) continue;
      const value = this.#value(id, first + row * stride);
      if (!setCell(builder, row, value)) throw new Error('a number always fits');
    }
    return builder.column;
  }

  clear(): void {
    this.#wide.clear();
    this.#exact.clear();
    this.#big.clear();
    if (this.#chargedBytes > 0) this.#budget.release(this.#chargedBytes);
    this.#chargedBytes = 0;
  }

  get #metaOffset(): number {
    return this.#kind.by === 'doubles' ? DOUBLES_META : STATE_META;
  }

  #foldValues(batch: Batch, fold: number, count: number, states: FoldStates): void {
    const { heap } = this.#arena;
    const { refusesTies = false } = this.#metric;
    if (refusesTies) this.#reader!.bind(batch);
    let isBound = refusesTies;
    for (let at = 0; at < count; at++) {
      if (!refusesTies) at = this.#runKernel(fold, at, count);
      if (at === count) break;
      if (!isBound) this.#reader!.bind(batch);
      isBound = true;
      const row = heap.u32[(heap.u32[(fold + ROWS) >>> 2]! >>> 2) + at]!;
      const id = heap.u32[(heap.u32[(fold + IDS) >>> 2]! >>> 2) + at]!;
      const state = states.at + id * states.stride;
      const value = this.#reader!.read(row);
      if (refusesTies) this.#refuseTie(id, state, value as Decimal | null);
      if (!refusesTies || this.#runKernel(fold, at, at + 1) === at) this.#addBeside(id, state, value);
    }
    if (this.#metric.fn !== 'mean') return;
    heap.u32[(fold + STATES) >>> 2] = states.at + this.stateBytes - STATE_BYTES;
    const { countsPlace } = this.#metric;
    if (countsPlace === undefined) this.#kernel.foldValues(fold, count);
    else this.#addCounts(batch, countsPlace, fold, count);
  }

  #addCounts(batch: Batch, place: number, fold: number, count: number): void {
    const counts = batch.columns[place]!;
    if (counts.kind !== 'typed') throw new Error('counts are integers');
    const { u32 } = this.#arena.heap;
    u32[(fold + VALUES) >>> 2] = counts.at;
    u32[(fold + META) >>> 2] = counts.meta;
    if (this.#kernel.foldSum(fold, 0, count) < count)
      throw new Error('the count of a group exceeds the number of rows that a file can have');
  }

  /**
   * If decimals are equal but written differently, such as 1.5 and 1.50, the result is the first one in the file. The
   * parts do not show which one is first, so one thread has to process the file again. Throws Failed.
   */
  #refuseTie(id: number, state: number, value: Decimal | null): void {
    const kept = value === null ? null : this.#kept(id, state);
    if (value === null || kept === null || kept.scale === value.scale || compareDecimals(kept, value) !== 0) return;
    throw new Failed('RUN_RESOURCE_LIMIT', 'The parts have equal decimals with different numbers of digits.');
  }

  #runKernel(fold: number, from: number, count: number): number {
    const { by, form, flag } = this.#kind;
    if (by === 'sum') return this.#kernel.foldSum(fold, from, count);
    if (by === 'doubles') return this.#kernel.foldDoubles(fold, from, count);
    if (by === 'extreme') return this.#kernel.foldExtreme(fold, from, count, form, flag);
    return this.#kernel.foldEnd(fold, from, count, form, flag);
  }

  /** Adds a value at which the kernel has stopped. */
  #addBeside(id: number, state: number, value: unknown): void {
    const { by, flag } = this.#kind;
    if (by === 'sum') entryOf(this.#wide, id, () => this.#charged(new WideSum())).add(decimalOfValue(value));
    else if (by === 'doubles') {
      entryOf(this.#exact, id, () => this.#charged(new ExactSum())).add(value as number);
      this.#arena.heap.u8[state + DOUBLES_META] = 0;
    } else {
      const kept = this.#kept(id, state);
      const order = kept === null ? 0 : compareDecimals(value as Decimal, kept);
      const replaces = kept === null || (by === 'end' ? flag === 1 : flag === 1 ? order > 0 : order < 0);
      if (replaces) this.#keep(id, state, value as Decimal);
    }
  }

  #kept(id: number, state: number): Decimal | null {
    const { u8, i64 } = this.#arena.heap;
    const meta = u8[state + STATE_META]!;
    if (meta === META_NULL) return null;
    return meta === META_BIG ? this.#big.get(id)! : decimalOf(i64[state >>> 3]!, meta);
  }

  #keep(id: number, state: number, value: Decimal): void {
    if (!this.#big.has(id)) this.#charged(value);
    this.#big.set(id, value);
    this.#arena.heap.u8[state + STATE_META] = META_BIG;
  }

  #value(id: number, state: number): unknown {
    const { by } = this.#kind;
    if (by === 'extreme' || by === 'end') return this.#kept(id, state);
    const { u8, i64 } = this.#arena.heap;
    if (u8[state + this.#metaOffset] === META_NULL && !this.#wide.has(id)) return null;
    const { fn, makes } = this.#metric;
    const count = fn === 'mean' ? Number(i64[(state + this.stateBytes - STATE_BYTES) >>> 3]!) : 0;
    if (by === 'doubles') {
      const sum = this.#doublesOf(id, state);
      return fn === 'mean' ? sum.mean(count) : sum.value;
    }
    let sum = this.#sumOf(id, state);
    if (sum !== null && fn === 'mean') sum = divideDecimals(sum, new Decimal(count, 0));
    if (sum === null && this.#metric.isPartial === true)
      throw new Failed('RUN_RESOURCE_LIMIT', 'A sum of the parts has too many digits.');
    if (sum === null) return new CellFault('OUT_OF_RANGE');
    return makes === 'integer' ? sum.digits : sum;
  }

  /**
   * Returns the exact sum. Moves the sum from the state to the values outside, so that a repeated call gives the same
   * result.
   */
  #doublesOf(id: number, state: number): ExactSum {
    const { f64 } = this.#arena.heap;
    const [high, low] = [f64[state >>> 3]!, f64[(state + DOUBLES_LOW) >>> 3]!];
    const sum = this.#exact.get(id) ?? new ExactSum();
    if (high !== 0) sum.add(high);
    if (low !== 0) sum.add(low);
    if (this.#exact.has(id)) f64.fill(0, state >>> 3, (state >>> 3) + 2);
    return sum;
  }

  /** Same as #doublesOf, for decimals. Returns null if the sum has too many digits. */
  #sumOf(id: number, state: number): Decimal | null {
    const { u8, i64 } = this.#arena.heap;
    const meta = u8[state + STATE_META]!;
    const held = meta === META_NULL ? null : decimalOf(i64[state >>> 3]!, meta);
    const wide = this.#wide.get(id);
    if (wide === undefined) return held;
    if (held !== null) wide.add(held);
    i64[state >>> 3] = 0n;
    return wide.value;
  }

  #charged<T>(made: T): T {
    this.#budget.force(BESIDE_BYTES);
    this.#chargedBytes += BESIDE_BYTES;
    return made;
  }
}

function entryOf<T>(entries: Map<number, T>, id: number, make: () => T): T {
  const known = entries.get(id);
  if (known !== undefined) return known;
  const made = make();
  entries.set(id, made);
  return made;
}

function decimalOfValue(value: unknown): Decimal {
  return value instanceof Decimal ? value : new Decimal(value as number | bigint, 0);
}
