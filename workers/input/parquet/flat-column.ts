// A column of the file whose cells are single values: levels say which are null, the others come in order.
import { BATCH_ROWS_MAX, type ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { LeafCells } from './leaf-cells.ts';
import type { LeafPages } from './leaf-pages.ts';

export class FlatColumn {
  readonly pages: LeafPages;
  readonly #cells: LeafCells;
  readonly #arena: Arena;
  readonly #hasKinds: boolean;
  readonly #levels = new Uint32Array(BATCH_ROWS_MAX);
  #rowsDone = 0;

  constructor(pages: LeafPages, cells: LeafCells, arena: Arena, hasKinds: boolean) {
    this.pages = pages;
    this.#cells = cells;
    this.#arena = arena;
    this.#hasKinds = hasKinds;
  }

  /** Rows left of the page at hand. */
  get rowsLeft(): number {
    return this.pages.values - this.#rowsDone;
  }

  /** Loads the next page; false: the row group has no more. Throws Failed. */
  load(): boolean {
    this.#rowsDone = 0;
    return this.pages.load();
  }

  /** The next rows, of which the page has so many. Adds the bytes of each to `rowBytes`. Throws Failed. */
  read(rows: number, rowBytes: Float64Array): ViewsColumn {
    const { heap } = this.#arena;
    const { definitions, leaf } = this.pages;
    const views = this.#arena.take(rows * VIEW_BYTES);
    const kinds = this.#hasKinds ? this.#arena.take(rows) : 0;
    const levels = this.#levels;
    let present = rows;
    if (definitions !== null) {
      definitions.fill(heap.u8, levels, rows);
      present = 0;
      for (let row = 0; row < rows; row++) if (levels[row] === leaf.definition) present++;
    }
    const cells = this.#cells;
    cells.next(present);
    const { u32, u8 } = heap;
    let view = views >>> 2;
    let next = 0;
    for (let row = 0; row < rows; row++, view += 2) {
      if (definitions !== null && levels[row] !== leaf.definition) {
        u32[view] = 0;
        u32[view + 1] = 0;
        continue;
      }
      const at = cells.at[next]!;
      const bytes = at === 0 ? 0 : cells.bytes[next]!;
      u32[view] = at;
      u32[view + 1] = bytes;
      rowBytes[row] = rowBytes[row]! + bytes;
      if (this.#hasKinds) u8[kinds + row] = cells.kinds[next]!;
      next++;
    }
    this.#rowsDone += rows;
    return this.#hasKinds ? { kind: 'views', at: views, kinds } : { kind: 'views', at: views };
  }
}
