// The used columns of a file, each built from its stored columns.
import { BATCH_ROWS_MAX, type ViewsColumn } from '../../batch/batch.ts';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import { LeafCells, NullTexts } from './leaf-cells.ts';
import { LeafPages, type PageTools } from './leaf-pages.ts';
import { malformedParquet, ROW_PAGES_MAX } from './limits.ts';
import { OPTIONAL, REPEATED, type SchemaNode } from './schema.ts';
import { type BytesAs, hasKind, valueForm } from './value-form.ts';

// Columns that are lists, maps, structs or repeated fields, assembled from their stored columns.

// A stored column inside a list, map or struct: its entries one by one, with their levels.

class NestedLeaf {
  readonly pages: LeafPages;
  /** Number of pages loaded for the current row. */
  pagesOfRow = 0;
  readonly #cells: LeafCells;
  readonly #arena: Arena;
  readonly #definitions = new Uint32Array(BATCH_ROWS_MAX);
  readonly #repetitions = new Uint32Array(BATCH_ROWS_MAX);
  /** Number of entries read ahead, and the next one; and the index of the next non-null value. */
  #count = 0;
  #next = 0;
  #value = 0;
  /** Number of entries of the page that have not been read ahead. */
  #left = 0;

  constructor(pages: LeafPages, cells: LeafCells, arena: Arena) {
    this.pages = pages;
    this.#cells = cells;
    this.#arena = arena;
  }

  /** Called after a chunk is opened. */
  reset(): void {
    this.#count = 0;
    this.#next = 0;
    this.#left = 0;
  }

  /** Returns true if there is another entry, whose levels are then available. Throws Failed. */
  hasEntry(): boolean {
    if (this.#next < this.#count) return true;
    if (this.#left === 0) {
      if (!this.pages.load()) return false;
      if (++this.pagesOfRow > ROW_PAGES_MAX)
        throw malformedParquet(`a row that spans more than ${ROW_PAGES_MAX} pages of a column`, this.pages.position);
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

  /** Advances to the next entry. */
  pass(): void {
    if (this.definition === this.pages.leaf.definition) this.#value++;
    this.#next++;
  }

  /** Value of the entry in JSON: numbers, booleans and JSON unquoted, all other values as strings. */
  json(): string {
    const { at, bytes, kinds } = this.#cells;
    const index = this.#value;
    const start = at[index]!;
    if (start === 0) return 'null';
    const text = this.#arena.decode(start, bytes[index]!);
    const kind = kinds[index]!;
    return kind === KIND_NUMBER || kind === KIND_BOOLEAN || kind === KIND_JSON ? text : JSON.stringify(text);
  }

  /** Same as `json`, as the key of an object. */
  key(): string {
    const value = this.json();
    return value.startsWith('"') ? value : JSON.stringify(value);
  }
}

// A column that is a list, a map, a struct or a repeated field. Each row is assembled from its stored columns into a
// JSON text (Dremel record assembly, by repetition and definition levels).

/** Names of a repeated group that is itself the element of a list (backward compatibility rules of LogicalTypes.md). */
const ELEMENT_GROUPS = /^array$|_tuple$/;

class NestedColumn {
  readonly node: SchemaNode;
  readonly leaves: readonly NestedLeaf[];
  readonly #column: number;
  #pieces: string[] = [];
  #length = 0;

  /** @param column column number in the file, from 1 */
  constructor(node: SchemaNode, leaves: readonly NestedLeaf[], column: number) {
    this.node = node;
    this.leaves = leaves;
    this.#column = column;
  }

  /** Returns the text of the next row, or null. Throws Failed. */
  readRow(): string | null {
    for (const leaf of this.leaves) {
      if (!leaf.hasEntry()) throw this.#broken(leaf, 'fewer rows in a column than in its row group');
      if (leaf.repetition !== 0) throw this.#broken(leaf, 'a row that begins in the middle of a list');
    }
    this.#pieces = [];
    this.#length = 0;
    for (const leaf of this.leaves) leaf.pagesOfRow = 0;
    if (this.node.repetition === OPTIONAL && this.#first(this.node).definition < this.node.definition) {
      this.#passAll(this.node);
      return null;
    }
    this.#write(this.node);
    return this.#pieces.join('');
  }

  /** True if entries are left after the last row. */
  hasMore(): boolean {
    return this.leaves.some((leaf) => leaf.hasEntry());
  }

  #write(node: SchemaNode): void {
    if (node.repetition === REPEATED) this.#writeElements(node, (element) => this.#writeValue(element));
    else if (this.#isMissing(node)) this.#writeNull(node);
    else this.#writeValue(node);
  }

  #writeValue(node: SchemaNode): void {
    const { children, meaning } = node;
    if (node.physical !== null) this.#writeLeaf(node);
    else if (meaning.is === 'list' && isList(node)) this.#writeList(children[0]!);
    else if (meaning.is === 'map' && isMap(node)) this.#writeMap(children[0]!);
    else this.#writeStruct(node);
  }

  #writeLeaf(node: SchemaNode): void {
    const leaf = this.#first(node);
    if (!leaf.hasEntry() || leaf.definition !== node.definition) throw this.#broken(leaf, 'levels that do not fit');
    this.#put(leaf.json());
    leaf.pass();
  }

  #writeStruct(node: SchemaNode): void {
    this.#put('{');
    for (const [index, child] of node.children.entries()) {
      this.#put(`${index === 0 ? '' : ','}${JSON.stringify(child.name)}:`);
      this.#write(child);
    }
    this.#put('}');
  }

