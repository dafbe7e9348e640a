// Outputs of a node on its own: small ones in memory, with the record of their Run, the others in the files that their tasks
// made.
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { diskFailure } from '../../workers/protocol/failure.ts';
import type { RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RangeReader } from '../http/send-bytes.ts';
import { fileDigest, openUnlessRemoved } from './output-file.ts';
import type { OutputRef, OutputStore, StoredOutput } from './output-store.ts';
import { MEMORY_OUTPUT_BYTES_MAX, outputsMayHoldMemory } from './task-outputs.ts';

export class LocalOutputs implements OutputStore {
  #budget: MemoryBudget;
  /** Of files by path, where somebody has asked: large ones take seconds. */
  #digests = new Map<string, Promise<string>>();

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

  /** A file that is being read lives until it is closed. */
  remove({ sizeBytes, path }: OutputRef): MaybePromise<void> {
    if (path !== null) return this.#removeFile(path);
    this.#budget.release(sizeBytes, 'outputs');
  }

  async open({ bytes, path }: StoredOutput, start: number): Promise<RangeReader | null> {
    if (bytes !== null) {
      const rest = bytes.subarray(start);
      return { read: async (at, length) => rest.subarray(at, at + length), close: () => {} };
    }
    const file = await openUnlessRemoved(path as string);
    if (file === null) return null;
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
      await rm(path, { force: true });
      throw diskFailure(fault);
    }
    return { sizeBytes: bytes.length, path, bytes: null };
  }
}
