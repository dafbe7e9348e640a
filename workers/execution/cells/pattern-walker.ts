// Finds, replaces and cuts by a pattern whose groups or choices need more than one look (kernel/assembly/capture-pattern.ts):
// its two-way automaton, made as cells need it, as tables in the Run's memory.
import { byteProgram } from '../../expression/patterns/byte-program.ts';
import { patternProgram, type RegularExpression } from '../../expression/patterns/regular-expression.ts';
import { TwoWayAutomaton } from '../../expression/patterns/two-way-automaton.ts';
import { walkedLengthMax } from '../../expression/patterns/walked-length.ts';
import {
  ACTIONS,
  ARENA_FULL,
  LAST_ROW,
  LENGTH_MAX,
  MACHINE_BYTES,
  MAY_START,
  NOTES,
  ROW_HEAD_BYTES,
  ROW_VARIANT,
  ROW_WAYS,
  ROWS_FULL,
  SLOTS,
  SLOTS_AT,
  START_CLASS,
  START_ENTRY,
  WANTED_IS_WAY,
  WANTED_PLACE,
  WANTED_ROW,
  WAY_CLASSES,
  WAY_MATCHED,
  WAYS_FULL,
} from '../../kernel/layout/captures.ts';
import { TEXT_BYTES_MAX } from '../../kernel/layout/expressions.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Pauses } from '../../run/slice-clock.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { placeBytes } from './placed-text.ts';

/** Fewer rows do not pay for an automaton: with the first one of a thread that takes 10 ms. */
export const WALKED_ROWS_LEAST = 512;

/** Memory of the rows and ways of one pattern at most; what people write takes a tenth of it. */
const TABLES_BYTES_MAX = 262_144;

/** They grow by so much at a time. */
const BLOCK_BYTES = 16_384;

/** Room for the lists of slots, u32 each; people's patterns take some dozen. */
const ACTION_WORDS_MAX = 1024;

/** Nodes of a pattern at most: making one row or way looks at all of them, which takes 0.1 ms then. */
const NODES_MAX = 2500;

/** Entries are numbers of 16 bits. */
const ENTRIES_MAX = 0xff00;

/** The groups that are wanted, as they were named, and those beside the match, once each. */
interface Groups {
  readonly all: readonly number[];
  readonly others: readonly number[];
}

/** The groups of one match, of which the end may not matter, or all matches of a cell. */
export type Finds = 'group' | 'all';

export class PatternWalker {
  /** Address of the automaton's head. */
  readonly machine: number;
  /** Address of a list: u32 slot of each group that was named. */
  readonly wanted: number;
  readonly #groups: readonly number[];
  readonly #heap: Heap;
  readonly #automaton: TwoWayAutomaton;
  /** Address of each state's row, and the other way round. */
  readonly #rows = new Map<number, number>();
  readonly #states = new Map<number, number>();
  /** Number of each list of slots, by the list. */
  readonly #actions = new Map<string, number>();
  #actionWords = 1;
  #fullWaysAt = 0;
  #next: number;
  #end: number;
  #left = TABLES_BYTES_MAX - BLOCK_BYTES;

  /**
   * Null where the pattern is not for an automaton. `groups`: those that are wanted; 0 is the match itself.
   */
  static of(heap: Heap, pattern: RegularExpression, groups: readonly number[], finds: Finds): PatternWalker | null {
    const program = patternProgram(pattern.source);
    const bytes = program === null ? null : byteProgram(program);
    if (bytes === null || bytes.nodes.length > NODES_MAX) return null;
    const others = [...new Set(groups)].filter((group) => group !== 0);
    const slots = others.flatMap((group) => [2 * group, 2 * group + 1]);
    const automaton = new TwoWayAutomaton(bytes, slots, finds === 'all' || groups.includes(0));
    if (automaton.entries > ENTRIES_MAX) return null;
    const lengthMax = Math.min(TEXT_BYTES_MAX, walkedLengthMax(pattern, finds));
    return new PatternWalker(heap, automaton, { all: groups, others }, lengthMax);
  }

  private constructor(heap: Heap, automaton: TwoWayAutomaton, { all, others }: Groups, lengthMax: number) {
    const slots = FIRST_SLOT + 2 * others.length;
    this.#heap = heap;
    this.#groups = others;
    this.wanted = heap.allocate(Math.max(1, all.length) * 4);
    heap.u32.set(
      all.map((group) => this.slotOf(group)),
      this.wanted >>> 2,
    );
    this.#automaton = automaton;
    this.machine = heap.allocate(MACHINE_BYTES);
    this.#put(this.machine + WAY_CLASSES, placeBytes(heap, automaton.classes).at);
    this.#put(this.machine + START_CLASS, automaton.startClass);
    this.#put(this.machine + ACTIONS, heap.allocate(ACTION_WORDS_MAX * 4));
    this.#put(this.machine + SLOTS, slots);
    this.#put(this.machine + SLOTS_AT, heap.allocate(slots * 4));
    this.#put(this.machine + NOTES, heap.allocate((lengthMax + 1) * 4));
    this.#put(this.machine + START_ENTRY, automaton.startVariant);
    // The first row has room in any case.
    this.#next = heap.allocate(BLOCK_BYTES);
    this.#end = this.#next + BLOCK_BYTES;
    const last = this.#rowOf(automaton.last);
    this.#put(this.machine + LAST_ROW, last);
    this.#put(this.machine + LENGTH_MAX, lengthMax);
  }

