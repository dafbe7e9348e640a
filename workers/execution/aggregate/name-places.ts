// Which of a list of names a row has, as the place of the name in the list.
import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import type { ColumnType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { HashTable, KEY_ABSENT } from '../keys/hash-table.ts';
import { RowKeys } from '../keys/row-keys.ts';

export interface ListedNames {
  readonly names: readonly string[];
  /** The column of the names in the batches, and its type. */
  readonly index: number;
  readonly type: ColumnType;
  /** The place of other names; KEY_ABSENT: they have none. */
  readonly rest: number;
}

export class NamePlaces {
  readonly #context: OperatorContext;
  readonly #list: ListedNames;
  readonly #places: ReadonlyMap<string, number>;
  readonly #reader: CellReader;
  readonly #keys: RowKeys;
  readonly #table: HashTable;

  constructor(context: OperatorContext, list: ListedNames) {
    const { heap } = context.arena;
    this.#context = context;
    this.#list = list;
    this.#places = new Map(list.names.map((name, place) => [name, place]));
    this.#reader = new CellReader(list.type, list.index);
    this.#keys = new RowKeys(context, [list.index], 'exact');
    this.#table = new HashTable(heap, context.kernel);
    this.#table.forced = true;
    this.#enterNames();
  }

  /** Address of the places of rows (u32 by position); 0 when the arena is full. */
  find(batch: Batch, rows: number, count: number): number {
    const { arena } = this.#context;
    const places = arena.tryTake(count * 4);
    if (places === 0) return 0;
    if (batch.columns[this.#list.index]!.kind === 'typed') return this.#findValues(batch, rows, count, places);
    const hashes = arena.tryTake(count * 8);
    const views = hashes === 0 ? 0 : this.#keys.make(batch, rows, count);
    if (views === 0) return 0;
    const list = { views, rows, count, hashes, ids: places };
    this.#table.hash(list);
    this.#table.find(list);
    if (this.#list.rest === KEY_ABSENT) return places;
    const { u32 } = arena.heap;
    for (let at = places >>> 2; at < (places >>> 2) + count; at++)
      if (u32[at] === KEY_ABSENT) u32[at] = this.#list.rest;
    return places;
  }

  /** Values have the names that are their texts. */
  #findValues(batch: Batch, rows: number, count: number, places: number): number {
    const { u32 } = this.#context.arena.heap;
    const { rest } = this.#list;
    this.#reader.bind(batch);
    for (let position = 0; position < count; position++) {
      const name = this.#reader.read(u32[(rows >>> 2) + position]!);
      const place = name === null ? rest : (this.#places.get(textOfValue(name)) ?? rest);
      u32[(places >>> 2) + position] = place;
    }
    return places;
  }

  #enterNames(): void {
    const { arena } = this.#context;
    const { names } = this.#list;
    const mark = arena.next;
    const count = names.length;
    const bytes = names.map((name) => Buffer.from(name));
    const [views, rows] = [arena.take(count * VIEW_BYTES), arena.take(count * 4)];
    const [hashes, ids] = [arena.take(count * 8), arena.take(count * 4)];
    for (const [row, text] of bytes.entries()) {
      // A view of no bytes is not null as long as it has an address.
      const at = arena.take(text.length + 1);
      const { u8, u32 } = arena.heap;
      u8.set(text, at);
      u32.set([at, text.length], (views >>> 2) + row * 2);
      u32[(rows >>> 2) + row] = row;
    }
    const list = { views, rows, count, hashes, ids };
    this.#table.hash(list);
    this.#table.insert(list);
    arena.release(mark);
  }
}
