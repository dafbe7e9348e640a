// The place of the first row of each key, in a hash table: rows with the same key are joined as they come. When the budget refuses
// more keys, those that are known go on joining their rows; the rows of all other keys are for who can sort them.
// States: open (keys are added) → closed (keys are looked up).
import type { Batch } from '../../batch/batch.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { inSlices } from '../cells/slices.ts';
import type { DisjointSets } from './disjoint-sets.ts';
import { HashTable, KEY_ABSENT, type KeyList } from './hash-table.ts';
import type { MatchLevel } from './match-level.ts';
import { RowKeys } from './row-keys.ts';

/** Keys whose places have room at first. */
const KEYS_FIRST = 1024;

export class FirstPlaces {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #table: HashTable;
  /** u32 by the number of a key. */
  #places: number;
  #keysMax = KEYS_FIRST;
  #isClosed = false;

  /** @param columns indexes in the batches, whose cells make the key */
  constructor(context: OperatorContext, columns: readonly number[], match: MatchLevel) {
    this.#context = context;
    this.#keys = new RowKeys(context, columns, match);
    this.#table = new HashTable(context.arena.heap, context.kernel);
    this.#places = context.arena.heap.allocate(KEYS_FIRST * 4);
  }

  /**
   * Joins the places of rows with those of the first rows of their keys. Gives how many rows are left, whose keys are not known:
   * they stand in `left`, u32 physical rows.
   * @param batch rows that all have a key
   * @param places by physical row
   */
  join(batch: Batch, places: Uint32Array, sets: DisjointSets, left: number): number {
    const { arena } = this.#context;
    let leftCount = 0;
    this.#keys.prepare(batch);
    inSlices(batch, (from, to) => {
      const count = to - from;
      const rows = batch.selection + from * 4;
      const views = this.#keys.make(batch, rows, count);
      const [hashes, ids] = [arena.tryTake(count * 8), arena.tryTake(count * 4)];
      if (views === 0 || hashes === 0 || ids === 0) return false;
      const known = this.#table.count;
      this.#number({ views, rows, count, hashes, ids });
      const { u32 } = arena.heap;
      const firsts = this.#places >>> 2;
      let next = known;
      for (let position = 0; position < count; position++) {
        const id = u32[(ids >>> 2) + position]!;
        const row = u32[(rows >>> 2) + position]!;
        if (id === KEY_ABSENT) u32[(left >>> 2) + leftCount++] = row;
        else if (id === next) u32[firsts + next++] = places[row]!;
        else sets.join(u32[firsts + id]!, places[row]!);
      }
      return true;
    });
    return leftCount;
  }

  drop(): void {
    this.#table.drop();
    this.#context.arena.heap.giveBack(this.#places, this.#keysMax * 4);
  }

  /** Gives each row the number of its key, new ones as they come, KEY_ABSENT where there is no room for one. */
  #number(list: KeyList): void {
    this.#table.hash(list);
    const reached = !this.#isClosed && this.#hasRoom(this.#table.count + list.count) ? this.#table.insert(list) : 0;
    if (reached === list.count) return;
    this.#isClosed = true;
    this.#table.find(list, reached);
  }

  #hasRoom(keys: number): boolean {
    if (keys <= this.#keysMax) return true;
    const { heap } = this.#context.arena;
    const keysMax = Math.max(keys, this.#keysMax * 2);
    const at = heap.tryAllocate(keysMax * 4);
    if (at === 0) return false;
    heap.u8.copyWithin(at, this.#places, this.#places + this.#table.count * 4);
    heap.giveBack(this.#places, this.#keysMax * 4);
    this.#places = at;
    this.#keysMax = keysMax;
    return true;
  }
}
