// Finds, replaces and splits with patterns, and creates columns from their matches. Patterns are encoded for the
// kernels, which need one or two passes over a cell.

import { byteProgram } from '../../expression/patterns/byte-automaton.ts';
import type { GreedyPattern } from '../../expression/patterns/linear-pattern.ts';
import type { CharacterSet } from '../../expression/patterns/pattern-program.ts';
import {
  patternProgram,
  type RegularExpression,
  searchedBytesMax,
} from '../../expression/patterns/regular-expression.ts';
import { TwoWayAutomaton } from '../../expression/patterns/two-way-automaton.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { TEXT_BYTES_MAX } from '../../kernel/layout/expressions.ts';
import {
  ACTIONS,
  ARENA_FULL,
  FROM_START,
  HEAD_BYTES,
  IS_ASCII,
  ITEM_BYTES,
  ITEM_LEAST,
  ITEM_MOST,
  ITEMS,
  ITEMS_MAX,
  LAST_ROW,
  LENGTH_MAX,
  LITERALS,
  LITERALS_OFFSET,
  MACHINE_BYTES,
  MASK_OFFSET,
  MAY_START,
  NOTES,
  PIECE_BYTES,
  PIECE_GROUP,
  PIECE_TEXT,
  PIECES,
  PIECES_AT,
  REPLACEMENTS_MAX,
  ROW_HEAD_BYTES,
  ROW_VARIANT,
  ROW_WAYS,
  ROWS_FULL,
  SLOTS,
  SLOTS_AT,
  START_CLASS,
  START_ENTRY,
  TO_END,
  WANTED_IS_WAY,
  WANTED_PLACE,
  WANTED_ROW,
  WAY_CLASSES,
  WAY_MATCHED,
  WAYS_FULL,
} from '../../kernel/layout/patterns.ts';
import type { Heap } from '../../memory/heap.ts';
import { checkMask, PAUSE, type Pauses, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { CellEdit, CellWork } from './cell-operator.ts';
import { pausing, placeBytes, placeText, settleText, writeCell } from './text-chain.ts';
import { CellFault } from './value-cells.ts';

// Encodes patterns for the kernel replacePattern (kernel/assembly/patterns.ts).

/** Maximum number of literal characters at the start of a pattern that are compared at once. */
const LITERALS_MAX = MASK_OFFSET - LITERALS_OFFSET;

const WITHOUT_END = 0xffffffff;
const ASCII_POINTS = 128;

/**
 * Returns the address of the program, or 0 if it is too long.
 * @param parts pieces of a replacement: a text, or the number of a group
 */
export function placePattern(
  heap: Heap,
  { items, groups, fromStart, toEnd }: GreedyPattern,
  parts: readonly (string | number)[],
  times: number,
): number {
  if (items.length > ITEMS_MAX) return 0;
  const pieces = parts.map((part): readonly number[] => {
    if (typeof part === 'number') return [PIECE_GROUP, ...(groups[part] ?? [0, 0])];
    const { at, bytes } = placeText(heap, part);
    return [PIECE_TEXT, at, bytes];
  });
  const list = heap.allocate(Math.max(1, pieces.length) * PIECE_BYTES);
  heap.u32.set(pieces.flat(), list >>> 2);
  const program = heap.allocate(HEAD_BYTES + items.length * ITEM_BYTES);
  const isAscii = items.every(({ set }) => (set.at(-1) ?? 0) < ASCII_POINTS);
  const literals = leadingLiterals(items);
  const put = (word: number, value: number): void => {
    heap.u32[(program + word) >>> 2] = value;
  };
  put(ITEMS, items.length);
  put(FROM_START, fromStart ? 1 : 0);
  put(TO_END, toEnd ? 1 : 0);
  put(PIECES, pieces.length);
  put(REPLACEMENTS_MAX, times);
  put(PIECES_AT, list);
  put(IS_ASCII, isAscii ? 1 : 0);
  put(LITERALS, literals.length);
  heap.u8.fill(0, program + LITERALS_OFFSET, program + HEAD_BYTES);
  heap.u8.set(literals, program + LITERALS_OFFSET);
  heap.u8.fill(0xff, program + MASK_OFFSET, program + MASK_OFFSET + literals.length);
  for (const [index, { set, least, most }] of items.entries()) {
    const at = program + HEAD_BYTES + index * ITEM_BYTES;
    heap.u8.set(asciiBits(set), at);
    heap.u32[(at + ITEM_LEAST) >>> 2] = least;
    heap.u32[(at + ITEM_MOST) >>> 2] = most ?? WITHOUT_END;
  }
  return program;
}

/** Characters of the leading items, up to the first item that is not exactly one ASCII character. */
function leadingLiterals(items: GreedyPattern['items']): number[] {
  const isLiteral = ({ set, least, most }: GreedyPattern['items'][number]): boolean =>
    least === 1 && most === 1 && set.length === 2 && set[0] === set[1] && set[0]! < ASCII_POINTS;
  const end = items.findIndex((item) => !isLiteral(item));
  return items.slice(0, Math.min(LITERALS_MAX, end < 0 ? items.length : end)).map(({ set }) => set[0]!);
}

function asciiBits(set: CharacterSet): Uint8Array {
  const bits = new Uint8Array(ASCII_POINTS / 8);
  for (let at = 0; at < set.length; at += 2) {
    const last = Math.min(set[at + 1]!, ASCII_POINTS - 1);
    for (let point = set[at]!; point <= last; point++) bits[point >>> 3]! |= 1 << (point & 7);
  }
  return bits;
}

// Creates columns from what a group of a pattern matches in the cells of another column. If the pattern permits, a
// kernel does so without copying a byte; the cells that it leaves are handled one by one.

export interface FoundGroup {
  readonly pattern: GreedyPattern;
  readonly group: number;
  /** Index of the column to search. */
  readonly column: number;
  /** True if a cell without a match is an error. */
  readonly missIsError: boolean;
}

/**
 * `find` returns the result for one text as the kernel would: a text, null or a CellFault. Returns null if the kernel
 * does not support the pattern.
 */
export function foundEdit(
  context: OperatorContext,
  { pattern, group, column, missIsError }: FoundGroup,
  find: (text: string) => unknown,
): CellEdit | null {
  const { arena, kernel } = context;
  const span = pattern.groups[group];
  const program = placePattern(arena.heap, pattern, [], 1);
  if (program === 0 || span === undefined) return null;
  return (work) => {
    const { batch, rows, count, inPlace } = work;
    const views = batch.views(column);
    const at = arena.tryTake(batch.rows * VIEW_BYTES);
    const todo = arena.tryTake((count + 1) * 4);
    if (at === 0 || todo === 0) return null;
    if (inPlace) arena.heap.u8.copyWithin(at, views, views + batch.rows * VIEW_BYTES);
    else arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
    const misses = missIsError ? 1 : 0;
    kernel.exports.findPattern(views, rows, count, program, span[0], span[1], misses, at, todo);
    const failed = new Set<number>();
    const back = arena.heap.u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      const value = find(batch.text({ kind: 'views', at: views }, row)!);
      if (value instanceof CellFault) {
        failed.add(row);
        work.fail(row, value.code);
      } else if (value !== null && !writeCell(arena, (at + row * VIEW_BYTES) >>> 2, value as string)) return null;
    }
    settleText(context, settledWork(context, work, failed), inPlace ? views : 0, at, false);
    return { kind: 'views', at };
  };
}

