// The different values of each group, by a hash table of groups and values: how many there are, or which came most often.
import type { ColumnData } from '../../batch/batch.ts';
import { ENTRY_BYTES } from '../../kernel/layout/held-values.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { HashTable } from '../keys/hash-table.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { HeldLists, ReadValues } from './held-lists.ts';
import type { FoldStates } from './metric-state.ts';

/** Groups whose values are in the table at once. */
const GROUPS_AT_ONCE = 1024;

/** Entries for which there is room at first. */
const ENTRIES_FIRST = 4096;

interface Settling {
  readonly states: FoldStates;
  readonly groups: number;
  readonly mostFrequent: boolean;
  /** Hears how many groups are settled. */
  settled(groups: number): void;
}

export class DifferentValues {
  readonly #context: OperatorContext;
  readonly #lists: HeldLists;
  readonly #table: HashTable;
  readonly #entries: Entries;
  readonly #keys: RowKeys;
  /** How often the most frequent value of each group came. */
  readonly #best: number;

  constructor(context: OperatorContext, lists: HeldLists) {
    const { heap } = context.arena;
    this.#context = context;
    this.#lists = lists;
    this.#table = new HashTable(heap, context.kernel);
    this.#entries = new Entries(context);
    this.#keys = new RowKeys(context, [0, 1], 'exact');
    this.#best = heap.allocate(GROUPS_AT_ONCE * 4);
  }

  /** Puts the cell of each group into its state; false when memory has no room for the values of some. */
  *settle({ states, groups, mostFrequent, settled }: Settling): Generator<void, boolean> {
    const lists = this.#lists;
    const table = this.#table;
    for (let from = 0; from < groups; from += GROUPS_AT_ONCE) {
      const end = Math.min(groups, from + GROUPS_AT_ONCE);
      table.clear();
      lists.begin(from);
      for (let values = lists.next(states, end); values.count > 0; values = lists.next(states, end)) {
        if (!this.#enter(values)) return false;
        yield;
      }
      const { exports } = this.#context.kernel;
      const { at, stride } = states;
      const which = mostFrequent ? 1 : 0;
      exports.settleEntries(at, stride, from, end, this.#entries.at, table.count, which, this.#best);
      settled(end);
      yield;
    }
    return true;
  }

  /** False when the budget has no room for more different values. */
  #enter(values: ReadValues): boolean {
    const { arena, kernel } = this.#context;
    const [table, entries, keys, lists] = [this.#table, this.#entries, this.#keys, this.#lists];
    const { count, groups, words, metas, column } = values;
    const mark = arena.next;
    const hashes = arena.take(count * 8);
    const ids = arena.take(count * 4);
    const numbers = groupColumn(arena, groups, count);
    const batch = lists.batch([numbers, column], count);
    let views = keys.make(batch, batch.selection, count);
    for (; views === 0; views = keys.make(batch, batch.selection, count)) arena.enlarge(arena.capacityBytes * 2);
    const known = table.count;
    const list = { views, rows: batch.selection, count, hashes, ids };
    table.hash(list);
    const isIn = entries.ensure(known + count) && table.insert(list) === count;
    if (isIn) kernel.exports.countEntries(entries.at, known, ids, count, words, metas, groups);
    arena.release(mark);
    return isIn;
  }
}

function groupColumn(arena: OperatorContext['arena'], groups: number, count: number): ColumnData {
  const [at, meta] = [arena.take(count * 8), arena.take(count)];
  const { u8, u32 } = arena.heap;
  u8.fill(0, meta, meta + count);
  for (let row = 0; row < count; row++) {
    u32[(at >>> 2) + row * 2] = u32[(groups >>> 2) + row]!;
    u32[(at >>> 2) + row * 2 + 1] = 0;
  }
  return { kind: 'typed', type: 'integer', at, meta, big: null };
}

/** The growing array of what is known of the values. */
class Entries {
  readonly #heap: OperatorContext['arena']['heap'];
  #at: number;
  #most = ENTRIES_FIRST;

  constructor({ arena }: OperatorContext) {
    this.#heap = arena.heap;
    this.#at = arena.heap.allocate(ENTRIES_FIRST * ENTRY_BYTES);
  }

  get at(): number {
    return this.#at;
  }

  /** False when the budget refuses it. */
  ensure(count: number): boolean {
    if (count <= this.#most) return true;
    const most = Math.max(count, this.#most * 2);
    const at = this.#heap.tryAllocate(most * ENTRY_BYTES);
    if (at === 0) return false;
    this.#heap.u8.copyWithin(at, this.#at, this.#at + this.#most * ENTRY_BYTES);
    this.giveBack();
    this.#at = at;
    this.#most = most;
    return true;
  }

  giveBack(): void {
    this.#heap.giveBack(this.#at, this.#most * ENTRY_BYTES);
  }
}
