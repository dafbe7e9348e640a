// Keys of rows: when two texts count as equal, the bytes by which rows are compared, rows without a usable key, and
// shortened keys.

import { randomFillSync } from 'node:crypto';
import { type Batch, CELL_BYTES_MAX, type TypedColumn } from '../../batch/batch.ts';
import { Type } from '../../bundled/type-box.ts';
import { META_NULL, META_SCALE_MAX, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  DECIMAL_KEY_BYTES,
  KEY_BOOLEAN,
  KEY_DECIMAL,
  KEY_DOUBLE,
  KEY_WORD,
  PRINT_BYTES,
} from '../../kernel/layout/keys.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Pauses, Sliced, Slices } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { normalise, normaliseInSlices } from '../../values/normalise.ts';
import * as edits from '../../values/text-edits.ts';
import { type TextWork, withoutInvisibles, withoutInvisiblesInSlices } from '../../values/text-edits.ts';
import { chainScratchBytes, pausing, runTextChain, type TextStep, textChainInSlices } from '../cells/text-chain.ts';
import * as steps from '../cells/text-steps.ts';

// Defines when two texts count as equal: the levels of the parameter `match`, and the steps that make equal texts
// identical.

export type MatchLevel = 'exact' | 'case_insensitive' | 'normal' | 'loose';

export const matchParameter = Type.Optional(
  Type.Enum(['exact', 'case_insensitive', 'normal', 'loose'], {
    default: 'exact',
    description:
      'Which texts count as equal: `exact`; `case_insensitive`; `normal` (Unicode NFKC, without invisible characters, ' +
      'trimmed, runs of white space as one space, any case); `loose` (also without accents, white space and `_ - . / : # ( )`).',
  }),
);

const LOOSE_CHARACTERS = ' _-./:#()';

/** Returns steps after which equal texts have equal bytes. */
export function matchSteps(heap: Heap, level: MatchLevel): TextStep[] {
  if (level === 'exact') return [];
  const fold = steps.caseStep(heap, 'fold');
  if (level === 'case_insensitive') return [fold];
  const compose = (text: string): string => withoutInvisibles(normalise(text, 'NFKC'));
  function* composeInSlices(text: string): TextWork {
    return yield* withoutInvisiblesInSlices(yield* normaliseInSlices(text, 'NFKC'));
  }
  const composeStep = steps.stringStep(heap, 'not_ascii', compose, composeInSlices);
  const normal = [composeStep, steps.trimStep(), steps.collapseStep(), fold];
  if (level === 'normal') return normal;
  return [
    ...normal,
    steps.stringStep(heap, 'not_ascii', edits.stripAccents, edits.stripAccentsInSlices),
    steps.characterStep(heap, LOOSE_CHARACTERS, 'remove'),
  ];
}

/** Applies the steps to a text. Returns the text unchanged if a step makes it longer than a cell; keys of rows do the same. */
export function matchText(steps: readonly TextStep[], text: string): string {
  let edited = text;
  for (const step of steps) {
    edited = step.edit(edited);
    if (edited.length > CELL_BYTES_MAX) return text;
  }
  const isShort = edited.length * UNIT_BYTES_MAX <= CELL_BYTES_MAX || Buffer.byteLength(edited) <= CELL_BYTES_MAX;
  return isShort ? edited : text;
}

/** The most bytes that UTF-8 has for one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

// Keys of rows: the bytes by which rows are compared for equality, as views by physical row, computed from one or more
// columns.

const NULL_KEY_FIRST_BYTE = 0xff;

/** Key computation of the kernel typedKeys for each type. */
const KEY_KINDS = {
  integer: KEY_WORD,
  date: KEY_WORD,
  datetime: KEY_WORD,
  number: KEY_DOUBLE,
  boolean: KEY_BOOLEAN,
  decimal: KEY_DECIMAL,
} as const;

/** Texts of at least this many bytes are edited in time slices before keys are made (`editLong`). */
const LONG_BYTES = 4096;