  /** The slot at which a group begins, of those that were named. */
  slotOf(group: number): number {
    return group === 0 ? 0 : FIRST_SLOT + 2 * this.#groups.indexOf(group);
  }

  /** Calls a kernel until it is through with `count` rows; false when the arena is full. */
  *drive(count: number, clock: Pauses, kernel: (from: number) => number): Sliced<boolean> {
    for (let from = 0; ; ) {
      from = kernel(from) >>> 0;
      if (from === ARENA_FULL) return false;
      if (from >= count) return true;
      this.#grow();
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** Makes that for want of which a kernel stopped. */
  #grow(): void {
    const row = this.#get(this.machine + WANTED_ROW);
    const place = this.#get(this.machine + WANTED_PLACE);
    const state = this.#states.get(row)!;
    if (this.#get(this.machine + WANTED_IS_WAY) !== 0) {
      this.#growWays(row, state, place);
      return;
    }
    const { state: before, mayStart } = this.#automaton.back(state, place);
    const made = before === null ? ROWS_FULL : this.#rowOf(before);
    this.#put(row + ROW_HEAD_BYTES + place * 4, made === ROWS_FULL ? ROWS_FULL : made | (mayStart ? MAY_START : 0));
  }

  #growWays(row: number, state: number, entry: number): void {
    const { entries } = this.#automaton;
    const ways = this.#get(row + ROW_WAYS) || this.#take(entries * 4);
    if (ways === 0) {
      // One list of full ways stands for all for which there is no room.
      this.#put(row + ROW_WAYS, this.#fullWays());
      return;
    }
    this.#put(row + ROW_WAYS, ways);
    const { next, slots } = this.#automaton.way(state, entry);
    const action = this.#actionOf(slots);
    const then = action === null ? WAYS_FULL : next === null ? WAY_MATCHED : next + 1;
    this.#put(ways + entry * 4, (((action ?? 0) << 16) | then) >>> 0);
  }

  #fullWays(): number {
    if (this.#fullWaysAt !== 0) return this.#fullWaysAt;
    const { entries } = this.#automaton;
    this.#fullWaysAt = this.#heap.allocate(entries * 4);
    this.#heap.u32.fill(WAYS_FULL, this.#fullWaysAt >>> 2, (this.#fullWaysAt >>> 2) + entries);
    return this.#fullWaysAt;
  }

  /** Number of an action, 0 for none; null where there is no room. */
  #actionOf(slots: readonly number[]): number | null {
    if (slots.length === 0) return 0;
    const key = slots.join(' ');
    const known = this.#actions.get(key);
    if (known !== undefined) return known;
    const action = this.#actionWords;
    if (action + slots.length + 1 > ACTION_WORDS_MAX) return null;
    this.#actionWords += slots.length + 1;
    const at = (this.#get(this.machine + ACTIONS) >>> 2) + action;
    this.#heap.u32[at] = slots.length;
    for (const [index, slot] of slots.entries()) this.#heap.u32[at + 1 + index] = slot + FIRST_SLOT;
    this.#actions.set(key, action);
    return action;
  }

  /** The row of a state; ROWS_FULL where there is no room. */
  #rowOf(state: number): number {
    const known = this.#rows.get(state);
    if (known !== undefined) return known;
    const row = this.#take(ROW_HEAD_BYTES + (this.#automaton.startClass + 1) * 4);
    if (row === 0) return ROWS_FULL;
    this.#put(row + ROW_VARIANT, this.#automaton.variantOf(state));
    this.#rows.set(state, row);
    this.#states.set(row, state);
    return row;
  }

  /** So many bytes, all zero, at an address that leaves MAY_START free; 0 where there is no room. */
  #take(bytes: number): number {
    const size = (bytes + 7) & ~7;
    if (this.#next + size > this.#end) {
      const blockBytes = Math.max(BLOCK_BYTES, size);
      const block = this.#left < blockBytes ? 0 : this.#heap.tryAllocate(blockBytes);
      if (block === 0) return 0;
      this.#left -= blockBytes;
      this.#next = block;
      this.#end = block + blockBytes;
    }
    const at = this.#next;
    this.#next += size;
    this.#heap.u8.fill(0, at, at + size);
    return at;
  }

  #get(at: number): number {
    return this.#heap.u32[at >>> 2]!;
  }

  #put(at: number, value: number): void {
    this.#heap.u32[at >>> 2] = value;
  }
}

/** The match's own slots are the first two. */
const FIRST_SLOT = 2;
