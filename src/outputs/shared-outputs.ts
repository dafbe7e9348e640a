// Outputs that any node may be asked for: small ones go into Redis with the record of their Run, others into a folder that
// all nodes see. A folder's name is the hour in which what lies in it expires: no index is needed to remove it.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from '../../workers/protocol/failure.ts';
import type { RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RangeReader } from '../http/send-bytes.ts';
import { FolderTurns } from './folder-turns.ts';
import { fileDigest, openUnlessRemoved } from './output-file.ts';
import type { KeptFile, OutputRef, OutputStore, StoredOutput } from './output-store.ts';

const HOUR_MILLISECONDS = 3600 * 1000;
/** `2026-11-23T17`. */
const HOUR_CHARACTERS = 13;
const HOUR_FOLDER = /^\d{4}-\d\d-\d\dT\d\d$/;

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** Outputs that lie in Redis. */
export interface SmallOutputs {
  /** null: it is not one of them. */
  read(output: OutputRef, start: number, lengthBytes: number): Promise<Uint8Array | null> | null;
}

export interface SharedOutputsParts {
  readonly directory: string;
  readonly small: SmallOutputs;
  /** Up to this an output goes into Redis. */
  readonly smallBytesMax: number;
  /** Milliseconds since 1970, the same for all nodes. */
  readonly now: () => number;
}

export class SharedOutputs implements OutputStore {
  readonly #parts: SharedOutputsParts;
  /** Of files by place, where somebody has asked this node. */
  readonly #digests = new Map<string, Promise<string>>();
  /** Files are copied one after the other, and read beside that. */
  readonly #writing = new FolderTurns(1);
  readonly #reading = new FolderTurns(2);

  constructor(parts: SharedOutputsParts) {
    this.#parts = parts;
  }

  keep(output: RunOutcomeOutput, path: string, of: KeptFile): MaybePromise<StoredOutput> {
    const { bytes, sizeBytes } = output;
    // The record takes one file along.
    const isSmall = bytes !== null && sizeBytes <= this.#parts.smallBytesMax && of.file === 'output';
    return isSmall ? { sizeBytes, path: null, bytes } : this.#keepFile(output, path, of);
  }

  /** What lies in Redis goes with its time, or was never written. */
  remove({ path }: OutputRef): MaybePromise<void> {
    if (path === null || path.includes(':')) return;
    return this.#writing.take(() => rm(this.#fileOf(path), { force: true }));
  }

  async open(output: StoredOutput, start: number, lengthBytes: number): Promise<RangeReader | null> {
    const reading = this.#parts.small.read(output, start, lengthBytes);
    if (reading === null) return this.#openFile(output, start);
    const bytes = await reading;
    if (bytes === null || bytes.length < lengthBytes) return null;
    return { read: async (at, length) => bytes.subarray(at, at + length), close: () => {} };
  }

  async sha256(output: StoredOutput): Promise<string> {
    const reading = this.#parts.small.read(output, 0, output.sizeBytes);
    if (reading !== null) {
      return createHash('sha256')
        .update((await reading) ?? '')
        .digest('hex');
    }
    const place = output.path as string;
    const digest = this.#digests.get(place) ?? fileDigest(this.#fileOf(place));
    this.#digests.set(place, digest);
    digest.catch(() => this.#digests.delete(place));
    return digest;
  }

  /** Removes what expired an hour ago: nobody reads it any more, and no clock is as wrong. */
  async sweep(): Promise<void> {
    const { directory, now } = this.#parts;
    const oldest = hourOf(now() - HOUR_MILLISECONDS);
    const names = await this.#reading.take(() => readdir(directory));
    for (const name of names) {
      if (!HOUR_FOLDER.test(name) || name >= oldest) continue;
      await this.#writing.take(() => rm(join(directory, name), { recursive: true, force: true }));
      for (const place of this.#digests.keys()) if (place.startsWith(`${name}/`)) this.#digests.delete(place);
    }
  }

  async #keepFile(
    { bytes, sizeBytes }: RunOutcomeOutput,
    path: string,
    { runId, file: name, keepMilliseconds }: KeptFile,
  ): Promise<StoredOutput> {
    const hour = hourOf(this.#parts.now() + keepMilliseconds);
    const place = `${hour}/${runId}${name === 'output' ? '' : `.${name}`}`;
    const file = this.#fileOf(place);
    const part = `${file}.part`;
    try {
      await this.#writing.take(async () => {
        await mkdir(join(this.#parts.directory, hour), { mode: PRIVATE_FOLDER, recursive: true });
        if (bytes === null) await copyFile(path, part);
        else await writeFile(part, bytes, { mode: PRIVATE_FILE });
        await settleFile(part);
        await rename(part, file);
      });
    } catch (fault) {
      await this.#writing.take(() => rm(part, { force: true }));
      throw diskFailure(fault);
    } finally {
      if (bytes === null) await rm(path, { force: true });
    }
    return { sizeBytes, path: place, bytes: null };
  }

  async #openFile({ path }: StoredOutput, start: number): Promise<RangeReader | null> {
    const file = await this.#reading.takeSoon(() => openUnlessRemoved(this.#fileOf(path as string)));
    if (file === null) return null;
    return {
      read: async (at, length) => {
        const piece = Buffer.allocUnsafe(length);
        const { bytesRead } = await this.#reading.take(() => file.read(piece, 0, length, start + at));
        return piece.subarray(0, bytesRead);
      },
      // A close that fails has nobody to tell and nothing to lose: the file was only read.
      close: () => void file.close().catch(() => {}),
    };
  }

  #fileOf(place: string): string {
    return join(this.#parts.directory, place);
  }
}

function hourOf(time: number): string {
  return new Date(time).toISOString().slice(0, HOUR_CHARACTERS);
}

/** On the disk, whatever happens to this machine. */
async function settleFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
