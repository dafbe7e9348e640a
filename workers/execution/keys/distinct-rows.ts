// Emits the first row of each key as rows arrive, also of rows with similar texts.

import { BATCH_ROWS_MAX, type Batch } from '../../batch/batch.ts';
import type { KeyedRows, OrderedStep } from '../../batch/ordered-parts.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  UNKNOWN,
  VECTOR_BYTES,
  VECTOR_MARKS,
  VECTOR_STEP_BYTES,
  VECTOR_VALUES,
} from '../../kernel/layout/expressions.ts';
import { PRINT_BYTES } from '../../kernel/layout/keys.ts';
import type { Heap } from '../../memory/heap.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import { PAUSE, type Sliced, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { COMPARED_LENGTH_MAX, jaroWinkler, similarityMax } from '../../values/similarity.ts';
import { inSlices, piecesOf } from '../cells/cell-operator.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_READER_SIZE, PARTITION_LEVELS, RowPartitions, SpillReader, SpillWriter } from '../spill/row-files.ts';
import { FingerprintSet, HashTable, PRINT_ABSENT, type PrintList } from './hash-table.ts';
import { type MatchLevel, RowKeys } from './row-keys.ts';

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

/** Emits the first row of each key. The order of the parts decides which row is the first one. */
export class OrderedDistinct implements Operator {
  readonly #context: OperatorContext;
  readonly #keys: RowKeys;
  readonly #step: OrderedStep;

  constructor(context: OperatorContext, keys: RowKeys, step: OrderedStep) {
    this.#context = context;
    this.#keys = keys;
    this.#step = step;
    // Parts have fewer rows than this factor.
    keys.numberNullsFrom(step.part * 2 ** 32);
  }

  *push(batch: Batch): Slices {
    const { clock, next } = this.#context;
    this.#keys.prepare(batch);
    yield* this.#keys.editLong(batch, clock);
    for (const piece of piecesOf(batch)) {
      const rows = this.#keyed(batch, batch.selection + piece.from * 4, piece.to - piece.from);
      piece.isTooLarge = rows === null;
      if (rows === null) continue;
      const count = yield* this.#keepFirst(rows);
      if (count > 0) yield* next(batch.withSelection(rows.prints, count));
    }
  }

  #keyed(batch: Batch, rows: number, count: number): KeyedRows | null {
    if (count > BATCH_ROWS_MAX) return null;
    const { arena } = this.#context;
    const views = this.#keys.make(batch, rows, count);
    const prints = views === 0 ? 0 : arena.tryTake(count * PRINT_BYTES);
    const ids = prints === 0 ? 0 : arena.tryTake(count * 4);
    return ids === 0 ? null : { views, rows, count, prints, ids };
  }

  /** Replaces the fingerprints by the rows with new keys, and returns their number. */
  *#keepFirst(rows: KeyedRows): Sliced<number> {
    const context = this.#context;
    const step = this.#step;
    const keys = step.keys!;
    keys.prepare(step, rows, context);
    yield* step.enter();
    const first = keys.add(step, rows.count);
    step.leave();
    keys.copyIds(rows, context);
    return context.kernel.exports.splitByNew(rows.rows, 0, rows.count, rows.ids, first, rows.prints, 0);
  }
}

// Drops each row whose text is similar to the text of an earlier row that was kept. Only rows with the same key are
// compared, each with all kept rows before it, so the result depends on the rows and their order only. The texts of kept
// rows stay in memory. Without memory for them, or with more comparisons than the limit, the Run ends with
// RUN_RESOURCE_LIMIT.

/** Maximum number of comparisons of one operation: about 15 seconds of work for names. */
export const SIMILAR_COMPARISONS_MAX = 100_000_000;

/** Texts of at most this many bytes are compared by a kernel. */
const SHORT_BYTES = 64;

/** A comparison of two longer texts counts as this many comparisons for each 64 by 64 bytes of their lengths. */
const LONG_COST = 16;

