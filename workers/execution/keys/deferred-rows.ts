// Rows that a set of keys had no room for: put off to files by the hash of their key, worked on part by part at the end of
// the input, when a part's keys have room, and emitted in their order. What becomes of each row is its operator's to say.
import type { StoredType } from '../../batch/schema.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Steps } from '../../run/time-slices.ts';
import { byOrder, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { RowPartitions } from '../spill/row-partitions.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import { SpillWriter } from '../spill/spill-writer.ts';

/** Rows whose keys share a part of their hash. */
export interface DeferredPart {
  readonly file: SpillFile;
  /** How often it was parted, from 1. */
  readonly level: number;
  readonly reader: SpillReader;
  /** Takes the rows that are to be emitted, in their order. */
  readonly writer: SpillWriter;
  /** Takes those that have no room again. */
  readonly partitions: RowPartitions;
}

export class DeferredRows {
  readonly codec: RowCodec;
  readonly partitions: RowPartitions;
  readonly #context: OperatorContext;
  readonly #types: readonly StoredType[];

  /** @param types of the rows that are put off */
  constructor(context: OperatorContext, types: readonly StoredType[]) {
    const { arena, kernel, spill } = context;
    this.codec = new RowCodec(arena.heap, kernel, types);
    this.partitions = new RowPartitions(arena, this.codec, spill);
    this.#context = context;
    this.#types = types;
  }

  /** @param readPart reads the part's file to its end and drops it */
  *finish(readPart: (part: DeferredPart) => Iterable<void>): Steps {
    const { arena, kernel, spill, next } = this.#context;
    const { codec, partitions } = this;
    const reader = new SpillReader(arena, codec, BATCH_ROOM);
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
