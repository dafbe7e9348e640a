// How far `run` is, in words: counts alone, nothing of a file.
import type { LocalEngine } from './local-engine.ts';

const BYTES_PER_MB = 1_000_000;

/** @param files of the command, and how many of them are done */
export function progressLine(
  files: { readonly all: number; readonly done: () => number },
  engine: Pick<LocalEngine, 'progress' | 'inputBytes' | 'writtenBytes'>,
  seconds: number,
): string {
  const { rows, bytes } = engine.progress;
  const { inputBytes, writtenBytes } = engine;
  // A file that is done again, for its cells to be shown, is read twice.
  const percentage = inputBytes === 0 ? 0 : Math.min(100, Math.floor((bytes / inputBytes) * 100));
  return [
    ...(files.all === 1 ? [] : [`${files.done()} of ${files.all} files done`]),
    `${percentage} % (${megabytes(bytes)} of ${megabytes(inputBytes)} MB) read`,
    `${rows} rows`,
    `${megabytes(writtenBytes)} MB written`,
    `${seconds} s`,
  ].join(', ');
}

function megabytes(bytes: number): string {
  return (bytes / BYTES_PER_MB).toFixed(1);
}
