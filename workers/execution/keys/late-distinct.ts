// Which row of each key stays where that is known only when all rows have come: the last one, or one that is alone. Of each key a
// word is held.
import type { Batch } from '../../batch/batch.ts';
import { GrowingWords } from '../../memory/growing-words.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Slices } from '../../run/time-slices.ts';
import type { NumberedRows as NumberedList } from './key-cache.ts';
import type { KeyFacts } from './numbered-rows.ts';

/** What the word of a key says where only rows that are alone stay. */
const ALONE = 1;
const SEVERAL = 2;

export class LateDistinct implements KeyFacts {
  readonly #context: OperatorContext;
  readonly #keep: 'last' | 'none';
  /** By the number of the key: its last row, or whether it has one row or several. */
  readonly #words: GrowingWords;

  constructor(context: OperatorContext, keep: 'last' | 'none') {
    this.#context = context;
    this.#keep = keep;
    this.#words = new GrowingWords(context.arena.heap);
  }

  reserve(keys: number): boolean {
    return this.#words.reserve(keys);
  }

  take(_batch: Batch, { ids, count }: NumberedList, first: number): boolean {
    const { u32 } = this.#context.arena.heap;
    const words = this.#words.at >>> 2;
    if (this.#keep === 'last') {
      for (let at = 0; at < count; at++) u32[words + u32[(ids >>> 2) + at]!] = first + at;
      return true;
    }
    for (let at = 0; at < count; at++) {
      const word = words + u32[(ids >>> 2) + at]!;
      u32[word] = u32[word] === 0 ? ALONE : SEVERAL;
    }
    return true;
  }

  *emit(batch: Batch, ids: number, first: number): Slices {
    const { arena, next } = this.#context;
    const selection = arena.take(batch.live * 4);
    const { u32, f64 } = arena.heap;
    const words = this.#words.at >>> 2;
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      const word = u32[words + f64[(ids >>> 3) + position]!]!;
      if (word === (this.#keep === 'last' ? first + position : ALONE)) {
        u32[(selection >>> 2) + live++] = batch.physicalRow(position);
      }
    }
    if (live > 0) yield* next(batch.withSelection(selection, live));
  }

  drop(): void {
    this.#words.drop();
  }
}
