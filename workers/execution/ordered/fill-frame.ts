// Base of operations that process cells in row order, the columns that `fill_down` and `fill_up` fill, and the last
// value of each group.

import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Column } from '../../batch/schema.ts';
import { KIND_TEXT, META_NULL } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Sliced } from '../../scheduling/time-slices.ts';
import { COLUMN_TYPES } from '../../template/base-parameters.ts';
import type { OperatorContext, RowChoice } from '../../template/operation.ts';
import type { ColumnSet, Scope } from '../../template/scope.ts';
import { type CellTarget, withoutRows } from '../cells/cell-operator.ts';
import { cellTargets } from '../cells/cell-targets.ts';
import { FailedRows } from '../expressions/row-condition.ts';

// Plans fill_down and fill_up: the columns to fill, the columns for the results, and the group columns.

export interface FillPlan {
  readonly targets: readonly CellTarget[];
  /** Empty if all rows are one group. */
  readonly groups: readonly Column[];
}

interface Given {
  readonly columns: ColumnSet;
  readonly group_by?: ColumnSet | undefined;
  readonly into?: string | readonly string[] | undefined;
}

export function planFill({ columns, group_by, into }: Given, scope: Scope): FillPlan {
  const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
  const targets = cellTargets(scope, { columns, into, takes: COLUMN_TYPES, makes: null, moves: true });
  const groupIds = new Set(groups.map(({ id }) => id));
  const both = targets.find(({ target }) => groupIds.has(target.id));
  if (both !== undefined) {
    const name = JSON.stringify(both.target.name);
    scope.problem('/columns', 'COLUMN_TWICE', `The column ${name} cannot be filled and be the group as well.`);
  }
  return { targets, groups };
}

// Base of operations that process cells in row order: the rows that they change (`where`), and the columns that receive
// the results (in place or new columns from `into`).

/** One byte per position in a batch, 1 if a condition holds. */
export type Marks = Uint8Array;

export interface MarkedBatch {
  /** The batch without the rows that are dropped because their condition could not be computed. */
  readonly batch: Batch;
  /** One for each condition (FillFrame.conditions). */
  readonly masks: readonly Marks[];
  /** Marks of the additional condition, or null without one. */
  readonly extra: Marks | null;
}

export class FillFrame {
  /** Index of each target's source in the batches. */
  readonly sources: readonly number[];
  readonly inPlace: readonly boolean[];
  readonly #context: OperatorContext;
  readonly #choices: readonly RowChoice[];
  /** For each target, the index of its condition in `#choices`, or -1. */
  readonly #choiceOf: readonly number[];
  readonly #extra: RowChoice | null;
  /** For each output column, the target that computes it, or -1. */
  readonly #makers: readonly number[];