  /** @param repeated the group around each element, or the elements themselves */
  #writeList(repeated: SchemaNode): void {
    const isElement =
      repeated.physical !== null || repeated.children.length !== 1 || ELEMENT_GROUPS.test(repeated.name);
    this.#writeElements(repeated, (node) => (isElement ? this.#writeValue(node) : this.#write(node.children[0]!)));
  }

  #writeMap(entry: SchemaNode): void {
    const [key, value] = entry.children;
    this.#writeElements(
      entry,
      () => {
        const leaf = this.#first(key!);
        if (!leaf.hasEntry() || leaf.definition !== key!.definition) throw this.#broken(leaf, 'a map without a key');
        this.#put(`${leaf.key()}:`);
        leaf.pass();
        if (value === undefined) this.#put('null');
        else this.#write(value);
      },
      '{}',
    );
  }

  /** Writes the elements of a repeated node, or an empty list if the node is missing. */
  #writeElements(node: SchemaNode, write: (node: SchemaNode) => void, brackets = '[]'): void {
    this.#put(brackets[0]!);
    const first = this.#first(node);
    if (this.#isMissing(node)) this.#passAll(node);
    else {
      write(node);
      while (first.hasEntry() && first.repetition === node.repetitionLevel) {
        this.#put(',');
        for (const leaf of this.#leavesOf(node)) {
          if (!leaf.hasEntry() || leaf.repetition !== node.repetitionLevel)
            throw this.#broken(leaf, 'lists of different lengths side by side');
        }
        write(node);
      }
    }
    this.#put(brackets[1]!);
  }

  #writeNull(node: SchemaNode): void {
    this.#passAll(node);
    this.#put('null');
  }

  #isMissing(node: SchemaNode): boolean {
    const leaf = this.#first(node);
    if (!leaf.hasEntry()) throw this.#broken(leaf, 'levels that do not fit');
    return leaf.definition < node.definition;
  }

  /** Skips a missing value: each stored column has one entry for it. */
  #passAll(node: SchemaNode): void {
    for (const leaf of this.#leavesOf(node)) {
      if (!leaf.hasEntry() || leaf.definition >= node.definition) throw this.#broken(leaf, 'levels that do not fit');
      leaf.pass();
    }
  }

  #first(node: SchemaNode): NestedLeaf {
    return this.leaves[node.leaves[0] - this.node.leaves[0]]!;
  }

  #leavesOf(node: SchemaNode): readonly NestedLeaf[] {
    const [first, end] = node.leaves;
    const base = this.node.leaves[0];
    return this.leaves.slice(first - base, end - base);
  }

  #put(piece: string): void {
    this.#length += piece.length;
    if (this.#length > CELL_BYTES_MAX)
      throw new Failed('MALFORMED_FILE', `A cell of column ${this.#column} has more than ${CELL_BYTES_MAX} bytes.`);
    this.#pieces.push(piece);
  }

  #broken(leaf: NestedLeaf, what: string): Failed {
    return malformedParquet(what, leaf.pages.position);
  }
}

function isList({ children }: SchemaNode): boolean {
  return children.length === 1 && children[0]!.repetition === REPEATED;
}

function isMap({ children }: SchemaNode): boolean {
  const entry = children[0];
  if (children.length !== 1 || entry === undefined || entry.repetition !== REPEATED) return false;
  return entry.children.length >= 1 && entry.children.length <= 2 && entry.children[0]!.physical !== null;
}

// A column whose cells are single values: levels show which cells are null, and the other values follow in order.