/** Returns the work without the failed rows, because their cells do not count as changed. */
export function settledWork({ arena }: OperatorContext, work: CellWork, failed: ReadonlySet<number>): CellWork {
  if (failed.size === 0) return work;
  const list = arena.take(work.count * 4);
  const { u32 } = arena.heap;
  let count = 0;
  for (let i = 0; i < work.count; i++) {
    const row = u32[(work.rows >>> 2) + i]!;
    if (!failed.has(row)) u32[(list >>> 2) + count++] = row;
  }
  return { ...work, rows: list, count };
}

// Finds, replaces and splits with patterns whose groups or alternatives need more than one pass
// (kernel/assembly/patterns.ts). The two-way automaton is built as cells need it, as tables in the Run's memory.

/** Minimum number of rows for which an automaton is worthwhile: the first one of a thread takes 10 ms. */
export const MATCHER_ROWS_LEAST = 512;

/** Maximum memory for the tables of one pattern. Typical patterns need a tenth. */
const TABLES_BYTES_MAX = 262_144;

/** Growth of the tables in bytes. */
const BLOCK_BYTES = 16_384;

/** Space for the lists of slots (u32 each). Typical patterns need a few dozen lists. */
const ACTION_WORDS_MAX = 1024;

/** Maximum number of nodes of a pattern. Building one table row visits all nodes, which takes 0.1 ms at this size. */
const NODES_MAX = 2500;

/** Limit of entry numbers, which have 16 bits. */
const ENTRIES_MAX = 0xff00;

/** `all`: the requested groups in their order. `others`: the same without the match itself and without duplicates. */
interface Groups {
  readonly all: readonly number[];
  readonly others: readonly number[];
}

/** 'group': the groups of one match, whose end may not matter. 'all': all matches of a cell. */
export type Finds = 'group' | 'all';