export class RowKeys {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  #columns: readonly number[];
  /** For each column, the steps applied to its texts before they are compared. */
  readonly #steps: readonly (readonly TextStep[])[];
  readonly #addresses: number;
  readonly #nullsDistinct: boolean;
  #nullKeys = 0;
  /**
   * Long texts of the batch for which `editLong` was last called, by the index of their column; null before the first
   * call.
   */
  #long: ReadonlyMap<number, LongTexts> | null = null;

  /**
   * @param columns column indexes in the batch. Texts are compared at the match level (of all columns, or of each),
   * other types by value.
   * @param nullsDistinct whether each row with a null in its key gets a unique key
   */
  constructor(
    context: Pick<OperatorContext, 'arena' | 'kernel'>,
    columns: readonly number[],
    level: MatchLevel | readonly MatchLevel[],
    nullsDistinct = false,
  ) {
    this.#context = context;
    this.#nullsDistinct = nullsDistinct;
    this.#columns = columns;
    const { heap } = context.arena;
    const levels = columns.map((_, at) => (typeof level === 'string' ? level : level[at]!));
    // Each step owns a table, so steps are shared: one table for each of thousands of columns would take seconds.
    const steps = new Map([...new Set(levels)].map((each) => [each, matchSteps(heap, each)]));
    this.#steps = levels.map((each) => steps.get(each)!);
    this.#addresses = context.arena.heap.allocate(columns.length * 4);
  }

  /** For keys of one column: makes the keys of another column of the same type from now on. */
  moveTo(column: number): void {
    this.#columns = [column];
  }

  /** Numbers the unique keys of rows with nulls from here on, so that they differ from those of other threads. */
  numberNullsFrom(first: number): void {
    this.#nullKeys = first;
  }

  /** Creates what outlives a slice of the batch. Call it before `inSlices`. */
  prepare(batch: Batch): void {
    for (const index of this.#columns) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
  }

  /**
   * Edits the long texts of a batch with pauses, so that `make` of the same batch takes little time. Call it after
   * `prepare` and before `inSlices`: the texts must outlive the slices.
   */
  *editLong(batch: Batch, clock: Pauses): Slices {
    const long = new Map<number, LongTexts>();
    this.#long = long;
    for (const [at, index] of this.#columns.entries()) {
      const column = batch.columns[index]!;
      const steps = this.#steps[at]!;
      if (column.kind !== 'views' || steps.length === 0 || long.has(index)) continue;
      const rows = longRows(batch, column.at, LONG_BYTES);
      if (rows.length > 0) long.set(index, yield* this.#edited(batch, column.at, steps, rows, clock));
    }
  }

  *#edited(
    batch: Batch,
    at: number,
    steps: readonly TextStep[],
    rows: readonly number[],
    clock: Pauses,
  ): Sliced<LongTexts> {
    const { arena, kernel } = this.#context;
    for (;;) {
      const views = arena.take(batch.rows * VIEW_BYTES);
      const list = arena.take(chainScratchBytes(rows.length));
      arena.heap.u8.copyWithin(views, at, at + batch.rows * VIEW_BYTES);
      arena.heap.u32.set(rows, list >>> 2);
      const column = { views, rows: list, count: rows.length };
      if (yield* textChainInSlices(steps, kernel, arena, column, clock)) {
        for (const row of rows) restoreTooLong(arena.heap, at, views, row);
        return { views, rows: new Set(rows) };
      }
      arena.enlarge(arena.capacityBytes * 2);
    }
  }

  /** Same as `make`, for all live rows. No key is null, because even a key of one column is composed. */
  makeFilled(batch: Batch): number {
    const views: number[] = [];
    for (const [at, index] of this.#columns.entries()) {
      const made = this.#columnViews(batch, index, this.#steps[at]!, batch.selection, batch.live);
      if (made === 0) return 0;
      views.push(made);
    }
    const { selection, live } = batch;
    const keys = this.#compose(batch, views, selection, live);
    return keys !== 0 && this.#nullsDistinct ? this.#separateNulls(batch, views, keys, selection, live) : keys;
  }

  /** Returns the address of the views of the keys of a row list, by physical row, or 0 if the arena is full. */
  make(batch: Batch, rows: number, count: number): number {
    const views: number[] = [];
    for (const [at, index] of this.#columns.entries()) {
      const made = this.#columnViews(batch, index, this.#steps[at]!, rows, count);
      if (made === 0) return 0;
      views.push(made);
    }
    const keys = views.length === 1 ? views[0]! : this.#compose(batch, views, rows, count);
    return keys !== 0 && this.#nullsDistinct ? this.#separateNulls(batch, views, keys, rows, count) : keys;
  }

  /** Makes keys with nulls unique: nine bytes that begin with a byte that UTF-8 does not use, as no other key does. */
  #separateNulls(batch: Batch, views: readonly number[], keys: number, rows: number, count: number): number {
    const { arena } = this.#context;
    const { u8, u32, f64 } = arena.heap;
    const made = arena.tryTake(batch.rows * VIEW_BYTES);
    if (made === 0) return 0;
    u8.copyWithin(made, keys, keys + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      if (views.every((at) => u32[(at >>> 2) + row * 2] !== 0)) continue;
      const key = arena.tryTake(16);
      if (key === 0) return 0;
      u8[key + 7] = NULL_KEY_FIRST_BYTE;
      f64[(key + 8) >>> 3] = this.#nullKeys++;
      u32[(made >>> 2) + row * 2] = key + 7;
      u32[(made >>> 2) + row * 2 + 1] = 9;
    }
    return made;
  }

