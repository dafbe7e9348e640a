// Edits text columns by chains of text steps. Each step is a kernel over all rows, and rows that a kernel leaves are
// processed one by one.

import { CELL_BYTES_MAX, type ColumnData, type ViewsColumn } from '../../batch/batch.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { checkMask, done, PAUSE, type Pauses, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { PIECE_UNITS, type TextWork } from '../../values/text-edits.ts';
import type { CellEdit, CellWork } from './cell-operator.ts';

// Copies texts of the Template into the Run's memory once, for kernels.

/** Address and length of a text of the Template in memory. */
export interface PlacedText {
  readonly at: number;
  readonly bytes: number;
}

export function placeText(heap: Heap, text: string): PlacedText {
  return placeBytes(heap, Buffer.from(text, 'utf8'));
}

export function placeBytes(heap: Heap, bytes: Uint8Array): PlacedText {
  const at = heap.allocate(bytes.length);
  heap.u8.set(bytes, at);
  return { at, bytes: bytes.length };
}

// Runs a chain of text steps over a column: each step as a kernel over all rows. Rows that a kernel leaves are decoded
// once and pass through the rest of the chain as strings. Owns no memory beyond one batch.

/** The cells that a step edits in place. */
export interface TextCells {
  readonly kernel: Kernel;
  readonly arena: Arena;
  /** Address of the views, by physical row. */
  readonly views: number;
  /** Address of the physical rows (u32 each). A kernel removes the rows that it leaves. */
  readonly rows: number;
  count: number;
  /** Space for the list of rows that a kernel leaves: u32 count, then the rows. */
  readonly todo: number;
}

/** One step of a chain. */
export interface TextStep {
  /** Edits the cells that it supports and lists the others in `todo`. Returns false if the arena is full. */
  run(cells: TextCells, clock: Pauses): boolean | Sliced<boolean>;
  /** Edits one cell as a string. For a result longer than CELL_BYTES_MAX, it may return any longer text. */
  edit(text: string): string;
  /**
   * Same as `edit` for a long text: yields `undefined` wherever the caller may pause. Without it, a long text is edited
   * without a pause.
   */
  editInSlices?(text: string): TextWork;
  /** True if the step takes long for this text although the text is short. */
  isLong?(text: string): boolean;
}

/** Views by physical row, and the physical rows (u32 each). */
interface TextColumn {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
}

/** Length of a text, in UTF-16 units, above which the clock is checked after each step. */
const LONG_TEXT = 4096;

const NEVER: Pauses = { isDue: () => false };

/** Arena bytes that a chain needs in addition to its cells. */
export function chainScratchBytes(count: number): number {
  return (count + 1) * 4 + 16;
}

/**
 * Edits the views of `rows` in place and consumes `rows`. Returns false if the arena is full; the views are then
 * invalid. Cells longer than CELL_BYTES_MAX get a length above the limit, but no valid bytes.
 */
export function runTextChain(steps: readonly TextStep[], kernel: Kernel, arena: Arena, column: TextColumn): boolean {
  return done(textChainInSlices(steps, kernel, arena, column, NEVER));
}

/** Same as runTextChain, but may pause between cells that are edited as strings. */
export function* textChainInSlices(
  steps: readonly TextStep[],
  kernel: Kernel,
  arena: Arena,
  column: TextColumn,
  clock: Pauses,
): Sliced<boolean> {
  const todo = arena.tryTake((column.count + 1) * 4);
  if (todo === 0) return false;
  const cells: TextCells = { kernel, arena, views: column.views, rows: column.rows, count: column.count, todo };
  for (const [index, step] of steps.entries()) {
    arena.heap.u32[todo >>> 2] = 0;
    const ran = step.run(cells, clock);
    if (!(typeof ran === 'boolean' ? ran : yield* ran)) return false;
    const back = arena.heap.u32[todo >>> 2]!;
    cells.count -= back;
    if (back > 0 && !(yield* editStrings(steps, index, cells, back, clock))) return false;
  }
  return true;
}

function* editStrings(
  steps: readonly TextStep[],
  first: number,
  cells: TextCells,
  count: number,
  clock: Pauses,
): Sliced<boolean> {
  const { arena, views, todo } = cells;
  const mask = checkMask(count);
  for (let i = 1; i <= count; i++) {
    const row = arena.heap.u32[(todo >>> 2) + i]!;
    const at = (views + row * VIEW_BYTES) >>> 2;
    const start = arena.heap.u32[at]!;
    if (start === 0) continue;
    let text = arena.decode(start, arena.heap.u32[at + 1]!);
    for (let index = first; index < steps.length && text.length <= CELL_BYTES_MAX; index++) {
      const step = steps[index]!;
      const before = text;
      if (step.editInSlices !== undefined && (text.length > PIECE_UNITS || step.isLong?.(text) === true)) {
        text = yield* pausing(step.editInSlices(text), clock);
      } else text = step.edit(text);
      if (text !== before) arena.reportText(text);
      if (text.length > LONG_TEXT && clock.isDue()) yield PAUSE;
    }
    if (!writeCell(arena, at, text)) return false;
    if ((i & mask) === mask && clock.isDue()) yield PAUSE;
  }
  return true;
}

