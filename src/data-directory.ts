// The folders below --data: the ledger's, which lives on, and those of this process alone, which are emptied at start.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Makes the root. The ledger's owner owns everything below it, so it is opened before `emptyFolders`. */
export function makeRoot({ root }: DataDirectory): void {
  makeFolder(root, PRIVATE);
}

/** Removes what a former process left behind: Runs do not survive a restart, nor do their files. */
export async function emptyFolders({ spool, outputs, spill }: DataDirectory): Promise<void> {
  for (const path of [spool, outputs, spill]) {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: PRIVATE });
  }
}