  #compose(batch: Batch, views: readonly number[], rows: number, count: number): number {
    const { arena, kernel } = this.#context;
    const keys = arena.tryTake(batch.rows * VIEW_BYTES);
    if (keys === 0) return 0;
    arena.heap.u32.set(views, this.#addresses >>> 2);
    const next = kernel.exports.composeKeys(this.#addresses, views.length, rows, count, keys, arena.next, arena.limit);
    if (next === 0) return 0;
    arena.next = next >>> 0;
    return keys;
  }

  #columnViews(batch: Batch, index: number, steps: readonly TextStep[], rows: number, count: number): number {
    const column = batch.columns[index]!;
    if (column.kind === 'typed') return this.#typedViews(batch, column, rows, count);
    if (column.kind === 'raw') throw new Error('prepare makes views of key columns');
    if (steps.length === 0) return column.at;
    const { arena, kernel } = this.#context;
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    const list = arena.tryTake(chainScratchBytes(count));
    if (views === 0 || list === 0) return 0;
    const { u8 } = arena.heap;
    u8.copyWithin(views, column.at, column.at + batch.rows * VIEW_BYTES);
    u8.copyWithin(list, rows, rows + count * 4);
    const long = this.#long?.get(index);
    const shortCount = long === undefined ? count : takeLongTexts(batch, long, views, list, count);
    if (!runTextChain(steps, kernel, arena, { views, rows: list, count: shortCount })) return 0;
    if (this.#long === null) {
      // `editLong` was not called for this batch, so some of these texts may be long.
      const { u32 } = arena.heap;
      for (let i = 0; i < count; i++) restoreTooLong(arena.heap, column.at, views, u32[(rows >>> 2) + i]!);
    }
    return views;
  }

  /** Equal values have the same bytes, as described in kernel/assembly/keys.ts. */
  #typedViews(batch: Batch, column: TypedColumn, rows: number, count: number): number {
    const { arena, kernel } = this.#context;
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    const todo = arena.tryTake((count + 1) * 4);
    if (views === 0 || todo === 0) return 0;
    const { at, meta, type } = column;
    const { next, limit } = arena;
    const end = kernel.exports.typedKeys(at, meta, rows, count, KEY_KINDS[type], views, next, limit, todo) >>> 0;
    if (end === 0) return 0;
    arena.next = end;
    const { u8, u32 } = arena.heap;
    for (let i = 1; i <= u32[todo >>> 2]!; i++) {
      const row = u32[(todo >>> 2) + i]!;
      const key = bigKey(column.big!.get(row)!);
      if (arena.freeBytes < key.length) return 0;
      u8.set(key, arena.next);
      u32.set([arena.next, key.length], (views + row * VIEW_BYTES) >>> 2);
      arena.next += key.length;
    }
    return views;
  }
}

