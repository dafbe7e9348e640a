// Base of all operations on cells: the rows and columns that an operation changes, and the pieces in which a batch is
// processed.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Column, Schema } from '../../batch/schema.ts';
import { KIND_TEXT, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import { checkMask, DONE, PAUSE, type Sliced, type Slices } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext, RowChoice, RowErrorRule } from '../../template/operation.ts';

// Processes a batch in as many pieces as the arena requires. The output must not depend on where it is split.

/** Positions [from, to) of a batch. */
export interface BatchPiece {
  readonly from: number;
  readonly to: number;
  /**
   * Set by the consumer if the arena was full: nothing was emitted or changed permanently, and the rows are repeated in
   * smaller pieces.
   */
  isTooLarge: boolean;
}

/**
 * Iterates over pieces of a batch until each row was in a piece that was not too large: first the whole batch, then
 * fewer rows, and finally a single row with a larger arena. After each piece, the arena is reset.
 */
export function* piecesOf(batch: Batch): Generator<BatchPiece, void, undefined> {
  const { arena, live } = batch;
  const mark = arena.next;
  let from = 0;
  let size = live;
  while (from < live) {
    const piece = { from, to: Math.min(live, from + size), isTooLarge: false };
    const isOpen = piece.to < live;
    if (isOpen) arena.openBatches++;
    try {
      yield piece;
    } finally {
      if (isOpen) arena.openBatches--;
      arena.release(mark);
    }
    const rows = piece.to - from;
    if (!piece.isTooLarge) {
      from = piece.to;
    } else if (rows > 1) {
      size = rows >>> 1;
    } else {
      arena.enlarge(arena.capacityBytes * 2);
      size = live;
    }
  }
}

/** Calls `work` for each piece. It returns false if the piece was too large. */
export function inSlices(batch: Batch, work: (from: number, to: number) => boolean): void {
  for (const piece of piecesOf(batch)) piece.isTooLarge = !work(piece.from, piece.to);
}

// Base of all operations on cells, in place or into new columns, for all rows or those that match `where`. Counts
// changed cells exactly and handles row errors in one way. Computed cells are in the arena; if the cells of a batch do
// not fit, its rows are emitted in several batches. The output does not depend on where batches are split.

/**
 * A column that an operation computes. `source` is the column that it reads, or null; `target` receives the result, and
 * equals the source for an edit in place.
 */
export interface CellTarget {
  readonly source: Column | null;
  readonly target: Column;
  /** Column named in errors. By default the source, or the target without a source. */
  readonly told?: Column;
  /** Column to which `value` in `where` refers. By default the source, or the column named in errors. */
  readonly asked?: Column;
}

/** The rows of one column to edit. If the arena becomes full, all effects of the edit are undone and it is repeated. */
export interface CellWork {
  readonly batch: Batch;
  /** Index of the source column in the batch, or -1. */
  readonly column: number;
  /** Address of the physical rows to edit (u32 each). The edit may overwrite the list. */
  readonly rows: number;
  readonly count: number;
  /**
   * True if target and source are the same column: rows that are not edited keep their cells. Otherwise these cells are
   * null.
   */
  readonly inPlace: boolean;
  /** Reports a cell that could not be computed. The edit must set it to null, unless `rule` flags or counts the row. */
  fail(physicalRow: number, code: RowErrorCode, rule?: RowErrorRule): void;
  /** Adds a number of cells whose value has changed, without failed ones. */
  changed(count: number): void;
}

/**
 * Computes a column, in time slices if it works row by row. Returns null if the arena is full. If the result is text
 * with kinds, the edit sets the kinds. If it has no kinds, the base operator finds out which cells of the file are
 * unchanged.
 */
export type CellEdit = (work: CellWork) => ColumnData | null | Sliced<ColumnData | null>;

interface CellFailure {
  readonly position: number;
  /** Index of the target, or WHERE if the condition could not be computed. */
  readonly target: number;
  readonly row: number;
  readonly code: RowErrorCode;
  readonly rule: RowErrorRule | undefined;
}

const WHERE = -1;

/** Address of a list of `count` physical rows (u32 each). */
interface RowList {
  readonly at: number;
  readonly count: number;
}

interface Attempt {
  readonly made: ColumnData[];
  readonly failures: CellFailure[];
  changed: number;
}

/**
 * Creates an operator over cells, for the rows that match `context.where`.
 * @param edits one per target
 */
export function startCellOperator(
  context: OperatorContext,
  targets: readonly CellTarget[],
  edits: readonly CellEdit[],
): Operator {
  return new CellOperator(context, targets, edits);
}

/** Ids of the columns whose cells an operation changes or creates (OperationDefinition.edits). */
export function editedIds(targets: readonly CellTarget[]): number[] {
  return targets.map(({ target }) => target.id);
}

/** Index of a column in a schema. For many columns, use OperatorContext.indexOf. */
export function columnIndex(schema: Schema, column: Column): number {
  // Ids number the file's columns, so an unmoved column is at the index of its id. This avoids a search in wide files.
  if (schema[column.id]?.id === column.id) return column.id;
  const index = schema.findIndex(({ id }) => id === column.id);
  if (index < 0) throw new Error('a planned column is not in the schema');
  return index;
}

