// Where `run` puts its outputs: standard output, a file, or one file for each input in a folder; written beside and
// renamed, so that a file is whole or not there.
import { createReadStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { UsageError } from './command.ts';
import type { LocalResult } from './run-summary.ts';

export interface LocalOutput {
  readonly input: string;
  /** Takes the output of a Run that succeeded. */
  keep(result: LocalResult): Promise<void>;
}

/** @param target the -o of the command line, null for standard output */
export function localOutputs(
  inputs: readonly string[],
  target: string | null,
  stdout: NodeJS.WritableStream,
): readonly LocalOutput[] {
  if (target === null) {
    if (inputs.length > 1) throw new UsageError('Several inputs need a folder: write -o DIR.');
    return [{ input: inputs[0]!, keep: (result) => print(result, stdout) }];
  }
  const known = statSync(target, { throwIfNoEntry: false });
  const wantsFolder = target.endsWith('/') || inputs.length > 1;
  if (wantsFolder && known?.isDirectory() === false) throw new UsageError(`${target} is a file, not a folder.`);
  if (!wantsFolder && known?.isDirectory() !== true)
    return [{ input: inputs[0]!, keep: (result) => place(result, target) }];
  const names = inputs
    .map((input) => basename(input).replace(/\.gz$/i, ''))
    .map((name) => basename(name, extname(name)));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`Two inputs would both be written as ${twice}: give them other names.`);
  return inputs.map((input, index) => ({
    input,
    async keep(result) {
      mkdirSync(target, { recursive: true });
      await place(result, join(target, `${names[index]}.${result.outcome.output!.ending}`));
    },
  }));
}

async function print({ outcome, outputPath }: LocalResult, stdout: NodeJS.WritableStream): Promise<void> {
  const { bytes } = outcome.output!;
  if (bytes === null) return pipeline(createReadStream(outputPath), stdout, { end: false });
  await new Promise<void>((resolve, reject) => stdout.write(bytes, (error) => (error ? reject(error) : resolve())));
}

async function place({ outcome, outputPath }: LocalResult, target: string): Promise<void> {
  const beside = join(dirname(target), `.${basename(target)}.${process.pid}.part`);
  try {
    const { bytes } = outcome.output!;
    if (bytes !== null) writeFileSync(beside, bytes);
    else await move(outputPath, beside);
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