  /** @param extra a condition of the operation itself, evaluated together with `where` */
  constructor(context: OperatorContext, targets: readonly CellTarget[], extra: RowChoice | null = null) {
    this.#context = context;
    this.#extra = extra;
    this.sources = targets.map(({ source }) => context.indexOf(source!));
    this.inPlace = targets.map(({ source, target }) => source!.id === target.id);
    const wanted = targets.map(({ source }) => context.cellWhere.get(source!.id) ?? context.where);
    this.#choices = [...new Set(wanted)].filter((choice) => choice !== null);
    const places = new Map(this.#choices.map((choice, index) => [choice, index]));
    this.#choiceOf = wanted.map((choice) => (choice === null ? -1 : places.get(choice)!));
    const makers = new Map(targets.map(({ target }, index) => [target.id, index]));
    this.#makers = context.output.map(({ id }) => makers.get(id) ?? -1);
  }

  /** Number of conditions that select the rows to change. */
  get conditions(): number {
    return this.#choices.length;
  }

  /**
   * Evaluates all conditions for the rows of a batch, and reports the rows for which a condition cannot be computed.
   */
  *mark(given: Batch): Sliced<MarkedBatch> {
    const all = this.#extra === null ? this.#choices : [...this.#choices, this.#extra];
    if (all.length === 0) return { batch: given, masks: [], extra: null };
    const failed = new FailedRows();
    const lists: { readonly at: number; readonly count: number }[] = [];
    for (const choice of all) {
      const at = given.arena.take(given.live * 4);
      given.heap.u8.copyWithin(at, given.selection, given.selection + given.live * 4);
      lists.push({ at, count: yield* choice(given, at, given.live, failed.add) });
    }
    const dropped = failed.dropped(given, null, this.#context.errors);
    const masks = lists.map(({ at, count }) => marksOf(given, at, count, dropped));
    const extra = this.#extra === null ? null : masks.pop()!;
    return { batch: dropped.size === 0 ? given : withoutRows(given, dropped), masks, extra };
  }

  /** Marks of the rows in which a target is changed, or null for all rows. */
  chosen(target: number, masks: readonly Marks[]): Marks | null {
    return masks[this.#choiceOf[target]!] ?? null;
  }

  /**
   * Returns the batch with the output columns.
   * @param made one column per target
   */
  put(batch: Batch, made: readonly ColumnData[]): Batch {
    const { layout } = this.#context;
    return batch.withColumns(
      this.#makers.map((maker, index) => (maker < 0 ? batch.columns[layout[index]!]! : made[maker]!)),
    );
  }
}

/** Finishes a new column: rows that are not selected become null. Returns the number of cells with a value. */
export function settleNewColumn(batch: Batch, column: ColumnData, chosen: Marks | null): number {
  if (column.kind === 'raw') throw new Error('a new column is never raw');
  const { u8, u32 } = batch.heap;
  let filled = 0;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const view = (column.at >>> 2) + row * 2;
    const isChosen = chosen === null || chosen[position] === 1;
    if (column.kind === 'typed') {
      if (!isChosen) u8[column.meta + row] = META_NULL;
      else if (u8[column.meta + row] !== META_NULL) filled++;
    } else if (!isChosen) u32.fill(0, view, view + 2);
    else if (u32[view] !== 0) filled++;
  }
  return filled;
}

/** Returns marks as a column, for deferred rows. */
export function marksColumn(batch: Batch, marks: Marks | null): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  const { u8 } = batch.heap;
  u8.fill(0, meta, meta + batch.rows);
  for (let position = 0; marks !== null && position < batch.live; position++) {
    u8[meta + batch.physicalRow(position)] = marks[position]!;
  }
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}

export function marksOfColumn(batch: Batch, index: number): Marks {
  const column = batch.columns[index]!;
  if (column.kind !== 'typed') throw new Error('marks are booleans');
  return Uint8Array.from(
    { length: batch.live },
    (_, position) => batch.heap.u8[column.meta + batch.physicalRow(position)]!,
  );
}

/** Converts a list of `count` physical rows (u32 each, in batch order) to marks. */
function marksOf(batch: Batch, list: number, count: number, dropped: ReadonlySet<number>): Marks {
  const marks = new Uint8Array(batch.live - dropped.size);
  const { u32 } = batch.heap;
  let made = 0;
  for (let position = 0, at = 0; position < batch.live; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    const holds = at < count && u32[(list >>> 2) + at] === row;
    if (holds) at++;
    if (dropped.size > 0 && dropped.has(row)) continue;
    marks[made++] = holds ? 1 : 0;
  }
  return marks;
}

// The last value of each column in each group, kept across batches in the Run's memory. Asks the budget for memory. If
// it is refused, the current batch still gets its memory, and the object reports that it is full.

/** Initial space for a value: most values fit, and later ones overwrite it. */
const VALUE_BYTES_FIRST = 16;

/** Length of a text that has been forgotten. Its space is kept for the next text. */
const FORGOTTEN = 0xffffffff;

/** Size of a block of values. Larger values are allocated separately. */
const BLOCK_BYTES = 65_536;

/** Number of entries that are allocated at once: 48 KiB. */
const ENTRIES_AT_ONCE = 4096;
const ENTRY_BYTES = 12;

/** Size of a typed value: 8 bytes and its meta byte. The digits of a value beyond 64 bits follow. */
const TYPED_BYTES = 9;

/** A typed value: its 8 bytes, its meta byte, and its digits if it is a decimal beyond 64 bits. */
export interface LastValue {
  readonly bits: bigint;
  readonly meta: number;
  readonly big: { readonly unscaled: bigint; readonly scale: number } | null;
}

/** The last values of one column, by group. */
export class LastCells {
  readonly #values: LastValues;
  readonly #place: number;
  readonly #columns: number;

  /** One for each of `columns` columns. They share their memory, because a file may have thousands of columns. */
  static ofColumns(heap: Heap, columns: number): LastCells[] {
    const values = new LastValues(heap);
    return Array.from({ length: columns }, (_, place) => new LastCells(values, place, columns));
  }

  private constructor(values: LastValues, place: number, columns: number) {
    this.#values = values;
    this.#place = place;
    this.#columns = columns;
  }

  /** True once the budget has refused memory to any of the columns. */
  get full(): boolean {
    return this.#values.full;
  }

  /** Returns address and length of the last text of a group. The address is 0 if it has no text. */
  text(group: number): [start: number, length: number] {
    return this.#values.text(this.#number(group));
  }

  keepText(group: number, start: number, length: number): void {
    this.#values.keepText(this.#number(group), start, length);
  }

  /** Same as above, for a column with native kinds, so that `kind` returns the kind. */
  keepNative(group: number, start: number, length: number, kind: number): void {
    this.#values.keepNative(this.#number(group), start, length, kind);
  }

