// Outputs in a folder that all nodes mount. It may hang, for it is another machine's: at most three threads of Node's four are
// ever in it, and nobody waits for them without an end.
import { createHash } from 'node:crypto';
import { access, constants, type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskFailure } from '../../workers/protocol/failure.ts';
import type { RangeReader } from '../http/send-bytes.ts';
import { SharedStoreUnavailableError } from '../stores/store-unavailable.ts';
import { openUnlessRemoved } from './output-file.ts';
import { PlaceTurns } from './place-turns.ts';
import { isHour, type SharedPlace, SOON_MILLISECONDS } from './shared-place.ts';

const WHAT = 'the folder of outputs';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** What the system says of a folder whose machine does not do its part. */
const AWAY: ReadonlySet<string> = new Set(['EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENOTCONN']);

/** Copied at a time. */
const PIECE_BYTES = 256 * 1024;

export class FolderPlace implements SharedPlace {
  readonly #directory: string;
  /** Files are written one after the other, and read beside that. */
  readonly #writing = new PlaceTurns(WHAT, 1);
  readonly #reading = new PlaceTurns(WHAT, 2);

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Rejects with what the system says where it cannot be written. */
  static async open(directory: string): Promise<FolderPlace> {
    await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER });
    await access(directory, constants.W_OK | constants.X_OK);
    return new FolderPlace(directory);
  }

  get troubles(): ReadonlyMap<string, number> {
    return new Map([['timeout', this.#writing.late + this.#reading.late]]);
  }

  hurry(): void {
    this.#writing.hurry();
  }

  close(): void {}

  async put(name: string, content: Uint8Array | string, _sizeBytes: number, milliseconds: number): Promise<string> {
    const file = join(this.#directory, name);
    const part = `${file}.part`;
    const write = async (): Promise<string> => {
      await mkdir(dirname(file), { mode: PRIVATE_FOLDER, recursive: true });
      try {
        const digest = await writeSettled(part, content);
        await rename(part, file);
        return digest;
      } catch (fault) {
        await rm(part, { force: true });
        throw fault;
      }
    };
    try {
      return await this.#writing.takeWithin(milliseconds, write, () => rm(file, { force: true }));
    } catch (fault) {
      throw diskFailure(fault);
    }
  }

  async open(name: string, start: number): Promise<RangeReader | null> {
    const opening = async (): Promise<FileHandle | null> => {
      try {
        return await openUnlessRemoved(join(this.#directory, name));
      } catch (fault) {
        const isAway = AWAY.has((fault as NodeJS.ErrnoException).code ?? '');
        throw isAway ? new SharedStoreUnavailableError(WHAT, fault) : fault;
      }
    };
    const file = await this.#reading.takeWithin(SOON_MILLISECONDS, opening, async (late) => late?.close());
    if (file === null) return null;
    const read = async (at: number, length: number): Promise<Uint8Array> => {
      const piece = Buffer.allocUnsafe(length);
      const { bytesRead } = await file.read(piece, 0, length, start + at);
      return piece.subarray(0, bytesRead);
    };
    return {
      read: (at, length) => this.#reading.take(() => read(at, length)),
      // A close that fails has nobody to tell and nothing to lose: the file was only read.
      close: () => void this.#reading.take(() => file.close()).catch(() => {}),
    };
  }

  remove(name: string): Promise<void> {
    return this.#writing.take(() => rm(join(this.#directory, name), { force: true }));
  }

  async sweep(hour: string): Promise<void> {
    const names = await this.#reading.take(() => readdir(this.#directory));
    const faults: unknown[] = [];
    for (const name of names) {
      if (!isHour(name) || name >= hour) continue;
      // One that cannot be removed does not keep the others.
      await this.#writing
        .take(() => rm(join(this.#directory, name), { recursive: true, force: true }))
        .catch((fault) => faults.push(fault));
    }
    if (faults.length > 0) throw faults[0];
  }
}

/** Writes it so that it is on the disk, whatever happens to this machine. */
async function writeSettled(part: string, content: Uint8Array | string): Promise<string> {
  const hash = createHash('sha256');
  const target = await open(part, 'w', PRIVATE_FILE);
  try {
    for await (const piece of typeof content === 'string' ? piecesOf(content) : [content]) {
      hash.update(piece);
      await target.writeFile(piece);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  return hash.digest('hex');
}

/** Each piece is valid until the next one. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const source = await open(path, 'r');
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await source.read(piece, 0, piece.length, null);
      if (bytesRead === 0) return;
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await source.close();
  }
}
