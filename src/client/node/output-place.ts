// Where an output goes: a file, found through links, which stay, and as it is but for its bytes; or a pipe or a device,
// which is written into and never replaced. How the bytes come is not its own.
import { constants, createReadStream, type Stats } from 'node:fs';
import { access, type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { wait } from '../retries.ts';

/** Of a mode, without the file's type. */
const PERMISSIONS = 0o777;
/** Between two looks at a pipe that nobody reads, or that is full: too short for a person to notice. */
const READER_MILLISECONDS = 20;
const SPACE_MILLISECONDS = 2;

export interface OutputPlace {
  /** The file itself, where links lead to it. */
  readonly path: string;
  /** Permissions of the file that is there; null: there is none. */
  readonly mode: number | null;
  /** False: a pipe or a device. */
  readonly isFile: boolean;
}

/** Rejects with a system error where no output can be written: a folder, a file that may only be read, a name too long. */
export async function outputPlace(path: string): Promise<OutputPlace> {
  const known = await statsOf(path);
  if (path === '') throw refused('ENOENT', 'a path of no letters leads nowhere');
  if (path.endsWith('/') || known?.isDirectory() === true) throw refused('EISDIR', `${path} is a folder`);
  if (known === null) return { path: await linkedPath(path), mode: null, isFile: true };
  if (known.isSocket()) throw refused('ENXIO', `${path} is a socket`);
  // A rename asks for the folder's permission alone; who has made a file read-only means it.
  await access(path, constants.W_OK);
  // A pipe that is open in this process has a path of its own, which leads nowhere.
  if (!known.isFile()) return { path, mode: null, isFile: false };
  return { path: await realpath(path), mode: known.mode & PERMISSIONS, isFile: true };
}

/** Writes a file's bytes into a pipe or a device. Rejects with the signal's reason, also while nobody reads the pipe. */
export async function pour(from: string, to: string, signal: AbortSignal): Promise<void> {
  const target = await openUnblocked(to, signal);
  try {
    for await (const piece of createReadStream(from)) await writeWhole(target, piece as Buffer, signal);
  } finally {
    await target.close();
  }
}

/** To wait in the system for somebody who reads would hold a thread, and with it the end of the process. */
async function openUnblocked(path: string, signal: AbortSignal): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO' || !(await stat(path)).isFIFO()) throw error;
    }
    await wait(READER_MILLISECONDS, signal);
  }
}

async function writeWhole(target: FileHandle, piece: Buffer, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    signal.throwIfAborted();
    try {
      at += (await target.write(piece, at)).bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await wait(SPACE_MILLISECONDS, signal);
    }
  }
}

/** null: nothing is there. Anything else that the system says would be said of the output too. */
async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Where a link leads to that leads to nothing yet: a shell's `>` makes that file. */
async function linkedPath(path: string): Promise<string> {
  const target = await readlink(path).catch(() => null);
  return target === null ? path : linkedPath(resolve(await realpath(dirname(path)), target));
}

function refused(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
