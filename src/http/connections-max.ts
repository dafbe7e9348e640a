// How many files, connections included, this process may have open at once, and what share of them connections may take:
// where none is left, the HTTP library asks for the next connection again and again without a pause, and no upload, output
// or spill can be kept.
import { readFileSync } from 'node:fs';

/** Some KiB each: a head that does not end may hold 4 KiB, together 32 MiB of what the process takes beside its budget. */
export const CONNECTIONS_MAX_DEFAULT = 8192;

/** What the process holds open at rest: 33 files with two threads, and some for the ledger as it grows. */
const FILES_AT_REST = 64;
const FILES_OF_THREAD = 8;

/** Of all that is not held at rest: the other half is for uploads, outputs and spilled state. */
const CONNECTIONS_SHARE = 0.5;

/** What the system allows this process; null where it does not tell. Node itself has raised it as far as it may be. */
export function filesMax(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/** @param files what `filesMax` says */
export function connectionsMaxFor(files: number | null, workers: number): number {
  if (files === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor((files - FILES_AT_REST - FILES_OF_THREAD * workers) * CONNECTIONS_SHARE));
}