/** Does work that yields `undefined` wherever it may pause, and pauses when the clock requires it. */
export function* pausing<T>(work: Generator<undefined, T, undefined>, clock: Pauses): Sliced<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.isDue()) yield PAUSE;
  }
}

/** Writes a text to the arena and its view to the u32 index `at`. Returns false if the arena is full. */
export function writeCell(arena: Arena, at: number, text: string): boolean {
  if (text.length > CELL_BYTES_MAX) {
    arena.heap.u32[at] = arena.next;
    arena.heap.u32[at + 1] = CELL_BYTES_MAX + 1;
    return true;
  }
  if (!arena.makeSpaceFor(text)) return false;
  const start = arena.next;
  const bytes = arena.write(text);
  arena.heap.u32[at] = start;
  arena.heap.u32[at + 1] = bytes;
  return true;
}

// Edits of text columns by chains of steps, for the cell operator.

/** Applies a chain of steps to text cells. A cell that becomes empty becomes null; null cells stay null. */
export function textEdit(context: OperatorContext, steps: readonly TextStep[]): CellEdit {
  return viewsEdit(context, (views, rows, count) =>
    textChainInSlices(steps, context.kernel, context.arena, { views, rows, count }, context.clock),
  );
}

/**
 * Edits views in place. `change` may consume the row list, and returns false if the arena is full. Empty texts become
 * null, texts over the limit become TOO_LONG, and changed cells are counted.
 */
function viewsEdit(
  context: OperatorContext,
  change: (views: number, rows: number, count: number, work: CellWork) => Sliced<boolean>,
): CellEdit {
  const { arena } = context;
  return function* (work) {
    const before = work.batch.views(work.column);
    const made = startViews(context, work, before);
    const rows = arena.tryTake(chainScratchBytes(work.count));
    if (made === null || rows === 0) return null;
    arena.heap.u8.copyWithin(rows, work.rows, work.rows + work.count * 4);
    if (!(yield* change(made.at, rows, work.count, work))) return null;
    settleText(context, work, work.inPlace ? before : 0, made.at);
    return made;
  };
}

/**
 * Returns the initial views of the target: a copy of the source's views. For a new column, rows that are not edited are
 * null.
 */
export function startViews(context: OperatorContext, work: CellWork, before: number): ViewsColumn | null {
  const { arena } = context;
  const { batch, rows, count } = work;
  const at = arena.tryTake(batch.rows * VIEW_BYTES);
  if (at === 0) return null;
  const { u8, u32 } = arena.heap;
  if (work.inPlace || count === batch.live) {
    u8.copyWithin(at, before, before + batch.rows * VIEW_BYTES);
    return { kind: 'views', at };
  }
  u8.fill(0, at, at + batch.rows * VIEW_BYTES);
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    u32[(at >>> 2) + row * 2] = u32[(before >>> 2) + row * 2]!;
    u32[(at >>> 2) + row * 2 + 1] = u32[(before >>> 2) + row * 2 + 1]!;
  }
  return { kind: 'views', at };
}

/**
 * Finishes an edit of text: counts changes from `before` (0 for a new column), clears cells over the limit, and reports
 * them.
 * @param emptyToNull whether a cell that became the empty text becomes null
 */
export function settleText(
  context: OperatorContext,
  work: CellWork,
  before: number,
  after: number,
  emptyToNull = true,
): void {
  const { arena, kernel } = context;
  const todo = arena.take((work.count + 1) * 4);
  const empty = emptyToNull ? 1 : 0;
  work.changed(kernel.exports.settleViews(before, after, work.rows, work.count, empty, CELL_BYTES_MAX, todo));
  const { u32 } = arena.heap;
  const tooLong = u32[todo >>> 2]!;
  for (let i = 1; i <= tooLong; i++) {
    const row = u32[(todo >>> 2) + i]!;
    u32.fill(0, (after >>> 2) + row * 2, (after >>> 2) + row * 2 + 2);
    work.fail(row, 'TOO_LONG');
  }
}

/** A text column with the same text in every row. */
export function constantViews(
  context: OperatorContext,
  rows: number,
  view: { at: number; bytes: number } | null,
): ColumnData | null {
  const at = context.arena.tryTake(rows * VIEW_BYTES);
  if (at === 0) return null;
  const { u32 } = context.arena.heap;
  for (let row = 0, i = at >>> 2; row < rows; row++) {
    u32[i++] = view === null ? 0 : view.at;
    u32[i++] = view === null ? 0 : view.bytes;
  }
  return { kind: 'views', at };
}
