// Changes a small file of the catalog so that neither a reader sees half of it nor two writers lose each other's work:
// a lock beside it, written aside, synced, renamed; an editor that knows no lock is noticed by the file's times.
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_WAIT_MILLISECONDS = 10_000;
const LOCK_RETRY_MILLISECONDS = 25;

/** How often a change is made anew because somebody else changed the file meanwhile. */
const ATTEMPTS_MAX = 5;

/** Accounts hold digests of keys: nobody else needs to read them. */
const FILE_MODE = 0o600;

/** The lock is held by a living process that does not let go, or somebody else keeps on writing. */
export class FileBusyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FileBusyError';
  }
}

/**
 * Replaces a file's text by what `change` makes of it (null = there is no file). `change` may be called more than once;
 * what it throws leaves the file as it is. Returns null: nothing is written.
 */
export async function changeFile(path: string, change: (text: string | null) => string | null): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const lock = join(dirname(path), `.${name}.lock`);
  await takeLock(lock);
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const version = await versionOf(path);
      const text = version === null ? null : await readFile(path, 'utf8');
      const changed = change(text);
      if (changed === null) return;
      if (await replace(path, changed, version)) return;
    }
    throw new FileBusyError(`${path} was changed by somebody else again and again: nothing was written`);
  } finally {
    await rm(lock, { force: true });
  }
}

/** Removes a file while nobody changes it. False when there is none. `before` is done first, under the same lock. */
export async function removeFile(path: string, before: () => Promise<void>): Promise<boolean> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const lock = join(dirname(path), `.${name}.lock`);
  await takeLock(lock);
  try {
    if ((await versionOf(path)) === null) return false;
    await before();
    await rm(path);
    return true;
  } finally {
    await rm(lock, { force: true });
  }
}

/** False when the file is no longer the one of `version`. */
async function replace(path: string, text: string, version: string | null): Promise<boolean> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const aside = join(dirname(path), `.${name}.${process.pid}.tmp`);
  try {
    const file = await open(aside, 'w', FILE_MODE);
    try {
      await file.chmod(FILE_MODE);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await versionOf(path)) !== version) return false;
    if (version === null) {
      // Unlike rename, a link never replaces what somebody made meanwhile.
      return await link(aside, path).then(() => true, existsInstead);
    }
    await rename(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
  await syncDirectory(dirname(path));
  return true;
}

async function takeLock(lock: string): Promise<void> {
  const deadline = performance.now() + LOCK_WAIT_MILLISECONDS;
  for (;;) {
    try {
      const file = await open(lock, 'wx', FILE_MODE);
      await file.writeFile(String(process.pid)).finally(() => file.close());
      return;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
    }
    if (await removeDeadLock(lock)) continue;
    if (performance.now() > deadline)
      throw new FileBusyError(`${lock} is there: remove it if no other command is running`);
    await sleep(LOCK_RETRY_MILLISECONDS);
  }
}

/** A process that was killed leaves its lock. Two that find it rename it: only one of them succeeds. */
async function removeDeadLock(lock: string): Promise<boolean> {
  const text = await readFile(lock, 'utf8').catch(() => null);
  if (text === null) return true;
  if (!/^\d+$/.test(text) || isAlive(Number(text))) return false;
  const dead = `${lock}.${process.pid}`;
  if (
    !(await rename(lock, dead).then(
      () => true,
      () => false,
    ))
  )
    return true;
  const moved = await readFile(dead, 'utf8');
  // Somebody else had removed the dead one and taken the lock in between: it gets its lock back.
  if (moved !== text) await link(dead, lock).catch(() => undefined);
  await rm(dead, { force: true });
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function versionOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

function existsInstead(fault: NodeJS.ErrnoException): boolean {
  if (fault.code === 'EEXIST') return false;
  throw fault;
}

/** The rename itself is on the disk only when its folder is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}
