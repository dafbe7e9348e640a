// Where `run` puts its outputs: standard output, a file, or one file for each input in a folder; written beside and
// renamed, so that a file is whole or not there. A pipe or a device is written into, never replaced.
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../runtime/make-folder.ts';
import { UsageError } from './command.ts';
import type { LocalResult } from './run-summary.ts';

export interface OutputTarget {
  readonly input: string;
  /** Where it will be written, given the ending of the Template's outputs; null: standard output. */
  path(ending: string): string | null;
  /** Takes the output of a Run that succeeded. */
  keep(result: LocalResult): Promise<void>;
}

/** @param target the -o of the command line, null or `-` for standard output */
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
    // Said before the Run and not behind it.
    const folder = dirname(target);
    if (!existsSync(folder))
      throw new UsageError(`There is no folder ${folder} for ${basename(target)}: make it first.`);
    const put = known === undefined || known.isFile() ? place : pour;
    return [{ input: inputs[0]!, path: () => target, keep: (result) => put(result, target) }];
  }
  const names = inputs
    .map((input) => basename(input).replace(/\.gz$/i, ''))
    .map((name) => basename(name, extname(name)));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`Two inputs would both be written as ${twice}: give them other names.`);
  return inputs.map((input, index) => {
    const path = (ending: string): string => join(target, `${names[index]}.${ending}`);
    return {
      input,
      path,
      async keep(result) {
        makeFolder(target);
        await place(result, path(result.outcome.output!.ending));
      },
    };
  });
}

async function print({ outcome, outputPath }: LocalResult, stdout: NodeJS.WritableStream): Promise<void> {
  const { bytes } = outcome.output!;
  const source = bytes === null ? createReadStream(outputPath) : Readable.from([bytes]);
  try {
    await pipeline(source, stdout, { end: false });
  } catch (error) {
    // A reader that has had enough is no fault of the Run: the program's exit status tells it (see program.ts).
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

async function pour({ outcome, outputPath }: LocalResult, target: string): Promise<void> {
  const { bytes } = outcome.output!;
  await pipeline(bytes === null ? createReadStream(outputPath) : Readable.from([bytes]), createWriteStream(target));
}

/** What open(2) is asked for by all programs that make files; the umask takes from it. */
const NEW_FILE_MODE = 0o666;

/** Of a mode, without the file's type. */
const PERMISSIONS = 0o777;

/** @param name the file, or a link to it, which stays one */
async function place({ outcome, outputPath }: LocalResult, name: string): Promise<void> {
  const known = statSync(name, { throwIfNoEntry: false });
  const target = known === undefined ? name : realpathSync(name);
  // A rename asks for the folder's permission alone; who has made a file read-only means it.
  if (known !== undefined) accessSync(target, constants.W_OK);
  // Not the target's name and more: that may be longer than a name can be.
  const beside = join(dirname(target), `.${randomUUID()}.part`);
  try {
    const { bytes } = outcome.output!;
    if (bytes !== null) writeFileSync(beside, bytes);
    else await move(outputPath, beside);
    // As if it were written there, whatever its way: spooled files are for their owner alone.
    chmodSync(beside, known === undefined ? NEW_FILE_MODE & ~process.umask() : known.mode & PERMISSIONS);
    renameSync(beside, target);
  } finally {
    rmSync(beside, { force: true });
  }
}

/** A rename, or a copy where the two are on different file systems. */
async function move(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
  }
}