/**
 * Restores the original text of a row if its edited text is longer than a cell, and was therefore not written. Only
 * Unicode normalisation of texts over LONG_BYTES makes texts that long: one Arabic letter becomes 18 letters.
 */
function restoreTooLong({ u32 }: Heap, from: number, to: number, row: number): void {
  const [original, edited] = [(from + row * VIEW_BYTES) >>> 2, (to + row * VIEW_BYTES) >>> 2];
  if (u32[edited] === 0 || u32[edited + 1]! <= CELL_BYTES_MAX) return;
  u32[edited] = u32[original]!;
  u32[edited + 1] = u32[original + 1]!;
}

/**
 * If the value without its trailing zeros fits into 64 bits, the key is the same as in the kernel. Otherwise the key is
 * a text, which is longer than all keys of the kernel.
 */
function bigKey(value: { readonly unscaled: bigint; readonly scale: number }): Uint8Array {
  let { unscaled, scale } = value;
  while (scale > 0 && unscaled % 10n === 0n) {
    unscaled /= 10n;
    scale--;
  }
  if (scale > META_SCALE_MAX || BigInt.asIntN(64, unscaled) !== unscaled)
    return Buffer.from(`decimal ${unscaled}e${scale}`);
  const key = Buffer.alloc(DECIMAL_KEY_BYTES);
  key.writeBigInt64LE(unscaled, 0);
  key[DECIMAL_KEY_BYTES - 1] = scale;
  return key;
}

// Finds rows whose key has nothing to compare: null, only white space, or only characters that the match level ignores.

/** List of physical rows (u32 each) in the arena, in batch order. */
export interface RowList {
  readonly rows: number;
  readonly count: number;
}

/**
 * Returns the live rows of a batch in which one of the columns is blank. The views of these columns must exist. Pauses
 * within long texts.
 */
export function* blankRows(
  context: OperatorContext,
  batch: Batch,
  columns: readonly number[],
  steps: readonly TextStep[],
): Sliced<RowList> {
  const { arena, heap } = batch;
  const isBlank = new Uint8Array(batch.rows);
  const rows = arena.take(batch.live * 4);
  for (const index of columns) {
    const column = batch.columns[index]!;
    if (column.kind === 'typed') {
      for (let at = 0; at < batch.live; at++) {
        const row = batch.physicalRow(at);
        if (heap.u8[column.meta + row] === META_NULL) isBlank[row] = 1;
      }
      continue;
    }
    heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
    const count = context.kernel.exports.keepBlank(batch.views(index), rows, batch.live);
    for (let i = 0; i < count; i++) isBlank[heap.u32[(rows >>> 2) + i]!] = 1;
    if (steps.length > 0) yield* markEmptied(batch, batch.views(index), steps, isBlank, context.clock);
  }
  return listed(batch, rows, isBlank);
}

/** Marks the texts that are empty after the steps of the match level. */
function* markEmptied(
  batch: Batch,
  views: number,
  steps: readonly TextStep[],
  isBlank: Uint8Array,
  clock: Pauses,
): Slices {
  const { u8, u32 } = batch.heap;
  for (let at = 0; at < batch.live; at++) {
    const row = batch.physicalRow(at);
    const [start, bytes] = [u32[(views + row * VIEW_BYTES) >>> 2]!, u32[((views + row * VIEW_BYTES) >>> 2) + 1]!];
    if (isBlank[row] === 1 || hasLetterOrDigit(u8, start, start + bytes)) continue;
    const text = Buffer.from(u8.buffer, start, bytes).toString();
    const isEmptied =
      text.length <= edits.PIECE_UNITS
        ? matchText(steps, text) === ''
        : yield* pausing(isEmptiedInSlices(steps, text), clock);
    if (isEmptied) isBlank[row] = 1;
  }
}

/**
 * Returns whether a long text is empty after the steps of the match level. The text is examined in parts, because the
 * steps remove each character regardless of its neighbours. Yields `undefined` wherever the caller may pause.
 */