class CellOperator implements Operator {
  readonly #context: OperatorContext;
  readonly #arena: Arena;
  readonly #targets: readonly CellTarget[];
  readonly #edits: readonly CellEdit[];
  readonly #sources: Int32Array;
  /** For each output column, the target that computes it, or -1. */
  readonly #makers: Int32Array;
  /** For each target, whether its old cell may be a cell of the new column. Otherwise no cell can be kept. */
  readonly #keeps: readonly boolean[];
  /** For each target, whether its column may have kinds. */
  readonly #hasKinds: readonly boolean[];

  constructor(context: OperatorContext, targets: readonly CellTarget[], edits: readonly CellEdit[]) {
    this.#context = context;
    this.#arena = context.arena;
    this.#targets = targets;
    this.#edits = edits;
    this.#sources = Int32Array.from(targets, ({ source }) => (source === null ? -1 : context.indexOf(source)));
    const makers = new Map(targets.map(({ target }, index) => [target.id, index]));
    this.#makers = Int32Array.from(context.output, ({ id }) => makers.get(id) ?? -1);
    const types = new Map(context.output.map(({ id, type }) => [id, type]));
    this.#keeps = targets.map(({ target }, index) => {
      const source = context.input[this.#sources[index]!];
      const made = types.get(target.id);
      // Any value may stay in a text column, but a text that is not JSON must not stay in a JSON column.
      return source?.id === target.id && (made === source.type || made === 'text');
    });
    const withKinds = new Set(context.output.flatMap(({ id, hasKinds }) => (hasKinds === true ? [id] : [])));
    this.#hasKinds = targets.map(({ target }) => withKinds.has(target.id));
  }

  *push(batch: Batch): Slices {
    const arena = this.#arena;
    const fixedBytes = this.#targets.length * (batch.rows * (VIEW_BYTES + 2) + batch.live * 8 + 64);
    if (arena.capacityBytes < fixedBytes * 2) arena.enlarge(fixedBytes * 2);
    const { clock } = this.#context;
    const mask = checkMask(this.#sources.length);
    for (const [at, index] of this.#sources.entries()) {
      if (index >= 0 && batch.columns[index]!.kind !== 'typed') batch.views(index);
      if ((at & mask) === mask && clock.isDue()) yield PAUSE;
    }
    const columns = [...batch.columns];
    for (const piece of piecesOf(batch)) {
      const attempt = yield* this.#attempt(batch, piece.from, piece.to);
      piece.isTooLarge = attempt === null;
      if (attempt !== null) yield* this.#emit(batch.slice(piece.from, piece.to), attempt);
      // Restores the columns, because views that an edit created are in a part of the arena that the next piece
      // overwrites.
      batch.columns = [...columns];
    }
  }

  *#attempt(batch: Batch, from: number, to: number): Sliced<Attempt | null> {
    const attempt: Attempt = { made: [], failures: [], changed: 0 };
    const positions = new Map<number, number>();
    const fail = (row: number, target: number, code: RowErrorCode, rule?: RowErrorRule): void => {
      if (positions.size === 0) for (let at = from; at < to; at++) positions.set(batch.physicalRow(at), at);
      attempt.failures.push({ position: positions.get(row)!, target, row, code, rule });
    };
    const failed = (row: number, code: RowErrorCode): void => fail(row, WHERE, code);
    const { clock, where } = this.#context;
    const whole = { at: batch.selection + from * 4, count: to - from };
    const all = where === null ? whole : yield* this.#rows(batch, whole, where, failed);
    for (const [index, edit] of this.#edits.entries()) {
      const choice = this.#cellWhere(index);
      const chosen = choice === null ? all : yield* this.#rows(batch, whole, choice, failed);
      const rows = chosen === null ? 0 : this.#copyOf(chosen);
      if (chosen === null || rows === 0) return null;
      const edited = edit({
        batch,
        column: this.#sources[index]!,
        rows,
        count: chosen.count,
        inPlace: this.#isInPlace(index),
        fail: (row, code, rule) => fail(row, index, code, rule),
        changed: (count) => {
          attempt.changed += count;
        },
      });
      const made = edited !== null && 'next' in edited ? yield* edited : edited;
      if (made === null) return null;
      const settled = this.#withKinds(batch, whole, index, made);
      if (settled === null) return null;
      attempt.made.push(settled);
      if (clock.isDue()) yield PAUSE;
    }
    return attempt;
  }

  /** Adds the kinds of unchanged cells to the computed column. Returns null if the arena is full. */
  #withKinds(batch: Batch, list: RowList, target: number, made: ColumnData): ColumnData | null {
    if (made.kind !== 'views') return made;
    if (!this.#hasKinds[target]) return made.kinds === undefined ? made : { kind: 'views', at: made.at };
    const before = batch.columns[this.#sources[target]!];
    if (made.kinds !== undefined || !this.#isInPlace(target)) return made;
    if (before?.kind !== 'views' || before.kinds === undefined) return made;
    const kinds = this.#arena.tryTake(batch.rows);
    if (kinds === 0) return null;
    this.#context.kernel.exports.keepKinds(before.at, before.kinds, made.at, kinds, list.at, list.count);
    return { kind: 'views', at: made.at, kinds };
  }

  /** The condition for the cells of a target, if it applies to single cells. */
  #cellWhere(index: number): RowChoice | null {
    const { source, target, told, asked } = this.#targets[index]!;
    return this.#context.cellWhere.get((asked ?? source ?? told ?? target).id) ?? null;
  }

  /** Selects the rows of a list for which a condition holds. */
  *#rows(
    batch: Batch,
    list: RowList,
    where: RowChoice,
    fail: (row: number, code: RowErrorCode) => void,
  ): Sliced<RowList | null> {
    const at = this.#copyOf(list);
    return at === 0 ? null : { at, count: yield* where(batch, at, list.count, fail) };
  }

  /** Copies a list, because an edit may overwrite it. Returns 0 if the arena is full. */
  #copyOf({ at, count }: RowList): number {
    const copy = this.#arena.tryTake(count * 4);
    if (copy !== 0) this.#arena.heap.u8.copyWithin(copy, at, at + count * 4);
    return copy;
  }

  #emit(batch: Batch, attempt: Attempt): Slices {
    const { layout, report, next } = this.#context;
    const dropped = this.#settleFailures(batch, attempt);
    report.cells_changed += attempt.changed;
    const makers = this.#makers;
    const columns = layout.map((place, index) =>
      makers[index]! < 0 ? batch.columns[place]! : attempt.made[makers[index]!]!,
    );
    const done = batch.withColumns(columns);
    const handed = dropped.size === 0 ? done : withoutRows(done, dropped);
    return handed.live > 0 ? next(handed) : DONE;
  }

  /** Reports failed cells in row order, applies `on_error`, and returns the rows to drop. */
  #settleFailures(batch: Batch, attempt: Attempt): Set<number> {
    const dropped = new Set<number>();
    attempt.failures.sort((a, b) => a.position - b.position || a.target - b.target);
    for (const { row, target, code, rule } of attempt.failures) {
      if (dropped.has(row)) continue;
      const action = this.#context.errors.report(batch, row, this.#told(target), code, rule);
      if (target === WHERE) {
        if (action === 'drop_row') dropped.add(row);
        continue;
      }
      const made = attempt.made[target]!;
      const source = this.#isInPlace(target) ? batch.columns[this.#sources[target]!]! : null;
      if (action === 'drop_row') dropped.add(row);
      else if (source === null || action === 'counted') continue;
      else if (action === 'keep' && this.#keeps[target]! && copyCell(batch, source, made, row)) continue;
      else if (!isNullCell(batch, source, row)) attempt.changed++;
    }
    return dropped;
  }

  /** Name of the column in an error: where the value came from, because this is what a user can correct. */
  #told(index: number): string | null {
    if (index === WHERE) return null;
    const { source, target, told } = this.#targets[index]!;
    return (told ?? source ?? target).name;
  }

  #isInPlace(target: number): boolean {
    const { source, target: made } = this.#targets[target]!;
    return source?.id === made.id;
  }
}

