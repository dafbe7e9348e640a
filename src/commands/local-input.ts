// What a command reads of an input that it was given: the file itself, or a copy of what comes through standard input or
// a pipe, because the engine reads by position and needs the length.
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * @param input a path, or "-" for standard input
 * @param copyPath where a copy goes, if one is needed
 * @returns the path of a file of known length. Throws a system error for what cannot be read, a folder among it.
 */
export async function localInput(input: string, copyPath: string): Promise<string> {
  if (input === '-') return copied(process.stdin, copyPath);
  const path = resolve(input);
  const stats = statSync(path);
  if (stats.isFile()) return path;
  if (stats.isDirectory()) throw Object.assign(new Error(`${input} is a folder, not a file.`), { code: 'EISDIR' });
  return copied(createReadStream(path), copyPath);
}

async function copied(stream: Readable, copyPath: string): Promise<string> {
  await pipeline(stream, createWriteStream(copyPath, { flags: 'wx', mode: 0o600 }));
  return copyPath;
}
