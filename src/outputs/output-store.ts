// Where outputs are kept until they expire: small ones in memory while they hold less than their share of the budget,
// the others in files. Its index is the record of each Run; it knows no HTTP.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { RunOutcomeOutput } from '../../workers/messages.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { ByteSource } from '../http/send-bytes.ts';
import type { BytePacker, PackedBytes } from '../packed-bytes.ts';
import type { Soon } from '../soon.ts';

/** Up to this an output may stay in memory. */
export const MEMORY_OUTPUT_BYTES_MAX = 64 * 1024;

/** Outputs in memory may hold one part in so many of the budget. */
const BUDGET_SHARE = 4;

/** What an output in memory weighs beyond its bytes: what tells where they are. */
const MEMORY_OUTPUT_OVERHEAD_BYTES = 96;

/** An output that can be downloaded. */
export interface StoredOutput {
  readonly sizeBytes: number;
  /** Lower-case hex; null until somebody asks for it. */
  sha256: string | null;
  readonly mimeType: string;
  readonly ending: string;
  /** Exactly one of the two. */
  readonly bytes: PackedBytes | null;
  readonly path: string | null;
}

export class OutputStore {
  #directory: string;
  #budget: MemoryBudget;
  #packer: BytePacker;
  /** Each message of a thread brings strings of its own: a few are enough for all outputs. */
  #words = new Map<string, string>();

  /** @param directory exists and is this process's own */
  constructor(directory: string, budget: MemoryBudget, packer: BytePacker) {
    this.#directory = directory;
    this.#budget = budget;
    this.#packer = packer;
  }

  /** Where a task may leave its output. */
  placeFor(task: number): { readonly path: string; readonly memoryBytesMax: number } {
    return {
      path: `${this.#directory}/${task}.out`,
      memoryBytesMax: this.#memoryIsFree() ? MEMORY_OUTPUT_BYTES_MAX : 0,
    };
  }

  /** Takes over what a task left in its place. */
  keep(output: RunOutcomeOutput, path: string): Soon<StoredOutput> {
    const { bytes } = output;
    if (bytes === null || (bytes.length <= MEMORY_OUTPUT_BYTES_MAX && this.#memoryIsFree())) {
      return this.#stored(output, bytes, path);
    }
    return writeFile(path, bytes, { mode: 0o600 }).then(() => this.#stored(output, null, path));
  }

  #stored(output: RunOutcomeOutput, bytes: Uint8Array | null, path: string): StoredOutput {
    const { sizeBytes, sha256 } = output;
    const packed = bytes === null ? null : this.#packer.pack(bytes);
    if (packed !== null) this.#budget.charge(weight(packed), 'outputs');
    return {
      sizeBytes,
      sha256,
      mimeType: this.#word(output.mimeType),
      ending: this.#word(output.ending),
      bytes: packed,
      path: packed === null ? path : null,
    };
  }

  /** Removes what a task left in its place, if anything. */
  async discardPlace(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** Removes an output. A download that runs reads on: its file lives until it is closed. */
  async remove({ bytes, path }: StoredOutput): Promise<void> {
    if (bytes !== null) {
      this.#budget.release(weight(bytes), 'outputs');
      bytes.free();
    }
    if (path !== null) await rm(path, { force: true });
  }

  /** Opens a stretch of the output, from `start` on. Rejects with ENOENT when it has been removed. */
  async read({ bytes, path }: StoredOutput, start: number): Promise<ByteSource> {
    if (bytes !== null) {
      const rest = bytes.copy(start);
      return { read: async (at, length) => rest.subarray(at, at + length), close: () => {} };
    }
    const file = await open(path as string, 'r');
    return {
      read: async (at, length) => {
        const piece = Buffer.allocUnsafe(length);
        const { bytesRead } = await file.read(piece, 0, length, start + at);
        return piece.subarray(0, bytesRead);
      },
      // A close that fails has nobody to tell and nothing to lose: the file was only read.
      close: () => void file.close().catch(() => {}),
    };
  }

  /** SHA-256 of the output in lower-case hex, taken now if the engine did not. */
  async sha256(output: StoredOutput): Promise<string> {
    if (output.sha256 !== null) return output.sha256;
    const hash = createHash('sha256');
    if (output.bytes !== null) hash.update(output.bytes.copy());
    else await pipeline(createReadStream(output.path as string), hash);
    output.sha256 = hash.digest('hex');
    return output.sha256;
  }

  #word(word: string): string {
    const known = this.#words.get(word);
    if (known === undefined) this.#words.set(word, word);
    return known ?? word;
  }

  #memoryIsFree(): boolean {
    return this.#budget.usedBytes('outputs') < this.#budget.limitBytes / BUDGET_SHARE;
  }
}

function weight(bytes: PackedBytes): number {
  return bytes.length + MEMORY_OUTPUT_OVERHEAD_BYTES;
}
