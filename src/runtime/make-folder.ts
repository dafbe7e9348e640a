// Makes a folder and those above it, as mkdir -p does.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Not the recursive mkdir of Node 20 and 22: below /proc, where nothing can be made, it never ends.
 * @param mode of the folders that are made
 */
export function makeFolder(path: string, mode?: number): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster; a/.. is there once a is.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