function* isEmptiedInSlices(steps: readonly TextStep[], text: string): Generator<undefined, boolean, undefined> {
  for (const piece of edits.textPieces(text, edits.BETWEEN_CHARACTERS)) {
    if (matchText(steps, piece) !== '') return false;
    yield;
  }
  return true;
}

/** True if the text has an ASCII letter or digit, which no match level ignores. */
function hasLetterOrDigit(u8: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if ((byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)) return true;
  }
  return false;
}

function listed(batch: Batch, rows: number, isBlank: Uint8Array): RowList {
  let count = 0;
  for (let at = 0; at < batch.live; at++) {
    const row = batch.physicalRow(at);
    if (isBlank[row] === 1) batch.heap.u32[(rows >>> 2) + count++] = row;
  }
  return { rows, count };
}

// Shortens row keys that are only compared for equality: a long key is replaced by its fingerprint, so that files of
// deferred rows do not contain it in addition to its cells. Collisions are as improbable as in a FingerprintSet.

/** Longer keys are replaced. Short keys keep their order, and files are often already ordered by group. */
const SHORT_KEY_BYTES_MAX = 48;

export class KeyShortener {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #secret: number;

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel'>) {
    const { heap } = context.arena;
    this.#context = context;
    this.#secret = heap.allocate(PRINT_BYTES);
    randomFillSync(heap.u8, this.#secret, PRINT_BYTES);
  }

  /**
   * Returns the address of the keys, or 0 if the arena is full.
   * @param keys views of the keys of all live rows, by physical row, changed in place; 0 if the arena was full
   */
  shortened(batch: Batch, keys: number): number {
    const { arena, kernel } = this.#context;
    const { u32 } = arena.heap;
    let count = 0;
    const rows = keys === 0 ? 0 : arena.tryTake(batch.live * 4);
    if (rows === 0) return 0;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (u32[((keys + row * VIEW_BYTES) >>> 2) + 1]! > SHORT_KEY_BYTES_MAX) u32[(rows >>> 2) + count++] = row;
    }
    if (count === 0) return keys;
    const prints = arena.tryTake(count * PRINT_BYTES);
    if (prints === 0) return 0;
    kernel.exports.fingerprintViews(keys, rows, count, this.#secret, prints);
    for (let i = 0; i < count; i++) {
      const view = (keys + u32[(rows >>> 2) + i]! * VIEW_BYTES) >>> 2;
      u32[view] = prints + i * PRINT_BYTES;
      u32[view + 1] = PRINT_BYTES;
    }
    return keys;
  }
}

// Long texts of key columns. They are edited in advance, with pauses, because making the keys of a batch must take
// little time.

/** Edited long texts of a column. */
export interface LongTexts {
  /** Views by physical row; only those of `rows` are edited. */
  readonly views: number;
  readonly rows: ReadonlySet<number>;
}

/** Returns the physical rows of the live rows whose text has at least `bytesMin` bytes. */
export function longRows(batch: Batch, views: number, bytesMin: number): readonly number[] {
  const { u32 } = batch.heap;
  const rows: number[] = [];
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const view = (views + row * VIEW_BYTES) >>> 2;
    if (u32[view] !== 0 && u32[view + 1]! >= bytesMin) rows.push(row);
  }
  return rows;
}

/**
 * Copies the edited long texts of a row list to `views`, and removes their rows from the list. Returns the number of
 * rows that remain in the list.
 */
export function takeLongTexts(batch: Batch, long: LongTexts, views: number, list: number, count: number): number {
  const { u32 } = batch.heap;
  let shortCount = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[(list >>> 2) + i]!;
    if (!long.rows.has(row)) {
      u32[(list >>> 2) + shortCount++] = row;
      continue;
    }
    const offset = row * VIEW_BYTES;
    u32[(views + offset) >>> 2] = u32[(long.views + offset) >>> 2]!;
    u32[((views + offset) >>> 2) + 1] = u32[((long.views + offset) >>> 2) + 1]!;
  }
  return shortCount;
}
