// The folders below --data, and how folders are created.
import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { access, constants, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';

// Creates a folder and its parents, like mkdir -p.

/**
 * Does not use the recursive mkdir of Node, because in Node 20 and 22 it never returns below /proc, where nothing can
 * be created.
 * @param mode mode of the created folders
 */
export function makeFolder(path: string, mode?: number): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created the folder in the meantime. A path such as a/.. exists as soon as a exists.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

// The folders below --data: the ledger, which persists, and the folders of this process, which are emptied at start.

export interface DataDirectory {
  readonly root: string;
  readonly ledger: string;
  readonly spool: string;
  readonly outputs: string;
  readonly spill: string;
}

/** Only the owner may read uploads and outputs. */
const PRIVATE = 0o700;

export function dataDirectory(root: string): DataDirectory {
  const folder = (name: string): string => join(root, name);
  return {
    root,
    ledger: folder('ledger'),
    spool: folder('spool'),
    outputs: folder('outputs'),
    spill: folder('spill'),
  };
}

/** Data folder and catalog overlap; see `checkApart`. */
export class FoldersOverlapError extends Error {
  constructor(data: string, catalog: string) {
    super(`the data folder ${data} and the catalog ${catalog} are one inside the other: choose separate folders.`);
    this.name = 'FoldersOverlapError';
  }
}

/**
 * Throws FoldersOverlapError if the node's files would be inside the catalog, which is watched and read, or if the
 * catalog would be inside a folder that this process owns and empties. A catalog in the root beside these folders is
 * allowed.
 */
export function checkApart(directory: DataDirectory, catalog: string): void {
  const catalogPath = realPath(catalog);
  const owned = [directory.ledger, ...emptied(directory)].map(realPath);
  const areOverlapping =
    isIn(realPath(directory.root), catalogPath) || owned.some((folder) => isIn(catalogPath, folder));
  if (areOverlapping) throw new FoldersOverlapError(directory.root, catalog);
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Resolves links, even if the end of the path does not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const whole = resolve(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(whole) === whole) throw error;
    return join(realPath(dirname(whole)), basename(whole));
  }
}

/**
 * Creates the root. The owner of the ledger owns everything below the root, so the ledger is opened before
 * `emptyFolders` is called.
 */
export function makeRoot({ root }: DataDirectory): void {
  makeFolder(root, PRIVATE);
}

/** Removes files of the previous process, because neither Runs nor their files survive a restart. */
export async function emptyFolders(directory: DataDirectory): Promise<void> {
  for (const path of emptied(directory)) {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: PRIVATE });
  }
}

/**
 * Recreates folders that were removed while the process runs. Their files are lost, but later Runs work again.
 * Rejects with the system error if a folder cannot be used. If the ledger's folder is missing, nothing is created.
 */
export async function makeAgain(directory: DataDirectory): Promise<void> {
  await access(directory.ledger, USABLE);
  for (const path of emptied(directory)) {
    try {
      await checkFolder(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await mkdir(path, { mode: PRIVATE }).catch(async (fault: unknown) => {
        // Another process has created something at this path in the meantime, so it is checked like an existing
        // folder.
        if (codeOf(fault) !== 'EEXIST') throw fault;
        await checkFolder(path);
      });
    }
  }
}

const USABLE = constants.W_OK | constants.X_OK;

/** The trailing slash makes the check fail for anything but a folder. */
function checkFolder(path: string): Promise<void> {
  return access(`${path}/`, USABLE);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function emptied({ spool, outputs, spill }: DataDirectory): readonly string[] {
  return [spool, outputs, spill];
}
