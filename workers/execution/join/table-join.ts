// Joins rows with a reference table: in memory, row by row as they come, or, when the budget refuses the table, both
// sides parted by the hash of their keys into files, joined part by part and put back into their order at the end.
// States: in memory, or parted (rows are put off until `finish`).
import type { Batch } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { Failed } from '../../protocol/failure.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import { inSlices } from '../cells/slices.ts';
import type { KeyList } from '../keys/hash-table.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { PARTITION_LEVELS, RowPartitions } from '../spill/row-partitions.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';
import type { TableRows } from '../tables/table-rows.ts';
import { rowsWithKeys, type TableIndex, type TableRecords } from './table-index.ts';
import { OUTCOME_TYPE, type TableProbe } from './table-probe.ts';

const TOO_MANY_OF_A_KEY = 'Rows of one key of a reference table need more memory than one Run may address.';

/** A part this small is loaded whatever the budget says. */
const PART_BYTES_FORCED = 262_144;

export interface JoinParts {
  readonly table: TableRows;
  readonly index: TableIndex;
  readonly probe: TableProbe;
  /** Columns that the probe adds before the outcome. */
  readonly payload: number;
  /** See Operator. */
  readonly rowsMost: number;
  /** Takes the probe's batches in the order of the rows. */
  settle(batch: Batch): Slices;
}

interface Part {
  readonly table: SpillFile;
  readonly tableRows: number;
  readonly rows: SpillFile;
  readonly level: number;
}