  /** Native kind of a text that keepNative has kept. */
  kind(group: number): number {
    return this.#values.kind(this.#number(group));
  }

  forget(group: number): void {
    this.#values.forget(this.#number(group));
  }

  value(group: number): LastValue | undefined {
    return this.#values.value(this.#number(group));
  }

  keepValue(group: number, value: LastValue): void {
    this.#values.keepValue(this.#number(group), value);
  }

  #number(group: number): number {
    return group * this.#columns + this.#place;
  }
}

/** Values by number. */
class LastValues {
  readonly #heap: Heap;
  /** Addresses of the entries. An entry has three u32 words: address, length, space. */
  readonly #entries: number[] = [];
  #next = 0;
  #limit = 0;
  #full = false;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  get full(): boolean {
    return this.#full;
  }

  text(number: number): [start: number, length: number] {
    if (number >= this.#entries.length * ENTRIES_AT_ONCE) return [0, 0];
    const at = this.#entry(number);
    const length = this.#heap.u32[at + 1]!;
    return length === FORGOTTEN ? [0, 0] : [this.#heap.u32[at]!, length];
  }

  keepText(number: number, start: number, length: number): void {
    const to = this.#place(number, length);
    this.#heap.u8.copyWithin(to, start, start + length);
  }

  keepNative(number: number, start: number, length: number, kind: number): void {
    const to = this.#place(number, length + 1);
    const { u8, u32 } = this.#heap;
    u8.copyWithin(to, start, start + length);
    u8[to + length] = kind;
    u32[this.#entry(number) + 1] = length;
  }

  kind(number: number): number {
    const [start, length] = this.text(number);
    return start === 0 ? KIND_TEXT : this.#heap.u8[start + length]!;
  }

  forget(number: number): void {
    if (number < this.#entries.length * ENTRIES_AT_ONCE) this.#heap.u32[this.#entry(number) + 1] = FORGOTTEN;
  }

  value(number: number): LastValue | undefined {
    const [start, length] = this.text(number);
    if (start === 0) return undefined;
    const { u8, i64 } = this.#heap;
    const digits = Buffer.from(u8.buffer, start + TYPED_BYTES, length - TYPED_BYTES).toString('latin1');
    const [unscaled, scale] = digits.split('e');
    const big = digits === '' ? null : { unscaled: BigInt(unscaled!), scale: Number(scale) };
    return { bits: i64[start >>> 3]!, meta: u8[start + 8]!, big };
  }

  keepValue(number: number, { bits, meta, big }: LastValue): void {
    const digits = big === null ? '' : `${big.unscaled}e${big.scale}`;
    const to = this.#place(number, TYPED_BYTES + digits.length);
    const { u8, i64 } = this.#heap;
    i64[to >>> 3] = bits;
    u8[to + 8] = meta;
    if (digits !== '') u8.set(Buffer.from(digits, 'latin1'), to + TYPED_BYTES);
  }

  /** Index of the entry in u32 words. */
  #entry(number: number): number {
    const entries = this.#entries[Math.floor(number / ENTRIES_AT_ONCE)]!;
    return (entries >>> 2) + (number % ENTRIES_AT_ONCE) * 3;
  }

  /** Returns the address of `length` bytes for a value. */
  #place(number: number, length: number): number {
    while (number >= this.#entries.length * ENTRIES_AT_ONCE) this.#addEntries();
    const at = this.#entry(number);
    const { u32 } = this.#heap;
    // The space is at least doubled. Otherwise a value that grows step by step would leave many outgrown spaces in the
    // blocks.
    if (u32[at + 2]! < length) this.#moveEntry(at, Math.max(VALUE_BYTES_FIRST, length, u32[at + 2]! * 2));
    this.#heap.u32[at + 1] = length;
    return this.#heap.u32[at]!;
  }

  #addEntries(): void {
    const entries = this.#take(ENTRIES_AT_ONCE * ENTRY_BYTES);
    this.#heap.u8.fill(0, entries, entries + ENTRIES_AT_ONCE * ENTRY_BYTES);
    this.#entries.push(entries);
  }

  #moveEntry(at: number, bytes: number): void {
    const space = Math.ceil(bytes / 16) * 16;
    if (this.#next + space > this.#limit) {
      const block = Math.max(BLOCK_BYTES, space);
      this.#next = this.#take(block);
      this.#limit = this.#next + block;
    }
    this.#heap.u32[at] = this.#next;
    this.#heap.u32[at + 2] = space;
    this.#next += space;
  }

  #take(bytes: number): number {
    const at = this.#heap.tryAllocate(bytes);
    if (at !== 0) return at;
    this.#full = true;
    return this.#heap.allocate(bytes);
  }
}
