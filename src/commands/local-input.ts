// Inputs of a command as files of known length: files, standard input, and the folder for temporary files.
import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  lstatSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputFileError, TRUNCATED } from '../../workers/protocol/failure.ts';
import { UsageError } from './command.ts';

// A new folder for the temporary files of a command.

/** The folder is also removed if the process exits before `remove` is called, for example after a signal. */
export class TemporaryFolder {
  readonly path: string;

  /** Throws an error of the system. If the parent folder does not exist, its message says what to do. */
  constructor(prefix: string) {
    this.path = makeTemporaryFolder(prefix);
    process.on('exit', this.remove);
  }

  readonly remove = (): void => {
    process.off('exit', this.remove);
    // Retried, because threads may still write to the folder while the process exits.
    rmSync(this.path, { recursive: true, force: true, maxRetries: REMOVALS_MAX });
  };
}

const REMOVALS_MAX = 3;

/** Calls `body` with the path of a new folder, and removes the folder afterwards. */
export async function withTemporaryFolder<T>(prefix: string, body: (path: string) => Promise<T>): Promise<T> {
  const folder = new TemporaryFolder(prefix);
  try {
    return await body(folder.path);
  } finally {
    folder.remove();
  }
}

/** Makes a folder that the caller removes. Throws like the constructor of TemporaryFolder. */
export function makeTemporaryFolder(prefix: string): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, prefix));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      (error as Error).message = `the folder for temporary files does not exist: ${parent}. Create it, or set TMPDIR.`;
    throw error;
  }
}

// Provides an input of a command as a file of known length: the file itself, or a copy of standard input or of a
// pipe. The engine needs this because it reads by position.

/**
 * @param input a path, or "-" for standard input
 * @param copyPath path of the copy, if one is needed
 * @returns the path of a file of known length. Throws UnreadableFileError.
 */
export async function localInput(input: string, copyPath: string): Promise<string> {
  if (input === '-') return copied(process.stdin, copyPath);
  const path = resolve(input);
  checkReadable(input);
  const stats = statSync(path);
  // Files of the system, such as /proc/cpuinfo, have content although their size is 0. So each such file is copied.
  return stats.isFile() && stats.size > 0 ? path : copied(createReadStream(path), copyPath);
}

/** An input file that cannot be read. The message is one line for the user. */
export class UnreadableFileError extends Error {
  readonly code: string;

  constructor(path: string, what: string, code: string) {
    super(path === '' ? 'The name of a file is empty.' : `${path} ${what}`);
    this.name = 'UnreadableFileError';
    this.code = code;
  }
}

/** Throws UnreadableFileError unless the path is a file or a pipe that this user may read. */
export function checkReadable(path: string): void {
  let stats: Stats;
  try {
    stats = statSync(path);
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new UnreadableFileError(path, whyUnreadable(path, error), (error as NodeJS.ErrnoException).code ?? '');
  }
  if (stats.isDirectory()) throw new UnreadableFileError(path, 'is a folder, not a file.', 'EISDIR');
  // Devices are refused, because most of them never end. Standard input is an exception and may be a terminal.
  const isDevice = stats.isBlockDevice() || (stats.isCharacterDevice() && !STANDARD_INPUTS.has(path));
  if (isDevice || stats.isSocket()) {
    throw new UnreadableFileError(path, `is a ${isDevice ? 'device' : 'socket'}, not a file.`, 'ENXIO');
  }
}

/** Throws UnreadableFileError unless the path is a folder that this user may read. */
export function checkFolder(path: string): void {
  try {
    if (statSync(path).isDirectory()) accessSync(path, constants.R_OK | constants.X_OK);
    else throw new UnreadableFileError(path, 'is a file, not a folder.', 'ENOTDIR');
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    throw new UnreadableFileError(path, whyUnreadable(path, error), (error as NodeJS.ErrnoException).code ?? '');
  }
}

/**
 * A system error as one line for the user: with the path, and without the name of the system call. Other errors keep
 * their message.
 */
