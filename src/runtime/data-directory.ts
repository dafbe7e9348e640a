// The folders below --data: the ledger's, which lives on, and those of this process alone, which are emptied at start.
import { realpathSync } from 'node:fs';
import { access, constants, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { makeFolder } from './make-folder.ts';

export interface DataDirectory {
  readonly root: string;
  readonly ledger: string;
  readonly spool: string;
  readonly outputs: string;
  readonly spill: string;
}

/** Uploads and outputs are nobody else's business. */
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

/** Data and catalog are in each other's way: see `checkApart`. */
export class FoldersMeetError extends Error {
  constructor(data: string, catalog: string) {
    super(`the data folder ${data} and the catalog ${catalog} lie in each other: name folders beside each other.`);
    this.name = 'FoldersMeetError';
  }
}

/**
 * Throws FoldersMeetError where the node's own files would lie in the catalog, which is watched and read, or where the
 * catalog would be in a folder that is this process's own, and emptied. A catalog beside those, in the root, is sound.
 */
export function checkApart(directory: DataDirectory, catalog: string): void {
  const catalogPath = realPath(catalog);
  const owned = [directory.ledger, ...emptied(directory)].map(realPath);
  const isMet = isIn(realPath(directory.root), catalogPath) || owned.some((folder) => isIn(catalogPath, folder));
  if (isMet) throw new FoldersMeetError(directory.root, catalog);
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Without links, also of what is still to be made. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const whole = resolve(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(whole) === whole) throw error;
    return join(realPath(dirname(whole)), basename(whole));
  }
}

/** Makes the root. The ledger's owner owns everything below it, so it is opened before `emptyFolders`. */
export function makeRoot({ root }: DataDirectory): void {
  makeFolder(root, PRIVATE);
}

/** Removes what a former process left behind: Runs do not survive a restart, nor do their files. */
export async function emptyFolders(directory: DataDirectory): Promise<void> {
  for (const path of emptied(directory)) {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: PRIVATE });
  }
}

/**
 * Makes folders that somebody has removed below a process at work again: what lay in them is lost, Runs to come need not
 * be. Rejects with what the system says where a folder cannot be used; without the ledger nothing is made.
 */
export async function makeAgain(directory: DataDirectory): Promise<void> {
  await access(directory.ledger, USABLE);
  for (const path of emptied(directory)) {
    try {
      await checkFolder(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await mkdir(path, { mode: PRIVATE }).catch(async (fault: unknown) => {
        // Somebody put something there meanwhile: that is looked at like what was there before.
        if (codeOf(fault) !== 'EEXIST') throw fault;
        await checkFolder(path);
      });
    }
  }
}

const USABLE = constants.W_OK | constants.X_OK;

/** With the slash only a folder will do. */
function checkFolder(path: string): Promise<void> {
  return access(`${path}/`, USABLE);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function emptied({ spool, outputs, spill }: DataDirectory): readonly string[] {
  return [spool, outputs, spill];
}