export class TableJoin implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #parts: JoinParts;
  #spilled: SpilledJoin | null = null;
  #taken = 0;

  constructor(context: OperatorContext, parts: JoinParts) {
    this.#context = context;
    this.#parts = parts;
    this.rowsMost = parts.rowsMost;
    context.beforeRows(() => this.#load());
  }

  push(batch: Batch): Slices {
    const { index, probe, settle } = this.#parts;
    const taken = this.#taken;
    this.#taken += batch.live;
    if (this.#spilled === null) return probe.push(index, batch, settle);
    this.#spilled.add(batch, taken);
    return DONE;
  }

  *finish(): Steps {
    if (this.#spilled !== null) yield* this.#spilled.finish();
  }

  *#load(): Iterable<void> {
    const { index, table } = this.#parts;
    const inMemory = yield* index.load(table, false);
    if (!inMemory) this.#spilled = new SpilledJoin(this.#context, this.#parts);
  }
}

class SpilledJoin {
  readonly #context: OperatorContext;
  readonly #parts: JoinParts;
  readonly #rowCodec: RowCodec;
  readonly #tableCodec: RowCodec;
  readonly #rows: RowPartitions;
  readonly #tables: RowPartitions;
  readonly #rowReader: SpillReader;
  readonly #tableReader: SpillReader;
  readonly #types: readonly StoredType[];

  constructor(context: OperatorContext, parts: JoinParts) {
    const { arena, kernel, spill, input } = context;
    this.#context = context;
    this.#parts = parts;
    const types = storedTypes(input);
    const texts = (count: number): StoredType[] => new Array(count).fill('text');
    this.#types = [...types, ...texts(parts.payload), OUTCOME_TYPE];
    this.#rowCodec = new RowCodec(arena.heap, kernel, types);
    this.#tableCodec = new RowCodec(arena.heap, kernel, texts(parts.table.columns.length));
    this.#rows = new RowPartitions(arena, this.#rowCodec, spill);
    this.#tables = new RowPartitions(arena, this.#tableCodec, spill);
    this.#rowReader = new SpillReader(arena, this.#rowCodec, BATCH_ROOM);
    this.#tableReader = new SpillReader(arena, this.#tableCodec, BATCH_ROOM);
  }

  /** @param taken rows that came before: the order of the first one */
  add(batch: Batch, taken: number): void {
    this.#rowCodec.prepare(batch);
    this.#part(batch, (position) => taken + position);
  }

  *finish(): Steps {
    const { arena, kernel, spill } = this.#context;
    const joined: SpillFile[] = [];
    const codec = new RowCodec(arena.heap, kernel, this.#types);
    const writer = new SpillWriter(arena.heap, codec, new SpillFile(spill));
    yield* this.#partTable(this.#parts.table);
    const waiting = this.#endLevel(0);
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const records: TableRecords = { sizeBytes: part.table.sizeBytes, read: readOf(part.table), rows: part.tableRows };
      // Rows of one key stay together, however often they are parted.
      const isLast = part.level + 1 >= PARTITION_LEVELS;
      if (yield* this.#parts.index.load(records, isLast || records.sizeBytes <= PART_BYTES_FORCED)) {
        const file = new SpillFile(spill);
        writer.turnTo(file);
        joined.push(file);
        yield* this.#joinPart(part, codec, writer);
      } else if (isLast) throw new Failed('RUN_RESOURCE_LIMIT', TOO_MANY_OF_A_KEY);
      else {
        yield* this.#split(part);
        waiting.push(...this.#endLevel(part.level + 1));
      }
      part.table.drop();
      part.rows.drop();
    }
    writer.flush();
    const tools = { arena, kernel, spill, types: this.#types };
    yield* mergeFiles(tools, joined, byOrder(arena), (batch) => this.#parts.settle(batch));
  }

  *#joinPart(part: Part, codec: RowCodec, writer: SpillWriter): Steps {
    const { arena } = this.#context;
    const { index, probe } = this.#parts;
    this.#rowReader.open(part.rows);
    while (this.#rowReader.advance() > 0) {
      const { orders: known } = this.#rowReader;
      yield* probe.push(index, this.#rowReader.batch(), (batch, positions) => {
        const orders = arena.take(batch.live * 8);
        const { u32, f64 } = arena.heap;
        for (let i = 0; i < batch.live; i++) {
          f64[(orders >>> 3) + i] = f64[(known >>> 3) + u32[(positions >>> 2) + i]!]!;
        }
        codec.prepare(batch);
        writer.write(batch, { rows: batch.selection, count: batch.live, orders });
        return DONE;
      });
      yield;
    }
  }

  *#split(part: Part): Iterable<void> {
    this.#rows.begin(part.level + 1);
    this.#tables.begin(part.level + 1);
    yield* this.#partTable(part.table);
    this.#rowReader.open(part.rows);
    while (this.#rowReader.advance() > 0) {
      const { orders } = this.#rowReader;
      const { heap } = this.#context.arena;
      this.#part(this.#rowReader.batch(), (position) => heap.f64[(orders >>> 3) + position]!);
      yield;
    }
  }

  #part(batch: Batch, order: (position: number) => number): void {
    const { index, probe } = this.#parts;
    for (const { piece, list } of probe.keyedPieces(batch)) {
      index.hash(list);
      this.#addTo(this.#rows, batch, list, (i) => order(piece.from + i));
    }
  }

  *#partTable(records: Pick<TableRecords, 'sizeBytes' | 'read'>): Iterable<void> {
    const { arena } = this.#context;
    const { index } = this.#parts;
    this.#tableReader.open(records);
    let taken = 0;
    while (this.#tableReader.advance() > 0) {
      const batch = this.#tableReader.batch();
      const first = taken;
      inSlices(batch, (from, to) => {
        const keys = index.keyBatch(batch);
        const rows = arena.tryTake((to - from) * 4);
        const hashes = arena.tryTake((to - from) * 8);
        if (keys === null || rows === 0 || hashes === 0) return false;
        // A null is no key: such rows have no partner, and would all come into one part.
        const count = rowsWithKeys(keys, from, to, rows);
        const views = index.keyViews(keys, rows, count);
        if (views === 0) return false;
        const list = { views, rows, count, hashes, ids: 0 };
        index.hash(list);
        this.#addTo(this.#tables, batch, list, (i) => first + arena.heap.u32[(rows >>> 2) + i]!);
        return true;
      });
      taken += batch.live;
      yield;
    }
  }

  #addTo(partitions: RowPartitions, batch: Batch, list: KeyList, order: (i: number) => number): void {
    const { arena } = this.#context;
    const orders = arena.take(list.count * 8);
    for (let i = 0; i < list.count; i++) arena.heap.f64[(orders >>> 3) + i] = order(i);
    partitions.add(batch, { rows: list.rows, count: list.count, hashes: list.hashes, orders });
  }

  /** The parts of the level that was written; those without rows go away. */
  #endLevel(level: number): Part[] {
    const { spill } = this.#context;
    const tables = this.#tables.endAll();
    const parts: Part[] = [];
    for (const [index, rows] of this.#rows.endAll().entries()) {
      const table = tables[index]!;
      if (rows === null) table?.file.drop();
      else
        parts.push({ rows: rows.file, table: table?.file ?? new SpillFile(spill), tableRows: table?.rows ?? 0, level });
    }
    return parts;
  }
}

function readOf(file: SpillFile): TableRecords['read'] {
  return (target, position) => file.read(target, position);
}
