// The cells of one column of a reference table by one key, for operations that need any of its rows at any time: from
// memory, or from a file when the budget refuses the table.
import type { PlacedText } from '../cells/placed-text.ts';
import { KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import type { TableRows } from '../tables/table-rows.ts';
import { DiskTable, type DiskTableContext } from './disk-table.ts';
import { TableIndex, type TableKey } from './table-index.ts';

/** A table this small is loaded whatever the budget says: a Run has few of them, and each is read for its own use. */
const TABLE_BYTES_FORCED = 1024 * 1024;

export class TableCells {
  readonly #context: DiskTableContext;
  readonly #index: TableIndex;
  readonly #value: number;
  readonly #table: TableRows;
  readonly #key: number;
  #disk: DiskTable | null = null;
  #isBuilt = false;
  /** Of the keys that the disk was asked for last, by id. */
  readonly #found: (PlacedText | null)[] = [];

  /** It has no cells before `build` is done. */
  constructor(context: DiskTableContext, table: TableRows, key: TableKey, value: number) {
    this.#context = context;
    this.#value = value;
    this.#key = key.column;
    this.#table = table;
    this.#index = new TableIndex(context, table.columns.length, [key]);
  }

  /** Reads the table. Takes memory and uses the arena, which may be emptied in between. */
  *build(): Iterable<void> {
    const table = this.#table;
    const inMemory = yield* this.#index.load(table, table.sizeBytes <= TABLE_BYTES_FORCED);
    if (!inMemory) this.#disk = yield* DiskTable.build(this.#context, table, this.#index, this.#value);
    this.#isBuilt = true;
  }

  /** Bytes of the longest key that the table may have: a longer one is not there. Of keys that are texts as they stand. */
  longestKeyBytes(): number {
    if (this.#disk !== null) return this.#disk.longestKeyBytes;
    const { u32 } = this.#context.arena.heap;
    const views = this.#index.views(this.#key) >>> 2;
    let longest = 0;
    for (let row = 0; row < this.#table.rows; row++) longest = Math.max(longest, u32[views + row * 2 + 1]!);
    return longest;
  }

  hash(list: KeyList): void {
    this.#index.hash(list);
  }

  /** Ids of the keys, KEY_ABSENT for those that the table does not have; false when the arena is full. */
  find(list: KeyList): boolean {
    if (!this.#isBuilt) throw new Error('a table is asked before it is read');
    if (this.#disk === null) {
      this.#index.find(list);
      return true;
    }
    const { arena } = this.#context;
    const { u32 } = arena.heap;
    this.#found.length = 0;
    for (let i = 0; i < list.count; i++) {
      const cell = this.#ask(this.#disk, list, i);
      u32[(list.ids >>> 2) + i] = cell === undefined ? KEY_ABSENT : this.#found.length;
      if (cell === undefined) continue;
      const at = cell === null ? 0 : arena.tryTake(cell.length);
      if (cell !== null && at === 0) return false;
      if (cell !== null) arena.heap.u8.set(cell, at);
      this.#found.push(cell === null ? null : { at, bytes: cell.length });
    }
    return true;
  }

  /** The cell of a key that `find` found. */
  text(id: number): PlacedText | null {
    if (this.#disk !== null) return this.#found[id]!;
    const { u32 } = this.#context.arena.heap;
    const view = (this.#index.views(this.#value) >>> 2) + this.#index.first(id) * 2;
    return u32[view] === 0 ? null : { at: u32[view]!, bytes: u32[view + 1]! };
  }

  /** The cell of the only key of a list, null when there is none; takes no memory. */
  single(list: KeyList): string | null {
    if (!this.#isBuilt) throw new Error('a table is asked before it is read');
    this.#index.hash(list);
    const { heap } = this.#context.arena;
    if (this.#disk !== null) {
      const cell = this.#ask(this.#disk, list, 0) ?? null;
      return cell === null ? null : Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString('utf8');
    }
    this.#index.find(list);
    const id = heap.u32[list.ids >>> 2]!;
    const cell = id === KEY_ABSENT ? null : this.text(id);
    return cell === null ? null : Buffer.from(heap.u8.buffer, cell.at, cell.bytes).toString('utf8');
  }

  #ask(disk: DiskTable, { views, rows, hashes }: KeyList, i: number): Uint8Array | null | undefined {
    const { u32 } = this.#context.arena.heap;
    const view = (views >>> 2) + u32[(rows >>> 2) + i]! * 2;
    if (u32[view] === 0) return undefined;
    return disk.find(u32[(hashes >>> 2) + i * 2 + 1]!, u32[view]!, u32[view + 1]!);
  }
}
