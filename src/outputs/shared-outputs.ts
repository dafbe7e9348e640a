// Outputs that every node can serve: small ones are stored in Redis with the record of their Run, others in storage
// that all nodes share.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import { memoryReader, type RangeReader } from '../http/send-bytes.ts';
import { SharedStoreUnavailableError } from '../stores/stores.ts';
import type { KeptFile, OutputRef, OutputStore, StoredOutput } from './output-store.ts';
import { hourOf, type SharedPlace } from './shared-place.ts';

const HOUR_MILLISECONDS = 3600 * 1000;

/** Bytes read at a time for a digest. */
const PIECE_BYTES = 128 * 1024;

/** Outputs in Redis. */
export interface SmallOutputs {
  /** Returns null if the output is not in Redis. */
  read(output: OutputRef, start: number, lengthBytes: number): Promise<Uint8Array | null> | null;
}

export interface SharedOutputsParts {
  readonly place: SharedPlace;
  readonly small: SmallOutputs;
  /** Maximum size of an output in Redis. */
  readonly smallBytesMax: number;
  /** Time limit for storing an output. */
  readonly keepMillisecondsMax: number;
  /** Milliseconds since 1970, the same on all nodes. */
  readonly now: () => number;
}

export class SharedOutputs implements OutputStore {
  readonly #parts: SharedOutputsParts;

  constructor(parts: SharedOutputsParts) {
    this.#parts = parts;
  }

  keep(output: RunOutcomeOutput, path: string, of: KeptFile): MaybePromise<StoredOutput> {
    const { bytes, sizeBytes } = output;
    // The record includes one file only.
    const isSmall = bytes !== null && sizeBytes <= this.#parts.smallBytesMax && of.file === 'output';
    return isSmall ? { sizeBytes, path: null, bytes } : this.#keepLarge(output, path, of);
  }

  /** An output in Redis expires there, or was never written. */
  remove({ path }: OutputRef): MaybePromise<void> {
    if (path === null || path.includes(':')) return;
    return this.#parts.place.remove(path).catch((fault) => {
      // It is removed with its hour.
      if (!(fault instanceof SharedStoreUnavailableError)) throw fault;
    });
  }

  async open(output: StoredOutput, start: number, lengthBytes: number): Promise<RangeReader | null> {
    const reading = this.#parts.small.read(output, start, lengthBytes);
    if (reading === null) return this.#parts.place.open(output.path as string, start, lengthBytes);
    const bytes = await reading;
    if (bytes === null || bytes.length < lengthBytes) return null;
    return memoryReader(bytes);
  }

  async sha256(output: StoredOutput): Promise<string | null> {
    if (output.sha256 !== undefined) return output.sha256;
    const hash = createHash('sha256');
    const source = await this.open(output, 0, output.sizeBytes);
    if (source === null) return null;
    try {
      for (let at = 0; at < output.sizeBytes; ) {
        const piece = await source.read(at, Math.min(PIECE_BYTES, output.sizeBytes - at));
        if (piece.length === 0) throw new Error('an output ended before its length');
        hash.update(piece);
        at += piece.length;
      }
    } finally {
      source.close();
    }
    return hash.digest('hex');
  }

  /** Removes what expired more than an hour ago: it is no longer read, even if clocks differ. */
  sweep(): Promise<void> {
    const { place, now } = this.#parts;
    return place.sweep(hourOf(now() - HOUR_MILLISECONDS));
  }

  async #keepLarge(
    { bytes, sizeBytes }: RunOutcomeOutput,
    path: string,
    { runId, file, keepMilliseconds }: KeptFile,
  ): Promise<StoredOutput> {
    const { place, now, keepMillisecondsMax } = this.#parts;
    const name = `${hourOf(now() + keepMilliseconds)}/${runId}${file === 'output' ? '' : `.${file}`}`;
    try {
      const sha256 = await place.put(name, bytes ?? path, sizeBytes, keepMillisecondsMax);
      return { sizeBytes, path: name, bytes: null, sha256 };
    } finally {
      if (bytes === null) await rm(path, { force: true });
    }
  }
}
