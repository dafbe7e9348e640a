// The operation `blank_down`: clears values that repeat the one above.
import type { Batch, ColumnData } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { editedIds } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { copyTyped, copyViews, type TypedData } from '../execution/ordered/carried-fill.ts';
import { FillFrame, LastCells, type Marks, settleNewColumn } from '../execution/ordered/fill-frame.ts';
import { CellReader } from '../expression/compile/cell-values.ts';
import { isEqual, type Value } from '../expression/compile/value.ts';
import { META_NULL } from '../kernel/layout/cells.ts';
import { PAUSE } from '../scheduling/time-slices.ts';
import { COLUMN_TYPES, columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';

export const blankDown = defineOperation({
  name: 'blank_down',
  purpose: 'sets cells to null that repeat the cell above, as in a printed report',
  summary:
    'Sets cells to null that repeat the value of the row above, as in a printed report. With `where`, only cells of those rows are set to null; the row above can also be outside `where`. Numbers are compared by value: 1.5 equals 1.50.',
  knownAs: [{ names: 'blankdown hide_repeats suppress_repeats', form: 'columns: ...' }],
  parameters: Type.Object({ columns: columnSet, into: intoParameter }),
  cells: true,
  memory: 'O',
  examples: [
    {
      title: 'Show each customer name once',
      operation: { op: 'blank_down', columns: ['customer'] },
      input: {
        columns: ['customer', 'n'],
        rows: [
          ['Ada', '1'],
          ['Ada', '2'],
          ['Bob', '3'],
          [null, '4'],
          ['Bob', '5'],
          ['Bob', '6'],
          ['Ada', '7'],
        ],
      },
      output: {
        columns: ['customer', 'n'],
        rows: [
          ['Ada', '1'],
          [null, '2'],
          ['Bob', '3'],
          [null, '4'],
          ['Bob', '5'],
          [null, '6'],
          ['Ada', '7'],
        ],
      },
    },
    {
      title: 'Not in the first row of a page',
      operation: { op: 'blank_down', columns: ['customer'], where: 'line != "1"' },
      input: {
        columns: ['line', 'customer'],
        rows: [
          ['1', 'Ada'],
          ['2', 'Ada'],
          ['1', 'Ada'],
          ['2', 'Ada'],
          ['3', 'Bob'],
        ],
      },
      output: {
        columns: ['line', 'customer'],
        rows: [
          ['1', 'Ada'],
          ['2', null],
          ['1', 'Ada'],
          ['2', null],
          ['3', 'Bob'],
        ],
      },
    },
    {
      title: 'Values of any type',
      operation: { op: 'blank_down', columns: '*' },
      input: {
        columns: ['day', 'amount', 'paid'],
        types: ['date', 'decimal', 'boolean'],
        rows: [
          ['2026-01-31', '1.50', 'true'],
          ['2026-01-31', '1.5', 'false'],
          ['2026-02-01', null, 'false'],
          ['2026-02-01', '1.5', null],
        ],
      },
      output: {
        columns: ['day', 'amount', 'paid'],
        rows: [
          ['2026-01-31', '1.50', 'true'],
          [null, null, 'false'],
          ['2026-02-01', null, null],
          [null, '1.5', null],
        ],
      },
    },
    {
      title: 'Into a new column',
      operation: { op: 'blank_down', columns: ['customer'], into: 'shown' },
      input: { columns: ['customer'], rows: [['Ada'], ['Ada'], ['Bob']] },
      output: {
        columns: ['customer', 'shown'],
        rows: [
          ['Ada', 'Ada'],
          ['Ada', null],
          ['Bob', 'Bob'],
        ],
      },
    },
  ],
  effect({ columns, into }, scope) {
    return cellTargets(scope, { columns, into, takes: COLUMN_TYPES, makes: null, moves: true });
  },
  edits: editedIds,
  start(targets, context) {
    const { arena, clock, next, report } = context;
    const frame = new FillFrame(context, targets);
    const last = LastCells.ofColumns(arena.heap, targets.length);
    const states = targets.map(({ source }, target): State => {
      const reader = new CellReader(source!.type, frame.sources[target]!);
      return { last: last[target]!, hasLast: false, reader, value: null };
    });
    return {
      *push(given) {
        const mark = arena.next;
        const { batch, masks } = yield* frame.mark(given);
        const made: ColumnData[] = [];
        for (const [target, index] of frame.sources.entries()) {
          if (clock.isDue()) yield PAUSE;
          const chosen = frame.chosen(target, masks);
          const { column, blanked } = blankRepeats(batch, index, chosen, states[target]!);
          report.cells_changed += frame.inPlace[target] ? blanked : settleNewColumn(batch, column, chosen);
          made.push(column);
        }
        yield* next(frame.put(batch, made));
        arena.release(mark);
      },
    };
  },
});

/** The cell of the previous row, kept across batches: a text, or a value. */
interface State {
  readonly last: LastCells;
  hasLast: boolean;
  readonly reader: CellReader;
  value: unknown;
}

/** Returns a copy of a column without its repeats, and the number of cleared cells. */
function blankRepeats(batch: Batch, index: number, chosen: Marks | null, state: State) {
  const before = batch.columns[index]!;
  if (before.kind === 'typed') {
    const column = copyTyped(batch, before);
    return { column, blanked: blankValues(batch, column, chosen, state) };
  }
  const views = batch.views(index);
  const column = copyViews(batch, index);
  return { column, blanked: blankTexts(batch, views, column.at, chosen, state) };
}

/** Clears cells of a copy (`made`). Returns their number. */
function blankValues(batch: Batch, made: TypedData, chosen: Marks | null, state: State): number {
  const { reader } = state;
  reader.bind(batch);
  let blanked = 0;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const value = reader.read(row);
    const isRepeat = value !== null && isSameValue(value as Value, state.value as Value);
    if (isRepeat && (chosen === null || chosen[position] === 1)) {
      batch.heap.u8[made.meta + row] = META_NULL;
      blanked++;
    }
    state.value = value;
  }
  return blanked;
}

/** NaN equals itself here, as in dedupe. */
function isSameValue(a: Value, b: Value): boolean {
  return Object.is(a, b) || isEqual(a, b, () => undefined);
}

/** Clears cells of a copy (`made`) of the views `before`. Returns their number. */
function blankTexts(batch: Batch, before: number, made: number, chosen: Marks | null, state: State): number {
  const { u8, u32 } = batch.heap;
  let blanked = 0;
  let [lastStart, lastLength] = state.hasLast ? state.last.text(0) : [0, 0];
  for (let position = 0; position < batch.live; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    const view = (before >>> 2) + row * 2;
    const [start, length] = [u32[view]!, u32[view + 1]!];
    const isRepeat = start !== 0 && lastStart !== 0 && length === lastLength;
    if (isRepeat && (chosen === null || chosen[position] === 1) && isSame(u8, start, lastStart, length)) {
      u32.fill(0, (made >>> 2) + row * 2, (made >>> 2) + row * 2 + 2);
      blanked++;
    }
    lastStart = start;
    lastLength = length;
  }
  state.hasLast = lastStart !== 0;
  if (state.hasLast) state.last.keepText(0, lastStart, lastLength);
  return blanked;
}

function isSame(u8: Uint8Array, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (u8[a + at] !== u8[b + at]) return false;
  return true;
}
