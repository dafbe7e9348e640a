// Where outputs are kept until they expire: small ones in memory, with the record of their Run, while they hold less than
// their share of the budget, the others in files. Its index is the record of each Run; it knows no HTTP.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { diskFailure } from '../../workers/failure.ts';
import type { RunOutcomeOutput } from '../../workers/messages.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { ByteSource } from '../http/send-bytes.ts';
import type { Soon } from '../soon.ts';

/** Up to this an output may stay in memory. */
export const MEMORY_OUTPUT_BYTES_MAX = 64 * 1024;

/** Outputs in memory may hold one part in so many of the budget. */
const BUDGET_SHARE = 4;

/** What an output is removed by. */
export interface OutputPlace {
  readonly sizeBytes: number;
  /** null: it is in memory. */
  readonly path: string | null;
}

/** An output that can be downloaded. */
export interface StoredOutput extends OutputPlace {
  /** All of it when it is in memory, else null. */
  readonly bytes: Uint8Array | null;
}

export class OutputStore {
  #directory: string;
  #budget: MemoryBudget;
  /** Of files by path, where somebody has asked: large ones take seconds. */
  #digests = new Map<string, Promise<string>>();

  /** @param directory exists and is this process's own */
  constructor(directory: string, budget: MemoryBudget) {
    this.#directory = directory;
    this.#budget = budget;
  }

  /** Where a task may leave its output. */
  placeFor(task: number): { readonly path: string; readonly memoryBytesMax: number } {
    return {
      path: `${this.#directory}/${task}.out`,
      memoryBytesMax: this.#memoryIsFree() ? MEMORY_OUTPUT_BYTES_MAX : 0,
    };
  }

  /** Takes over what a task left in its place. */
  keep({ bytes, sizeBytes }: RunOutcomeOutput, path: string): Soon<StoredOutput> {
    if (bytes === null) return { sizeBytes, path, bytes: null };
    if (bytes.length > MEMORY_OUTPUT_BYTES_MAX || !this.#memoryIsFree()) {
      return this.#write(path, bytes);
    }
    this.#budget.charge(sizeBytes, 'outputs');
    return { sizeBytes, path: null, bytes };
  }

  /** Removes what a task left in its place, if anything. */
  async discardPlace(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** Removes an output. A download that runs reads on: its file lives until it is closed. */
  remove({ sizeBytes, path }: OutputPlace): Soon<void> {
    if (path !== null) return this.#removeFile(path);
    this.#budget.release(sizeBytes, 'outputs');
  }

  /** Opens a stretch of the output, from `start` on. Rejects with ENOENT when it has been removed. */
  async read({ bytes, path }: StoredOutput, start: number): Promise<ByteSource> {
    if (bytes !== null) {
      const rest = bytes.subarray(start);
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

  /** SHA-256 of the output in lower-case hex. */
  async sha256({ bytes, path }: StoredOutput): Promise<string> {
    if (bytes !== null) return createHash('sha256').update(bytes).digest('hex');
    const file = path as string;
    const digest = this.#digests.get(file) ?? fileDigest(file);
    this.#digests.set(file, digest);
    // Of a file that has been removed nothing is kept.
    digest.catch(() => this.#digests.delete(file));
    return digest;
  }

  async #removeFile(path: string): Promise<void> {
    await rm(path, { force: true });
    this.#digests.delete(path);
  }

  async #write(path: string, bytes: Uint8Array): Promise<StoredOutput> {
    try {
      await writeFile(path, bytes, { mode: 0o600 });
    } catch (fault) {
      await this.discardPlace(path);
      throw diskFailure(fault);
    }
    return { sizeBytes: bytes.length, path, bytes: null };
  }

  #memoryIsFree(): boolean {
    return this.#budget.usedBytes('outputs') < this.#budget.limitBytes / BUDGET_SHARE;
  }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
