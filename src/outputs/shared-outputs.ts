// Outputs that every node can serve: small ones are stored in Redis with the record of their Run, others in storage
// that all nodes share.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import { memoryReader, type RangeReader } from '../http/send-bytes.ts';
import { SharedStoreUnavailableError } from '../stores/stores.ts';
import type { KeptFile, OutputRef, OutputStore, StoredOutput } from './output-store.ts';

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
      // The file is removed later, together with all files that expire in the same hour.
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

// Interface of storage that all nodes share, for outputs that are too large for Redis. The first part of a name is the
// hour in which the file expires, so that no index is needed to remove it.

export interface SharedPlace {
  /**
   * Stores bytes, or the file at a path. If it rejects, nothing remains under the name: with
   * SharedStoreUnavailableError if the storage does not respond within `milliseconds`, or with Failed.
   * @returns its SHA-256 in lower-case hex
   */
  put(name: string, content: Uint8Array | string, sizeBytes: number, milliseconds: number): Promise<string>;

  /**
   * Opens `lengthBytes` from `start` on for sequential reading. Returns null if the file has been removed. Rejects with
   * SharedStoreUnavailableError.
   */
  open(name: string, start: number, lengthBytes: number): Promise<RangeReader | null>;

  /** The file need not exist. */
  remove(name: string): Promise<void>;

  /** Removes everything that expired before this hour. */
  sweep(hour: string): Promise<void>;

  /** Number of failed operations, by reason. */
  readonly errorCounts: ReadonlyMap<string, number>;

  /** Ends all waits, because the node stops. */
  hurry(): void;

  close(): void;
}

/** Time limit while a client waits for the storage. */
export const SOON_MILLISECONDS = 1_000;

/** Length of `2026-11-23T17`. */
const HOUR_CHARACTERS = 13;
const HOUR = /^\d{4}-\d\d-\d\dT\d\d$/;

/** @param time milliseconds since 1970 */
export function hourOf(time: number): string {
  return new Date(time).toISOString().slice(0, HOUR_CHARACTERS);
}

export function isHour(text: string): boolean {
  return HOUR.test(text);
}

// Limits concurrent calls to storage that may hang, such as a network folder. A call that hangs occupies one of Node's
// four I/O threads, and the others must remain available for the local disk.

export class PlaceTurns {
  readonly #what: string;
  readonly #turnsMax: number;
  /** Number of calls that timed out. */
  late = 0;
  #taken = 0;
  readonly #waiting = new Set<() => void>();
  /** Callbacks that give up waiting calls with a time limit. */
  readonly #limited = new Set<() => void>();
  #isHurried = false;

  /** @param what name of the storage for error messages */
  constructor(what: string, turnsMax: number) {
    this.#what = what;
    this.#turnsMax = turnsMax;
  }

  /** Executes the work as soon as a slot is free. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#turnsMax) this.#taken += 1;
    else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.#work(work);
  }

  /**
   * Rejects with SharedStoreUnavailableError if waiting and work together take longer.
   * @param undo reverts work that finishes too late. Its errors are ignored.
   */
  takeWithin<T>(milliseconds: number, work: () => Promise<T>, undo: (made: T) => Promise<void>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const begin = async (): Promise<void> => {
        try {
          const made = await this.#work(work);
          if (isLate) await undo(made).catch(() => {});
          else resolve(made);
        } catch (fault) {
          reject(fault);
        }
        clearTimeout(timer);
        this.#limited.delete(giveUp);
      };
      const giveUp = (): void => {
        isLate = true;
        this.late += 1;
        clearTimeout(timer);
        this.#limited.delete(giveUp);
        this.#waiting.delete(begin);
        reject(new SharedStoreUnavailableError(this.#what, new Error('it does not answer')));
      };
      const timer = setTimeout(giveUp, this.#isHurried ? 0 : milliseconds);
      this.#limited.add(giveUp);
      if (this.#taken >= this.#turnsMax) return void this.#waiting.add(begin);
      this.#taken += 1;
      void begin();
    });
  }

  /** Ends all waits with a time limit, now and in future. */
  hurry(): void {
    this.#isHurried = true;
    for (const giveUp of [...this.#limited]) giveUp();
  }

  /** Executes the work in a slot, and passes the slot to the next waiting call. */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#taken -= 1;
      else {
        this.#waiting.delete(next);
        next();
      }
    }
  }
}
