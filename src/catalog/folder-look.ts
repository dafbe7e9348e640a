// What a catalog's folder looks like from outside: a text that differs when a file in it changed, got from names and times
// alone, within bounds whatever lies or is linked there.
import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FOLDER_FILES_MAX } from './catalog-limits.ts';

/** Below the catalog lie folders by kind, and by account. */
const DEPTH_MAX = 3;

/** Entries that are asked for at once. */
const STATS_AT_ONCE = 16;

export interface FolderLook {
  /** Each folder, and what tells it from another one that came into its place. */
  readonly folders: ReadonlyMap<string, string>;
  /** Of the catalog's own folder: differs when a link to it was turned, or another one was moved there. */
  readonly root: string;
  readonly signature: string;
}

/** Hidden files are left out: locks, and files that are being written. */
export async function lookAt(directory: string): Promise<FolderLook> {
  const folders = new Map<string, string>();
  const hash = createHash('sha256');
  const root = await rootOf(directory);
  hash.update(root);
  const status = await statOf(directory);
  if (status !== null) await walk(directory, status, 0, folders, hash);
  return { folders, root, signature: hash.digest('hex') };
}

/** Where the folder lies and which one it is; three calls, however much lies in it. */
export async function rootOf(directory: string): Promise<string> {
  const path = await realpath(directory).catch(() => '');
  const status = await statOf(directory);
  return `${path} ${status === null ? '' : identityOf(status)}`;
}

async function walk(
  folder: string,
  status: BigIntStats,
  depth: number,
  folders: Map<string, string>,
  hash: Hash,
): Promise<void> {
  folders.set(folder, identityOf(status));
  // Not its times: hidden files change them.
  hash.update(`${folder}/\n`);
  const names = await namesIn(folder);
  for (let index = 0; index < names.length; index += STATS_AT_ONCE) {
    const paths = names.slice(index, index + STATS_AT_ONCE).map((name) => join(folder, name));
    const entries = await Promise.all(paths.map(statOf));
    for (const [offset, entry] of entries.entries()) {
      const path = paths[offset]!;
      if (entry?.isDirectory() && depth + 1 < DEPTH_MAX) await walk(path, entry, depth + 1, folders, hash);
      else hash.update(`${path} ${entry?.ino} ${entry?.size} ${entry?.mtimeNs} ${entry?.ctimeNs}\n`);
    }
  }
}

/** A folder that vanished meanwhile shows as a change. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      if (names.length === FOLDER_FILES_MAX) break;
      if (!name.startsWith('.')) names.push(name);
    }
  } catch {
    return ['?'];
  }
  return names.sort();
}

function statOf(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch(() => null);
}

/** An inode's number is given to the next folder when one is removed; the time of its birth is not. */
function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}
