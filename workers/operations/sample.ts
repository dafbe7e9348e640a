// The operation `sample`: selects some rows by their position and a seed, so that every Run selects the same rows.

import type { Batch } from '../batch/batch.ts';
import { storedTypes } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { RowSorter } from '../execution/sort/row-sorter.ts';
import { byPlace, placeColumn } from '../execution/sort/top-of-groups.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { DONE, type Slices, type Steps } from '../scheduling/time-slices.ts';
import { exactlyOne } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';

const parameters = Type.Object(
  {
    n: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'Number of rows; all rows if the file has fewer.',
      }),
    ),
    fraction: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'Probability of each row, such as 0.1.' }),
    ),
    every: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: '`10` keeps the 10th row, the 20th row and so on.',
      }),
    ),
    seed: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4_294_967_295, default: 0, description: 'Another seed selects other rows.' }),
    ),
  },
  exactlyOne(['n'], ['fraction'], ['every']),
);

export const sample = defineOperation({
  name: 'sample',
  purpose: 'keeps a sample: `n` rows, a `fraction`, or one row in `every` n; the same rows in every Run',
  summary:
    'Keeps a sample of the rows in their order: a fixed number, a fraction, or one row in every N. Every Run keeps the same rows.',
  knownAs: [{ names: 'random random_sample shuffle bootstrap decimate', form: 'n: 100' }],
  parameters,
  cells: false,
  memory: ({ n }) => (n === undefined ? 'O' : 'B'),
  examples: [
    {
      title: 'Every second row',
      operation: { op: 'sample', every: 2 },
      input: { columns: ['n'], rows: [['1'], ['2'], ['3'], ['4'], ['5']] },
      output: { columns: ['n'], rows: [['2'], ['4']] },
    },
    {
      title: 'More rows than the file has',
      operation: { op: 'sample', n: 5 },
      input: { columns: ['n'], rows: [['1'], ['2'], ['3']] },
      output: { columns: ['n'], rows: [['1'], ['2'], ['3']] },
    },
  ],
  effect: (given) => given,
  edits: () => [],
  start(given: Static<typeof parameters>, context) {
    const { n, fraction, every, seed = 0 } = given;
    if (n !== undefined) return new FixedSample(context, n, seed);
    const chooses = every === undefined ? byFraction(fraction!, seed) : (place: number) => (place + 1) % every === 0;
    return chosenRows(context, chooses);
  },
});

function byFraction(fraction: number, seed: number): (place: number) => boolean {
  return (place) => {
    const [high, low] = chances(seed, place);
    return (high * 2 ** 21 + (low >>> 11)) / 2 ** 53 < fraction;
  };
}

/** Returns two pseudo-random words (the final steps of MurmurHash3), which depend only on seed and position. */
function chances(seed: number, place: number): [high: number, low: number] {
  const low = place >>> 0;
  const high = Math.floor(place / 2 ** 32);
  const first = mixed(mixed(seed ^ 0x9e3779b9) ^ low ^ Math.imul(high, 0x85ebca6b));
  return [first, mixed(first ^ 0x27d4eb2f ^ Math.imul(low, 0x165667b1))];
}

function mixed(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function chosenRows({ arena, next }: OperatorContext, chooses: (place: number) => boolean): Operator {
  let taken = 0;
  return {
    *push(batch) {
      const mark = arena.next;
      const selection = arena.take(batch.live * 4);
      let live = 0;
      for (let position = 0; position < batch.live; position++) {
        if (!chooses(taken++)) continue;
        arena.heap.u32[(selection >>> 2) + live++] = batch.physicalRow(position);
      }
      if (live > 0) yield* next(batch.withSelection(selection, live));
      arena.release(mark);
    },
  };
}

/** Assigns a random number to each row, and restores the order of the `n` rows with the lowest numbers. */
class FixedSample implements Operator {
  readonly #context: OperatorContext;
  readonly #seed: number;
  readonly #lots: RowSorter;
  readonly #chosen: RowSorter;
  #left: number;
  #taken = 0;

  constructor(context: OperatorContext, n: number, seed: number) {
    const types = [...storedTypes(context.input), 'text' as const];
    this.#context = context;
    this.#seed = seed;
    this.#left = n;
    this.#lots = new RowSorter(context, [...types, 'text'], byPlace(types.length, false));
    this.#chosen = new RowSorter(context, types, byPlace(types.length - 1, false));
  }

  push(batch: Batch): Slices {
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, false);
    const lots = this.#drawn(batch);
    this.#taken += batch.live;
    this.#lots.add(batch.withColumns([...batch.columns, places, { kind: 'views', at: lots }]));
    arena.release(mark);
    return DONE;
  }

  *finish(): Steps {
    const take = (batch: Batch): Slices => {
      const some = batch.slice(0, Math.min(batch.live, this.#left));
      this.#left -= some.live;
      if (some.live > 0) this.#chosen.add(some.withColumns(some.columns.slice(1, -1)));
      return DONE;
    };
    yield* this.#lots.finish(take, () => this.#left);
    yield* this.#chosen.finish((batch) => this.#context.next(batch.withColumns(batch.columns.slice(1, -1))));
  }

  /** Returns views of the random numbers by physical row: 8 bytes each, big-endian. */
  #drawn(batch: Batch): number {
    const { arena } = this.#context;
    const views = arena.take(batch.rows * VIEW_BYTES);
    const bytes = arena.take(batch.live * 8);
    const { u8, u32 } = arena.heap;
    for (let position = 0; position < batch.live; position++) {
      const at = bytes + position * 8;
      for (const [index, word] of chances(this.#seed, this.#taken + position).entries()) {
        for (let byte = 0; byte < 4; byte++) u8[at + index * 4 + byte] = word >>> (24 - byte * 8);
      }
      const view = (views >>> 2) + batch.physicalRow(position) * 2;
      u32[view] = at;
      u32[view + 1] = 8;
    }
    return views;
  }
}
