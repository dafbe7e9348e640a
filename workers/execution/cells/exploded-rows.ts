// Makes a row of each value of a cell: kernels cut the cells and list the copies; a cell with too many values, or one that is
// no JSON, is an error that is settled here, and so are cells that no kernel cuts.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { type Column, type ColumnType, storedType } from '../../batch/schema.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import * as words from '../../kernel/layout/copied-rows.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { PAUSE, type Slices } from '../../run/time-slices.ts';
import { jsonItems, jsonKind } from '../../values/json-parts.ts';
import { trimWhiteSpace } from '../../values/text-edits.ts';
import { splitText } from '../../values/text-search.ts';
import { arrange } from './arrange.ts';
import { columnIndex } from './cell-operator.ts';
import { copiedRowsMax, copyRows } from './copied-rows.ts';
import { jsonState } from './json-state.ts';
import { type PlacedText, placeText } from './placed-text.ts';

export interface ExplodePlan {
  readonly column: Column;
  /** Null: the cells are arrays of JSON. */
  readonly separator: string | null;
  readonly trim: boolean;
  readonly hasIndex: boolean;
  readonly itemsMax: number;
}

/** Longer ones are searched for in time that grows with both lengths, which the kernel does not do. */
const SEPARATOR_BYTES_MAX = 32;

/** What a copy of a row has in the exploded column. */
type Value = string | null | typeof WHOLE;

/** The cell as it is. */
const WHOLE = Symbol('whole');

