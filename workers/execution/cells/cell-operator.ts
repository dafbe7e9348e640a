// The frame of operations on cells: in place or into new columns, on all rows or those of `where`, with exact counts of
// changed cells and the one way of row errors. Computed cells lie in the arena; where a batch does not fit, its rows
// are handed on in several batches. What comes out never depends on where they were cut.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Column, Schema } from '../../batch/schema.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Operator, OperatorContext, RowChoice, RowErrorRule } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { DONE, PAUSE, type Sliced, type Slices } from '../../run/time-slices.ts';
import { piecesOf } from './slices.ts';

/** One column that an operation computes: from which (null: from none), and where it goes (the same when in place). */
export interface CellTarget {
  readonly source: Column | null;
  readonly target: Column;
  /** Column that errors name: the source, else the target, unless this says otherwise. */
  readonly told?: Column;
  /** Column whose cell `value` in `where` is: the source, else the one that errors name, unless this says otherwise. */
  readonly asked?: Column;
}

/** The rows of one column at work. Whatever an edit does is thrown away and done again when the arena gets full. */
export interface CellWork {
  readonly batch: Batch;
  /** Index of the source column in the batch, -1 when there is none. */
  readonly column: number;
  /** u32 physical rows to edit; may be overwritten. */
  readonly rows: number;
  readonly count: number;
  /** The target is the source: rows not edited keep their cells. Else they are null. */
  readonly inPlace: boolean;
  /** A cell that could not be computed. Its data must be set to null, unless `rule` says that the row is only flagged. */
  fail(physicalRow: number, code: RowErrorCode, rule?: RowErrorRule): void;
  /** Adds cells whose value differs from before, failed ones not counted. */
  changed(count: number): void;
}

/**
 * Computes a column, in slices where it goes through the rows one by one. Null when the arena is full. A column of text with
 * kinds says itself what its cells are; of one without, the frame finds out which cells of the file it left as they were.
 */
export type CellEdit = (work: CellWork) => ColumnData | null | Sliced<ColumnData | null>;

interface CellFailure {
  readonly position: number;
  /** Index of the target; WHERE when nobody can say whether the row is to be edited. */
  readonly target: number;
  readonly row: number;
  readonly code: RowErrorCode;
  readonly rule: RowErrorRule | undefined;
}

const WHERE = -1;

/** Where `count` u32 physical rows are. */
interface RowList {
  readonly at: number;
  readonly count: number;
}

interface Attempt {
  readonly made: ColumnData[];
  readonly failures: CellFailure[];
  changed: number;
}

/** An operator over cells, on the rows of `context.where`. `edits`: one per target. */
export function startCellOperator(
  context: OperatorContext,
  targets: readonly CellTarget[],
  edits: readonly CellEdit[],
): Operator {
  return new CellOperator(context, targets, edits);
}

/** Ids of the columns whose cells an operation changes or makes (OperationDefinition.edits). */
export function editedIds(targets: readonly CellTarget[]): number[] {
  return targets.map(({ target }) => target.id);
}

/** Index of a column in a schema. For many columns: OperatorContext.indexOf. */
export function columnIndex(schema: Schema, column: Column): number {
  // Ids count the file's columns: until they are moved each stands where its id says, and a wide file has many.
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
  /** For each output column the target that makes it, or -1. */
  readonly #makers: Int32Array;
  /** For each target whether its old cell is one of the column that is made: else nothing can be kept. */
  readonly #keeps: readonly boolean[];
  /** For each target whether its column may have kinds. */
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
      // Every text is a text; a text that is no JSON must not stand among JSON.
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
    for (const [at, index] of this.#sources.entries()) {
      if (index >= 0 && batch.columns[index]!.kind !== 'typed') batch.views(index);
      if ((at & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
    }
    const columns = [...batch.columns];
    for (const piece of piecesOf(batch)) {
      const attempt = yield* this.#attempt(batch, piece.from, piece.to);
      piece.isTooLarge = attempt === null;
      if (attempt !== null) yield* this.#emit(batch.slice(piece.from, piece.to), attempt);
      // Views that an edit made of other columns lie in the part of the arena that the next piece overwrites.
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

  /** What was made, with the kinds of the cells that are as they were. Null: the arena is full. */
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

  /** The condition of a target's cells, where each is asked. */
  #cellWhere(index: number): RowChoice | null {
    const { source, target, told, asked } = this.#targets[index]!;
    return this.#context.cellWhere.get((asked ?? source ?? told ?? target).id) ?? null;
  }

  /** The rows of a list for which a condition holds. */
  *#rows(
    batch: Batch,
    list: RowList,
    where: RowChoice,
    fail: (row: number, code: RowErrorCode) => void,
  ): Sliced<RowList | null> {
    const at = this.#copyOf(list);
    return at === 0 ? null : { at, count: yield* where(batch, at, list.count, fail) };
  }

  /** A list for an edit, which may overwrite it. 0: the arena is full. */
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

  /** Reports failed cells in the order of rows, does what `on_error` says, and gives the rows to drop. */
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
      else if (source === null) continue;
      else if (action === 'keep' && this.#keeps[target]! && copyCell(batch, source, made, row)) continue;
      else if (!isNullCell(batch, source, row)) attempt.changed++;
    }
    return dropped;
  }

  /** Name of the column that an error tells: where the value came from, which is what can be mended. */
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

/** A batch without some of its physical rows. */
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

/** Puts the old cell back; false when the kinds of data differ (the cell stays null). */
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
