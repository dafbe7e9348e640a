// Emits one row of each key: the first row as rows arrive, or a row that can only be chosen after all rows.

import type { Batch } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import { PRINT_BYTES } from '../../kernel/layout/keys.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import type { Sliced, Slices, Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { inSlices, piecesOf } from '../cells/cell-operator.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_READER_SIZE, PARTITION_LEVELS, RowPartitions, SpillReader, SpillWriter } from '../spill/row-files.ts';
import { FingerprintSet, PRINT_ABSENT, type PrintList } from './hash-table.ts';
import type { RowKeys } from './row-keys.ts';

// Rows whose keys did not fit into memory: deferred to files by the hash of their key, processed partition by partition
// at the end of the input, when the keys of a partition fit, and emitted in their order. The operator decides what
// happens to each row.

/** Rows whose keys have the same part of their hash. */
export interface DeferredPart {
  readonly file: SpillFile;
  /** Number of times that its rows have been partitioned, from 1. */
  readonly level: number;
  readonly reader: SpillReader;
  /** Receives the rows to emit, in order. */
  readonly writer: SpillWriter;
  /** Receives the rows that again do not fit. */
  readonly partitions: RowPartitions;
}

export class DeferredRows {
  readonly codec: RowCodec;
  readonly partitions: RowPartitions;
  readonly #context: OperatorContext;
  readonly #types: readonly StoredType[];

  /** @param types column types of the deferred rows */
  constructor(context: OperatorContext, types: readonly StoredType[]) {
    const { arena, kernel, spill } = context;
    this.codec = new RowCodec(arena.heap, kernel, types);
    this.partitions = new RowPartitions(arena, this.codec, spill);
    this.#context = context;
    this.#types = types;
    context.defersRows();
  }

  /** @param readPart reads the file of the partition to its end and drops it */
  *finish(readPart: (part: DeferredPart) => Steps): Steps {
    const { arena, kernel, spill, next } = this.#context;
    const { codec, partitions } = this;
    const reader = new SpillReader(arena, codec, BATCH_READER_SIZE);
    const emitted: SpillFile[] = [];
    const writer = new SpillWriter(arena.heap, codec, new SpillFile(spill));
    const waiting = partitions.end().map((file) => ({ file, level: 1 }));
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const target = new SpillFile(spill);
      writer.turnTo(target);
      emitted.push(target);
      yield* readPart({ ...part, reader, writer, partitions });
      const { level } = part;
      waiting.push(...partitions.end().map((file) => ({ file, level: level + 1 })));
    }
    writer.flush();
    yield* mergeFiles({ arena, kernel, spill, types: this.#types }, emitted, byOrder(arena), next);
  }
}

// Emits the first row of each key, in order, as rows arrive. If the budget refuses memory for more keys, it continues
// with the known ones: their rows are dropped, and all other rows are deferred to files by the hash of their key. These
// come after the rest, in their order, at the end of the input. States: open (keys are added) → closed (keys are looked
// up, rows of unknown ones are deferred) → finished.

/** The rows of a slice with their keys. */
interface Slice extends PrintList {
  readonly batch: Batch;
  /** Space for a list of the rows to emit or defer. */
  readonly chosen: number;
}

export class HashDistinct implements Operator {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #known: FingerprintSet;
  #deferral: DeferredRows | null = null;
  /** Number of rows so far, which is the order of the next row. */
  #taken = 0;

  constructor(context: OperatorContext, keys: RowKeys) {
    this.#context = context;
    this.#keys = keys;
    this.#known = new FingerprintSet(context.arena.heap, context.kernel);
  }

  *push(batch: Batch): Slices {
    for (let rest: Batch | null = batch; rest !== null && rest.live > 0; ) rest = yield* this.#pushSome(rest);
  }

