// The operation `drop_repeated_headers`: drops rows that repeat the header of the file, as at the top of each page.
import type { Batch } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { piecesOf } from '../execution/cells/cell-operator.ts';
import type { TextStep } from '../execution/cells/text-chain.ts';
import { matchSteps, matchText, RowKeys } from '../execution/keys/row-keys.ts';
import { PAUSE, type Sliced, type Slices } from '../scheduling/time-slices.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';

export const dropRepeatedHeaders = defineOperation({
  name: 'drop_repeated_headers',
  purpose: "drops rows whose text cells repeat the file's headers",
  summary:
    "Drops rows whose cells repeat the file's header. It compares the text columns of the file, including renamed and moved ones, regardless of case, surrounding spaces and invisible characters.",
  knownAs: [{ names: 'remove_headers drop_headers remove_repeated_headers skip_headers', form: null }],
  parameters: Type.Object({}),
  cells: false,
  memory: 'R',
  edits: () => [],
  examples: [
    {
      title: 'Several pages',
      operation: { op: 'drop_repeated_headers' },
      input: {
        columns: ['id', 'Amount'],
        rows: [
          ['1', '5'],
          ['id', 'Amount'],
          ['2', 'amount'],
          [' ID', 'AMOUNT '],
          ['id', null],
          ['3', '6'],
        ],
      },
      output: {
        columns: ['id', 'Amount'],
        rows: [
          ['1', '5'],
          ['2', 'amount'],
          ['id', null],
          ['3', '6'],
        ],
      },
    },
  ],
  effect: () => null,
  *start(_plan, context): Sliced<Operator> {
    const { arena, headers, input } = context;
    const steps = matchSteps(arena.heap, 'normal');
    const expected: ExpectedCell[] = [];
    for (const column of input) {
      const header = headers.get(column.id);
      if (header === undefined || column.type !== 'text') continue;
      expected.push({ index: context.indexOf(column), text: matchText(steps, header) });
      if (expected.length % HEADERS_AT_ONCE === 0 && context.clock.isDue()) yield PAUSE;
    }
    const first = expected.find(({ text }) => text !== '');
    return first === undefined ? { push: context.next } : new RepeatedHeaders(context, steps, expected, first);
  },
});

/** Number of headers that are normalised between two checks of the clock. */
const HEADERS_AT_ONCE = 64;

/** Expected cell of a column in a repeated header. Columns with a blank header have no such entry. */
interface ExpectedCell {
  readonly index: number;
  readonly text: string;
}

class RepeatedHeaders implements Operator {
  readonly #context: OperatorContext;
  readonly #steps: readonly TextStep[];
  readonly #first: Buffer;
  readonly #others: readonly ExpectedCell[];
  readonly #keys: RowKeys;

  constructor(
    context: OperatorContext,
    steps: readonly TextStep[],
    expected: readonly ExpectedCell[],
    first: ExpectedCell,
  ) {
    this.#context = context;
    this.#steps = steps;
    this.#first = Buffer.from(first.text);
    this.#others = expected.filter((cell) => cell !== first);
    this.#keys = new RowKeys(context, [first.index], 'normal');
  }

  *push(batch: Batch): Slices {
    this.#keys.prepare(batch);
    yield* this.#keys.editLong(batch, this.#context.clock);
    const columns = [...batch.columns];
    for (const piece of piecesOf(batch)) {
      const left = yield* this.#dataRows(batch.slice(piece.from, piece.to));
      piece.isTooLarge = left === null;
      if (left !== null && left.live > 0) yield* this.#context.next(left);
      // Restores the columns, because created views are in a part of the arena that the next piece overwrites.
      batch.columns = [...columns];
    }
  }

  /** Returns null if the arena is full. */
  *#dataRows(batch: Batch): Sliced<Batch | null> {
    const { arena } = batch;
    const selection = arena.tryTake(batch.live * 4);
    const views = selection === 0 ? 0 : this.#keys.make(batch, batch.selection, batch.live);
    if (views === 0) return null;
    const { heap } = arena;
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      const { u8, u32 } = heap;
      const row = batch.physicalRow(position);
      const view = (views >>> 2) + row * 2;
      const isCandidate =
        u32[view] !== 0 &&
        u32[view + 1] === this.#first.length &&
        this.#first.equals(u8.subarray(u32[view]!, u32[view]! + u32[view + 1]!));
      // Creating views for a candidate may move the memory.
      if (!isCandidate || !(yield* this.#isHeader(batch, row))) heap.u32[(selection >>> 2) + live++] = row;
    }
    return live === batch.live ? batch : batch.withSelection(selection, live);
  }

  *#isHeader(batch: Batch, row: number): Sliced<boolean> {
    let compared = 0;
    for (const { index, text } of this.#others) {
      const cell = batch.text({ kind: 'views', at: batch.views(index) }, row) ?? '';
      if (matchText(this.#steps, cell) !== text) return false;
      if (++compared % HEADERS_AT_ONCE === 0 && this.#context.clock.isDue()) yield PAUSE;
    }
    return true;
  }
}
