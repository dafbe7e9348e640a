// Keeps `run` from writing over what it reads: its inputs, the Template, reference tables, secrets. Files are told apart
// by device and inode, whatever they are called: links, other spellings of a path and redirected streams are seen through.
import { type BigIntStats, fstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './command.ts';

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;

export interface ReadFiles {
  /** Paths, or "-" for standard input. */
  readonly files: readonly string[];
  /** Folders whose files are read. */
  readonly folders: readonly string[];
}

/**
 * @param targets paths of the outputs, null is standard output
 * @throws UsageError before anything is written
 */
export function refuseOverwriting(targets: readonly (string | null)[], { files, folders }: ReadFiles): void {
  const read = new Map<string, string>();
  for (const file of [...files, ...folders.flatMap(filesIn)]) {
    const identity = identityOf(file === '-' ? STANDARD_INPUT : file);
    if (identity !== null) read.set(identity, file);
  }
  for (const target of targets) {
    const identity = identityOf(target ?? STANDARD_OUTPUT);
    const file = identity === null ? undefined : read.get(identity);
    if (file === undefined) continue;
    const name = target ?? 'Standard output';
    const same = file === target ? 'is read by this command' : `is the same file as ${file}, which this command reads`;
    throw new UsageError(`${name} ${same}: it is not written over. Write another path with -o.`);
  }
}

/** Null for what is not there, and for what keeps nothing that could be written over: pipes, terminals, /dev/null. */
function identityOf(file: string | number): string | null {
  const stats = statsOf(file);
  return stats !== null && (stats.isFile() || stats.isBlockDevice()) ? `${stats.dev}:${stats.ino}` : null;
}

/** What cannot be looked at cannot be opened either, and is reported when it is. */
function statsOf(file: string | number): BigIntStats | null {
  try {
    return typeof file === 'number' ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return [];
  }
}
