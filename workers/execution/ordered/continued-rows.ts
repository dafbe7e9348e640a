// Rows that continue the one before are joined to it: their texts in some columns behind its own. The last row of a batch
// waits for the next batch, which may continue it.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { type Column, type StoredType, storedType } from '../../batch/schema.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Operator, OperatorContext, RowChoice } from '../../operations/operation.ts';
import { countCode } from '../../run/report.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import { CELL_BYTES_MAX } from '../cells/cell-limit.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { FailedRows } from '../expressions/failed-rows.ts';
import { HeldRow } from './held-row.ts';

/** Characters that all columns of a row get from the rows that continue it: as many as a row of a file may have. */
const ROW_CHARACTERS_MAX = 4 * CELL_BYTES_MAX;

interface JoinedColumn {
  readonly name: string;
  readonly index: number;
  readonly type: StoredType;
  readonly reader: CellReader;
}

/** What the rows that continue one row bring, by column. */
class Continuation {
  readonly #texts: string[][];
  readonly #lengths: number[];
  #length = 0;

  constructor(columns: number) {
    this.#texts = Array.from({ length: columns }, () => []);
    this.#lengths = new Array<number>(columns).fill(0);
  }

  add(column: number, text: string): void {
    this.#length += text.length;
    this.#lengths[column]! += text.length;
    // No cell holds it any more: nothing of it is kept.
    if (this.isTooLong(column)) this.#texts[column] = [];
    else this.#texts[column]!.push(text);
  }

  isTooLong(column: number): boolean {
    return this.#lengths[column]! > CELL_BYTES_MAX || (this.#lengths[column]! > 0 && this.#length > ROW_CHARACTERS_MAX);
  }

  /** Whether a column gets anything. */
  has(column: number): boolean {
    return this.#lengths[column]! > 0;
  }

  texts(column: number): readonly string[] {
    return this.#texts[column]!;
  }
}

export class ContinuedRows implements Operator {
  readonly #context: OperatorContext;
  readonly #continues: RowChoice;
  readonly #columns: readonly JoinedColumn[];
  readonly #separator: string;
  /** Of the columns that are not joined: what continuing rows have there is lost, and counted. */
  readonly #others: readonly CellReader[];
  readonly #held: HeldRow;
  /** Of the row that is held. */
  #heldBack: Continuation | null = null;

