// The operation `blank_down`: a value that repeats the one above is blanked.
import { Type } from 'typebox';
import type { Batch } from '../batch.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { columnsOfTypes } from './cells/cell-targets.ts';
import { columnSet } from './column-set.ts';
import { LastCells } from './fills/last-cells.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

export const blankDown = defineOperation({
  name: 'blank_down',
  summary: 'Blanks cells that repeat the value of the row above, as in a printed report.',
  parameters: Type.Object({ columns: columnSet }),
  cells: false,
  memory: 'O',
  examples: [
    {
      title: 'Name the customer once',
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
  ],
  effect({ columns }, scope) {
    return columnsOfTypes(scope, columns, '/columns', ['text']);
  },
  start(columns, context) {
    const states = columns.map((column) => ({
      index: columnIndex(context.input, column),
      last: new LastCells(context.arena.heap),
      hasLast: false,
    }));
    return { push: (batch) => pushBlanked(batch, states, context) };
  },
});

interface State {
  readonly index: number;
  readonly last: LastCells;
  hasLast: boolean;
}

function pushBlanked(batch: Batch, states: readonly State[], { next, report }: OperatorContext): void {
  const { arena } = batch;
  const mark = arena.next;
  const columns = [...batch.columns];
  for (const state of states) {
    const before = batch.views(state.index);
    columns[state.index] = batch.columns[state.index]!;
    const at = arena.take(batch.rows * 8);
    arena.heap.u8.copyWithin(at, before, before + batch.rows * 8);
    columns[state.index] = { kind: 'views', at };
    report.cells_changed += blankRepeats(batch, before, at, state);
  }
  next(batch.withColumns(columns));
  arena.release(mark);
}

function blankRepeats(batch: Batch, before: number, made: number, state: State): number {
  const { u8, u32 } = batch.heap;
  let blanked = 0;
  let [lastStart, lastLength] = state.hasLast ? state.last.text(0) : [0, 0];
  for (let position = 0; position < batch.live; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    const view = (before >>> 2) + row * 2;
    const [start, length] = [u32[view]!, u32[view + 1]!];
    if (start !== 0 && lastStart !== 0 && length === lastLength && isSame(u8, start, lastStart, length)) {
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
