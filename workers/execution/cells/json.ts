// JSON in cells: parses it, extracts values by paths, and writes objects.

import type { Batch, ColumnData } from '../../batch/batch.ts';
import { NativeText } from '../../batch/native-cell.ts';
import { type Column, type ColumnType, storedType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER, KIND_TEXT, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { CELL_BYTES_MAX, DEPTH_MAX, STACK, STATE_BYTES } from '../../kernel/layout/json.ts';
import {
  END,
  FIRST,
  FOUND,
  HERE_END,
  ITEM_COUNT,
  ITEMS,
  KEY_BYTES_MAX,
  KEY_COUNT,
  KEY_SCRATCH,
  KEYS,
  MEMBER_BOOLEAN,
  MEMBER_BYTES,
  MEMBER_DATE,
  MEMBER_DATETIME,
  MEMBER_DECIMAL,
  MEMBER_INTEGER,
  MEMBER_JSON,
  MEMBER_NATIVE,
  MEMBER_TEXT,
  NODE_BYTES,
  PATHS_BYTES,
  ROOT,
  STRIDE,
  TEXT_END,
  TEXT_NEXT,
  WORDS_BYTES,
} from '../../kernel/layout/json-objects.ts';
import type { Heap } from '../../memory/heap.ts';
import { checkMask, isSliced, PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { jsonEntries, jsonItems, jsonKind } from '../../values/json-text.ts';
import type { CellEdit, CellTarget, CellWork } from './cell-operator.ts';
import { settledWork } from './pattern-matcher.ts';
import { type PlacedText, placeBytes, placeText, settleText, startViews, writeCell } from './text-chain.ts';
import { CellFault, COUNTED, convertEdit, kindsOf, valueEdit } from './value-cells.ts';

// State of the JSON kernels for texts in cells: brackets are counted; line numbers and error positions are not used.

/** Cells have passed the length check of the input, so there is no limit here. */
const ANY_LENGTH = 0xffff_ffff;

export function jsonState(heap: Heap): number {
  const state = heap.allocate(STATE_BYTES);
  const stack = heap.allocate(DEPTH_MAX);
  const { u32 } = heap;
  u32.fill(0, state >>> 2, (state + STATE_BYTES) >>> 2);
  u32[(state + STACK) >>> 2] = stack;
  u32[(state + CELL_BYTES_MAX) >>> 2] = ANY_LENGTH;
  return state;
}

// Converts cells to JSON: texts, which must be valid JSON, and cells with a native kind.

/** Returns the JSON of a text, null for the JSON value null, or a CellFault. */
export function readJson(value: unknown): unknown {
  const kind = jsonKind(value as string);
  if (kind === 'none') return new CellFault('BAD_JSON');
  return kind === 'null' ? null : (value as string).trim();
}

/** Returns the JSON of a cell with a native kind: numbers, booleans and JSON unchanged, dates and times as strings. */
export function nativeJson(text: string, kind: number): string {
  return kind === KIND_NUMBER || kind === KIND_BOOLEAN || kind === KIND_JSON ? text : JSON.stringify(text);
}

// Combines paths to values inside JSON into one tree, so that one pass over a text finds all values. Also writes the
// tree for the kernel.

/** Keys, and indexes of items. */
export type JsonPath = readonly (string | number)[];

interface PathTree {
  /** Indexes of the paths that end here. */
  readonly fields: number[];
  readonly children: Map<string | number, PathTree>;
  /** Index of the last array item that is needed. */
  lastItem: number;
  /** True if a member of an object is needed. */
  wantsMembers: boolean;
}

/**
 * Root of the tree. `order` contains the position of each path in tree order, in which everything below a node is
 * consecutive.
 */
type PathRoot = PathTree & { readonly order: readonly number[] };

/** Half of a surrogate pair: with the flag u, a pair is one character. It becomes U+FFFD in a cell. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Character that replaces a lone surrogate in UTF-8. */
const REPLACEMENT = '\ufffd';

function pathTree(paths: readonly JsonPath[]): PathRoot {
  const root = emptyTree();
  for (const [index, path] of paths.entries()) {
    let tree = root;
    for (const part of path) {
      if (typeof part === 'number') tree.lastItem = Math.max(tree.lastItem, part);
      else tree.wantsMembers = true;
      const child = tree.children.get(part) ?? emptyTree();
      tree.children.set(part, child);
      tree = child;
    }
    tree.fields.push(index);
  }
  const order = paths.map(() => 0);
  let next = 0;
  const visit = ({ fields, children }: PathTree): void => {
    for (const field of fields) order[field] = next++;
    for (const child of children.values()) visit(child);
  };
  visit(root);
  return { ...root, order };
}

function emptyTree(): PathTree {
  return { fields: [], children: new Map(), lastItem: -1, wantsMembers: false };
}

/** Writes the tree into memory. Returns the address of its head, or 0 if the kernel cannot compare a key. */
function placePaths(heap: Heap, root: PathTree): number {
  if (!hasValidKeys(root)) return 0;
  let next = 0;
  const place = ({ fields, children }: PathTree): number => {
    const node = heap.allocate(NODE_BYTES);
    const first = next;
    next += fields.length;
    const hereEnd = next;
    const keys = [...children].flatMap(([part, child]) => (typeof part === 'string' ? [{ part, child }] : []));
    const items = [...children].flatMap(([part, child]) => (typeof part === 'number' ? [{ part, child }] : []));
    const placed = new Map([...children.values()].map((child) => [child, place(child)]));
    const list = (words: readonly (readonly number[])[]): number => {
      const at = heap.allocate(Math.max(1, words.length) * WORDS_BYTES);
      heap.u32.set(words.flat(), at >>> 2);
      return at;
    };
    const keyList = list(
      keys.map(({ part, child }) => {
        const { at, bytes } = placeBytes(heap, Buffer.from(part));
        return [at, bytes, placed.get(child)!];
      }),
    );
    const itemList = list(
      items.sort((left, right) => left.part - right.part).map(({ part, child }) => [part, 0, placed.get(child)!]),
    );
    const put = (word: number, value: number): void => {
      heap.u32[(node + word) >>> 2] = value;
    };
    put(FIRST, first);
    put(HERE_END, hereEnd);
    put(END, next);
    put(KEYS, keyList);
    put(KEY_COUNT, keys.length);
    put(ITEMS, itemList);
    put(ITEM_COUNT, items.length);
    return node;
  };
  const head = heap.allocate(PATHS_BYTES);
  const node = place(root);
  const scratch = heap.allocate(KEY_BYTES_MAX);
  heap.u32[(head + ROOT) >>> 2] = node;
  heap.u32[(head + KEY_SCRATCH) >>> 2] = scratch;
  return head;
}

/** A key with a lone surrogate, or with the replacement character, would equal other keys in UTF-8. */
function hasValidKeys({ children }: PathTree): boolean {
  return [...children].every(
    ([part, child]) =>
      (typeof part === 'number' || !Buffer.from(part).toString().includes(REPLACEMENT)) && hasValidKeys(child),
  );
}

// Parses texts as JSON. A kernel finds out which texts are valid JSON and where they begin and end. Invalid texts, and
// cells with a native kind other than text, are handled one by one.

/** Returns a function that makes the edit for a column. All columns share what they need. */
export function jsonEdits(context: OperatorContext): (target: CellTarget) => CellEdit {
  const byKernel = soundEdit(context);
  return (target) => {
    const byHand = convertEdit(context, target, readJson, nativeJson);
    return (work) => {
      const isText = work.batch.columns[work.column]!.kind === 'views' && kindsOf(work) === undefined;
      return isText ? byKernel(work) : byHand(work);
    };
  };
}

function soundEdit(context: OperatorContext): CellEdit {
  const { arena, clock, kernel } = context;
  const json = jsonState(arena.heap);
  return function* (work) {
    const { batch, column, rows, count } = work;
    const before = batch.views(column);
    const made = startViews(context, work, before);
    const todo = arena.tryTake((count + 1) * 4);
    if (made === null || todo === 0) return null;
    kernel.exports.soundCells(json, made.at, rows, count, todo);
    const failed = new Set<number>();
    const back = arena.heap.u32[todo >>> 2]!;
    const mask = checkMask(back);
    for (let i = 1; i <= back; i++) {
      const { u32 } = arena.heap;
      const row = u32[(todo >>> 2) + i]!;
      const view = (made.at + row * VIEW_BYTES) >>> 2;
      const value = readJson(arena.decode(u32[view]!, u32[view + 1]!));
      if (value instanceof CellFault) {
        failed.add(row);
        work.fail(row, value.code);
      }
      if (value instanceof CellFault || value === null) u32.fill(0, view, view + 2);
      else if (!writeCell(arena, view, value as string)) return null;
      if ((i & mask) === mask && clock.isDue()) yield PAUSE;
    }
    settleText(context, settledWork(context, work, failed), work.inPlace ? before : 0, made.at, false);
    return made;
  };
}

// Creates columns from values inside JSON cells. A kernel finds the values of all paths in one pass over a cell, in
// most cases without copying a byte. Invalid JSON and unusual cells are handled one by one.

/**
 * Returns the edits of all fields. The first edit finds the values of all fields, and is the only one that can fail.
 */
export function jsonFieldEdits(
  context: OperatorContext,
  source: Column,
  paths: readonly JsonPath[],
): readonly CellEdit[] {
  const fields = new JsonFields(context, source, paths);
  return paths.map((_, index) => (work: CellWork) => fields.column(work, index));
}

class JsonFields {
  readonly #context: OperatorContext;
  readonly #reader: CellReader;
  readonly #index: number;
  readonly #tree: PathRoot;
  readonly #fields: number;
  /** Address of the kernel's paths, or 0 if it cannot compare some keys. */
  readonly #paths: number;
  readonly #json: number;
  /** Address of the results: field n, in tree order, is at this address + n * `#stride`. */
  #found = 0;
  #stride = 0;
  /** Values of the cells that were handled one by one, null for invalid JSON. */
  readonly #byHand = new Map<number, readonly (string | null)[] | null>();

  constructor(context: OperatorContext, source: Column, paths: readonly JsonPath[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#index = context.indexOf(source);
    this.#reader = new CellReader(storedType(source), this.#index);
    this.#tree = pathTree(paths);
    this.#fields = paths.length;
    this.#paths = placePaths(heap, this.#tree);
    this.#json = jsonState(heap);
  }

  *column(work: CellWork, index: number): Sliced<ColumnData | null> {
    const { arena } = this.#context;
    if (index === 0 && !(yield* this.#find(work))) return null;
    const at = this.#found + this.#tree.order[index]! * this.#stride;
    const failed = new Set<number>();
    for (const [row, values] of this.#byHand) {
      const value = values === null ? null : values[index]!;
      if (values === null && index === 0) {
        failed.add(row);
        work.fail(row, 'BAD_JSON');
      } else if (value !== null) {
        if (!writeCell(arena, (at + row * VIEW_BYTES) >>> 2, value)) return null;
        if (LONE_SURROGATE.test(value)) work.fail(row, 'LONE_SURROGATE', COUNTED);
      }
    }
    settleText(this.#context, settledWork(this.#context, work, failed), 0, at, false);
    return { kind: 'views', at };
  }

  /** Returns false if the arena is full. */
  *#find({ batch, rows, count }: CellWork): Sliced<boolean> {
    const { arena, clock, kernel } = this.#context;
    this.#byHand.clear();
    this.#stride = batch.rows * VIEW_BYTES;
    this.#found = arena.tryTake(this.#stride * this.#fields);
    const todo = arena.tryTake((count + 1) * 4);
    if (this.#found === 0 || todo === 0) return false;
    arena.heap.u8.fill(0, this.#found, this.#found + this.#stride * this.#fields);
    const column = batch.columns[this.#index]!;
    // A column of nulls may be stored differently than its type suggests.
    if (column.kind === 'typed') return true;
    if (this.#paths === 0) {
      arena.heap.u32[todo >>> 2] = count;
      arena.heap.u8.copyWithin(todo + 4, rows, rows + count * 4);
    } else {
      const words = this.#paths >>> 2;
      const { u32 } = arena.heap;
      u32[words + (FOUND >>> 2)] = this.#found;
      u32[words + (STRIDE >>> 2)] = this.#stride;
      u32[words + (TEXT_NEXT >>> 2)] = arena.next;
      u32[words + (TEXT_END >>> 2)] = arena.limit;
      const views = batch.views(this.#index);
      if (!kernel.exports.findFields(this.#paths, this.#json, views, rows, count, todo)) return false;
      arena.next = u32[words + (TEXT_NEXT >>> 2)]!;
    }
    this.#reader.bind(batch);
    const back = arena.heap.u32[todo >>> 2]!;
    const mask = checkMask(back);
    for (let i = 1; i <= back; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      this.#byHand.set(row, this.#read(row));
      if ((i & mask) === mask && clock.isDue()) yield PAUSE;
    }
    return true;
  }

  /** Returns null if the cell is not JSON. */
  #read(row: number): readonly (string | null)[] | null {
    const text = this.#reader.text(row);
    const values = Array.from({ length: this.#fields }, (): string | null => null);
    if (text === null) return values;
    const kind = this.#reader.kind(row);
    // For a cell with a native kind other than text, its JSON.
    const json = kind === KIND_TEXT ? text : nativeJson(text, kind);
    if (jsonKind(json) === 'none') return null;
    readTree(json.trim(), this.#tree, values);
    return values;
  }
}

function readTree(
  value: string,
  { fields, children, lastItem, wantsMembers }: PathTree,
  values: (string | null)[],
): void {
  const cell = fields.length === 0 ? null : cellOf(value);
  for (const field of fields) values[field] = cell;
  if (children.size === 0) return;
  if (value.startsWith('[')) {
    let place = 0;
    for (const item of jsonItems(value)) {
      if (place > lastItem) return;
      const child = children.get(place++);
      if (child !== undefined) readTree(item, child, values);
    }
  } else if (wantsMembers && value.startsWith('{')) {
    const found = new Map<PathTree, string>();
    for (const [key, member] of jsonEntries(value)) {
      const child = children.get(key);
      if (child !== undefined) found.set(child, member);
    }
    for (const [child, member] of found) readTree(member, child, values);
  }
}

function cellOf(value: string): string | null {
  if (value === 'null') return null;
  return value.startsWith('"') ? (JSON.parse(value) as string) : value;
}

// Creates a JSON object from cells of a row with a kernel. Rows with long cells are handled one by one, and also all
// rows if a column has doubles or decimals beyond 64 bits.

const TYPED_MEMBERS: Readonly<Partial<Record<ColumnType, number>>> = {
  boolean: MEMBER_BOOLEAN,
  integer: MEMBER_INTEGER,
  decimal: MEMBER_DECIMAL,
  date: MEMBER_DATE,
  datetime: MEMBER_DATETIME,
};

export function* jsonObjectEdit(
  context: OperatorContext,
  columns: readonly Column[],
  omitsNulls: boolean,
): Sliced<CellEdit> {
  const { arena, clock, kernel } = context;
  const { heap } = arena;
  const objects = yield* objectsByHand(context, columns, omitsNulls);
  const byHand = valueEdit(context, { type: 'json', ...objects });
  const indexes: number[] = [];
  const keys: PlacedText[] = [];
  for (const column of columns) {
    indexes.push(context.indexOf(column));
    keys.push(placeText(heap, `,${JSON.stringify(column.name)}:`));
    if (keys.length % COLUMNS_AT_ONCE === 0 && clock.isDue()) yield PAUSE;
  }
  const list = heap.allocate(Math.max(1, columns.length) * MEMBER_BYTES);
  return (work) => {
    const { batch, rows, count } = work;
    return (function* (): Sliced<ColumnData | null> {
      for (const [place, index] of indexes.entries()) {
        if (batch.columns[index]!.kind !== 'typed') batch.views(index);
        if (place % COLUMNS_AT_ONCE === 0 && clock.isDue()) yield PAUSE;
      }
      for (const [place, column] of columns.entries()) {
        const member = memberOf(column, batch.columns[indexes[place]!]!);
        if (member === null) {
          const made = byHand(work);
          return isSliced(made) ? yield* made : made;
        }
        const { u32 } = heap;
        const word = (list + place * MEMBER_BYTES) >>> 2;
        u32[word] = member[0];
        u32[word + 1] = member[1];
        u32[word + 2] = member[2];
        u32[word + 3] = keys[place]!.at;
        u32[word + 4] = keys[place]!.bytes;
      }
      const at = arena.tryTake(batch.rows * VIEW_BYTES);
      const todo = arena.tryTake((count + 1) * 4);
      if (at === 0 || todo === 0) return null;
      heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
      const { writeObjects } = kernel.exports;
      const omits = omitsNulls ? 1 : 0;
      const next = writeObjects(list, columns.length, rows, count, omits, at, arena.next, arena.limit, todo) >>> 0;
      if (next === 0) return null;
      arena.next = next;
      const back = heap.u32[todo >>> 2]!;
      if (back > 0) objects.bind(batch);
      const mask = checkMask(back);
      for (let i = 1; i <= back; i++) {
        const row = heap.u32[(todo >>> 2) + i]!;
        if (!writeCell(arena, (at + row * VIEW_BYTES) >>> 2, objects.compute(row))) return null;
        if ((i & mask) === mask && clock.isDue()) yield PAUSE;
      }
      settleText(context, work, 0, at, false);
      return { kind: 'views', at } as const;
    })();
  };
}

/** Returns kind, cells and meta of a column for the kernel, or null if the kernel cannot write such cells. */
function memberOf({ type }: Column, data: ColumnData): readonly [number, number, number] | null {
  if (data.kind === 'raw') throw new Error('views of the columns are made before');
  if (data.kind === 'typed') {
    const kind = data.type === type && data.big === null ? TYPED_MEMBERS[type] : undefined;
    return kind === undefined ? null : [kind, data.at, data.meta];
  }
  if (type === 'json') return [MEMBER_JSON, data.at, 0];
  if (type !== 'text') return null;
  return data.kinds === undefined ? [MEMBER_TEXT, data.at, 0] : [MEMBER_NATIVE, data.at, data.kinds];
}

/** Number of columns between two checks of the clock. */
const COLUMNS_AT_ONCE = 256;

interface Objects {
  bind(batch: Batch): void;
  compute(row: number): string;
}

function* objectsByHand(context: OperatorContext, columns: readonly Column[], omitsNulls: boolean): Sliced<Objects> {
  const parts: { readonly key: string; readonly isText: boolean; readonly reader: CellReader }[] = [];
  for (const column of columns) {
    parts.push({
      key: `${JSON.stringify(column.name)}:`,
      isText: column.type === 'text' || column.type === 'date' || column.type === 'datetime',
      reader: new CellReader(storedType(column), context.indexOf(column)),
    });
    if (parts.length % COLUMNS_AT_ONCE === 0 && context.clock.isDue()) yield PAUSE;
  }
  return {
    bind(batch) {
      for (const { reader } of parts) reader.bind(batch);
    },
    compute(row) {
      const pairs: string[] = [];
      for (const { key, isText, reader } of parts) {
        const value = reader.read(row);
        if (value === null && omitsNulls) continue;
        if (value instanceof NativeText) pairs.push(key + nativeJson(value.text, value.kind));
        else pairs.push(key + (isText && value !== null ? JSON.stringify(String(value)) : plainText(value)));
      }
      return `{${pairs.join(',')}}`;
    },
  };
}

/** JSON cannot represent NaN and infinities. */
function plainText(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value);
}