/** More than the rounding errors of a similarity. */
const ROUNDING = 1e-9;

/** Number of kept texts that the kernel compares with a text at once: about 0.2 ms of work. */
const CHUNK = 1024;

/** The texts of kept rows, numbered in their order. The texts of one key form a list that begins with the last one. */
class KeptTexts {
  readonly #heap: Heap;
  /** Views of the texts, by number. Each needs 8 bytes. */
  views = 0;
  /** For each text, by number: the number of the text before it in its list plus 1, or 0. */
  #previous = 0;
  #textsMax = 0;
  #count = 0;
  /** For each key: the number of the last text in its list plus 1, or 0. */
  #lists = 0;
  #listsMax = 0;
  #block = 0;
  #blockEnd = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Number of the last text of a list plus 1, or 0. */
  last(list: number): number {
    return list < this.#listsMax ? this.#heap.u32[(this.#lists >>> 2) + list]! : 0;
  }

  /** The same for the text before the given one. */
  previous(text: number): number {
    return this.#heap.u32[(this.#previous >>> 2) + text]!;
  }

  add(list: number, at: number, bytes: number): void {
    const heap = this.#heap;
    if (list >= this.#listsMax) {
      const listsMax = Math.max(list + 1, this.#listsMax * 2, CHUNK);
      this.#lists = this.#grown(this.#lists, this.#listsMax * 4, listsMax * 4);
      this.#listsMax = listsMax;
    }
    if (this.#count === this.#textsMax) {
      const textsMax = Math.max(CHUNK, this.#textsMax * 2);
      this.views = this.#grown(this.views, this.#textsMax * VIEW_BYTES, textsMax * VIEW_BYTES);
      this.#previous = this.#grown(this.#previous, this.#textsMax * 4, textsMax * 4);
      this.#textsMax = textsMax;
    }
    const text = this.#count++;
    // Storing the text may replace the views of the heap.
    const stored = this.#stored(at, bytes);
    heap.u32.set([stored, bytes], (this.views >>> 2) + text * 2);
    heap.u32[(this.#previous >>> 2) + text] = this.last(list);
    heap.u32[(this.#lists >>> 2) + list] = text + 1;
  }

  #stored(at: number, bytes: number): number {
    if (this.#blockEnd - this.#block < bytes) {
      const blockBytes = Math.max(TEXT_BLOCK_BYTES, bytes);
      this.#block = this.#heap.allocate(blockBytes);
      this.#blockEnd = this.#block + blockBytes;
    }
    const stored = this.#block;
    this.#heap.u8.copyWithin(stored, at, at + bytes);
    this.#block += bytes;
    return stored;
  }

  /** Moves a table to a larger region, whose new part is zero. */
  #grown(at: number, bytes: number, newBytes: number): number {
    const heap = this.#heap;
    const moved = heap.allocate(newBytes);
    heap.u8.copyWithin(moved, at, at + bytes);
    heap.u8.fill(0, moved + bytes, moved + newBytes);
    if (at !== 0) heap.release(at, bytes);
    return moved;
  }
}

const TEXT_BLOCK_BYTES = 65_536;

export interface SimilarPlan {
  /** Index of the column with the compared texts. */
  readonly text: number;
  /** Indexes of the columns in which compared rows are equal. */
  readonly keys: readonly number[];
  readonly match: MatchLevel;
  readonly nullsDistinct: boolean;
  /** Minimum similarity of two texts (Jaro-Winkler) that are duplicates. */
  readonly threshold: number;
}

/** Rows of a slice: `texts` are views by physical row, `ids` the numbers of their keys. */
interface SimilarSlice {
  readonly batch: Batch;
  readonly rows: number;
  readonly count: number;
  readonly texts: number;
  /** 0 without key columns. */
  readonly ids: number;
  readonly chosen: number;
}

export class SimilarRows implements Operator {
  readonly #context: OperatorContext;
  readonly #threshold: number;
  /** Null without key columns. */
  readonly #keys: RowKeys | null;
  readonly #texts: RowKeys;
  readonly #table: HashTable;
  readonly #kept: KeptTexts;
  #comparisons = 0;
  /** View of the compared text, CHUNK zeros as its rows, CHUNK rows of kept texts, and a vector for the results. */
  readonly #probe: number;
  readonly #probeRows: number;
  readonly #keptRows: number;
  readonly #vector: number;

  constructor(context: OperatorContext, { text, keys, match, nullsDistinct, threshold }: SimilarPlan) {
    const { arena, kernel } = context;
    const { heap } = arena;
    this.#context = context;
    this.#threshold = threshold;
    this.#keys = keys.length === 0 ? null : new RowKeys(context, keys, match, nullsDistinct);
    this.#texts = new RowKeys(context, [text], match);
    this.#table = new HashTable(heap, kernel);
    this.#table.forced = true;
    this.#kept = new KeptTexts(heap);
    this.#probe = heap.allocate(VIEW_BYTES);
    this.#probeRows = heap.allocate(CHUNK * 4);
    this.#keptRows = heap.allocate(CHUNK * 4);
    const values = heap.allocate(CHUNK * 8);
    const marks = heap.allocate(CHUNK);
    this.#vector = heap.allocate(VECTOR_BYTES);
    heap.u32.fill(0, this.#probeRows >>> 2, (this.#probeRows >>> 2) + CHUNK);
    for (const [field, value] of [
      [VECTOR_VALUES, values],
      [VECTOR_MARKS, marks],
      [VECTOR_STEP_BYTES, 8],
    ] as const)
      heap.u32[(this.#vector + field) >>> 2] = value;
  }

  *push(batch: Batch): Slices {
    const { clock, next } = this.#context;
    this.#keys?.prepare(batch);
    this.#texts.prepare(batch);
    if (this.#keys !== null) yield* this.#keys.editLong(batch, clock);
    yield* this.#texts.editLong(batch, clock);
    for (const piece of piecesOf(batch)) {
      const slice = this.#slice(batch, piece.from, piece.to);
      piece.isTooLarge = slice === null;
      if (slice === null) continue;
      const count = yield* this.#choose(slice);
      if (count > 0) yield* next(batch.withSelection(slice.chosen, count));
    }
  }

  /** Returns null if the arena is full. */
  #slice(batch: Batch, from: number, to: number): SimilarSlice | null {
    const { arena } = this.#context;
    const rows = batch.selection + from * 4;
    const count = to - from;
    const texts = this.#texts.make(batch, rows, count);
    const views = this.#keys === null ? texts : this.#keys.make(batch, rows, count);
    if (texts === 0 || views === 0) return null;
    const hashes = arena.tryTake(count * 8);
    const ids = arena.tryTake(count * 4);
    const chosen = arena.tryTake(count * 4);
    if (hashes === 0 || ids === 0 || chosen === 0) return null;
    const slice = { batch, rows, count, texts, chosen };
    if (this.#keys === null) return { ...slice, ids: 0 };
    const list = { views, rows, count, hashes, ids };
    this.#table.hash(list);
    if (this.#table.insert(list) < count) throw new Failed('RUN_RESOURCE_LIMIT', TOO_MANY_TEXTS);
    return { ...slice, ids };
  }

  /** Lists the rows that are kept, and returns their number. */
  *#choose({ batch, rows, count, texts, ids, chosen }: SimilarSlice): Sliced<number> {
    const { heap } = batch;
    let live = 0;
    for (let i = 0; i < count; i++) {
      if (i % CHUNK === 0 && this.#context.clock.isDue()) yield PAUSE;
      const row = heap.u32[(rows >>> 2) + i]!;
      const view = (texts >>> 2) + row * 2;
      const [at, length] = [heap.u32[view]!, heap.u32[view + 1]!];
      if (at !== 0 && length > 0) {
        const bytes = comparedBytes(heap.u8, at, length);
        const list = ids === 0 ? 0 : heap.u32[(ids >>> 2) + i]!;
        if (yield* this.#isKnown(list, at, bytes)) continue;
        this.#kept.add(list, at, bytes);
      }
      heap.u32[(chosen >>> 2) + live++] = row;
    }
    return live;
  }

  /** True if a kept text of the list is similar to the given one. */
  *#isKnown(list: number, at: number, bytes: number): Sliced<boolean> {
    const { clock, kernel, arena } = this.#context;
    const { heap } = arena;
    heap.u32.set([at, bytes], this.#probe >>> 2);
    for (let next = this.#kept.last(list); next !== 0; ) {
      let count = 0;
      while (next !== 0 && count < CHUNK) {
        heap.u32[(this.#keptRows >>> 2) + count++] = next - 1;
        next = this.#kept.previous(next - 1);
      }
      this.#spend(count, bytes);
      const { views } = this.#kept;
      const rows = this.#keptRows;
      kernel.exports.compareSimilarity(
        this.#probe,
        this.#probeRows,
        views,
        rows,
        count,
        this.#vector,
        COMPARED_BYTES_MAX,
      );
      const values = heap.u32[(this.#vector + VECTOR_VALUES) >>> 2]! >>> 3;
      const marks = heap.u32[(this.#vector + VECTOR_MARKS) >>> 2]!;
      for (let i = 0; i < count; i++) {
        if (heap.u8[marks + i] === UNKNOWN) {
          if (this.#compareLong(heap.u32[(rows >>> 2) + i]!, at, bytes) >= this.#threshold) return true;
          if (clock.isDue()) yield PAUSE;
        } else if (heap.f64[values + i]! >= this.#threshold) return true;
      }
      if (clock.isDue()) yield PAUSE;
    }
    return false;
  }

  /** Counts the comparisons of a text with the listed kept texts. */
  #spend(count: number, bytes: number): void {
    const { u32 } = this.#context.arena.heap;
    for (let i = 0; i < count; i++) {
      const text = u32[(this.#keptRows >>> 2) + i]!;
      const other = u32[(this.#kept.views >>> 2) + text * 2 + 1]!;
      const parts = Math.ceil(bytes / SHORT_BYTES) * Math.ceil(other / SHORT_BYTES);
      this.#comparisons += parts === 1 ? 1 : parts * LONG_COST;
    }
    if (this.#comparisons > SIMILAR_COMPARISONS_MAX) throw new Failed('RUN_RESOURCE_LIMIT', TOO_MANY_COMPARISONS);
  }

  #compareLong(text: number, at: number, bytes: number): number {
    const { arena } = this.#context;
    const view = (this.#kept.views >>> 2) + text * 2;
    const { u32 } = arena.heap;
    const [left, right] = [[...arena.decode(u32[view]!, u32[view + 1]!)], [...arena.decode(at, bytes)]];
    const isPossible = similarityMax(left.length, right.length) + ROUNDING >= this.#threshold;
    return isPossible ? jaroWinkler(left, right) : 0;
  }
}

const TOO_MANY_TEXTS = 'dedupe with similar needs more memory for the texts of its rows than the service has free.';

const TOO_MANY_COMPARISONS =
  `dedupe with similar needs more than ${SIMILAR_COMPARISONS_MAX / 1_000_000} million comparisons. ` +
  'Name more columns in by: only rows that are equal there are compared.';

/** Upper bound on the size of a compared text, in bytes. */
const COMPARED_BYTES_MAX = COMPARED_LENGTH_MAX * 4;

/** Number of bytes of the first COMPARED_LENGTH_MAX characters of a text. */
function comparedBytes(u8: Uint8Array, at: number, bytes: number): number {
  if (bytes <= COMPARED_LENGTH_MAX) return bytes;
  let characters = 0;
  for (let position = 0; position < bytes; position++) {
    const isStart = (u8[at + position]! & 0xc0) !== 0x80;
    if (isStart && ++characters > COMPARED_LENGTH_MAX) return position;
  }
  return bytes;
}
