// Reads the catalog's folder safely: only regular files of limited size, and only links that stay inside the folder.
// Handles names and bytes, not their meaning.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, opendir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { FOLDER_FILES_MAX, ProblemList } from './problems.ts';

export interface CatalogFile {
  /** Path relative to the catalog, with slashes. */
  readonly file: string;
  /** Last part of the path. */
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  readonly sizeBytes: number;
  /**
   * Changes when the file is changed or replaced; made from inode, size and times. Null for a file changed moments
   * ago, because another change within the resolution of the file times could go unnoticed.
   */
  readonly version: string | null;
}

/** Resolution of file times: up to two seconds (FAT), usually 4 ms. */
const TIME_STEP_MILLISECONDS = 2_000;

/** Bytes read at once. Each piece is hashed on the event loop, which takes a fifth of a millisecond. */
const PIECE_BYTES = 262_144;

/**
 * Number of attempts to list a folder. A folder is listed again if a listed name does not exist, because the folder
 * may have been replaced in between: half a list of accounts would revoke the access of the other half. The
 * limit applies to broken links and to folders whose names change all the time.
 */
const LISTINGS_MAX = 3;

/** Files left by editors, copy tools and orchestrators: hidden files, backups, files being written. */
const IGNORED = /^\.|^#.*#$|~$|\.(?:tmp|swp|bak)$/;

export class CatalogFolder {
  readonly directory: string;
  #root: string;
  #problems: ProblemList;

  /** Null after a problem: the folder does not exist. */
  static async open(directory: string, problems: ProblemList): Promise<CatalogFolder | null> {
    try {
      const root = await realpath(directory);
      if ((await stat(root)).isDirectory()) return new CatalogFolder(directory, root, problems);
      problems.add('.', '', 'the catalog is not a folder.');
    } catch (fault) {
      problems.isTemporary ||= isTemporary(fault);
      const what = reason(fault) === 'ENOENT' ? 'does not exist' : `cannot be read (${reason(fault)})`;
      problems.add('.', '', `the catalog's folder ${what}.`);
    }
    return null;
  }

  private constructor(directory: string, root: string, problems: ProblemList) {
    this.directory = directory;
    this.#root = root;
    this.#problems = problems;
  }

  /**
   * The same folder with a separate list of problems. Keeps the resolved path, so a changed link to the folder has no
   * effect.
   */
  reportingTo(problems: ProblemList): CatalogFolder {
    return new CatalogFolder(this.directory, this.#root, problems);
  }

  /** Identifies the catalog and its subfolders, so that a replacement of one of them is noticed. */
  async identity(folders: readonly string[]): Promise<string> {
    const statuses = ['', ...folders].map((name) => stat(join(this.#root, name)).catch(() => null));
    return (await Promise.all(statuses)).map((status) => `${status?.dev}:${status?.ino}`).join(' ');
  }

  /** Files and folders in a folder, sorted by name; empty if the folder does not exist. */
  async list(folder: string, listing = 1): Promise<readonly CatalogFile[]> {
    const files: CatalogFile[] = [];
    const problems = new ProblemList();
    const listed = this.reportingTo(problems);
    for (const name of await listed.#names(folder)) {
      const counted = problems.count;
      const file = await listed.find(folder === '' ? name : `${folder}/${name}`);
      if (file !== null) files.push(file);
      else if (problems.count === counted && listing < LISTINGS_MAX) return this.list(folder, listing + 1);
    }
    this.#problems.addAll(problems);
    return files;
  }

  /** Names in a folder, sorted. */
  async #names(folder: string): Promise<readonly string[]> {
    const names: string[] = [];
    try {
      for await (const entry of await opendir(join(this.#root, folder))) {
        if (IGNORED.test(entry.name)) continue;
        if (names.length === FOLDER_FILES_MAX) {
          this.#problems.add(folder, '', `holds more than ${FOLDER_FILES_MAX} files.`);
          break;
        }
        names.push(entry.name);
      }
    } catch (fault) {
      if (reason(fault) !== 'ENOENT') this.#unreadable(folder, fault);
    }
    return names.sort();
  }

  /** Null if the file does not exist, or after a problem: a link that leaves the folder, a device, a pipe. */
  async find(file: string): Promise<CatalogFile | null> {
    try {
      const path = await realpath(join(this.#root, file));
      if (path !== this.#root && !path.startsWith(this.#root + sep)) {
        this.#problems.add(file, '', 'is a link to a place outside the catalog.');
        return null;
      }
      const status = await stat(path, { bigint: true });
      if (!status.isFile() && !status.isDirectory()) {
        this.#problems.add(file, '', 'is neither a file nor a folder.');
        return null;
      }
      const isRecent = Date.now() - Number(status.ctimeMs) < TIME_STEP_MILLISECONDS;
      const version = isRecent ? null : `${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}`;
      const name = file.slice(file.lastIndexOf('/') + 1);
      return { file, name, path, isDirectory: status.isDirectory(), sizeBytes: Number(status.size), version };
    } catch (fault) {
      if (reason(fault) !== 'ENOENT') this.#unreadable(file, fault);
      return null;
    }
  }

  /** The bytes of a regular file of at most `bytesMax`; null after a problem. */
  async read(file: CatalogFile, bytesMax: number): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    return (await this.#readPieces(file, bytesMax, (piece) => pieces.push(Buffer.from(piece))))
      ? Buffer.concat(pieces)
      : null;
  }

  /** SHA-256 of a regular file of at most `bytesMax` in lower-case hex, read in pieces; null after a problem. */
  async digest(file: CatalogFile, bytesMax: number): Promise<string | null> {
    const hash = createHash('sha256');
    return (await this.#readPieces(file, bytesMax, (piece) => hash.update(piece))) ? hash.digest('hex') : null;
  }

  /**
   * False after a problem. The path may have become a pipe since it was found, or the file may grow while it is read.
   */
  async #readPieces(file: CatalogFile, bytesMax: number, take: (piece: Buffer) => void): Promise<boolean> {
    let handle: FileHandle | null = null;
    try {
      // Without O_NONBLOCK, a pipe without a writer would block one of the four threads of the I/O pool forever.
      handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
      const status = await handle.stat();
      if (status.isDirectory()) return this.#refuse(file, 'is a folder where a file is expected.');
      if (!status.isFile()) return this.#refuse(file, 'is neither a file nor a folder.');
      const tooLarge = `is larger than ${bytesMax} bytes.`;
      if (status.size > bytesMax) return this.#refuse(file, tooLarge);
      const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, status.size + 1));
      for (let read = 0; ; ) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0) return true;
        read += bytesRead;
        if (read > bytesMax) return this.#refuse(file, tooLarge);
        take(buffer.subarray(0, bytesRead));
      }
    } catch (fault) {
      return this.#unreadable(file.file, fault);
    } finally {
      await handle?.close();
    }
  }

  #unreadable(file: string, fault: unknown): false {
    this.#problems.isTemporary ||= isTemporary(fault);
    this.#problems.add(file, '', `cannot be read (${reason(fault)}).`);
    return false;
  }

  #refuse(file: CatalogFile, message: string): false {
    this.#problems.add(file.file, '', message);
    return false;
  }
}

/** Error codes of temporary shortages of the system, which do not depend on the file. */
const TEMPORARY_CODES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EIO',
  'EAGAIN',
  'EBUSY',
  'ESTALE',
  'ETIMEDOUT',
]);

function isTemporary(fault: unknown): boolean {
  return TEMPORARY_CODES.has(reason(fault));
}

function reason(fault: unknown): string {
  return (fault as NodeJS.ErrnoException).code ?? 'unknown reason';
}
