// Hands on the first row of each key, in order, as rows come. When the budget refuses more keys, it goes on with those it
// has: rows of known keys are dropped, all others are put off to files by the hash of their key and end up behind the
// rest, in their order, at the end of the input.
// States: open (keys are added) → closed (keys are looked up, unknown ones put off) → finished.

import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import { PRINT_BYTES } from '../../kernel/layout/keys.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import type { Sliced, Slices, Steps } from '../../run/time-slices.ts';
import { inSlices, piecesOf } from '../cells/slices.ts';
import { PARTITION_LEVELS, type RowPartitions } from '../spill/row-partitions.ts';
import { type DeferredPart, DeferredRows } from './deferred-rows.ts';
import { FingerprintSet, PRINT_ABSENT, type PrintList } from './fingerprint-set.ts';
import type { RowKeys } from './row-keys.ts';

/** The rows of a slice with their keys. */
interface Slice extends PrintList {
  readonly batch: Batch;
  /** Room for the rows that are handed on, or put off. */
  readonly chosen: number;
}

export class HashDistinct implements Operator {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #known: FingerprintSet;
  #deferral: DeferredRows | null = null;
  /** Rows taken so far: the order of a row. */
  #taken = 0;

  constructor(context: OperatorContext, keys: RowKeys) {
    this.#context = context;
    this.#keys = keys;
    this.#known = new FingerprintSet(context.arena.heap, context.kernel);
  }

  *push(batch: Batch): Slices {
    for (let rest: Batch | null = batch; rest !== null && rest.live > 0; ) rest = yield* this.#pushSome(rest);
  }

  /** Gives the rows that are left when the set closed in the middle of the batch. */
  *#pushSome(batch: Batch): Sliced<Batch | null> {
    let closedAt = -1;
    this.#keys.prepare(batch);
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

  /** Writes the first row of each key of a part; what the set cannot hold is parted again. */
  *#readPart({ file, level, reader, writer, partitions }: DeferredPart): Iterable<void> {
    this.#known.clear();
    this.#known.forced = level >= PARTITION_LEVELS;
    partitions.begin(Math.min(level, PARTITION_LEVELS - 1));
    let closed = false;
    reader.open(file);
    while (reader.advance() > 0) {
      const batch = reader.batch();
      const order = (row: number): number => this.#context.arena.heap.f64[(reader.orders >>> 3) + row]!;
      this.#keys.prepare(batch);
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

  /** Adds keys as long as the set takes them; gives the position reached, and how many of the chosen rows brought new ones. */
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
