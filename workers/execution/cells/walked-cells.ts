// Makes several columns of the cells of one in a single walk of a pattern, without copying a byte: of its groups, or of what
// stands between its matches. Cells that the kernel hands back go one by one, as all do where a walk does not pay.
import type { RegularExpression } from '../../expression/patterns/regular-expression.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import type { CellEdit, CellWork } from './cell-operator.ts';
import { settledWork } from './found-cells.ts';
import { PatternWalker, WALKED_ROWS_LEAST } from './pattern-walker.ts';
import { settleText } from './text-cells.ts';
import { writeCell } from './text-chain.ts';
import { CellFault } from './value-cells.ts';

export interface WalkedColumns {
  /** Null where the kernel needs no automaton. */
  readonly pattern: RegularExpression | null;
  /** Groups that the walk notes. */
  readonly groups: readonly number[];
  readonly finds: 'group' | 'all';
  /** Index of the column that is walked. */
  readonly column: number;
  /** How many columns the kernel makes. */
  readonly made: number;
  /** Which of them become columns of the table, upwards; null: all. */
  readonly wanted: readonly number[] | null;
  /** Whether white space is taken off what is made. */
  readonly trims: boolean;
  /**
   * What a kernel makes of the cells from position `from` on, as those of kernel/assembly/capture-pattern.ts do. One that needs no
   * automaton may stop below `count` to let others go on.
   */
  walk(walker: PatternWalker | null, cells: WalkedCells, from: number): number;
  /** What the kernel would make of one text, for column `index` of the wanted: a text, null or a CellFault. */
  single(text: string, index: number): unknown;
  /** The same for all cells, where a walk does not pay. */
  singly(index: number): CellEdit;
}

/** Views and u32 rows of the cells, and where views go: column n at `found` + n * `stride`. */
export interface WalkedCells {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
  readonly found: number;
  readonly stride: number;
  readonly todo: number;
}

/** The edits of all columns: the first one walks for all of them. */
export function walkedEdits(context: OperatorContext, columns: WalkedColumns): readonly CellEdit[] {
  const walk = new SharedWalk(context, columns);
  const { made, wanted, singly: singlyOf } = columns;
  return Array.from({ length: wanted?.length ?? made }, (_, index) => {
    const singly = singlyOf(index);
    return (work: CellWork) => (walk.pays(work.count) ? walk.column(work, index) : singly(work));
  });
}

class SharedWalk {
  readonly #context: OperatorContext;
  readonly #columns: WalkedColumns;
  /** Null: the pattern is not for a walk; undefined: nobody has asked. */
  #walker: PatternWalker | null | undefined;
  #cells: WalkedCells | null = null;

  constructor(context: OperatorContext, columns: WalkedColumns) {
    this.#context = context;
    this.#columns = columns;
  }

  pays(count: number): boolean {
    const { pattern, groups, finds } = this.#columns;
    if (pattern === null) return true;
    if (this.#walker === undefined && count < WALKED_ROWS_LEAST) return false;
    if (this.#walker === undefined) this.#walker = PatternWalker.of(this.#context.arena.heap, pattern, groups, finds);
    return this.#walker !== null;
  }

  /** One column; whatever a walk made is there until the first column is asked for again. */
  *column(work: CellWork, index: number): Sliced<ReturnType<typeof viewsAt> | null> {
    const { arena, clock, kernel } = this.#context;
    if (index === 0) this.#cells = yield* this.#walk(work);
    if (this.#cells === null) return null;
    const { views, rows, count, found, stride, todo } = this.#cells;
    const { trims, wanted } = this.#columns;
    let at = found + (wanted?.[index] ?? index) * stride;
    if (trims) kernel.exports.trimViews(at, rows, count);
    const failed = new Set<number>();
    const back = arena.heap.u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      const value = this.#columns.single(work.batch.text({ kind: 'views', at: views }, row)!, index);
      const cell = (at + row * VIEW_BYTES) >>> 2;
      if (value instanceof CellFault) failed.add(row);
      if (value instanceof CellFault) work.fail(row, value.code);
      else if (value !== null && !writeCell(arena, cell, value as string)) return null;
      if ((i & LOOK_MASK) === 0 && clock.isDue()) yield PAUSE;
    }
    if (work.inPlace && count < work.batch.live) {
      at = this.#overlaid(work, views, at);
      if (at === 0) return null;
    }
    const settled = settledWork(this.#context, work, failed);
    // Without cells before, empty texts become null: also one that stood in its place as an empty text.
    const { changed } = work;
    settleText(this.#context, { ...settled, changed: work.inPlace ? () => {} : changed }, 0, at);
    if (work.inPlace) settleText(this.#context, settled, views, at, false);
    return viewsAt(at);
  }

  *#walk({ batch, rows, count }: CellWork): Sliced<WalkedCells | null> {
    const { arena, clock } = this.#context;
    const { column, made, walk } = this.#columns;
    const views = batch.views(column);
    const stride = batch.rows * VIEW_BYTES;
    const found = arena.tryTake(stride * made);
    const kept = arena.tryTake(count * 4);
    const todo = arena.tryTake((count + 1) * 4);
    if (found === 0 || kept === 0 || todo === 0) return null;
    arena.heap.u8.fill(0, found, found + stride * made);
    // The list of an edit is its own.
    arena.heap.u8.copyWithin(kept, rows, rows + count * 4);
    arena.heap.u32[todo >>> 2] = 0;
    const cells = { views, rows: kept, count, found, stride, todo };
    const walker = this.#walker ?? null;
    if (walker !== null) yield* walker.drive(count, clock, (from) => walk(walker, cells, from));
    else {
      for (let from = walk(null, cells, 0); from < count; from = walk(null, cells, from)) {
        if (clock.isDue()) yield PAUSE;
      }
    }
    return cells;
  }

  /** The column's cells before the edit with those that were made put over them; 0 where the arena is full. */
  #overlaid({ batch, rows, count }: CellWork, views: number, made: number): number {
    const { arena } = this.#context;
    const at = arena.tryTake(batch.rows * VIEW_BYTES);
    if (at === 0) return 0;
    const { u8, u32 } = arena.heap;
    u8.copyWithin(at, views, views + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      u32[(at >>> 2) + row * 2] = u32[(made >>> 2) + row * 2]!;
      u32[(at >>> 2) + row * 2 + 1] = u32[(made >>> 2) + row * 2 + 1]!;
    }
    return at;
  }
}

const viewsAt = (at: number) => ({ kind: 'views', at }) as const;
