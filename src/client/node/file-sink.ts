// Writes an output to a temporary file, which gets its final name when the output is complete.

import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream, type Stats } from 'node:fs';
import { access, type FileHandle, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type OutputSink, wait } from '../retries.ts';

// Determines where an output is written. For a file, links are followed and kept, and only the content is replaced.
// Pipes and devices are written directly and never replaced. Does not receive the bytes itself.

/** Permission bits of a mode, without the file type. */
const PERMISSIONS = 0o777;
/** Delays between attempts while a pipe has no reader, or is full: too short for people to notice. */
const READER_MILLISECONDS = 20;
const SPACE_MILLISECONDS = 2;

interface OutputDestination {
  /** Path of the file after following links. */
  readonly path: string;
  /** Permissions of the existing file; null: the file does not exist. */
  readonly mode: number | null;
  /** False: a pipe or a device. */
  readonly isFile: boolean;
}

/**
 * Rejects with a system error if no output can be written: the path is a folder, the file is read-only, the name is
 * too long.
 */
async function resolveDestination(path: string): Promise<OutputDestination> {
  const known = await statsOf(path);
  if (path === '') throw refused('ENOENT', 'the path is empty');
  if (path.endsWith('/') || known?.isDirectory() === true) throw refused('EISDIR', `${path} is a folder`);
  if (known === null) return { path: await linkedPath(path), mode: null, isFile: true };
  if (known.isSocket()) throw refused('ENXIO', `${path} is a socket`);
  // A rename only needs write permission for the folder. This check respects files that were made read-only.
  await access(path, constants.W_OK);
  // For a pipe opened in this process, realpath would return a path that cannot be opened.
  if (!known.isFile()) return { path, mode: null, isFile: false };
  return { path: await realpath(path), mode: known.mode & PERMISSIONS, isFile: true };
}

/**
 * Writes a file's bytes into a pipe or a device. Rejects with the signal's reason, even while the pipe has no reader.
 */
async function writeInto(from: string, to: string, signal: AbortSignal): Promise<void> {
  const target = await openUnblocked(to, signal);
  try {
    for await (const piece of createReadStream(from)) await writeWhole(target, piece as Buffer, signal);
  } finally {
    await target.close();
  }
}

/**
 * Opens without blocking. A blocking open would occupy a thread until the pipe has a reader, and would prevent the
 * process from ending.
 */
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

/** Null: the path does not exist. Other system errors are rethrown, because they would affect the output too. */
async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Target of a link to a file that does not exist yet, which a shell's `>` would create. */
async function linkedPath(path: string): Promise<string> {
  const target = await readlink(path).catch(() => null);
  return target === null ? path : linkedPath(resolve(await realpath(dirname(path)), target));
}

function refused(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

// Writes an output to a temporary file, which gets its final name when the output is complete, and is removed if the
// download is abandoned.

/** The mode that programs usually pass to open(2) for new files; the umask is applied to it. */
const NEW_FILE_MODE = 0o666;
/** Mode in the shared folder for temporary files, which other users can read. */
const OWN_FILE_MODE = 0o600;

export class FileSink implements OutputSink {
  readonly #destination: OutputDestination;
  readonly #partPath: string;
  readonly #file: FileHandle;
  #hash: Hash = createHash('sha256');
  #bytes = 0;

  /** Rejects with a system error if no file can be created at `path` or beside it. */
  static async open(path: string): Promise<FileSink> {
    const destination = await resolveDestination(path);
    const { folder, mode } = destination.isFile
      ? { folder: dirname(destination.path), mode: destination.mode ?? NEW_FILE_MODE }
      : { folder: tmpdir(), mode: OWN_FILE_MODE };
    // The temporary name is not derived from the target's name, because the result could be longer than a file name
    // may be.
    const partPath = join(folder, `.${crypto.randomUUID()}.part`);
    return new FileSink(destination, partPath, await open(partPath, 'wx', mode));
  }

  private constructor(destination: OutputDestination, partPath: string, file: FileHandle) {
    this.#destination = destination;
    this.#partPath = partPath;
    this.#file = file;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async append(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const { bytesWritten } = await this.#file.write(piece, at, piece.length - at, this.#bytes + at);
      at += bytesWritten;
    }
    this.#hash.update(piece);
    this.#bytes += piece.length;
  }

  async clear(): Promise<void> {
    await this.#file.truncate(0);
    this.#hash = createHash('sha256');
    this.#bytes = 0;
  }

  async sha256(): Promise<string> {
    return this.#hash.copy().digest('base64');
  }

  /**
   * Resolves when the file is complete and survives a power loss, or when all bytes are in the pipe.
   * @param signal ends the wait for a reader of the pipe
   */
  async keep(signal: AbortSignal): Promise<void> {
    const { path, mode, isFile } = this.#destination;
    if (!isFile) {
      await writeInto(this.#partPath, path, signal);
      return this.remove();
    }
    // Restores the permission bits that the umask removed.
    if (mode !== null) await this.#file.chmod(mode);
    await this.#file.sync();
    await this.#file.close();
    await rename(this.#partPath, path);
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.#partPath, { force: true });
  }
}
