// Rows put off by the hash of their keys into files that can be treated one after the other, each with less state than
// all together. A partition that is still too large is split again by other bits of the hash.
import type { Batch } from '../../batch/batch.ts';
import type { Arena } from '../../memory/arena.ts';
import { REGION_PADDING_BYTES } from '../../memory/heap.ts';
import type { RowCodec } from './row-codec.ts';
import { SpillFile } from './spill-file.ts';
import type { SpillFolder } from './spill-folder.ts';
import { SpillWriter, WRITE_BUFFER_BYTES } from './spill-writer.ts';

const PARTITIONS = 16;
const PARTITION_BITS = 4;

/** Distance of the writers' buffers: kernels copy a little too far. */
const BUFFER_STRIDE = WRITE_BUFFER_BYTES + REGION_PADDING_BYTES;

/** Splits that the high half of a 64-bit hash allows; the low half places keys in tables. */
export const PARTITION_LEVELS = 32 / PARTITION_BITS;

/** Rows with the hash of each one's key (u64 by position) and their orders (f64 by position). */
export interface HashedRows {
  readonly rows: number;
  readonly count: number;
  readonly hashes: number;
  readonly orders: number;
}

export class RowPartitions {
  readonly #arena: Arena;
  readonly #codec: RowCodec;
  readonly #spill: SpillFolder;
  readonly #buffers: number;
  #writers: (SpillWriter | null)[] = [];
  #files: (SpillFile | null)[] = [];
  #shift = 0;

  constructor(arena: Arena, codec: RowCodec, spill: SpillFolder) {
    this.#arena = arena;
    this.#codec = codec;
    this.#spill = spill;
    this.#buffers = arena.heap.allocate(PARTITIONS * BUFFER_STRIDE);
    this.begin(0);
  }

  /** Starts a new set of partitions, by other bits of the hash on each level from 0 to PARTITION_LEVELS - 1. */
  begin(level: number): void {
    this.#shift = level * PARTITION_BITS;
    this.#writers = new Array(PARTITIONS).fill(null);
    this.#files = new Array(PARTITIONS).fill(null);
  }

  /** The codec's `prepare` comes first. */
  add(batch: Batch, list: HashedRows): void {
    const arena = this.#arena;
    const mark = arena.next;
    const rows = arena.take(list.count * 4);
    const orders = arena.take(list.count * 8);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const { u32, f64 } = arena.heap;
      let count = 0;
      for (let i = 0; i < list.count; i++) {
        const hash = u32[(list.hashes >>> 2) + i * 2 + 1]!;
        if (((hash >>> this.#shift) & (PARTITIONS - 1)) !== partition) continue;
        u32[(rows >>> 2) + count] = u32[(list.rows >>> 2) + i]!;
        f64[(orders >>> 3) + count++] = f64[(list.orders >>> 3) + i]!;
      }
      if (count > 0) this.#writer(partition).write(batch, { rows, count, orders });
    }
    arena.release(mark);
  }

  /** The files, written to their ends. */
  end(): SpillFile[] {
    for (const writer of this.#writers) writer?.flush();
    return this.#files.filter((file) => file !== null);
  }

  /** The file of each partition with its rows, null where there is none: for two sides that belong together. */
  endAll(): ({ readonly file: SpillFile; readonly rows: number } | null)[] {
    return this.#writers.map((writer, partition) => {
      writer?.flush();
      return writer === null ? null : { file: this.#files[partition]!, rows: writer.rows };
    });
  }

  #writer(partition: number): SpillWriter {
    const known = this.#writers[partition];
    if (known !== null && known !== undefined) return known;
    const file = new SpillFile(this.#spill);
    const buffer = this.#buffers + partition * BUFFER_STRIDE;
    const writer = new SpillWriter(this.#arena.heap, this.#codec, file, buffer);
    this.#files[partition] = file;
    this.#writers[partition] = writer;
    return writer;
  }
}
