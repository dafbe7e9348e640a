// Emits every row with an additional column: whether an earlier row had the same key. If the budget refuses memory for
// more keys, rows are deferred to files by the hash of their key, and emitted in their order at the end of the input.
// States: open (keys are added) → closed (keys are looked up, all rows are deferred) → finished.

import type { Batch, ColumnData } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import { PRINT_BYTES } from '../../kernel/layout/keys.ts';
import type { Sliced, Slices, Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext, RowChoice } from '../../template/operation.ts';
import { inSlices, piecesOf } from '../cells/cell-operator.ts';
import { PARTITION_LEVELS, type RowPartitions, type SpillReader, type SpillWriter } from '../spill/row-files.ts';
import { type DeferredPart, DeferredRows } from './distinct-rows.ts';
import { FingerprintSet, PRINT_ABSENT, type PrintList } from './hash-table.ts';
import type { RowKeys } from './row-keys.ts';

/** Value of the created boolean column: the row is the first with its key, or has no key. */
const MARK_FIRST = 0;
/** An earlier row had the same key. */
export const MARK_AGAIN = 1;
/** Not yet decided. Never visible outside. */
const MARK_OPEN = META_NULL;

/** The rows of a piece of a batch whose keys count, with their keys, and the marks of all rows. */
interface Piece extends PrintList {
  /** Address of one byte per physical row. */
  readonly meta: number;
}

export class DuplicateMarker implements Operator {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #choose: RowChoice;
  readonly #known: FingerprintSet;
  readonly #types: readonly StoredType[];
  #deferral: DeferredRows | null = null;
  /** Number of rows so far, which is the order of the next row. */
  #taken = 0;

  /** @param choose selects the rows whose keys count; it may create views of columns */
  constructor(context: OperatorContext, keys: RowKeys, choose: RowChoice) {
    this.#context = context;
    this.#keys = keys;
    this.#choose = choose;
    this.#known = new FingerprintSet(context.arena.heap, context.kernel);
    this.#types = [...storedTypes(context.input), 'boolean'];
  }

  *push(batch: Batch): Slices {
    for (let rest: Batch | null = batch; rest !== null && rest.live > 0; ) rest = yield* this.#pushSome(rest);
  }

  *finish(): Steps {
    if (this.#deferral !== null) yield* this.#deferral.finish((part) => this.#readPart(part));
  }

  /** Returns the remaining rows if the set was closed in the middle of the batch. */
  *#pushSome(batch: Batch): Sliced<Batch | null> {
    let closedAt = -1;
    this.#keys.prepare(batch);
    yield* this.#keys.editLong(batch, this.#context.clock);
    this.#deferral?.codec.prepare(batch);
    const columns = [...batch.columns];
    const taken = this.#taken;
    for (const cut of piecesOf(batch)) {
      const { from, to } = cut;
      const piece = yield* this.#piece(batch, from, to);
      const at = this.#context.arena.tryTake(batch.rows * 8);
      cut.isTooLarge = piece === null || at === 0;
      if (piece === null || at === 0) continue;
      const mark: ColumnData = { kind: 'typed', type: 'boolean', at, meta: piece.meta, big: null };
      const marked = batch.withColumns([...columns, mark]);
      if (this.#deferral === null) {
        const reached = this.#addKeys(piece);
        const end = reached === piece.count ? to : this.#positionOf(batch, from, piece, reached);
        if (end < to) closedAt = end;
        if (end > from) yield* this.#context.next(marked.slice(from, end));
      } else {
        this.#markKnown(piece, 0);
        this.#defer(marked.slice(from, to), piece, taken + from);
      }
      // Restores the columns, because views that the choice of rows created are in a part of the arena that the next
      // piece overwrites.
      batch.columns = [...columns];
      if (closedAt >= 0) break;
    }
    this.#taken = taken + (closedAt < 0 ? batch.live : closedAt);
    if (closedAt < 0) return null;
    this.#deferral ??= new DeferredRows(this.#context, this.#types);
    return batch.slice(closedAt, batch.live);
  }

