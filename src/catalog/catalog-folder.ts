// Reads the catalog's folder within bounds: regular files of a limited size, links only to what lies inside the folder.
// It knows names and bytes, not their meaning.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, opendir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { FOLDER_FILES_MAX } from './catalog-limits.ts';
import { ProblemList } from './problems.ts';

export interface CatalogFile {
  /** Relative to the catalog, with slashes. */
  readonly file: string;
  /** Its last part. */
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  readonly sizeBytes: number;
  /**
   * Differs when the file was changed or replaced: inode, size and times. Null for a file that was changed just now: one
   * more change could leave all of them as they are.
   */
  readonly version: string | null;
}

/** File systems keep times in steps of up to two seconds (FAT); the usual ones in steps of 4 ms. */
const TIME_STEP_MILLISECONDS = 2_000;

/** Bytes read at once: each piece is hashed on the event loop, in a fifth of a millisecond. */
const PIECE_BYTES = 262_144;

/**
 * A folder is listed again when a name of the list leads nowhere: the folder was moved away in between, and half a list of
 * accounts would take the rights of the other half. A link that leads nowhere, or names that come and go all the time, end it.
 */
const LISTINGS_MAX = 3;

/** What editors, copies and orchestrators leave beside: hidden files, backups, files being written. */
const IGNORED = /^\.|^#.*#$|~$|\.(?:tmp|swp|bak)$/;

export class CatalogFolder {
  readonly directory: string;
  #root: string;
  #problems: ProblemList;

  /** null after a problem: there is no such folder. */
  static async open(directory: string, problems: ProblemList): Promise<CatalogFolder | null> {
    try {
      const root = await realpath(directory);
      if ((await stat(root)).isDirectory()) return new CatalogFolder(directory, root, problems);
      problems.add('.', '', 'the catalog is not a folder.');
    } catch (fault) {
      problems.isPassing ||= isPassing(fault);
      problems.add('.', '', `the catalog's folder cannot be read (${reason(fault)}).`);
    }
    return null;
  }

  private constructor(directory: string, root: string, problems: ProblemList) {
    this.directory = directory;
    this.#root = root;
    this.#problems = problems;
  }

  /** The same folder, though a link to it leads elsewhere by now, for a reader with problems of its own. */
  reportingTo(problems: ProblemList): CatalogFolder {
    return new CatalogFolder(this.directory, this.#root, problems);
  }

  /** Tells the catalog and the folders in it from others that came into their places. */
  async identity(folders: readonly string[]): Promise<string> {
    const statuses = ['', ...folders].map((name) => stat(join(this.#root, name)).catch(() => null));
    return (await Promise.all(statuses)).map((status) => `${status?.dev}:${status?.ino}`).join(' ');
  }

  /** Files and folders in a folder, by name; none when it does not exist. */
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

  /** What is in a folder, sorted. */
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

  /** null when there is no such file, or after a problem: a link out of the folder, a device, a pipe. */
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
      const isYoung = Date.now() - Number(status.ctimeMs) < TIME_STEP_MILLISECONDS;
      const version = isYoung ? null : `${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}`;
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

  /** SHA-256 of a regular file of at most `bytesMax`, lower-case hex, read in pieces; null after a problem. */
  async digest(file: CatalogFile, bytesMax: number): Promise<string | null> {
    const hash = createHash('sha256');
    return (await this.#readPieces(file, bytesMax, (piece) => hash.update(piece))) ? hash.digest('hex') : null;
  }

  /** False after a problem. What was a file when it was found may be a pipe by now, or grow while it is read. */
  async #readPieces(file: CatalogFile, bytesMax: number, take: (piece: Buffer) => void): Promise<boolean> {
    let handle: FileHandle | null = null;
    try {
      // Without O_NONBLOCK a pipe without a writer would hold one of the four threads that read files for ever.
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
    this.#problems.isPassing ||= isPassing(fault);
    this.#problems.add(file, '', `cannot be read (${reason(fault)}).`);
    return false;
  }

  #refuse(file: CatalogFile, message: string): false {
    this.#problems.add(file.file, '', message);
    return false;
  }
}

/** What the system says when it lacks something now, rather than of the file. */
const PASSING: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EIO',
  'EAGAIN',
  'EBUSY',
  'ESTALE',
  'ETIMEDOUT',
]);

function isPassing(fault: unknown): boolean {
  return PASSING.has(reason(fault));
}

function reason(fault: unknown): string {
  return (fault as NodeJS.ErrnoException).code ?? 'unknown reason';
}
