// Pivots rows by a column of names: finds the names, assigns rows to columns, and emits one row per group.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { type Column, type ColumnType, storedType, storedTypes } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { countInAnyOrder } from '../../protocol/report.ts';
import { checkMask, DONE, PAUSE, type Slices } from '../../scheduling/time-slices.ts';
import { headerNames } from '../../template/file-columns.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { Decimal, trimZeros } from '../../values/decimal.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { fillNulls } from '../cells/chosen-rows.ts';
import { constantValue } from '../cells/constant-value.ts';
import { textOfValue } from '../cells/value-cells.ts';
import { HashTable, KEY_ABSENT } from '../keys/hash-table.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { type MetricName, movesCell } from './accumulators.ts';
import { HashAggregate, type HashAggregatePlan } from './hash-aggregate.ts';
import type { GroupMetric } from './metric-state.ts';

// Names of columns that are created from rows, each taken from a cell of its row. Collects the names, and writes them
// in place of the cells once all are known, so that they are unique.

/**
 * Maximum total length of all names in UTF-16 units. They are held as strings, and more would not be a sensible header.
 */
const NAMES_UNITS_MAX = 1024 * 1024;

export interface NamedRows {
  /** The column whose cells are the names. */
  readonly header: Column;
  /** Maximum number of rows. */
  readonly rowsMax: number;
}

/** Reads each row and emits none. */
export class RowNames implements Operator {
  readonly #named: NamedRows;
  readonly #context: OperatorContext;
  readonly #reader: CellReader;
  readonly #texts: string[] = [];
  #rows = 0;
  #units = 0;

  constructor(named: NamedRows, context: OperatorContext) {
    this.#named = named;
    this.#context = context;
    this.#reader = new CellReader(named.header.type, context.indexOf(named.header));
  }

