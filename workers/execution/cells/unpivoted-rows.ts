// Converts columns to rows: splits the names of columns, chooses the cells of each new row, and builds the rows.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { NativeText } from '../../batch/native-cell.ts';
import { type Column, columnTypeOf, type StoredType, storedType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { PAUSE, type Slices } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import type { ColumnSet, Scope } from '../../template/scope.ts';
import { arrange, copiedRowsMax, copyRows, placeNumbers } from './copied-rows.ts';
import { textOfValue } from './value-cells.ts';

/** Number of columns between two checks of the clock. */
const COLUMNS_AT_ONCE = 256;

// A column whose cells come from several columns of a batch, chosen for each row. Used by `unpivot`.

class PlacedColumn {
  readonly #context: OperatorContext;
  readonly #type: StoredType;
  /** Column indexes in a batch, and their readers, by position. null for a position without a column. */
  readonly #columns: readonly (number | null)[];
  readonly #readers: readonly (CellReader | null)[];
  /** Addresses of the columns: cells and meta for each. */
  readonly #sources: number;
  readonly #isMixed: boolean;

  /**
   * @param columns columns by position; null gives null cells
   * @param type type of the cells; columns of other types are converted to text
   */
  constructor(columns: readonly (Column | null)[], type: StoredType, context: OperatorContext) {
    this.#context = context;
    this.#type = type;
    this.#columns = columns.map((column) => (column === null ? null : context.indexOf(column)));
    this.#readers = columns.map((column) =>
      column === null ? null : new CellReader(storedType(column), context.indexOf(column)),
    );
    this.#isMixed = columns.some((column) => column !== null && column.type !== columnTypeOf(type));
    this.#sources = context.arena.heap.allocate(columns.length * 8);
  }

  bind(batch: Batch): void {
    for (const reader of this.#readers) reader?.bind(batch);
  }

  /** True for null and for the empty text. */
  isEmpty(place: number, row: number): boolean {
    const value = this.#readers[place]?.read(row) ?? null;
    return value === null || value === '';
  }

  /**
   * @param rows physical rows, one per cell
   * @param places position of the column of each cell; the same list is in memory at `list`
   */
  cells(batch: Batch, rows: readonly number[], places: readonly number[], list: number): ColumnData {
    return this.#copied(batch, rows, list) ?? this.#values(batch, rows, places);
  }

  /** Copies the cells unchanged. Returns null if they must be converted. */
  #copied(batch: Batch, rows: readonly number[], places: number): ColumnData | null {
    const { arena, kernel } = this.#context;
    const type = this.#type;
    const isText = type === 'text' || type === 'json' || type === 'text_with_kind';
    if (this.#isMixed) return null;
    const { u32 } = arena.heap;
    let word = this.#sources >>> 2;
    for (const index of this.#columns) {
      const column = index === null ? null : batch.columns[index]!;
      if (column?.kind === 'typed' && column.big !== null) return null;
      if (column?.kind === 'raw') throw new Error('views of the columns are made before');
      // A column of nulls may be stored differently than its type suggests.
      const isThere = column?.kind === (isText ? 'views' : 'typed');
      u32[word++] = column !== null && isThere ? column.at : 0;
      u32[word++] = column?.kind === 'typed' ? column.meta : (column?.kinds ?? 0);
    }
    const at = arena.take(rows.length * VIEW_BYTES);
    const meta = type === 'text' || type === 'json' ? 0 : arena.take(rows.length);
    kernel.exports.copyPlaced(this.#sources, places, placeNumbers(arena, rows), rows.length, at, meta);
    if (isText) return meta === 0 ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
    return { kind: 'typed', type, at, meta, big: null };
  }

  #values(batch: Batch, rows: readonly number[], places: readonly number[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, this.#type);
    for (;;) {
      const mark = arena.next;
      this.bind(batch);
      let isFull = !builder.begin(rows.length);
      for (let to = 0; to < rows.length && !isFull; to++) {
        const value = this.#readers[places[to]!]?.read(rows[to]!) ?? null;
        const isOther = this.#isMixed && value !== null && !(value instanceof NativeText);
        isFull = builder.set(to, isOther ? textOfValue(value) : value) === 'full';
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

// Splits the names of columns for `unpivot`: which columns go to the same row, and to which new columns their cells go.

/** Marks the part of a name that becomes the name of the value column. */
export const VALUE_NAME = '.value';

/** Default name of the value column. */
export const VALUES_NAME = 'value';

/** Maximum number of cells for one row of the file: new rows times value columns. Each has an address and a reader. */
const PLACED_CELLS_MAX = 262_144;

/** A new value column. */
interface PlacedValues<C> {
  /** null for the column that `values_to` names. */
  readonly name: string | null;
  /** Indexed by position: the column that supplies the cell, or null. */
  readonly columns: readonly (C | null)[];
}

/** The result for one row: a new row for each position. */
interface SplitNames<C> {
  /** Indexed by position: the parts of the names, without the value part. */
  readonly names: readonly (readonly (string | null)[])[];
  readonly values: readonly PlacedValues<C>[];
}

/** The operation's parameters about names. */
interface NameParameters {
  readonly pattern?: string;
  readonly values_to?: string;
}

/** Returns whether the parameters are consistent. Otherwise reports a problem. */
export function checkNames({ pattern, values_to }: NameParameters, namesTo: readonly string[], scope: Scope): boolean {
  const problem = (pointer: string, message: string): false => {
    scope.problem(pointer, 'BAD_VALUE', message);
    return false;
  };
  const hasValue = namesTo.includes(VALUE_NAME);
  if (pattern === undefined && (namesTo.length > 1 || hasValue))
    return problem(
      '/names_to',
      'Several names, or ".value", need "pattern": write a pattern with one group for each name.',
    );
  if (new Set(namesTo).size < namesTo.length) return problem('/names_to', 'A name is listed twice.');
  if (hasValue && values_to !== undefined && values_to !== VALUES_NAME)
    return problem('/values_to', 'The group of ".value" names the columns of the values. Leave "values_to" out.');
  return true;
}

/** Returns the columns to convert to rows, or null after a problem. */
export function splitColumns(
  { pattern }: NameParameters,
  set: ColumnSet,
  namesTo: readonly string[],
  scope: Scope,
): SplitNames<Column> | null {
  if (pattern === undefined) return wholeNames(scope.resolve(set, '/columns', 'one'));
  const plain = scope.compilePattern(pattern);
  const compiled = scope.compilePattern(`^(?:${pattern})$`);
  if ('problem' in plain || 'problem' in compiled) {
    scope.problem('/pattern', 'BAD_PATTERN', 'problem' in plain ? plain.problem : 'The pattern is too long.');
    return null;
  }
  if (compiled.groupCount !== namesTo.length) {
    const message = `The pattern has ${compiled.groupCount} groups, but "names_to" has ${namesTo.length} names. Write one name for each group.`;
    scope.problem('/pattern', 'BAD_VALUE', message);
    return null;
  }
  const valuePart = namesTo.indexOf(VALUE_NAME);
  const isListed = typeof set === 'string' ? set !== '*' : Array.isArray(set);
  const columns: Column[] = [];
  const parts: (readonly (string | null)[])[] = [];
  for (const column of scope.resolve(set, '/columns', 'one')) {
    const found = compiled.groups(column.name);
    // A match with an empty value part is skipped, because its column would have no name.
    if (found !== null && (valuePart < 0 || found[valuePart])) {
      columns.push(column);
      parts.push(found);
    } else if (isListed)
      scope.problem('/columns', 'BAD_VALUE', `The pattern does not match the name ${JSON.stringify(column.name)}.`);
  }
  if (columns.length === 0 && scope.closed) {
    scope.problem('/pattern', 'NO_COLUMNS', 'The pattern matches no column name at this step.');
    return null;
  }
  const split = splitNames(columns, parts, namesTo);
  if (split === null)
    scope.problem('/pattern', 'TOO_MANY_COLUMNS', `More than ${PLACED_CELLS_MAX} cells would be made of a row.`);
  return split;
}

/** Each column gives a row with the whole name. */
function wholeNames<C extends { readonly name: string }>(columns: readonly C[]): SplitNames<C> {
  return { names: columns.map(({ name }) => [name]), values: [{ name: null, columns }] };
}

/**
 * Columns whose other parts are equal go to the same row. If two columns would share a cell, the second begins another
 * row. Positions and values are ordered by their first column.
 * @param split parts of each column's name, as many as `into`
 * @returns null if there would be too many cells
 */
export function splitNames<C>(
  columns: readonly C[],
  split: readonly (readonly (string | null)[])[],
  into: readonly string[],
): SplitNames<C> | null {
  const valuePart = into.indexOf(VALUE_NAME);
  const places = new Map<string, { readonly names: readonly (string | null)[]; readonly place: number }>();
  const values = new Map<string | null, Map<number, C>>();
  /** Number of cells so far for each combination of value and names, which determines their row. */
  const copies = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const parts = split[index]!;
    const value = valuePart < 0 ? null : parts[valuePart]!;
    const cells = values.get(value) ?? new Map<number, C>();
    values.set(value, cells);
    const names = parts.filter((_, part) => part !== valuePart);
    const alike = JSON.stringify([value, ...names]);
    const copy = copies.get(alike) ?? 0;
    copies.set(alike, copy + 1);
    const key = JSON.stringify([copy, ...names]);
    const found = places.get(key) ?? { names, place: places.size };
    places.set(key, found);
    cells.set(found.place, column);
  }
  if (places.size * values.size > PLACED_CELLS_MAX) return null;
  const all = [...places.values()];
  return {
    names: all.map(({ names }) => names),
    values: [...values].map(([name, cells]) => ({ name, columns: all.map(({ place }) => cells.get(place) ?? null) })),
  };
}

// Converts columns to rows: for each row and each position, a new row with the remaining columns, the names, and the
// cells.

export interface UnpivotPlan {
  /** Indexed by name column, then by position. */
  readonly names: SplitNames<Column>['names'];
  readonly values: readonly { readonly columns: readonly (Column | null)[]; readonly type: StoredType }[];
  readonly dropEmpty: boolean;
}

/** Common representation of the cells of all these columns: text if the types differ. */
export function commonType(columns: readonly Column[]): Pick<Column, 'type' | 'hasKinds'> {
  const types = new Set(columns.map(({ type }) => type));
  const type = types.size === 1 ? [...types][0]! : 'text';
  return type === 'text' && columns.some(({ hasKinds }) => hasKinds === true) ? { type, hasKinds: true } : { type };
}

export class UnpivotedRows implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: UnpivotPlan;
  readonly #places: number;
  readonly #values: readonly PlacedColumn[];
  readonly #kept: readonly number[];
  /** For each name column, the views of its texts. */
  readonly #names: readonly number[];

  constructor(plan: UnpivotPlan, context: OperatorContext) {
    this.#context = context;
    this.#plan = plan;
    this.#places = plan.values[0]?.columns.length ?? 0;
    this.rowsMost = Math.max(1, this.#places);
    this.#values = plan.values.map(({ columns, type }) => new PlacedColumn(columns, type, context));
    this.#kept = context.layout.filter((index) => index >= 0);
    this.#names = plan.names.map((names) => this.#placed(names));
  }

  *push(batch: Batch): Slices {
    const { clock } = this.#context;
    for (const [index, column] of batch.columns.entries()) {
      if (column.kind !== 'typed') batch.views(index);
      if (index % COLUMNS_AT_ONCE === COLUMNS_AT_ONCE - 1 && clock.isDue()) yield PAUSE;
    }
    for (const values of this.#values) {
      values.bind(batch);
      if (clock.isDue()) yield PAUSE;
    }
    const rowsMax = copiedRowsMax(this.#kept.length + this.#names.length + this.#values.length);
    let rows: number[] = [];
    let places: number[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      for (let place = 0; place < this.#places; place++) {
        if (this.#plan.dropEmpty && this.#values.every((values) => values.isEmpty(place, row))) continue;
        rows.push(row);
        places.push(place);
        if (rows.length < rowsMax) continue;
        yield* this.#emit(batch, rows, places);
        if (clock.isDue()) yield PAUSE;
        rows = [];
        places = [];
      }
    }
    if (rows.length > 0) yield* this.#emit(batch, rows, places);
  }

  *#emit(batch: Batch, rows: readonly number[], places: readonly number[]): Slices {
    const { arena, kernel, layout, next } = this.#context;
    const mark = arena.next;
    const copied = copyRows(this.#context, batch, { at: placeNumbers(arena, rows), count: rows.length }, this.#kept);
    const list = placeNumbers(arena, places);
    const names = this.#names.map((from): ColumnData => {
      const at = arena.take(rows.length * VIEW_BYTES);
      kernel.exports.copyCells(from, 0, list, rows.length, at, 0);
      return { kind: 'views', at };
    });
    const values = this.#values.map((column) => column.cells(batch, rows, places, list));
    let kept = 0;
    const order = layout.map((index) => (index < 0 ? -1 : kept++));
    yield* next(arrange(copied, order, [...names, ...values]));
    arena.release(mark);
  }

  /** Allocates views of the texts. */
  #placed(texts: readonly (string | null)[]): number {
    const { heap } = this.#context.arena;
    const views = heap.allocate(texts.length * VIEW_BYTES);
    for (const [place, text] of texts.entries()) {
      const bytes = Buffer.from(text ?? '');
      const at = text === null ? 0 : heap.allocate(bytes.length);
      heap.u8.set(bytes, at);
      heap.u32.set([at, bytes.length], (views >>> 2) + place * 2);
    }
    return views;
  }
}