/** Returns a batch without some of its physical rows. */
export function withoutRows(batch: Batch, dropped: ReadonlySet<number>): Batch {
  const selection = batch.arena.take(batch.live * 4);
  const { u32 } = batch.heap;
  let live = 0;
  for (let at = 0; at < batch.live; at++) {
    const row = u32[(batch.selection >>> 2) + at]!;
    if (!dropped.has(row)) u32[(selection >>> 2) + live++] = row;
  }
  return batch.withSelection(selection, live);
}

function isNullCell({ heap }: Batch, column: ColumnData, row: number): boolean {
  if (column.kind === 'typed') return heap.u8[column.meta + row] === META_NULL;
  if (column.kind === 'raw') throw new Error('the frame makes views of its sources');
  return heap.u32[(column.at + row * VIEW_BYTES) >>> 2] === 0;
}

/** Restores the old cell. Returns false if the two columns store data differently; the cell then stays null. */
function copyCell({ heap }: Batch, from: ColumnData, to: ColumnData, row: number): boolean {
  if (from.kind === 'views' && to.kind === 'views') {
    const [a, b] = [(from.at + row * VIEW_BYTES) >>> 2, (to.at + row * VIEW_BYTES) >>> 2];
    heap.u32[b] = heap.u32[a]!;
    heap.u32[b + 1] = heap.u32[a + 1]!;
    if (to.kinds !== undefined)
      heap.u8[to.kinds + row] = from.kinds === undefined ? KIND_TEXT : heap.u8[from.kinds + row]!;
    return true;
  }
  if (from.kind !== 'typed' || to.kind !== 'typed' || from.type !== to.type) return false;
  heap.i64[(to.at >>> 3) + row] = heap.i64[(from.at >>> 3) + row]!;
  heap.u8[to.meta + row] = heap.u8[from.meta + row]!;
  return true;
}