  /**
   * Selects the rows of [from, to) whose keys count, and marks all rows as first. Returns null if the arena is full.
   */
  *#piece(batch: Batch, from: number, to: number): Sliced<Piece | null> {
    const { arena } = this.#context;
    const rows = arena.tryTake((to - from) * 4);
    const meta = arena.tryTake(batch.rows);
    if (rows === 0 || meta === 0) return null;
    arena.heap.u8.copyWithin(rows, batch.selection + from * 4, batch.selection + to * 4);
    arena.heap.u8.fill(MARK_FIRST, meta, meta + batch.rows);
    const count = yield* this.#choose(batch, rows, to - from, () => undefined);
    return this.#withKeys(batch, rows, count, meta);
  }

  #withKeys(batch: Batch, rows: number, count: number, meta: number): Piece | null {
    const { arena } = this.#context;
    const views = this.#keys.make(batch, rows, count);
    const prints = arena.tryTake(count * PRINT_BYTES);
    const ids = arena.tryTake(count * 4);
    if (views === 0 || prints === 0 || ids === 0) return null;
    const piece = { views, rows, count, prints, ids, meta };
    this.#known.fingerprint(piece);
    return piece;
  }

  /** Adds keys until the set refuses, and marks the rows up to the position reached. */
  #addKeys(piece: Piece): number {
    let fresh = this.#known.count;
    const reached = this.#known.add(piece);
    const { u8, u32 } = this.#context.arena.heap;
    for (let i = 0; i < reached; i++) {
      const isNew = u32[(piece.ids >>> 2) + i] === fresh;
      if (isNew) fresh++;
      u8[piece.meta + u32[(piece.rows >>> 2) + i]!] = isNew ? MARK_FIRST : MARK_AGAIN;
    }
    return reached;
  }

  /** Marks the rows from a position on whose keys are in the set. The others stay undecided. */
  #markKnown(piece: Piece, from: number): void {
    this.#known.find(piece, from);
    const { u8, u32 } = this.#context.arena.heap;
    for (let i = from; i < piece.count; i++) {
      const isKnown = u32[(piece.ids >>> 2) + i] !== PRINT_ABSENT;
      u8[piece.meta + u32[(piece.rows >>> 2) + i]!] = isKnown ? MARK_AGAIN : MARK_OPEN;
    }
  }

  /** Returns the position in the batch of the row at an index of a piece that begins at `from`. */
  #positionOf(batch: Batch, from: number, piece: Piece, index: number): number {
    const row = batch.heap.u32[(piece.rows >>> 2) + index]!;
    let position = from;
    while (batch.physicalRow(position) !== row) position++;
    return position;
  }

  /** Defers all rows of a batch, decided or not, because later rows must not overtake them. */
  #defer(batch: Batch, piece: Piece, order: number): void {
    const { arena } = this.#context;
    const orders = arena.take(batch.live * 8);
    const hashes = arena.take(batch.live * 8);
    const { u32, f64 } = arena.heap;
    for (let position = 0, i = 0; position < batch.live; position++) {
      const isCounted = i < piece.count && u32[(piece.rows >>> 2) + i] === batch.physicalRow(position);
      // A decided row may go to any partition. Distributing such rows keeps all partitions small.
      u32[(hashes >>> 2) + position * 2 + 1] = isCounted ? this.#known.partition(piece, i) : order + position;
      f64[(orders >>> 3) + position] = order + position;
      if (isCounted) i++;
    }
    this.#deferral!.partitions.add(batch, { rows: batch.selection, count: batch.live, hashes, orders });
  }

  /** Marks the rows of a partition and writes them. Rows whose keys do not fit into the set are partitioned again. */
  *#readPart({ file, level, reader, writer, partitions }: DeferredPart): Steps {
    this.#known.clear();
    this.#known.forced = level >= PARTITION_LEVELS;
    partitions.begin(Math.min(level, PARTITION_LEVELS - 1));
    let closed = false;
    reader.open(file);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      this.#keys.prepare(batch);
      yield* this.#keys.editLong(batch, this.#context.clock);
      inSlices(batch, (from, to) => {
        const piece = this.#openRows(batch, from, to);
        if (piece === null) return false;
        const reached = closed ? 0 : this.#addKeys(piece);
        closed ||= reached < piece.count;
        if (closed) this.#markKnown(piece, reached);
        this.#writeSettled(batch.slice(from, to), piece.meta, reader, writer);
        if (closed) this.#partitionOpen(batch, piece, reached, reader, partitions);
        return true;
      });
      yield;
    }
    file.drop();
  }

  #openRows(batch: Batch, from: number, to: number): Piece | null {
    const { arena } = this.#context;
    const mark = batch.columns[batch.columns.length - 1]!;
    if (mark.kind !== 'typed') throw new Error('the marks are missing');
    const rows = arena.tryTake((to - from) * 4);
    if (rows === 0) return null;
    const { u8, u32 } = arena.heap;
    let count = 0;
    for (let position = from; position < to; position++) {
      const row = batch.physicalRow(position);
      if (u8[mark.meta + row] === MARK_OPEN) u32[(rows >>> 2) + count++] = row;
    }
    return this.#withKeys(batch, rows, count, mark.meta);
  }

  #writeSettled(batch: Batch, meta: number, reader: SpillReader, writer: SpillWriter): void {
    const { arena } = this.#context;
    const rows = arena.take(batch.live * 4);
    const orders = arena.take(batch.live * 8);
    const { u8, u32, f64 } = arena.heap;
    let count = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (u8[meta + row] === MARK_OPEN) continue;
      u32[(rows >>> 2) + count] = row;
      f64[(orders >>> 3) + count++] = f64[(reader.orders >>> 3) + row]!;
    }
    if (count > 0) writer.write(batch, { rows, count, orders });
  }

  #partitionOpen(batch: Batch, piece: Piece, from: number, reader: SpillReader, partitions: RowPartitions): void {
    const { arena } = this.#context;
    const rows = arena.take(piece.count * 4);
    const hashes = arena.take(piece.count * 8);
    const orders = arena.take(piece.count * 8);
    const { u8, u32, f64 } = arena.heap;
    let count = 0;
    for (let i = from; i < piece.count; i++) {
      const row = u32[(piece.rows >>> 2) + i]!;
      if (u8[piece.meta + row] !== MARK_OPEN) continue;
      u32[(rows >>> 2) + count] = row;
      u32[(hashes >>> 2) + count * 2 + 1] = this.#known.partition(piece, i);
      f64[(orders >>> 3) + count++] = f64[(reader.orders >>> 3) + row]!;
    }
    if (count > 0) partitions.add(batch, { rows, count, hashes, orders });
  }
}