  /** Returns the remaining rows if the set was closed in the middle of the batch. */
  *#pushSome(batch: Batch): Sliced<Batch | null> {
    let closedAt = -1;
    this.#keys.prepare(batch);
    yield* this.#keys.editLong(batch, this.#context.clock);
    this.#deferral?.codec.prepare(batch);
    const taken = this.#taken;
    for (const piece of piecesOf(batch)) {
      const { from, to } = piece;
      const slice = this.#slice(batch, from, to);
      piece.isTooLarge = slice === null;
      if (slice === null) continue;
      if (this.#deferral !== null) {
        this.#deferAbsent(slice, 0, (position) => taken + from + position);
        continue;
      }
      const { reached, count } = this.#addKeys(slice);
      if (count > 0) yield* this.#context.next(batch.withSelection(slice.chosen, count));
      if (reached === slice.count) continue;
      closedAt = from + reached;
      break;
    }
    this.#taken = taken + (closedAt < 0 ? batch.live : closedAt);
    if (closedAt < 0) return null;
    this.#deferral ??= new DeferredRows(this.#context, storedTypes(this.#context.input));
    return batch.slice(closedAt, batch.live);
  }

  *finish(): Steps {
    if (this.#deferral !== null) yield* this.#deferral.finish((part) => this.#readPart(part));
  }

  /** Writes the first row of each key of a partition. Rows that do not fit into the set are partitioned again. */
  *#readPart({ file, level, reader, writer, partitions }: DeferredPart): Steps {
    this.#known.clear();
    this.#known.forced = level >= PARTITION_LEVELS;
    partitions.begin(Math.min(level, PARTITION_LEVELS - 1));
    let closed = false;
    reader.open(file);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      const order = (row: number): number => this.#context.arena.heap.f64[(reader.orders >>> 3) + row]!;
      this.#keys.prepare(batch);
      yield* this.#keys.editLong(batch, this.#context.clock);
      inSlices(batch, (from, to) => {
        const slice = this.#slice(batch, from, to);
        if (slice === null) return false;
        let reached = 0;
        if (!closed) {
          const added = this.#addKeys(slice);
          reached = added.reached;
          const { count } = added;
          const rows = slice.chosen;
          if (count > 0) writer.write(batch, { rows, count, orders: this.#orders(rows, count, order) });
          closed = reached < slice.count;
        }
        if (closed) this.#deferAbsent(slice, reached, (position) => order(from + position), partitions);
        return true;
      });
      yield;
    }
    file.drop();
  }

  #slice(batch: Batch, from: number, to: number): Slice | null {
    const { arena } = this.#context;
    const count = to - from;
    const rows = batch.selection + from * 4;
    const views = this.#keys.make(batch, rows, count);
    if (views === 0) return null;
    const prints = arena.tryTake(count * PRINT_BYTES);
    const ids = arena.tryTake(count * 4);
    const chosen = arena.tryTake(count * 4);
    if (prints === 0 || ids === 0 || chosen === 0) return null;
    const slice = { batch, views, rows, count, prints, ids, chosen };
    this.#known.fingerprint(slice);
    return slice;
  }

  /** Adds keys until the set refuses. Returns the position reached, and the number of selected rows with new keys. */
  #addKeys(slice: Slice): { readonly reached: number; readonly count: number } {
    const { exports } = this.#context.kernel;
    const heldBefore = this.#known.count;
    const reached = this.#known.add(slice);
    const count = exports.splitByNew(slice.rows, 0, reached, slice.ids, heldBefore, slice.chosen, 0);
    return { reached, count };
  }

  #deferAbsent(
    slice: Slice,
    from: number,
    order: (position: number) => number,
    partitions: RowPartitions = this.#deferral!.partitions,
  ): void {
    const { arena } = this.#context;
    this.#known.find(slice, from);
    const orders = arena.take(slice.count * 8);
    const hashes = arena.take(slice.count * 8);
    const { u32, f64 } = arena.heap;
    let count = 0;
    for (let position = from; position < slice.count; position++) {
      if (u32[(slice.ids >>> 2) + position] !== PRINT_ABSENT) continue;
      u32[(slice.chosen >>> 2) + count] = u32[(slice.rows >>> 2) + position]!;
      u32[(hashes >>> 2) + count * 2 + 1] = this.#known.partition(slice, position);
      f64[(orders >>> 3) + count++] = order(position);
    }
    if (count > 0) partitions.add(slice.batch, { rows: slice.chosen, count, hashes, orders });
  }

  #orders(rows: number, count: number, order: (row: number) => number): number {
    const { arena } = this.#context;
    const at = arena.take(count * 8);
    const { u32, f64 } = arena.heap;
    for (let i = 0; i < count; i++) f64[(at >>> 3) + i] = order(u32[(rows >>> 2) + i]!);
    return at;
  }
}