  push(batch: Batch): Slices {
    this.#rows += batch.live;
    for (let position = 0; position < batch.live && !this.#isTooMuch(); position++) {
      this.#reader.bind(batch);
      const text = textOfValue(this.#reader.read(batch.physicalRow(position)));
      this.#units += text.length;
      if (this.#units <= NAMES_UNITS_MAX) this.#texts.push(text);
    }
    return DONE;
  }

  finish(): Slices {
    const { errors } = this.#context;
    if (this.#rows > this.#named.rowsMax) errors.failCheck(tooManyRows(this.#named.rowsMax));
    else if (this.#isTooMuch()) {
      const name = JSON.stringify(this.#named.header.name);
      errors.failCheck(`the cells of ${name} that would name columns have more than ${NAMES_UNITS_MAX} characters.`);
    }
    return DONE;
  }

  /** Same as headers of a file: blank names are replaced by their position, equal names are numbered. */
  rowNames(): readonly string[] | null {
    if (this.#isTooMuch()) return null;
    const [first, ...others] = this.#context.output.map(({ name }) => name);
    return headerNames([first!, ...this.#texts], others).slice(1);
  }

  #isTooMuch(): boolean {
    return this.#rows > this.#named.rowsMax || this.#units > NAMES_UNITS_MAX;
  }
}

export function tooManyRows(rowsMax: number): string {
  return `there are more than ${rowsMax} rows to transpose ("max_rows").`;
}

/** Replaces the cells of `header` by the names of the rows, in order. */
export function withRowNames(
  header: Column,
  names: readonly string[],
  context: OperatorContext,
): (batch: Batch) => Batch {
  const { heap } = context.arena;
  const index = context.indexOf(header);
  const texts = names.map((name) => placed(name, context));
  let rows = 0;
  return (batch) => {
    const at = batch.arena.take(batch.rows * VIEW_BYTES);
    for (let position = 0; position < batch.live; position++) {
      const text = texts[rows++];
      if (text === undefined) throw new Error('there are more rows than named columns');
      heap.u32.set(text, (at + batch.physicalRow(position) * VIEW_BYTES) >>> 2);
    }
    const column: ColumnData = { kind: 'views', at };
    return batch.withColumns(batch.columns.map((other, place) => (place === index ? column : other)));
  };
}

/** Copies a text into memory that lasts for the Run. Returns its address and length. */
function placed(name: string, { arena: { heap } }: OperatorContext): readonly [number, number] {
  const bytes = Buffer.from(name);
  const at = heap.allocate(bytes.length);
  heap.u8.set(bytes, at);
  return [at, bytes.length];
}

// Names are compared by value, as in `aggregate`: the decimals 1.0 and 1.00 are one name.

/** Returns the same text for equal values, and '' for null. */
function keyOfName(value: unknown): string {
  return textOfValue(value instanceof Decimal ? trimZeros(value, 0) : value);
}

/** Returns the key of a name in a Template, for a column of this type. */
export function keyOfListedName(name: string, type: ColumnType): string {
  const constant = constantValue(name, type);
  return keyOfName('problem' in constant ? name : constant.value);
}

// Collects the distinct names of all rows, for a pivot whose columns are not listed.

/** Reads each row and emits none. */
export class DistinctNames implements Operator {
  readonly #header: Column;
  readonly #columnsMax: number;
  readonly #context: OperatorContext;
  readonly #reader: CellReader;
  /** Names by key: the text with which a value first occurred, and the value, by which names are sorted. */
  readonly #names = new Map<string, { readonly name: string; readonly value: unknown }>();
  #units = 0;

  constructor(header: Column, columnsMax: number, context: OperatorContext) {
    this.#header = header;
    this.#columnsMax = columnsMax;
    this.#context = context;
    this.#reader = new CellReader(header.type, context.indexOf(header));
  }

  *push(batch: Batch): Slices {
    const { clock } = this.#context;
    this.#reader.bind(batch);
    const mask = checkMask(batch.live);
    for (let position = 0; position < batch.live && !this.#isTooMuch(); position++) {
      if ((position & mask) === mask && clock.isDue()) yield PAUSE;
      const value = this.#reader.read(batch.physicalRow(position));
      const key = keyOfName(value);
      if (key === '' || this.#names.has(key)) continue;
      const name = textOfValue(value);
      this.#units += name.length;
      this.#names.set(key, { name, value });
    }
  }

  finish(): Slices {
    const problem = this.#problem();
    if (problem !== null) this.#context.errors.failCheck(problem);
    return DONE;
  }

  /** Sorted: numbers by size, other names by code points. */
  rowNames(): readonly string[] | null {
    if (this.#problem() !== null) return null;
    const isNumeric = NUMERIC_TYPES.includes(this.#header.type);
    const size = (value: unknown): number => (isNumeric ? Number(String(value)) : 0);
    return [...this.#names.values()]
      .sort((a, b) => size(a.value) - size(b.value) || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
      .map(({ name }) => name);
  }

  #problem(): string | null {
    const header = JSON.stringify(this.#header.name);
    if (this.#isTooMuch()) {
      const most = `${this.#columnsMax} different names, or names with more than ${NAMES_UNITS_MAX} characters`;
      return `the column ${header} has more than ${most}. List the columns in "values".`;
    }
    const others = new Set(this.#context.output.map(({ name }) => name));
    const isTaken = [...this.#names.values()].some(({ name }) => others.has(name));
    return isTaken ? `the column ${header} contains the name of another column. Rename that column before.` : null;
  }

  #isTooMuch(): boolean {
    return this.#names.size > this.#columnsMax || this.#units > NAMES_UNITS_MAX;
  }
}

const NUMERIC_TYPES: readonly ColumnType[] = ['integer', 'decimal', 'number'];

// Finds the name that a row has in a list of names, as an index into the list.

export interface ListedNames {
  readonly names: readonly string[];
  /** Index of the column with the names in the batches, and its type. */
  readonly index: number;
  readonly type: ColumnType;
  /** Index for names that are not listed, or KEY_ABSENT. */
  readonly rest: number;
}

class NamePlaces {
  readonly #context: OperatorContext;
  readonly #list: ListedNames;
  /** Indexes into the list by key. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #reader: CellReader;
  readonly #keys: RowKeys;
  readonly #table: HashTable;

  constructor(context: OperatorContext, list: ListedNames) {
    const { heap } = context.arena;
    this.#context = context;
    this.#list = list;
    this.#places = new Map(list.names.map((name, place) => [keyOfListedName(name, list.type), place]));
    this.#reader = new CellReader(list.type, list.index);
    this.#keys = new RowKeys(context, [list.index], 'exact');
    this.#table = new HashTable(heap, context.kernel);
    this.#table.forced = true;
    this.#enterNames();
  }

  /** Returns the address of the indexes of rows (u32 per row), or 0 if the arena is full. */
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

  #findValues(batch: Batch, rows: number, count: number, places: number): number {
    const { u32 } = this.#context.arena.heap;
    const { rest } = this.#list;
    this.#reader.bind(batch);
    for (let position = 0; position < count; position++) {
      const name = this.#reader.read(u32[(rows >>> 2) + position]!);
      const place = name === null ? rest : (this.#places.get(keyOfName(name)) ?? rest);
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
      // A view with address 0 means null. So an empty name also needs an address, and one more byte is allocated.
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

// Pivots rows by a column of names: one output row per group, with a cell for each of the listed names.

export interface PivotPlan {
  readonly groups: readonly Column[];
  readonly names: Column;
  readonly source: Column;
  readonly values: readonly string[];
  /** null if several rows with the same group and name are an error. */
  readonly aggregate: MetricName | null;
  readonly type: ColumnType;
  readonly fill: unknown;
  readonly other: 'ignore' | 'error' | 'column';
  /** Message for several rows with the same group and name. */
  readonly meeting: string;
}

/** Emits groups in the order in which they are first seen. */
export function pivotedGroups(planned: PivotPlan, context: OperatorContext): HashAggregate {
  return new HashAggregate(context, aggregateOf(planned, context));
}

/** Removes rows whose name is not listed, and reports them as row errors. */
export function withKnownNames(
  { names, values }: Pick<PivotPlan, 'names' | 'values'>,
  context: OperatorContext,
): (batch: Batch) => Batch {
  const reader = new CellReader(names.type, context.indexOf(names));
  const known = new Set(values.map((name) => keyOfListedName(name, names.type)));
  return (batch) => {
    const dropped = new Set<number>();
    for (let position = 0; position < batch.live; position++) {
      reader.bind(batch);
      const row = batch.physicalRow(position);
      const name = reader.read(row);
      if (name !== null && known.has(keyOfName(name))) continue;
      if (context.errors.report(batch, row, names.name, 'NOT_IN_SET') === 'drop_row') dropped.add(row);
    }
    return dropped.size === 0 ? batch : withoutRows(batch, dropped);
  };
}

/** Each group has a cell per name. Without an aggregate, it also counts the rows of each cell. */
function aggregateOf(planned: PivotPlan, context: OperatorContext): HashAggregatePlan {
  const { groups, names, source, values, aggregate, type, fill, other, meeting } = planned;
  const moves = movesCell(aggregate ?? 'first', source);
  const reads = moves ? storedType(source) : source.type;
  const makes = moves ? 'text_with_kind' : type;
  const place = groups.length + 1;
  const every = { type: source.type, reads, place, condition: -1, separator: ', ', percent: 50 };
  const cells: GroupMetric = { ...every, fn: aggregate ?? 'first', makes };
  const rows: GroupMetric = { ...every, fn: 'count', makes: 'integer' };
  const width = values.length + (other === 'column' ? 1 : 0);
  const rest = other === 'column' ? values.length : KEY_ABSENT;
  const found = new NamePlaces(context, { names: values, index: groups.length, type: names.type, rest });
  const { arena } = context;
  return {
    reads: [...groups, names, source].map((column) => context.indexOf(column)),
    readTypes: [...storedTypes(groups), names.type, reads],
    groups: groups.length,
    metrics: aggregate === null ? [cells, rows] : [cells],
    sorted: false,
    spread: {
      width,
      makes: Array.from({ length: width }, () => makes),
      places: (batch, rows, count) => found.find(batch, rows, count),
      dropped(batch, row) {
        // With `other: error`, the row has already been counted.
        if (other === 'ignore') countInAnyOrder(context.report.errors, 'CELL_DROPPED', batch.sourceRow(row));
      },
      made(columns, count) {
        const shown = aggregate === null ? onlyRows(columns, count, meeting, context) : columns;
        if (fill === null) return [...shown];
        const filled = shown.map((column) => fillNulls(arena, column, count, makes, fill));
        return filled.some((column) => column === null) ? null : filled.filter((column) => column !== null);
      },
    },
  };
}

/** For pairs of a cell and its number of rows: returns the cells if no number exceeds one. */
function onlyRows(
  columns: readonly ColumnData[],
  count: number,
  meeting: string,
  { arena, errors }: OperatorContext,
): ColumnData[] {
  const { i64 } = arena.heap;
  for (const column of columns.filter((_, index) => index % 2 === 1)) {
    if (column.kind !== 'typed') throw new Error('counts are integers');
    for (let row = 0; row < count; row++) if (i64[(column.at >>> 3) + row]! > 1n) errors.failCheck(meeting);
  }
  return columns.filter((_, index) => index % 2 === 0);
}
