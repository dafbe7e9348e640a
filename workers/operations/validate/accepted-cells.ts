// Knows by a kernel which cells of a batch a pattern is found in. Where it is not found, or no kernel can tell, the pattern's
// own engine has the last word.
import { type Batch, VIEW_BYTES } from '../../batch.ts';
import type { GreedyPattern } from '../../expression/greedy-pattern.ts';
import { placePattern } from '../cells/pattern-program.ts';
import type { OperatorContext } from '../operation.ts';

export class AcceptedCells {
  readonly #context: OperatorContext;
  readonly #column: number;
  readonly #items: number;
  readonly #program: number;
  /** Views of what was found, by physical row; 0 while nothing is known. */
  #found = 0;

  /** @param column index in the batches of a column of text */
  constructor(context: OperatorContext, column: number, pattern: GreedyPattern) {
    this.#context = context;
    this.#column = column;
    this.#items = pattern.items.length;
    this.#program = placePattern(context.arena.heap, pattern, [], 1);
  }

  /** Looks at the live rows of a batch; what it finds lies in the arena. */
  bind(batch: Batch): void {
    const { arena, kernel } = this.#context;
    this.#found = 0;
    if (this.#program === 0 || batch.columns[this.#column]!.kind === 'typed') return;
    const views = batch.views(this.#column);
    const found = arena.take(batch.rows * VIEW_BYTES);
    const todo = arena.take((batch.live + 1) * 4);
    const { selection, live } = batch;
    kernel.exports.findPattern(views, selection, live, this.#program, 0, this.#items, 0, found, todo);
    this.#found = found;
  }

  /**
   * Keeps those of `count` rows (u32, compacted in place) whose cell is null or may not hold the pattern; gives how many, -1
   * when nothing is known.
   */
  keepDoubtful(rows: number, count: number): number {
    return this.#found === 0 ? -1 : this.#context.kernel.exports.keepEmpty(this.#found, rows, count);
  }

  has(row: number): boolean {
    return this.#found !== 0 && this.#context.arena.heap.u32[(this.#found >>> 2) + row * 2] !== 0;
  }
}
