// Delivers the output of a Run to a stream, a file, a pipe or a device. A file is written completely or not at all,
// and links to it are kept. Pipes and devices are written directly and never replaced.
import { randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream, type Stats } from 'node:fs';
import { access, chmod, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A path, to which the output is written completely or not at all; or a stream, which is ended. */
export type TemplateSink = string | Writable;

/** Permission bits of a mode, without the file type. */
const PERMISSIONS = 0o777;

/**
 * @param bytes the output; null: it is in the file at `path`
 * @param path path of the file with the output, if `bytes` is null
 */
export async function deliver(bytes: Uint8Array | null, path: string, sink: TemplateSink): Promise<void> {
  const output = (): Readable => (bytes === null ? createReadStream(path) : Readable.from([bytes]));
  if (typeof sink !== 'string') return pipeline(output(), sink);
  const known = await statsOf(sink);
  if (known !== null && !known.isFile()) return pipeline(output(), createWriteStream(sink));
  await place(output, sink, known);
}

async function place(output: () => Readable, name: string, known: Stats | null): Promise<void> {
  // A rename only needs write permission for the folder. This check respects files that were made read-only.
  if (known !== null) await access(name, constants.W_OK);
  const target = known === null ? name : await realpath(name);
  const mode = known === null ? null : known.mode & PERMISSIONS;
  const beside = join(dirname(target), `.${randomUUID()}.part`);
  try {
    await pipeline(output(), createWriteStream(beside, { flags: 'wx', ...(mode === null ? {} : { mode }) }));
    // Restores the permission bits that the umask removed.
    if (mode !== null) await chmod(beside, mode);
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
}

/** Null: the path does not exist. */
async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
