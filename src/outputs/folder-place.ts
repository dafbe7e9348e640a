// Outputs in a folder that all nodes mount. It may hang, because it is on another machine: therefore it uses at most
// three of Node's four I/O threads, and every wait has a limit.
import { createHash } from 'node:crypto';
import {
  access,
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskFailure } from '../../workers/protocol/failure.ts';
import type { RangeReader } from '../http/send-bytes.ts';
import { SharedStoreUnavailableError } from '../stores/stores.ts';
import { openUnlessRemoved } from './local-outputs.ts';
import { isHour, PlaceTurns, type SharedPlace, SOON_MILLISECONDS } from './shared-outputs.ts';

const WHAT = 'the folder of outputs';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** Error codes of a folder whose machine does not respond. */
const AWAY: ReadonlySet<string> = new Set(['EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENOTCONN']);

/** Number of bytes copied at a time. */
const PIECE_BYTES = 256 * 1024;

/** Name of the file that contains the id of the fleet to which the folder belongs. */
export const FOLDER_MARK = 'template-run-fleet';

/** The folder cannot be used. The message is one line for the operator. */
export class FolderPlaceError extends Error {
  constructor(directory: string, fault: NodeJS.ErrnoException) {
    const what = fault.code === 'ENOENT' ? 'does not exist' : `cannot be used (${fault.code ?? fault.message})`;
    super(
      `The folder of --outputs ${directory} ${what}. Make it on storage that all nodes mount, writable for this user.`,
      { cause: fault },
    );
    this.name = 'FolderPlaceError';
  }
}

export class FolderPlace implements SharedPlace {
  readonly #directory: string;
  #isMarked = false;
  /** One file is written at a time; files are read in parallel. */
  readonly #writing = new PlaceTurns(WHAT, 1);
  readonly #reading = new PlaceTurns(WHAT, 2);

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The folder must exist, because a folder created by this node would be on this machine only. Rejects with
   * FolderPlaceError.
   */
  static async open(directory: string): Promise<FolderPlace> {
    try {
      if (!(await stat(directory)).isDirectory()) throw new Error('it is not a folder');
      await access(directory, constants.W_OK | constants.X_OK);
    } catch (fault) {
      throw new FolderPlaceError(directory, fault as NodeJS.ErrnoException);
    }
    return new FolderPlace(directory);
  }

  get errorCounts(): ReadonlyMap<string, number> {
    return new Map([['timeout', this.#writing.late + this.#reading.late]]);
  }

  hurry(): void {
    this.#writing.hurry();
  }

  close(): void {}

  /**
   * Id of the fleet to which the folder belongs, or null if it is not marked. Rejects with SharedStoreUnavailableError.
   */
  async mark(): Promise<string | null> {
    const reading = (): Promise<string> => readFile(join(this.#directory, FOLDER_MARK), 'utf8');
    try {
      const text = await this.#reading.takeWithin(SOON_MILLISECONDS, reading, async () => {});
      this.#isMarked = true;
      return text.trim();
    } catch (fault) {
      const { code = '' } = fault as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw AWAY.has(code) ? new SharedStoreUnavailableError(WHAT, fault) : fault;
    }
  }

  /** Marks the folder as belonging to a fleet. */
  async setMark(fleet: string): Promise<void> {
    await this.#writing.take(() => writeFile(join(this.#directory, FOLDER_MARK), `${fleet}\n`, { mode: PRIVATE_FILE }));
    this.#isMarked = true;
  }

  async put(name: string, content: Uint8Array | string, _sizeBytes: number, milliseconds: number): Promise<string> {
    const file = join(this.#directory, name);
    const part = `${file}.part`;
    const write = async (): Promise<string> => {
      await this.#expectMark();
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
        const opened = await openUnlessRemoved(join(this.#directory, name));
        if (opened === null) await this.#expectMark();
        return opened;
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
      heldBytes: 0,
      read: (at, length) => this.#reading.take(() => read(at, length)),
      // A failed close is ignored: the file was only read, so nothing is lost.
      close: () => void this.#reading.take(() => file.close()).catch(() => {}),
    };
  }

  /** Without its mark, the folder is a different one: the fleet's storage is not mounted. */
  async #expectMark(): Promise<void> {
    if (!this.#isMarked) return;
    try {
      await access(join(this.#directory, FOLDER_MARK));
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault;
      throw new SharedStoreUnavailableError(WHAT, new Error(`its file ${FOLDER_MARK} is missing`));
    }
  }

  remove(name: string): Promise<void> {
    return this.#writing.take(() => rm(join(this.#directory, name), { force: true }));
  }

  async sweep(hour: string): Promise<void> {
    const names = await this.#reading.take(() => readdir(this.#directory));
    const faults: unknown[] = [];
    for (const name of names) {
      if (!isHour(name) || name >= hour) continue;
      // If one folder cannot be removed, the others still are.
      await this.#writing
        .take(() => rm(join(this.#directory, name), { recursive: true, force: true }))
        .catch((fault) => faults.push(fault));
    }
    if (faults.length > 0) throw faults[0];
  }
}

/** Writes the file and flushes it to disk, so that it survives a crash of this machine. */
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