export class PatternMatcher {
  /** Address of the automaton's head. */
  readonly machine: number;
  /** Address of a list with the u32 slot of each requested group. */
  readonly wanted: number;
  readonly #groups: readonly number[];
  readonly #heap: Heap;
  readonly #automaton: TwoWayAutomaton;
  /** Address of each state's row, and the state of each address. */
  readonly #rows = new Map<number, number>();
  readonly #states = new Map<number, number>();
  /** Number of each list of slots, keyed by the list. */
  readonly #actions = new Map<string, number>();
  #actionWords = 1;
  #fullWaysAt = 0;
  #next: number;
  #end: number;
  #left = TABLES_BYTES_MAX - BLOCK_BYTES;

  /**
   * Returns null if the pattern does not permit an automaton.
   * @param groups requested groups; 0 is the match itself
   */
  static of(heap: Heap, pattern: RegularExpression, groups: readonly number[], finds: Finds): PatternMatcher | null {
    const program = patternProgram(pattern.source);
    const bytes = program === null ? null : byteProgram(program);
    if (bytes === null || bytes.nodes.length > NODES_MAX) return null;
    const others = [...new Set(groups)].filter((group) => group !== 0);
    const slots = others.flatMap((group) => [2 * group, 2 * group + 1]);
    const automaton = new TwoWayAutomaton(bytes, slots, finds === 'all' || groups.includes(0));
    if (automaton.entries > ENTRIES_MAX) return null;
    const lengthMax = Math.min(TEXT_BYTES_MAX, searchedBytesMax(pattern, finds));
    return new PatternMatcher(heap, automaton, { all: groups, others }, lengthMax);
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
    // The first row always fits.
    this.#next = heap.allocate(BLOCK_BYTES);
    this.#end = this.#next + BLOCK_BYTES;
    const last = this.#rowOf(automaton.last);
    this.#put(this.machine + LAST_ROW, last);
    this.#put(this.machine + LENGTH_MAX, lengthMax);
  }

  /** Returns the slot at which a requested group begins. */
  slotOf(group: number): number {
    return group === 0 ? 0 : FIRST_SLOT + 2 * this.#groups.indexOf(group);
  }

