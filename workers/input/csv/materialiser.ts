// Makes clean views of a raw column (see Materialise in workers/batch/batch.ts), and finds the columns that cannot stay raw
// because a cell of theirs is one of the null texts.
import type { Batch, RawColumn, ViewsColumn } from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { NEXT, POSITION, STATE_BYTES, WANTED } from '../../kernel/layout/materialise.ts';
import type { Heap } from '../../memory/heap.ts';
import type { NullTexts } from './null-texts.ts';

export class Materialiser {
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #nullTexts: NullTexts;
  readonly #quote: number;
  readonly #columns: number;
  readonly #state: number;
  readonly #marks: number;

  constructor(heap: Heap, kernel: KernelExports, nullTexts: NullTexts, quote: number, columns: number) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#nullTexts = nullTexts;
    this.#quote = quote;
    this.#columns = columns;
    this.#state = heap.allocate(STATE_BYTES);
    this.#marks = nullTexts.list === 0 ? 0 : heap.allocate(columns);
  }

  readonly views = (batch: Batch, column: RawColumn): ViewsColumn => {
    const { raw, arena } = batch;
    if (raw === null) throw new Error('a raw column without a raw table');
    const at = arena.take(batch.rows * VIEW_BYTES);
    const entries = raw.at + column.field * 4;
    const state = this.#state;
    this.#heap.u32[(state + POSITION) >>> 2] = 0;
    for (;;) {
      this.#heap.u32[(state + NEXT) >>> 2] = arena.next;
      this.#kernel.materialise(
        this.#state,
        entries,
        raw.stride * 4,
        batch.selection,
        batch.live,
        at,
        arena.limit,
        this.#quote,
        this.#nullTexts.empty ? 1 : 0,
        this.#nullTexts.list,
      );
      arena.next = this.#heap.u32[(state + NEXT) >>> 2]!;
      const wanted = this.#heap.u32[(state + WANTED) >>> 2]!;
      if (wanted === 0) return { kind: 'views', at, field: column.field };
      arena.enlarge(wanted);
    }
  };

  /** Makes views of every column in which raw text would not say what is null. */
  resolveNullTexts(batch: Batch): void {
    const { list, always } = this.#nullTexts;
    if (always) {
      for (let index = 0; index < this.#columns; index++) this.#leaveRaw(batch, index);
      return;
    }
    if (list === 0 || batch.raw === null) return;
    this.#heap.u8.fill(0, this.#marks, this.#marks + this.#columns);
    this.#kernel.findNullTexts(batch.raw.at, batch.rows, this.#columns, this.#quote, list, this.#marks);
    for (let index = 0; index < this.#columns; index++) {
      if (this.#heap.u8[this.#marks + index] === 1) this.#leaveRaw(batch, index);
    }
  }

  /** From now on only the views say what a cell of this column is. */
  #leaveRaw(batch: Batch, index: number): void {
    batch.columns[index] = { kind: 'views', at: batch.views(index) };
  }
}