  constructor(context: OperatorContext, continues: RowChoice, columns: readonly Column[], separator: string) {
    this.#context = context;
    this.#continues = continues;
    this.#separator = separator;
    this.#held = new HeldRow(context);
    this.#columns = columns.map((column) => {
      const index = context.indexOf(column);
      const type = storedType(column);
      return { name: column.name, index, type, reader: new CellReader(type, index) };
    });
    const joined = new Set(columns.map(({ id }) => id));
    this.#others = context.input.flatMap(({ id, type }, index) => (joined.has(id) ? [] : new CellReader(type, index)));
  }

  *push(given: Batch): Slices {
    const { arena, errors } = this.#context;
    const mark = arena.next;
    const failed = new FailedRows();
    const list = arena.take(given.live * 4);
    arena.heap.u8.copyWithin(list, given.selection, given.selection + given.live * 4);
    const count = yield* this.#continues(given, list, given.live, failed.add);
    const dropped = failed.dropped(given, null, errors);
    const batch = dropped.size === 0 ? given : withoutRows(given, dropped);
    const continuing = new Set(arena.heap.u32.subarray(list >>> 2, (list >>> 2) + count));
    yield* this.#join(batch, continuing);
    arena.release(mark);
  }

  finish(): Steps {
    return this.#emitHeld();
  }

  *#join(batch: Batch, continuing: ReadonlySet<number>): Slices {
    const { arena } = this.#context;
    for (const { reader } of this.#columns) reader.bind(batch);
    if (continuing.size > 0) for (const reader of this.#others) reader.bind(batch);
    const firsts = arena.take(batch.live * 4);
    const made = new Map<number, Continuation>();
    let count = 0;
    let first = -1;
    let firstPosition = -1;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (continuing.has(row) && (count > 0 || !this.#held.isEmpty)) {
        const known = first < 0 ? this.#heldBack : made.get(first);
        const continuation = known ?? new Continuation(this.#columns.length);
        this.#read(row, continuation);
        if (this.#others.some((reader) => !isEmpty(reader.read(row))))
          countCode(this.#context.report.errors, 'CELL_DROPPED', batch.sourceRow(row));
        if (first < 0) this.#heldBack = continuation;
        else made.set(first, continuation);
      } else {
        arena.heap.u32[(firsts >>> 2) + count++] = row;
        first = row;
        firstPosition = position;
      }
    }
    if (count === 0) return;
    // The last row is not handed on yet, and what it goes on with neither.
    const last = made.get(first) ?? null;
    made.delete(first);
    yield* this.#emitHeld();
    if (count > 1) yield* this.#emit(batch.withSelection(firsts, count - 1), made);
    this.#held.hold(batch, firstPosition);
    this.#heldBack = last;
  }

  #read(row: number, continuation: Continuation): void {
    for (const [column, { reader }] of this.#columns.entries()) {
      const text = reader.text(row);
      if (text !== null && text !== '') continuation.add(column, text);
    }
  }

  *#emitHeld(): Slices {
    if (this.#held.isEmpty) return;
    const batch = this.#held.take();
    const continuation = this.#heldBack;
    this.#heldBack = null;
    const mark = this.#context.arena.next;
    yield* this.#emit(batch, new Map(continuation === null ? [] : [[batch.physicalRow(0), continuation]]));
    this.#context.arena.release(mark);
  }

  #emit(batch: Batch, continuations: ReadonlyMap<number, Continuation>): Slices {
    const { errors, next } = this.#context;
    if (continuations.size === 0) return next(batch);
    const columns = [...batch.columns];
    const dropped = new Set<number>();
    for (const [at, column] of this.#columns.entries()) {
      const some = [...continuations].filter(([, continuation]) => continuation.has(at));
      if (some.length === 0) continue;
      const failed: number[] = [];
      columns[column.index] = this.#joined(batch, column, at, new Map(some), failed);
      for (const row of failed) {
        const action = errors.report(batch, row, column.name, 'TOO_LONG');
        if (action === 'drop_row') dropped.add(row);
        if (action === 'blank') blank(batch, columns[column.index]!, row);
      }
    }
    const made = batch.withColumns(columns);
    const left = dropped.size === 0 ? made : withoutRows(made, dropped);
    return left.live > 0 ? next(left) : DONE;
  }

  /** Cells that no cell can hold stay as they are, and fail. */
  #joined(
    batch: Batch,
    column: JoinedColumn,
    at: number,
    continuations: ReadonlyMap<number, Continuation>,
    failed: number[],
  ): ColumnData {
    const { arena, report } = this.#context;
    const { index, reader } = column;
    batch.views(index);
    const before = batch.columns[index]!;
    const builder = new ColumnBuilder(arena, column.type);
    for (;;) {
      const mark = arena.next;
      failed.length = 0;
      let isFull = !builder.begin(batch.rows, before);
      if (!isFull) keepKinds(batch, before, builder.column);
      for (const [row, continuation] of continuations) {
        if (isFull) break;
        reader.bind(batch);
        const own = reader.text(row);
        const texts = own === null || own === '' ? continuation.texts(at) : [own, ...continuation.texts(at)];
        const outcome = continuation.isTooLong(at) ? 'TOO_LONG' : builder.set(row, texts.join(this.#separator));
        isFull = outcome === 'full';
        if (outcome === 'TOO_LONG') failed.push(row);
      }
      if (!isFull) {
        report.cells_changed += continuations.size - failed.length;
        return builder.column;
      }
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '';
}

/** The builder takes over texts alone. */
function keepKinds({ heap, rows }: Batch, before: ColumnData, made: ColumnData): void {
  if (before.kind !== 'views' || made.kind !== 'views' || made.kinds === undefined) return;
  if (before.kinds === undefined) heap.u8.fill(KIND_TEXT, made.kinds, made.kinds + rows);
  else heap.u8.copyWithin(made.kinds, before.kinds, before.kinds + rows);
}

function blank({ heap }: Batch, column: ColumnData, row: number): void {
  if (column.kind === 'views') heap.u32.fill(0, (column.at >>> 2) + row * 2, (column.at >>> 2) + row * 2 + 2);
}