class FlatColumn {
  readonly pages: LeafPages;
  readonly #cells: LeafCells;
  readonly #arena: Arena;
  readonly #hasKinds: boolean;
  readonly #levels = new Uint32Array(BATCH_ROWS_MAX);
  #rowsDone = 0;

  constructor(pages: LeafPages, cells: LeafCells, arena: Arena, hasKinds: boolean) {
    this.pages = pages;
    this.#cells = cells;
    this.#arena = arena;
    this.#hasKinds = hasKinds;
  }

  /** Number of rows left in the current page. */
  get rowsLeft(): number {
    return this.pages.values - this.#rowsDone;
  }

  /** Loads the next page. Returns false if the row group has no more pages. Throws Failed. */
  load(): boolean {
    this.#rowsDone = 0;
    return this.pages.load();
  }

  /** Reads the next rows, which the page must contain. Adds the bytes of each row to `rowBytes`. Throws Failed. */
  read(rows: number, rowBytes: Float64Array): ViewsColumn {
    const { heap } = this.#arena;
    const { definitions, leaf } = this.pages;
    const views = this.#arena.take(rows * VIEW_BYTES);
    const kinds = this.#hasKinds ? this.#arena.take(rows) : 0;
    const levels = this.#levels;
    let present = rows;
    if (definitions !== null) {
      definitions.fill(heap.u8, levels, rows);
      present = 0;
      for (let row = 0; row < rows; row++) if (levels[row] === leaf.definition) present++;
    }
    const cells = this.#cells;
    cells.next(present);
    const { u32, u8 } = heap;
    let view = views >>> 2;
    let next = 0;
    for (let row = 0; row < rows; row++, view += 2) {
      if (definitions !== null && levels[row] !== leaf.definition) {
        u32[view] = 0;
        u32[view + 1] = 0;
        continue;
      }
      const at = cells.at[next]!;
      const bytes = at === 0 ? 0 : cells.bytes[next]!;
      u32[view] = at;
      u32[view + 1] = bytes;
      rowBytes[row] = rowBytes[row]! + bytes;
      if (this.#hasKinds) u8[kinds + row] = cells.kinds[next]!;
      next++;
    }
    this.#rowsDone += rows;
    return this.#hasKinds ? { kind: 'views', at: views, kinds } : { kind: 'views', at: views };
  }
}

// The used columns of a file, each built from its stored columns.

export interface UsedColumns {
  /** Keyed by position of the column in the file. */
  readonly flat: ReadonlyMap<number, FlatColumn>;
  /** See `flat`. */
  readonly nested: ReadonlyMap<number, NestedColumn>;
  /** Pages of all used columns, by leaf. */
  readonly leaves: ReadonlyMap<number, LeafPages>;
}

export interface ColumnTools {
  readonly pages: PageTools;
  readonly arena: Arena;
  readonly nullValues: readonly string[];
  readonly bytesAs: BytesAs;
  /** Offset of the metadata in the file. */
  readonly position: number;
}

/** True if a column has at most one value per row and no parts. */
export function isFlat({ physical, repetition }: SchemaNode): boolean {
  return physical !== null && repetition !== REPEATED;
}

/** Throws Failed for unsupported types. */
export function useColumns(columns: readonly SchemaNode[], used: ReadonlySet<number>, tools: ColumnTools): UsedColumns {
  const flat = new Map<number, FlatColumn>();
  const nested = new Map<number, NestedColumn>();
  const leaves = new Map<number, LeafPages>();
  const { arena } = tools;
  const nullTexts = new NullTexts(tools.nullValues);
  const noTexts = new NullTexts([]);
  const open = (leaf: SchemaNode, place: number, isNested: boolean): readonly [LeafPages, LeafCells] => {
    const pages = new LeafPages(tools.pages, leaf);
    leaves.set(leaf.leaves[0], pages);
    const form = valueForm(leaf, tools.position, tools.bytesAs);
    const settings = { form, arena, nullTexts: isNested ? noTexts : nullTexts, column: place + 1 };
    return [pages, new LeafCells(pages, settings, isNested)];
  };
  for (const place of used) {
    const node = columns[place]!;
    if (isFlat(node)) flat.set(place, new FlatColumn(...open(node, place, false), arena, hasKind(node)));
    else {
      const parts = leavesOf(node).map((leaf) => new NestedLeaf(...open(leaf, place, true), arena));
      nested.set(place, new NestedColumn(node, parts, place + 1));
    }
  }
  return { flat, nested, leaves };
}

function leavesOf(node: SchemaNode): readonly SchemaNode[] {
  return node.physical === null ? node.children.flatMap(leavesOf) : [node];
}