export function systemErrorText(error: NodeJS.ErrnoException): string {
  const { code = '', path } = error;
  // Other messages were written for the user already.
  if (path === undefined || !error.message.startsWith(`${code}:`)) return error.message;
  const isMade = error.syscall === 'mkdir';
  const absent = isMade ? 'cannot be created.' : 'does not exist.';
  const reason = code === 'ENOENT' ? absent : (OTHER_REASONS[code] ?? REASONS[code]);
  return reason === undefined ? error.message : `${path} ${reason}`;
}

/** Sets the path that the message for the user names, if the error comes from the system. Returns the same error. */
export function withPath(error: NodeJS.ErrnoException, path: string): NodeJS.ErrnoException {
  if (error.syscall !== undefined) error.path = path;
  return error;
}

function isDiskFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOSPC';
}

/**
 * False if a file has changed since `before`, even if it has only grown: it may have been written anew. A removed file was
 * not changed.
 */
export function isUnchanged(before: Stats, path: string): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  if (now === undefined) return true;
  return (['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const).every((key) => now[key] === before[key]);
}

/**
 * Returns the number of bytes that were added to a file since `before`. Throws UnreadableFileError or InputFileError if the file was
 * replaced or changed otherwise, because threads that opened it at different times may have read different contents. A
 * removed file is not an error: its bytes were read.
 */
export function grownSince(before: Stats, path: string): number {
  const now = statSync(path, { throwIfNoEntry: false });
  if (now === undefined) return 0;
  const isSame = now.dev === before.dev && now.ino === before.ino;
  if (isSame && (now.size > before.size || now.mtimeMs === before.mtimeMs)) return now.size - before.size;
  if (isSame && now.size < before.size) throw new InputFileError(path, TRUNCATED);
  throw new UnreadableFileError(path, 'was changed while it was read. Run the command again.', 'CHANGED');
}

/** Paths of standard input, which may be a terminal. */
export const STANDARD_INPUTS: ReadonlySet<string> = new Set(['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);

function whyUnreadable(path: string, error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? missing(path) : (REASONS[code] ?? `cannot be read: ${code}.`);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: permission denied.',
  EPERM: 'cannot be read: permission denied.',
  ELOOP: 'is a link that leads to itself.',
  ENOTDIR: 'does not exist: a part of the path is a file, not a folder.',
  ENAMETOOLONG: 'does not exist: the name is too long.',
};

/** Reasons why a file or folder cannot be created, read or written. */
const OTHER_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be used: permission denied.',
  EPERM: 'cannot be used: permission denied.',
  EEXIST: 'already exists.',
  EISDIR: 'is a folder, not a file.',
  ENOSPC: 'cannot be written: the disk is full.',
  EDQUOT: 'cannot be written: your disk quota is exhausted.',
  EROFS: 'cannot be written: its file system is read-only.',
};

function missing(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? `is a link to ${readlinkSync(path)}, which does not exist.` : 'does not exist.';
}

async function copied(stream: Readable, copyPath: string): Promise<string> {
  try {
    await pipeline(stream, createWriteStream(copyPath, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    throw isDiskFull(error) ? withPath(error as Error, copyPath) : error;
  }
  return copyPath;
}

// Standard input as a file argument of a command, written "-".

/** File argument that means standard input. */
export const STANDARD_INPUT = '-';

/** Throws UsageError if more than one of a command's file arguments is standard input, which ends after one reading. */
export function refuseSecondStandardInput(files: readonly (string | null | undefined)[]): void {
  if (files.filter((file) => file === STANDARD_INPUT).length < 2) return;
  throw new UsageError('Standard input can be read once: write "-" for one of the files only.');
}

/**
 * Calls `body` with the path of a file that can be read by position and more than once: the file itself, or a temporary
 * copy of standard input or of a pipe. Throws UnreadableFileError.
 */
export async function withLocalFile<T>(file: string, body: (path: string) => Promise<T>): Promise<T> {
  return withTemporaryFolder('template-run-input-', async (folder) =>
    body(await localInput(file, join(folder, 'stdin'))),
  );
}
