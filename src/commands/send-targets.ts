// Where `send` puts outputs and rejected rows: a file, or a folder with files for each input. Looked at before anything is
// sent: a Run is charged, whatever becomes of its output. How a file is written is the client's.
import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Target } from '../client/node/template-run-client.ts';
import { makeFolder } from '../runtime/make-folder.ts';
import { UsageError } from './command.ts';
import { refuseOverwriting } from './refuse-overwriting.ts';

/** Of a name behind its stem. Rejected rows are CSV, whatever the output is. */
const REJECTS = '.rejects';
const REJECTS_ENDING = `${REJECTS}.csv`;

export interface SendTargets {
  /** Of the input's output: of one in a folder the ending is its Run's. */
  readonly output: (file: string) => Target;
  /** Of its rejected rows, beside the output; null: that is no file. */
  readonly rejects: (file: string) => string | null;
}

/**
 * @param path the -o of the command line
 * @throws UsageError where files would be written over each other or over one that is sent, a system error where they cannot
 *   be written
 */
export function sendTargets(path: string | undefined, files: readonly string[]): SendTargets {
  if (path === undefined || path === '') throw new UsageError('Write with -o where the outputs go.');
  const known = statSync(path, { throwIfNoEntry: false });
  if (files.length > 1 || path.endsWith('/') || known?.isDirectory() === true) {
    if (known?.isDirectory() === false) throw new UsageError(`${path} is a file, not a folder.`);
    return folderTargets(path, files);
  }
  if (known?.isFile() === false) return { output: () => path, rejects: () => null };
  const rejects = join(dirname(path), basename(path, extname(path)) + REJECTS_ENDING);
  refuseWrittenOver([path, rejects], files);
  return { output: () => path, rejects: () => rejects };
}

function folderTargets(folder: string, files: readonly string[]): SendTargets {
  makeFolder(folder);
  const real = realpathSync(folder);
  const beside = files.find((file) => realFolder(file) === real);
  if (beside !== undefined) throw new UsageError(`${folder} holds ${beside} too: choose a folder for outputs alone.`);
  const stems = files.map(stemOf);
  refuseSameName(stems);
  const there = targetsThere(folder, new Set(stems));
  refuseWrittenOver(there, files);
  for (const path of there) refuseUnwritable(path);
  return {
    output: (file) => (run) => join(folder, stemOf(file) + extname(run.output?.name ?? '')),
    rejects: (file) => join(folder, stemOf(file) + REJECTS_ENDING),
  };
}

/** The input's name without its endings. */
function stemOf(file: string): string {
  const name = basename(file).replace(/\.gz$/i, '');
  return basename(name, extname(name));
}

function refuseSameName(stems: readonly string[]): void {
  const twice = stems.find((stem, index) => stems.indexOf(stem) !== index);
  if (twice !== undefined) throw new UsageError(`Two files would both be written as ${twice}: give them other names.`);
  // Which ending outputs have is not known before, and so not whether they would meet.
  const met = stems.find((stem) => stems.includes(stem + REJECTS));
  if (met !== undefined)
    throw new UsageError(
      `An output and rejected rows could both be written as ${met}${REJECTS_ENDING}: give the files other names.`,
    );
}

/** What the folder holds under names that outputs, of whatever ending, and rejected rows may get. */
function targetsThere(folder: string, stems: ReadonlySet<string>): string[] {
  const isTarget = (name: string): boolean =>
    stems.has(basename(name, extname(name))) ||
    (name.endsWith(REJECTS_ENDING) && stems.has(basename(name, REJECTS_ENDING)));
  return readdirSync(folder)
    .filter(isTarget)
    .map((name) => join(folder, name));
}

function refuseWrittenOver(targets: readonly string[], files: readonly string[]): void {
  refuseOverwriting(targets, { files, folders: [] });
  // Links may lead two names to one file.
  const names = new Map<string, string>();
  for (const path of targets) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const real = realpathSync(path);
    const other = names.get(real);
    if (other !== undefined)
      throw new UsageError(`${other} and ${path} are the same file: outputs go into files of their own.`);
    names.set(real, path);
  }
}

function refuseUnwritable(path: string): void {
  const known = statSync(path, { throwIfNoEntry: false });
  if (known?.isDirectory() === true && extname(path) !== '')
    throw new UsageError(`${path} is a folder, where an output could go: choose a folder for outputs alone.`);
  if (known?.isFile() === true) accessSync(path, constants.W_OK);
}

/** null: there is no such folder, which the sending of the file tells. */
function realFolder(file: string): string | null {
  const folder = dirname(file);
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? null : realpathSync(folder);
}
