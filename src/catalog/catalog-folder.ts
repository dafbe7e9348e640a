// Reads the catalog's folder within bounds: regular files of a limited size, links only to what lies inside the folder.
// It knows names and bytes, not their meaning.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { opendir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { FOLDER_FILES_MAX } from './catalog-limits.ts';
import type { ProblemList } from './problems.ts';

export interface CatalogFile {
  /** Relative to the catalog, with slashes. */
  readonly file: string;
  /** Its last part. */
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  readonly sizeBytes: number;
  /** Differs when the file was changed or replaced: inode, size and times. */
  readonly version: string;
}

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
      problems.add('.', '', `the catalog's folder cannot be read (${reason(fault)}).`);
    }
    return null;
  }

  private constructor(directory: string, root: string, problems: ProblemList) {
    this.directory = directory;
    this.#root = root;
    this.#problems = problems;
  }

  /** Files and folders in a folder, by name; none when it does not exist. */
  async list(folder: string): Promise<readonly CatalogFile[]> {
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
      if (reason(fault) !== 'ENOENT') this.#problems.add(folder, '', `cannot be read (${reason(fault)}).`);
    }
    const files: CatalogFile[] = [];
    for (const name of names.sort()) {
      const file = await this.find(folder === '' ? name : `${folder}/${name}`);
      if (file !== null) files.push(file);
    }
    return files;
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
      const version = `${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}`;
      const name = file.slice(file.lastIndexOf('/') + 1);
      return { file, name, path, isDirectory: status.isDirectory(), sizeBytes: Number(status.size), version };
    } catch (fault) {
      if (reason(fault) !== 'ENOENT') this.#problems.add(file, '', `cannot be read (${reason(fault)}).`);
      return null;
    }
  }

  /** The bytes of a regular file of at most `bytesMax`; null after a problem. */
  async read(file: CatalogFile, bytesMax: number): Promise<Buffer | null> {
    if (!this.#isReadable(file, bytesMax)) return null;
    try {
      return await readFile(file.path);
    } catch (fault) {
      this.#problems.add(file.file, '', `cannot be read (${reason(fault)}).`);
      return null;
    }
  }

  /** SHA-256 of a regular file of at most `bytesMax`, lower-case hex, read in pieces; null after a problem. */
  async digest(file: CatalogFile, bytesMax: number): Promise<string | null> {
    if (!this.#isReadable(file, bytesMax)) return null;
    const hash = createHash('sha256');
    try {
      for await (const chunk of createReadStream(file.path, { highWaterMark: 262_144 })) hash.update(chunk as Buffer);
    } catch (fault) {
      this.#problems.add(file.file, '', `cannot be read (${reason(fault)}).`);
      return null;
    }
    return hash.digest('hex');
  }

  #isReadable(file: CatalogFile, bytesMax: number): boolean {
    if (file.isDirectory) this.#problems.add(file.file, '', 'is a folder where a file is expected.');
    else if (file.sizeBytes > bytesMax) this.#problems.add(file.file, '', `is larger than ${bytesMax} bytes.`);
    else return true;
    return false;
  }
}

function reason(fault: unknown): string {
  return (fault as NodeJS.ErrnoException).code ?? 'unknown reason';
}
