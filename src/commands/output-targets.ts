// Destinations of the outputs and rejected rows of `run`, and the protection of files that a command reads.

import { randomUUID } from 'node:crypto';
import {
  accessSync,
  type BigIntStats,
  chmodSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { outputFormats } from '../../workers/output/index.ts';
import { REJECTS_SUFFIX } from '../../workers/protocol/messages.ts';
import { makeFolder } from '../runtime/data-directory.ts';
import { UsageError } from './command.ts';
import { withPath } from './local-input.ts';
import type { LocalResult } from './run-summary.ts';

// Prevents `run` from overwriting files that it reads: inputs, the Template, reference tables, secrets. Files are
// compared by device and inode, so links, other spellings of a path and redirected streams are recognised.

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;

export interface ReadFiles {
  /** Paths, or "-" for standard input. */
  readonly files: readonly string[];
  /** Folders whose files are read. */
  readonly folders: readonly string[];
}

/**
 * @param targets paths of the outputs; null: standard output
 * @throws UsageError before anything is written
 */
export function refuseOverwriting(targets: readonly (string | null)[], read: ReadFiles): void {
  const found = overwritten(targets, read);
  if (found === null) return;
  const { target, file } = found;
  const name = target ?? 'Standard output';
  const same = file === target ? 'is read by this command' : `is the same file as ${file}, which this command reads`;
  throw new UsageError(`${name} ${same}: it is not overwritten. Write another path with -o.`);
}

/** The first target that is a file that is read, also by another path or link. Null if none is. */
export function overwritten(
  targets: readonly (string | null)[],
  { files, folders }: ReadFiles,
): { readonly target: string | null; readonly file: string } | null {
  const read = new Map<string, string>();
  for (const file of [...files, ...folders.flatMap(filesIn)]) {
    const identity = identityOf(file === '-' ? STANDARD_INPUT : file);
    if (identity !== null) read.set(identity, file);
  }
  for (const target of targets) {
    const identity = identityOf(target ?? STANDARD_OUTPUT);
    const file = identity === null ? undefined : read.get(identity);
    if (file !== undefined) return { target, file };
  }
  return null;
}

/** Null if the path does not exist, or has no content to overwrite: a pipe, a terminal, /dev/null. */
function identityOf(file: string | number): string | null {
  const stats = statsOf(file);
  return stats !== null && (stats.isFile() || stats.isBlockDevice()) ? `${stats.dev}:${stats.ino}` : null;
}

/** If stat fails, opening the file fails too, and that error is reported. */
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

// Destinations of the outputs of `run`: standard output, a file, or a folder with one file per input. Files are
// written under a temporary name and renamed, so that a file is either complete or absent. Pipes and devices are
// written directly and never replaced.

export interface OutputTarget {
  readonly input: string;
  /** The path that will be written, given the extension of the Template's outputs; null: standard output. */
  path(ending: string): string | null;
  /** Writes the output of a successful Run to its destination. */
  keep(result: LocalResult): Promise<void>;
}

/** Keeps the output of a Run. An error names the output, not the temporary file that was written. */
export async function keepOutput(target: OutputTarget, result: LocalResult): Promise<void> {
  try {
    await target.keep(result);
  } catch (error) {
    const path = target.path(result.outcome.output!.ending) ?? 'standard output';
    throw (error as NodeJS.ErrnoException).syscall === 'mkdir' ? error : withPath(error as Error, path);
  }
}

/**
 * True if several inputs are one table: -o is a file, or standard output. A new path is a file if it has the extension
 * of an output format.
 */
export function areCombined(inputs: readonly string[], target: string | null): boolean {
  if (inputs.length < 2 || target === null || target === '-') return inputs.length > 1;
  const known = statSync(target, { throwIfNoEntry: false });
  if (known !== undefined) return !known.isDirectory();
  return !target.endsWith('/') && FILE_ENDINGS.has(extname(target).slice(1).toLowerCase());
}

/** Extensions that the name of an output file usually has, but that of a folder does not. */
const FILE_ENDINGS: ReadonlySet<string> = new Set([...outputFormats.keys(), 'jsonl', 'tab', 'txt', 'zip']);

/**
 * @param inputs only the first one if all are written to one output
 * @param target the value of -o; null or `-` means standard output
 */
export function outputTargets(
  inputs: readonly string[],
  target: string | null,
  stdout: NodeJS.WritableStream,
): readonly OutputTarget[] {
  if (target === null || target === '-') {
    if (inputs.length > 1) throw new UsageError('Several inputs need a folder: write -o DIR.');
    return [{ input: inputs[0]!, path: () => null, keep: (result) => print(result, stdout) }];
  }
  if (target === '') throw new UsageError('-o takes the path of a file or folder.');
  const known = statSync(target, { throwIfNoEntry: false });
  const wantsFolder = target.endsWith('/') || inputs.length > 1;
  if (wantsFolder && known?.isDirectory() === false) throw new UsageError(`${target} is a file, not a folder.`);
  if (!wantsFolder && known?.isDirectory() !== true) {
    const file = known === undefined ? linkedPath(target) : target;
    // Checked here so that the user sees the error before the Run, not after it.
    const folder = dirname(file);
    if (!existsSync(folder))
      throw new UsageError(`The folder ${folder} for ${basename(file)} does not exist. Create it first.`);
    const put = known === undefined || known.isFile() ? replaceFile : writeInto;
    return [{ input: inputs[0]!, path: () => target, keep: (result) => put(outputOf(result), file) }];
  }
  const names = inputs
    .map((input) => (input === '-' ? 'stdin' : basename(input).replace(/\.gz$/i, '')))
    .map((name) => basename(name, extname(name)))
    // The file `...csv` must not become the folder `..`.
    .map((name) => (name === '.' || name === '..' ? `_${name}` : name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`Two inputs would both be written as ${twice}: give them other names.`);
  return inputs.map((input, index) => {
    // An output with several files becomes a folder.
    const path = (ending: string): string =>
      join(target, ending === ARCHIVE_ENDING ? names[index]! : `${names[index]}.${ending}`);
    return {
      input,
      path,
      async keep(result) {
        makeFolder(target);
        const { ending } = result.outcome.output!;
        const refuse = (paths: readonly string[]): void => refuseOverwriting(paths, { files: inputs, folders: [] });
        if (ending === ARCHIVE_ENDING) await unpackArchive(outputOf(result), path(ending), refuse);
        else await replaceFile(outputOf(result), linkedPath(path(ending)));
      },
    };
  });
}

// The files of an output that is split (`output.split_by`), in a folder instead of a ZIP archive.

/** Extension of outputs with several files. No other output has it. */
export const ARCHIVE_ENDING = 'zip';

/** Values of 32-bit fields of an archive that mean "see the 64-bit record", and sizes of its records. */
const LARGE = 0xffff_ffff;
const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const END_64_BYTES = 56;
const CENTRAL_BYTES = 46;
const LOCAL_BYTES = 30;

/** The bytes of an output, or null if they are the file at `path`. */
interface OutputBytes {
  readonly bytes: Uint8Array | null;
  readonly path: string;
}

interface ArchiveEntry {
  readonly name: string;
  readonly at: number;
  readonly deflatedBytes: number;
}

/**
 * Writes the files of the engine's own archive to a folder, and removes the archive.
 * @param archive its bytes, or null if it is the file at `path`
 * @param refuse throws, before anything is written, if one of the files must not be overwritten
 */
export async function unpackArchive(
  { bytes, path }: OutputBytes,
  folder: string,
  refuse: (paths: readonly string[]) => void,
): Promise<void> {
  const archive = await open(path, bytes === null ? 'r' : 'wx+');
  try {
    if (bytes !== null) await archive.writeFile(bytes);
    const entries = await entriesOf(archive);
    makeFolder(folder);
    refuse(entries.map(({ name }) => join(folder, name)));
    for (const { name, at, deflatedBytes } of entries) {
      const partPath = join(folder, `.${randomUUID()}.part`);
      try {
        await pipeline(bytesOf(archive, at, at + deflatedBytes), createInflateRaw(), createWriteStream(partPath));
        await replaceFile({ bytes: null, path: partPath }, join(folder, name));
      } finally {
        rmSync(partPath, { force: true });
      }
    }
  } finally {
    await archive.close();
    rmSync(path, { force: true });
  }
}

/** The bytes from `from` up to `to`. Read streams of an open file would each add a listener to it. */
async function* bytesOf(archive: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const length = Math.min(READ_BYTES, to - at);
    const { bytesRead, buffer } = await archive.read(Buffer.alloc(length), 0, length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

const READ_BYTES = 65_536;

async function entriesOf(archive: FileHandle): Promise<readonly ArchiveEntry[]> {
  const { size } = await archive.stat();
  const read = async (at: number, length: number): Promise<Buffer> => {
    const { buffer } = await archive.read(Buffer.alloc(length), 0, length, at);
    return buffer;
  };
  const end = await read(size - END_BYTES, END_BYTES);
  let [directoryBytes, directoryAt] = [end.readUInt32LE(12), end.readUInt32LE(16)];
  if (directoryAt === LARGE) {
    const locator = await read(size - END_BYTES - LOCATOR_BYTES, LOCATOR_BYTES);
    const end64 = await read(Number(locator.readBigUInt64LE(8)), END_64_BYTES);
    directoryBytes = Number(end64.readBigUInt64LE(40));
    directoryAt = Number(end64.readBigUInt64LE(48));
  }
  const directory = await read(directoryAt, directoryBytes);
  const entries: ArchiveEntry[] = [];
  for (let at = 0; at < directory.length; ) {
    const [nameBytes, extraBytes] = [directory.readUInt16LE(at + 28), directory.readUInt16LE(at + 30)];
    const extraAt = at + CENTRAL_BYTES + nameBytes;
    const isLarge = extraBytes > 0;
    const offset = isLarge ? Number(directory.readBigUInt64LE(extraAt + 20)) : directory.readUInt32LE(at + 42);
    entries.push({
      name: directory.toString('utf8', at + CENTRAL_BYTES, extraAt),
      at: offset + LOCAL_BYTES + nameBytes,
      deflatedBytes: isLarge ? Number(directory.readBigUInt64LE(extraAt + 12)) : directory.readUInt32LE(at + 20),
    });
    at = extraAt + extraBytes;
  }
  return entries;
}

/** The file that a shell's `>` would create: a link to a file that does not exist yet is followed and stays a link. */
function linkedPath(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? linkedPath(resolve(dirname(path), readlinkSync(path))) : path;
}

async function print({ outcome, outputPath }: LocalResult, stdout: NodeJS.WritableStream): Promise<void> {
  const { bytes } = outcome.output!;
  const source = bytes === null ? createReadStream(outputPath) : Readable.from([bytes]);
  try {
    await pipeline(source, stdout, { end: false });
  } catch (error) {
    // If the reader closes the pipe early, the Run has not failed; the exit status of the program reports it (see
    // program.ts).
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

function outputOf({ outcome, outputPath }: LocalResult): OutputBytes {
  return { bytes: outcome.output!.bytes, path: outputPath };
}

async function writeInto({ bytes, path }: OutputBytes, target: string): Promise<void> {
  await pipeline(bytes === null ? createReadStream(path) : Readable.from([bytes]), createWriteStream(target));
}

/** The mode that programs usually pass to open(2) for new files; the umask is applied to it. */
const NEW_FILE_MODE = 0o666;

/** Permission bits of a mode, without the file type. */
const PERMISSIONS = 0o777;

/** @param name the file, or a link to it, which stays a link */
async function replaceFile({ bytes, path }: OutputBytes, name: string): Promise<void> {
  const known = statSync(name, { throwIfNoEntry: false });
  const target = known === undefined ? name : realpathSync(name);
  // A rename only needs write permission for the folder. This check respects files that were made read-only.
  if (known !== undefined) accessSync(target, constants.W_OK);
  // The temporary name is not derived from the target's name, because the result could be longer than a file name may
  // be.
  const temporaryPath = join(dirname(target), `.${randomUUID()}.part`);
  try {
    if (bytes !== null) writeFileSync(temporaryPath, bytes);
    else await move(path, temporaryPath);
    // Gives the file the mode of a directly written file, because spooled files are readable by their owner only.
    chmodSync(temporaryPath, known === undefined ? NEW_FILE_MODE & ~process.umask() : known.mode & PERMISSIONS);
    renameSync(temporaryPath, target);
  } finally {
    rmSync(temporaryPath, { force: true });
  }
}

/** Renames, or copies if the paths are on different file systems. */
async function move(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
  }
}

// Destinations of the rows that a Template rejects (`on_error: reject`): a file, or a folder with one file per input.

/** @param target the value of --rejects; undefined: rejected rows are not written */
export function rejectTargets(
  inputs: readonly string[],
  target: string | undefined,
  stdout: NodeJS.WritableStream,
): readonly OutputTarget[] {
  if (target === undefined) return [];
  if (target === '-' && inputs.length > 1)
    throw new UsageError('The rejected rows of several inputs need a folder: write --rejects DIR.');
  return outputTargets(inputs, target, stdout).map((one) => ({
    input: one.input,
    // Rejected rows are always CSV, independent of the output format.
    path: () => one.path('csv'),
    async keep(result) {
      const { outcome, outputPath } = result;
      if (outcome.rejects === null) return;
      await one.keep({
        ...result,
        outcome: { ...outcome, output: outcome.rejects },
        outputPath: outputPath + REJECTS_SUFFIX,
      });
    },
  }));
}

/** @throws UsageError if two files would have the same path, or would both go to standard output */
export function refuseSamePath(outputs: readonly (string | null)[], rejects: readonly (string | null)[]): void {
  const same = rejects.find((path) => outputs.includes(path));
  if (same !== undefined)
    throw new UsageError(
      `Output and rejected rows would both be written to ${same ?? 'standard output: write -o FILE'}.`,
    );
}
