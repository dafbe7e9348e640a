// Outputs of a standalone node, and outputs that tasks leave on this node.
import { createHash } from 'node:crypto';
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { diskFailure } from '../../workers/protocol/failure.ts';
import { REJECTS_SUFFIX, type RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import { memoryReader, type RangeReader } from '../http/send-bytes.ts';
import type { OutputRef, OutputStore, StoredOutput } from './output-store.ts';

// File functions shared by the stores of outputs.

/** Returns null if the file has been removed. */
export async function openUnlessRemoved(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

/** SHA-256 in lower-case hex, or null if the file has been removed. */
async function fileDigest(path: string): Promise<string | null> {
  const file = await openUnlessRemoved(path);
  if (file === null) return null;
  const hash = createHash('sha256');
  // The stream closes the file.
  await pipeline(file.createReadStream(), hash);
  return hash.digest('hex');
}

// Outputs that tasks leave on this node: small ones in memory while all of these stay below their share of the budget,
// others in files of the data directory.

/** Maximum size of an output in memory. */
const MEMORY_OUTPUT_BYTES_MAX = 64 * 1024;

/** Outputs in memory may hold this fraction (1/n) of the budget. */
const BUDGET_SHARE = 4;

export class TaskOutputs {
  #directory: string;
  #budget: MemoryBudget;

  /** @param directory must exist and belong to this process only */
  constructor(directory: string, budget: MemoryBudget) {
    this.#directory = directory;
    this.#budget = budget;
  }

  /** Returns where a task may leave its output. */
  targetOf(task: number): { readonly path: string; readonly memoryBytesMax: number } {
    return {
      path: `${this.#directory}/${task}.out`,
      memoryBytesMax: outputsMayHoldMemory(this.#budget) ? MEMORY_OUTPUT_BYTES_MAX : 0,
    };
  }

  /** Removes what a task left there, if anything. */
  async discard(path: string): Promise<void> {
    await Promise.all([path, path + REJECTS_SUFFIX].map((one) => rm(one, { force: true })));
  }
}

function outputsMayHoldMemory(budget: MemoryBudget): boolean {
  return budget.usedBytes('outputs') < budget.limitBytes / BUDGET_SHARE;
}

// Outputs of a standalone node: small ones in memory with the record of their Run, the others in the files that their
// tasks wrote.

export class LocalOutputs implements OutputStore {
  #budget: MemoryBudget;
  /** Digests of files that have been requested, by path: large files take seconds. */
  #digests = new Map<string, Promise<string | null>>();

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  keep({ bytes, sizeBytes }: RunOutcomeOutput, path: string): MaybePromise<StoredOutput> {
    if (bytes === null) return { sizeBytes, path, bytes: null };
    if (bytes.length > MEMORY_OUTPUT_BYTES_MAX || !outputsMayHoldMemory(this.#budget)) {
      return this.#write(path, bytes);
    }
    this.#budget.charge(sizeBytes, 'outputs');
    return { sizeBytes, path: null, bytes };
  }

  /** A file that is being read remains until it is closed. */
  remove({ sizeBytes, path }: OutputRef): MaybePromise<void> {
    if (path !== null) return this.#removeFile(path);
    this.#budget.release(sizeBytes, 'outputs');
  }

  async open({ bytes, path }: StoredOutput, start: number): Promise<RangeReader | null> {
    if (bytes !== null) {
      return memoryReader(bytes.subarray(start));
    }
    const file = await openUnlessRemoved(path as string);
    if (file === null) return null;
    return {
      heldBytes: 0,
      read: async (at, length) => {
        const piece = Buffer.allocUnsafe(length);
        const { bytesRead } = await file.read(piece, 0, length, start + at);
        return piece.subarray(0, bytesRead);
      },
      // A failed close is ignored: the file was only read, so nothing is lost.
      close: () => void file.close().catch(() => {}),
    };
  }

  async sha256({ bytes, path }: StoredOutput): Promise<string | null> {
    if (bytes !== null) return createHash('sha256').update(bytes).digest('hex');
    const file = path as string;
    const digest = this.#digests.get(file) ?? fileDigest(file);
    this.#digests.set(file, digest);
    // If the file was removed or could not be read, its digest is not cached.
    digest.then(
      (known) => known === null && this.#digests.delete(file),
      () => this.#digests.delete(file),
    );
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
      await rm(path, { force: true });
      throw diskFailure(fault);
    }
    return { sizeBytes: bytes.length, path, bytes: null };
  }
}
