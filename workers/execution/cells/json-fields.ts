// Makes columns of values inside JSON cells: a kernel finds those of all paths in one walk through a cell, without copying a
// byte of most. Cells that are no sound JSON, and odd ones, are read by hand.
import type { ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { type Column, storedType } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { FOUND, STRIDE, TEXT_END, TEXT_NEXT } from '../../kernel/layout/json-paths.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { jsonEntries, jsonItems, jsonKind } from '../../values/json-parts.ts';
import type { CellEdit, CellWork } from './cell-operator.ts';
import { settledWork } from './found-cells.ts';
import { nativeJson } from './json-cells.ts';
import { type JsonPath, type PathRoot, type PathTree, pathTree, placePaths } from './json-paths.ts';
import { jsonState } from './json-state.ts';
import { settleText } from './text-cells.ts';
import { writeCell } from './text-chain.ts';

/** The edits of all fields: the first one finds the values of all of them, and is the one that fails. */
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
  /** Where the kernel's paths lie; 0: there are keys that it cannot compare. */
  readonly #paths: number;
  readonly #json: number;
  /** Where the kernel puts field n, in the order of the tree: n * `#stride` from here. */
  #found = 0;
  #stride = 0;
  /** Values of the cells that were read by hand, null: no JSON. */
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
      } else if (value !== null && !writeCell(arena, (at + row * VIEW_BYTES) >>> 2, value)) return null;
    }
    settleText(this.#context, settledWork(this.#context, work, failed), 0, at, false);
    return { kind: 'views', at };
  }

  /** False where the arena is full. */
  *#find({ batch, rows, count }: CellWork): Sliced<boolean> {
    const { arena, clock, kernel } = this.#context;
    this.#byHand.clear();
    this.#stride = batch.rows * VIEW_BYTES;
    this.#found = arena.tryTake(this.#stride * this.#fields);
    const todo = arena.tryTake((count + 1) * 4);
    if (this.#found === 0 || todo === 0) return false;
    arena.heap.u8.fill(0, this.#found, this.#found + this.#stride * this.#fields);
    const column = batch.columns[this.#index]!;
    // A column of nulls may have another form than its type.
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
    for (let i = 1; i <= back; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      this.#byHand.set(row, this.#read(row));
      if ((i & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
    }
    return true;
  }

  /** Null when the cell is no JSON. */
  #read(row: number): readonly (string | null)[] | null {
    const text = this.#reader.text(row);
    const values = Array.from({ length: this.#fields }, (): string | null => null);
    if (text === null) return values;
    const kind = this.#reader.kind(row);
    // Of a cell that the file knows for something else than text its JSON.
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
