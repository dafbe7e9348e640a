// A stored column inside of a list, map or struct: its entries one by one, each with its levels.
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER } from '../../kernel/layout/native-kinds.ts';
import type { Arena } from '../../memory/arena.ts';
import type { LeafCells } from './leaf-cells.ts';
import type { LeafPages } from './leaf-pages.ts';

export class NestedLeaf {
  readonly pages: LeafPages;
  readonly #cells: LeafCells;
  readonly #arena: Arena;
  readonly #definitions = new Uint32Array(BATCH_ROWS_MAX);
  readonly #repetitions = new Uint32Array(BATCH_ROWS_MAX);
  /** Entries at hand, and the next of them; values of them that are there, and the next. */
  #count = 0;
  #next = 0;
  #value = 0;
  /** Entries of the page that are not at hand yet. */
  #left = 0;

  constructor(pages: LeafPages, cells: LeafCells, arena: Arena) {
    this.pages = pages;
    this.#cells = cells;
    this.#arena = arena;
  }

  /** Behind the opening of a chunk. */
  reset(): void {
    this.#count = 0;
    this.#next = 0;
    this.#left = 0;
  }

  /** Whether there is an entry; from then on its levels are there. Throws Failed. */
  hasEntry(): boolean {
    if (this.#next < this.#count) return true;
    if (this.#left === 0) {
      if (!this.pages.load()) return false;
      this.#left = this.pages.values;
    }
    const { definitions, repetitions, leaf } = this.pages;
    const count = Math.min(this.#left, BATCH_ROWS_MAX);
    const { u8 } = this.#arena.heap;
    if (definitions === null) this.#definitions.fill(leaf.definition, 0, count);
    else definitions.fill(u8, this.#definitions, count);
    if (repetitions === null) this.#repetitions.fill(0, 0, count);
    else repetitions.fill(u8, this.#repetitions, count);
    let present = 0;
    for (let index = 0; index < count; index++) if (this.#definitions[index] === leaf.definition) present++;
    this.#cells.next(present);
    this.#count = count;
    this.#left -= count;
    this.#next = 0;
    this.#value = 0;
    return true;
  }

  get definition(): number {
    return this.#definitions[this.#next]!;
  }

  get repetition(): number {
    return this.#repetitions[this.#next]!;
  }

  /** Goes to the next entry. */
  pass(): void {
    if (this.definition === this.pages.leaf.definition) this.#value++;
    this.#next++;
  }

  /** The entry's value in JSON: numbers, booleans and JSON as they are, all else as a string. */
  json(): string {
    const { at, bytes, kinds } = this.#cells;
    const index = this.#value;
    const start = at[index]!;
    if (start === 0) return 'null';
    const text = this.#arena.decode(start, bytes[index]!);
    const kind = kinds[index]!;
    return kind === KIND_NUMBER || kind === KIND_BOOLEAN || kind === KIND_JSON ? text : JSON.stringify(text);
  }

  /** As json, as the key of an object. */
  key(): string {
    const value = this.json();
    return value.startsWith('"') ? value : JSON.stringify(value);
  }
}