export class ExplodedRows implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: ExplodePlan;
  readonly #index: number;
  readonly #reader: CellReader;
  readonly #all: readonly number[];
  /** Null: no kernel cuts at it. */
  readonly #separator: PlacedText | null;
  readonly #json: number;
  readonly #state: number;

  constructor(planned: ExplodePlan, context: OperatorContext) {
    const { heap } = context.arena;
    const { separator, column } = planned;
    this.#context = context;
    this.#plan = planned;
    this.rowsMost = planned.itemsMax;
    this.#index = columnIndex(context.input, column);
    this.#reader = new CellReader(storedType(column), this.#index);
    this.#all = context.input.map((_, index) => index);
    this.#separator = separator !== null && isForKernel(separator) ? placeText(heap, separator) : null;
    this.#json = separator === null ? jsonState(heap) : 0;
    this.#state = heap.allocate(words.STATE_BYTES);
  }

  *push(batch: Batch): Slices {
    const { arena, clock } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    this.#placeLists(batch);
    const mark = arena.next;
    for (;;) {
      this.#put(words.NEXT_FREE, arena.next);
      this.#put(words.FREE_END, arena.limit);
      const why = this.#run(batch);
      arena.next = this.#word(words.NEXT_FREE);
      if (why === words.STOPPED_AT_CELL) {
        yield* this.#byHand(batch, mark);
        this.#put(words.POSITION, this.#word(words.POSITION) + 1);
      } else {
        if (why === words.STOPPED_NO_ROOM && this.#word(words.COPIES) === 0) arena.enlarge(arena.capacityBytes * 2);
        yield* this.#emit(batch, mark);
      }
      if (why === words.STOPPED_AT_END) return;
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** Lists for the copies, and the words that stay for the whole batch. */
  #placeLists(batch: Batch): void {
    const { arena } = this.#context;
    const { column, hasIndex, itemsMax } = this.#plan;
    const most = copiedRowsMax(batch.columns.length);
    const data = batch.columns[this.#index]!;
    const hasKinds = storedType(column) === 'text_with_kind';
    arena.heap.u32.fill(0, this.#state >>> 2, (this.#state + words.STATE_BYTES) >>> 2);
    this.#put(words.COPIES_MAX, most);
    this.#put(words.ITEMS_MAX, itemsMax);
    this.#put(words.LIST_ROWS, arena.take(most * 4));
    this.#put(words.LIST_VIEWS, arena.take(most * VIEW_BYTES));
    this.#put(words.LIST_KINDS, hasKinds ? arena.take(most) : 0);
    this.#put(words.CELL_KINDS, data.kind === 'views' ? (data.kinds ?? 0) : 0);
    this.#put(words.LIST_NUMBERS, hasIndex ? arena.take(most * 8) : 0);
    this.#put(words.LIST_META, hasIndex ? arena.take(most) : 0);
  }

  /** Lists copies until something is to be done; gives what. */
  #run({ columns, selection, live }: Batch): number {
    const { explodeLists, explodeTexts } = this.#context.kernel.exports;
    const { column, separator, trim } = this.#plan;
    const data = columns[this.#index]!;
    if (data.kind === 'raw') throw new Error('views of the columns are made before');
    // A column of nulls may have another form than its type: by hand, as all cells are that no kernel cuts.
    if (data.kind === 'views' && separator === null) {
      return explodeLists(this.#state, this.#json, data.at, selection, live, column.type === 'text' ? 1 : 0);
    }
    if (data.kind === 'views' && this.#separator !== null) {
      const { at, bytes } = this.#separator;
      return explodeTexts(this.#state, data.at, selection, live, at, bytes, trim ? 1 : 0);
    }
    return this.#word(words.POSITION) === live ? words.STOPPED_AT_END : words.STOPPED_AT_CELL;
  }

  /** The copies of one row. */
  *#byHand(batch: Batch, mark: number): Slices {
    const row = batch.physicalRow(this.#word(words.POSITION));
    this.#reader.bind(batch);
    const values = this.#values(batch, row);
    for (const [index, value] of (values ?? []).entries()) {
      while (!this.#add(batch, row, value, index + 1)) {
        if (this.#word(words.COPIES) === 0) this.#context.arena.enlarge(this.#context.arena.capacityBytes * 2);
        yield* this.#emit(batch, mark);
      }
    }
    if (values !== null && values.length === 0 && !this.#add(batch, row, null, 0)) {
      yield* this.#emit(batch, mark);
      this.#add(batch, row, null, 0);
    }
  }

  /** False where there is no room for it. */
  #add(batch: Batch, row: number, value: Value, number: number): boolean {
    const { arena } = this.#context;
    const copy = this.#word(words.COPIES);
    if (copy === this.#word(words.COPIES_MAX)) return false;
    if (typeof value === 'string' && !arena.hasRoomFor(value)) return false;
    const { u8, u32, i64 } = arena.heap;
    const view = (this.#word(words.LIST_VIEWS) >>> 2) + copy * 2;
    const data = batch.columns[this.#index]!;
    const cell = value === WHOLE && data.kind === 'views' ? (data.at >>> 2) + row * 2 : 0;
    const [at, bytes] = cell === 0 ? [0, 0] : [u32[cell]!, u32[cell + 1]!];
    const start = typeof value === 'string' ? arena.next : at;
    u32[view] = start;
    u32[view + 1] = typeof value === 'string' ? arena.write(value) : bytes;
    u32[(this.#word(words.LIST_ROWS) >>> 2) + copy] = row;
    const kinds = this.#word(words.LIST_KINDS);
    if (kinds !== 0) u8[kinds + copy] = cell === 0 ? KIND_TEXT : this.#reader.kind(row);
    const numbers = this.#word(words.LIST_NUMBERS);
    if (numbers !== 0) {
      i64[(numbers >>> 3) + copy] = BigInt(number);
      u8[this.#word(words.LIST_META) + copy] = number === 0 ? META_NULL : 0;
    }
    this.#put(words.COPIES, copy + 1);
    return true;
  }

  /** The values of a row's cell; none: its row stays alone, null: it is dropped. */
  #values(batch: Batch, row: number): readonly Value[] | null {
    const { column, separator, trim, itemsMax } = this.#plan;
    const text = this.#reader.text(row);
    if (text === null || text === '') return [];
    const items =
      separator === null ? arrayItems(text, column.type, itemsMax) : textItems(text, separator, trim, itemsMax);
    const code: RowErrorCode | null = items === null ? 'BAD_JSON' : items.length > itemsMax ? 'SPLIT_COUNT' : null;
    // A cell that is its only value stays what it is.
    if (items !== null && code === null) return items.length === 1 && items[0] === text ? [WHOLE] : items;
    const action = this.#context.errors.report(batch, row, column.name, code!);
    if (action === 'drop_row') return null;
    return action === 'keep' ? [WHOLE] : [];
  }

  /** Hands on the copies that are listed; the arena is then as at the mark. */
  *#emit(batch: Batch, mark: number): Slices {
    const { arena, layout, next } = this.#context;
    const count = this.#word(words.COPIES);
    if (count > 0) {
      const copied = copyRows(this.#context, batch, { at: this.#word(words.LIST_ROWS), count }, this.#all);
      copied.columns[this.#index] = this.#cells();
      yield* next(arrange(copied, layout, this.#numbers()));
    }
    this.#put(words.COPIES, 0);
    arena.release(mark);
  }

  #cells(): ColumnData {
    const at = this.#word(words.LIST_VIEWS);
    const kinds = this.#word(words.LIST_KINDS);
    return kinds === 0 ? { kind: 'views', at } : { kind: 'views', at, kinds };
  }

  #numbers(): readonly ColumnData[] {
    if (!this.#plan.hasIndex) return [];
    const at = this.#word(words.LIST_NUMBERS);
    return [{ kind: 'typed', type: 'integer', at, meta: this.#word(words.LIST_META), big: null }];
  }

  #word(word: number): number {
    return this.#context.arena.heap.u32[(this.#state + word) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#context.arena.heap.u32[(this.#state + word) >>> 2] = value;
  }
}

/** Halves of a surrogate pair have no UTF-8 in which they could be found. */
function isForKernel(separator: string): boolean {
  const bytes = Buffer.from(separator);
  return bytes.length <= SEPARATOR_BYTES_MAX && bytes.toString() === separator;
}

/** One part more than allowed is enough to know. */
function textItems(text: string, separator: string, trim: boolean, itemsMax: number): (string | null)[] {
  return splitText(text, separator, itemsMax + 1).map((part) => {
    const item = trim ? trimWhiteSpace(part) : part;
    return item === '' ? null : item;
  });
}

/** Null when the text is no array. One item more than allowed is enough to know. */
function arrayItems(text: string, type: ColumnType, itemsMax: number): (string | null)[] | null {
  if (jsonKind(text) !== 'array') return null;
  const items: (string | null)[] = [];
  for (const item of jsonItems(text)) {
    if (item === 'null' || item === '""') items.push(null);
    else items.push(type === 'text' && item.startsWith('"') ? (JSON.parse(item) as string) : item);
    if (items.length > itemsMax) break;
  }
  return items;
}