  /** Calls a kernel until it has processed `count` rows. Returns false if the arena is full. */
  *drive(count: number, clock: Pauses, kernel: (from: number) => number): Sliced<boolean> {
    for (let from = 0; ; ) {
      from = kernel(from) >>> 0;
      if (from === ARENA_FULL) return false;
      if (from >= count) return true;
      this.#grow();
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** Builds the part of the tables at which a kernel has stopped. */
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
      // There is no space for the transitions of this row. All such rows share one list, whose entries all mean "no
      // space".
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

  /** Returns the number of an action, 0 for no action, or null if there is no space. */
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

  /** Returns the row of a state, or ROWS_FULL if there is no space. */
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

  /** Allocates zeroed bytes at an address that leaves MAY_START free. Returns 0 if there is no space. */
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

/** The first two slots are those of the match itself. */
const FIRST_SLOT = 2;

// Creates several columns from one column in a single pass of a pattern, without copying a byte: from its groups, or
// from the texts between its matches. Cells that the kernel leaves are handled one by one, as are all cells if an
// automaton is not worthwhile.

export interface MatchedColumns {
  /** null if the kernel needs no automaton. */
  readonly pattern: RegularExpression | null;
  /** Groups that the automaton records. */
  readonly groups: readonly number[];
  readonly finds: 'group' | 'all';
  /** Index of the column to process. */
  readonly column: number;
  /** Number of columns that the kernel creates. */
  readonly made: number;
  /** Ascending indexes of the created columns that are needed; null for all. */
  readonly wanted: readonly number[] | null;
  /** True if white space around the results is removed. */
  readonly trims: boolean;
  /**
   * Kernel call that processes the cells from position `from` on, like those of kernel/assembly/patterns.ts. A
   * kernel without an automaton may stop below `count` to yield.
   */
  run(matcher: PatternMatcher | null, cells: MatchedCells, from: number): number;
  /**
   * Returns the result for one text as the kernel would, for the needed column `index`: a text, null or a CellFault.
   */
  single(text: string, index: number): unknown;
  /**
   * Same as `single`, for texts that take long: a generator that yields `undefined` wherever the caller may pause. Null
   * for other texts.
   */
  singleInSlices?(text: string, index: number): Generator<undefined, unknown, undefined> | null;
  /** The same for all cells, used if an automaton is not worthwhile. */
  singly(index: number): CellEdit;
}

/** Views and u32 rows of the cells, and the address of the results: column n is at `found` + n * `stride`. */
export interface MatchedCells {
  readonly views: number;
  readonly rows: number;
  readonly count: number;
  readonly found: number;
  readonly stride: number;
  readonly todo: number;
}

/** Returns the edits of all columns. The first edit processes the cells for all of them. */
export function matchedEdits(context: OperatorContext, columns: MatchedColumns): readonly CellEdit[] {
  const pass = new SharedPass(context, columns);
  const { made, wanted, singly: singlyOf } = columns;
  return Array.from({ length: wanted?.length ?? made }, (_, index) => {
    const singly = singlyOf(index);
    return (work: CellWork) => (pass.isWorthwhile(work.count) ? pass.column(work, index) : singly(work));
  });
}

class SharedPass {
  readonly #context: OperatorContext;
  readonly #columns: MatchedColumns;
  /** null if the pattern does not permit an automaton; undefined before the first use. */
  #matcher: PatternMatcher | null | undefined;
  #cells: MatchedCells | null = null;

  constructor(context: OperatorContext, columns: MatchedColumns) {
    this.#context = context;
    this.#columns = columns;
  }

  isWorthwhile(count: number): boolean {
    const { pattern, groups, finds } = this.#columns;
    if (pattern === null) return true;
    if (this.#matcher === undefined && count < MATCHER_ROWS_LEAST) return false;
    if (this.#matcher === undefined)
      this.#matcher = PatternMatcher.of(this.#context.arena.heap, pattern, groups, finds);
    return this.#matcher !== null;
  }

  /** Returns one column. The results of a pass exist until the first column is requested again. */
  *column(work: CellWork, index: number): Sliced<ReturnType<typeof viewsAt> | null> {
    const { arena, clock, kernel } = this.#context;
    if (index === 0) this.#cells = yield* this.#run(work);
    if (this.#cells === null) return null;
    const { views, rows, count, found, stride, todo } = this.#cells;
    const { trims, wanted } = this.#columns;
    let at = found + (wanted?.[index] ?? index) * stride;
    if (trims) kernel.exports.trimViews(at, rows, count);
    const failed = new Set<number>();
    const back = arena.heap.u32[todo >>> 2]!;
    const mask = checkMask(back);
    for (let i = 1; i <= back; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      const text = work.batch.text({ kind: 'views', at: views }, row)!;
      const long = this.#columns.singleInSlices?.(text, index) ?? null;
      const value = long === null ? this.#columns.single(text, index) : yield* pausing(long, clock);
      const cell = (at + row * VIEW_BYTES) >>> 2;
      if (value instanceof CellFault) failed.add(row);
      if (value instanceof CellFault) work.fail(row, value.code);
      else if (value !== null && !writeCell(arena, cell, value as string)) return null;
      if ((i & mask) === 0 && clock.isDue()) yield PAUSE;
    }
    if (work.inPlace && count < work.batch.live) {
      at = this.#overlaid(work, views, at);
      if (at === 0) return null;
    }
    const settled = settledWork(this.#context, work, failed);
    // For a new column, empty texts become null, including unchanged ones.
    const { changed } = work;
    settleText(this.#context, { ...settled, changed: work.inPlace ? () => {} : changed }, 0, at);
    if (work.inPlace) settleText(this.#context, settled, views, at, false);
    return viewsAt(at);
  }

  *#run({ batch, rows, count }: CellWork): Sliced<MatchedCells | null> {
    const { arena, clock } = this.#context;
    const { column, made, run } = this.#columns;
    const views = batch.views(column);
    const stride = batch.rows * VIEW_BYTES;
    const found = arena.tryTake(stride * made);
    const kept = arena.tryTake(count * 4);
    const todo = arena.tryTake((count + 1) * 4);
    if (found === 0 || kept === 0 || todo === 0) return null;
    arena.heap.u8.fill(0, found, found + stride * made);
    // The list belongs to the edit, so it is copied.
    arena.heap.u8.copyWithin(kept, rows, rows + count * 4);
    arena.heap.u32[todo >>> 2] = 0;
    const cells = { views, rows: kept, count, found, stride, todo };
    const matcher = this.#matcher ?? null;
    if (matcher !== null) yield* matcher.drive(count, clock, (from) => run(matcher, cells, from));
    else {
      for (let from = run(null, cells, 0); from < count; from = run(null, cells, from)) {
        if (clock.isDue()) yield PAUSE;
      }
    }
    return cells;
  }

  /** Returns the previous cells of the column with the computed ones written over them, or 0 if the arena is full. */
  #overlaid({ batch, rows, count }: CellWork, views: number, made: number): number {
    const { arena } = this.#context;
    const at = arena.tryTake(batch.rows * VIEW_BYTES);
    if (at === 0) return 0;
    const { u8, u32 } = arena.heap;
    u8.copyWithin(at, views, views + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      u32[(at >>> 2) + row * 2] = u32[(made >>> 2) + row * 2]!;
      u32[(at >>> 2) + row * 2 + 1] = u32[(made >>> 2) + row * 2 + 1]!;
    }
    return at;
  }
}

const viewsAt = (at: number) => ({ kind: 'views', at }) as const;
