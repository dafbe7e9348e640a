// Runs a chain of text steps over a column of cells: each step as a kernel over all rows; the rows that a kernel hands
// back are decoded once and go through the rest of the chain as strings. Owns no memory beyond one batch.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { LOOK_MASK, type Pauses } from '../../run/slice-clock.ts';
import { done, PAUSE, type Sliced } from '../../run/time-slices.ts';
import { CELL_BYTES_MAX } from './cell-limit.ts';

/** The cells that a step works on, in place. */
export interface TextCells {
  readonly kernel: Kernel;
  readonly arena: Arena;
  /** Views by physical row. */
  readonly views: number;
  /** u32 physical rows; a kernel that hands rows back takes them out. */
  readonly rows: number;
  count: number;
  /** Room for a row list: u32 count, then the rows handed back. */
  readonly todo: number;
}

/** One step of a chain. */
export interface TextStep {
  /** Treats what it can and hands back the rest in `todo`; false when the arena is full. */
  run(cells: TextCells, clock: Pauses): boolean | Sliced<boolean>;
  /** One cell as a string. May give up on a result longer than CELL_BYTES_MAX: any longer text will do. */
  edit(text: string): string;
}

/** Views by physical row, and u32 physical rows. */
interface TextColumn {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
}

/** Behind each step on a longer text the clock is looked at, in UTF-16 units. */
const LONG_TEXT = 4096;

const NEVER: Pauses = { isDue: () => false };

/** Bytes of arena that a chain needs beside its cells. */
export function chainScratchBytes(count: number): number {
  return (count + 1) * 4 + 16;
}

/**
 * Edits the views of `rows` in place; `rows` is used up. False when the arena is full: the views are then worthless.
 * Cells longer than CELL_BYTES_MAX get such a length and no sound bytes.
 */
export function runTextChain(steps: readonly TextStep[], kernel: Kernel, arena: Arena, column: TextColumn): boolean {
  return done(textChainInSlices(steps, kernel, arena, column, NEVER));
}

/** As runTextChain; it may pause between cells that are edited as strings. */
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
  for (let i = 1; i <= count; i++) {
    const row = arena.heap.u32[(todo >>> 2) + i]!;
    const at = (views + row * VIEW_BYTES) >>> 2;
    const start = arena.heap.u32[at]!;
    if (start === 0) continue;
    let text = decodeCell(arena, start, arena.heap.u32[at + 1]!);
    for (let index = first; index < steps.length && text.length <= CELL_BYTES_MAX; index++) {
      text = steps[index]!.edit(text);
      if (text.length > LONG_TEXT && clock.isDue()) yield PAUSE;
    }
    if (!writeCell(arena, at, text)) return false;
    if ((i & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
  }
  return true;
}

export function decodeCell(arena: Arena, start: number, length: number): string {
  return arena.decode(start, length);
}

/** Writes a text to the arena and its view to the u32 index `at`. False when the arena is full. */
export function writeCell(arena: Arena, at: number, text: string): boolean {
  if (text.length > CELL_BYTES_MAX) {
    arena.heap.u32[at] = arena.next;
    arena.heap.u32[at + 1] = CELL_BYTES_MAX + 1;
    return true;
  }
  if (!arena.hasRoomFor(text)) return false;
  const start = arena.next;
  const bytes = arena.write(text);
  arena.heap.u32[at] = start;
  arena.heap.u32[at + 1] = bytes;
  return true;
}
