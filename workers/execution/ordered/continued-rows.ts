// Joins rows that continue the previous row. One row waits for the next batch.
import { type Batch, CELL_BYTES_MAX, type ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { type Column, type StoredType, storedType, storedTypes } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { KIND_TEXT } from '../../kernel/layout/cells.ts';
import type { SpillBytes } from '../../memory/spill-file.ts';
import { countCode } from '../../protocol/report.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext, RowChoice } from '../../template/operation.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { FailedRows } from '../expressions/row-condition.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { type ReaderSize, SpillReader, SpillWriter } from '../spill/row-files.ts';

// One row that waits for the next batch, as bytes outside the batches.

/** Buffer for a row of ordinary length. A longer row gets a larger buffer. */
const ROW_READER_SIZE: ReaderSize = { rowsMax: 1, bufferBytes: 16_384 };

class HeldRow {
  readonly #context: Pick<OperatorContext, 'arena'>;
  readonly #codec: RowCodec;
  readonly #writer: SpillWriter;
  readonly #reader: SpillReader;
  readonly #bytes = new RowBytes();

  constructor(context: Pick<OperatorContext, 'arena' | 'kernel' | 'input'>) {
    const { arena, kernel, input } = context;
    this.#context = context;
    this.#codec = new RowCodec(arena.heap, kernel, storedTypes(input));
    this.#writer = new SpillWriter(arena.heap, this.#codec, this.#bytes);
    this.#reader = new SpillReader(arena, this.#codec, ROW_READER_SIZE);
  }

  get isEmpty(): boolean {
    return this.#bytes.sizeBytes === 0;
  }

  /** Replaces the held row. */
  hold(batch: Batch, position: number): void {
    const { arena } = this.#context;
    this.#bytes.drop();
    const one = batch.slice(position, position + 1);
    this.#codec.prepare(one);
    const mark = arena.next;
    const orders = arena.take(8);
    this.#writer.write(one, { rows: one.selection, count: 1, orders });
    this.#writer.flush();
    arena.release(mark);
  }

  /** Returns the row as a batch, which is valid until the next `hold` or `take`. Afterwards no row is held. */
  take(): Batch {
    this.#reader.open(this.#bytes);
    if (this.#reader.advance() !== 1) throw new Error('a held row is missing');
    const batch = this.#reader.batch();
    this.#bytes.drop();
    return batch;
  }
}

class RowBytes implements SpillBytes {
  #bytes = Buffer.alloc(0);

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  append(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  read(target: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  }

  drop(): void {
    this.#bytes = Buffer.alloc(0);
  }
}

// Joins rows that continue the previous row: their texts in some columns are appended to those of that row. The last
// row of a batch waits for the next batch, which may continue it.

/**
 * Maximum number of characters that all columns of a row receive from continuing rows: as many as a row of a file may
 * have.
 */
const ROW_CHARACTERS_MAX = 4 * CELL_BYTES_MAX;

interface JoinedColumn {
  readonly name: string;
  readonly index: number;
  readonly type: StoredType;
  readonly reader: CellReader;
}

/** The texts that continuing rows add to one row, by column. */
class Continuation {
  readonly #separatorLength: number;
  readonly #texts: string[][];
  readonly #lengths: number[];
  #length = 0;

  constructor(columns: number, separatorLength: number) {
    this.#separatorLength = separatorLength;
    this.#texts = Array.from({ length: columns }, () => []);
    this.#lengths = new Array<number>(columns).fill(0);
  }

  add(column: number, text: string): void {
    const length = text.length + this.#separatorLength;
    this.#length += length;
    this.#lengths[column]! += length;
    // The text is already too long for a cell, so its parts are dropped.
    if (this.isTooLong(column)) this.#texts[column] = [];
    else this.#texts[column]!.push(text);
  }

  isTooLong(column: number): boolean {
    // If the first row has no text, the joined text has one separator less.
    return (
      this.#lengths[column]! - this.#separatorLength > CELL_BYTES_MAX ||
      (this.#lengths[column]! > 0 && this.#length > ROW_CHARACTERS_MAX)
    );
  }

  /** True if the column receives any text. */
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
  /** Columns that are not joined. Values of continuing rows in these columns are lost, and are counted. */
  readonly #others: readonly CellReader[];
  readonly #held: HeldRow;
  /** Texts for the row that is held back. */
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
        const continuation = known ?? new Continuation(this.#columns.length, this.#separator.length);
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
    // The last row is held back, together with its continuation.
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

  /** Cells that would become too long stay unchanged and are errors. */
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

/** Restores kinds, because the builder only handles texts. */
function keepKinds({ heap, rows }: Batch, before: ColumnData, made: ColumnData): void {
  if (before.kind !== 'views' || made.kind !== 'views' || made.kinds === undefined) return;
  if (before.kinds === undefined) heap.u8.fill(KIND_TEXT, made.kinds, made.kinds + rows);
  else heap.u8.copyWithin(made.kinds, before.kinds, before.kinds + rows);
}

function blank({ heap }: Batch, column: ColumnData, row: number): void {
  if (column.kind === 'views') heap.u32.fill(0, (column.at >>> 2) + row * 2, (column.at >>> 2) + row * 2 + 2);
}
