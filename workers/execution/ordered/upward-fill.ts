// Fills empty cells from the rows behind them, where all rows are one group: nothing is sorted. The rows are put aside, and what is
// looked at of them on a stack; from there it comes back last rows first, is filled, and goes on a second stack, which gives the
// cells in the order of the rows again.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import type { Slices, Steps } from '../../run/time-slices.ts';
import { RowStack } from '../spill/row-stack.ts';
import { RowStore } from '../spill/row-store.ts';
import { rowsBetween } from '../spill/rows-between.ts';
import { CarriedFill } from './carried-fill.ts';
import { type FillFrame, marksColumn, marksOfColumn } from './fill-frame.ts';

export class UpwardFill implements Operator {
  readonly #context: OperatorContext;
  readonly #frame: FillFrame;
  readonly #rows: RowStore;
  /** The columns that are filled, then a column of booleans for each condition. */
  readonly #looked: RowStack;
  readonly #filled: RowStack;

  constructor(context: OperatorContext, frame: FillFrame) {
    const types = storedTypes(context.input);
    const sources = frame.sources.map((index) => types[index]!);
    this.#context = context;
    this.#frame = frame;
    this.#rows = new RowStore(context, types);
    this.#looked = new RowStack(context, [...sources, ...new Array<StoredType>(frame.conditions).fill('boolean')]);
    this.#filled = new RowStack(context, sources);
  }

  *push(given: Batch): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const { batch, masks } = yield* this.#frame.mark(given);
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    this.#rows.add(batch);
    const columns = this.#frame.sources.map((index) => batch.columns[index]!);
    this.#looked.push(batch.withColumns([...columns, ...masks.map((marks) => marksColumn(batch, marks))]));
    arena.release(mark);
  }

  *finish(): Steps {
    yield* this.#fill();
    this.#looked.drop();
    this.#rows.begin();
    for (let made = this.#filled.pop(); made !== null; made = this.#filled.pop()) {
      yield* this.#meet(made);
      yield;
    }
    this.#rows.drop();
    this.#filled.drop();
  }

  /** Last rows first. */
  *#fill(): Steps {
    const { arena, input, report } = this.#context;
    const { sources, inPlace, conditions } = this.#frame;
    const fills = sources.map((source, column) => {
      return new CarriedFill(arena, {
        column,
        inPlace: inPlace[column]!,
        hasKinds: input[source]!.hasKinds === true,
        seeds: -1,
      });
    });
    for (let piece = this.#looked.pop(); piece !== null; piece = this.#looked.pop()) {
      const mark = arena.next;
      const turned = turnedRows(piece);
      const masks = Array.from({ length: conditions }, (_, at) => marksOfColumn(turned, sources.length + at));
      const made = fills.map((fill, target): ColumnData => {
        const { column, changed } = fill.fill(turned, { forgets: null, chosen: this.#frame.chosen(target, masks) });
        report.cells_changed += changed;
        return column;
      });
      this.#filled.push(piece.withColumns(made), true);
      arena.release(mark);
      yield;
    }
  }

  /** Puts filled cells into the rows that were put aside. */
  *#meet(made: Batch): Slices {
    const { arena, next } = this.#context;
    for (let from = 0; from < made.live; ) {
      const mark = arena.next;
      const some = this.#rows.next(made.live - from);
      const cells = rowsBetween(made, from, from + some.live);
      yield* next(this.#frame.put(some, cells.columns));
      arena.release(mark);
      from += some.live;
    }
  }
}

/** The same rows, last one first. */
function turnedRows(batch: Batch): Batch {
  const { arena, live } = batch;
  const selection = arena.take(live * 4);
  const { u32 } = arena.heap;
  for (let position = 0; position < live; position++) {
    u32[(selection >>> 2) + position] = batch.physicalRow(live - 1 - position);
  }
  return batch.withSelection(selection, live);
}
