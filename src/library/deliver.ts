// Where the library puts what a Run has made: a stream; a file, found through links, whole or not at all; or a pipe or a
// device, which is written into and never replaced.
import { randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream, type Stats } from 'node:fs';
import { access, chmod, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A path, which gets the output whole or not at all; or a stream, which is ended. */
export type TemplateSink = string | Writable;

/** Of a mode, without the file's type. */
const PERMISSIONS = 0o777;

/**
 * @param bytes the output; null: it is in the file
 * @param path of the file that holds it then
 */
export async function deliver(bytes: Uint8Array | null, path: string, sink: TemplateSink): Promise<void> {
  const output = (): Readable => (bytes === null ? createReadStream(path) : Readable.from([bytes]));
  if (typeof sink !== 'string') return pipeline(output(), sink);
  const known = await statsOf(sink);
  if (known !== null && !known.isFile()) return pipeline(output(), createWriteStream(sink));
  await place(output, sink, known);
}

async function place(output: () => Readable, name: string, known: Stats | null): Promise<void> {
  // A rename asks for the folder's permission alone; who has made a file read-only means it.
  if (known !== null) await access(name, constants.W_OK);
  const target = known === null ? name : await realpath(name);
  const mode = known === null ? null : known.mode & PERMISSIONS;
  const beside = join(dirname(target), `.${randomUUID()}.part`);
  try {
    await pipeline(output(), createWriteStream(beside, { flags: 'wx', ...(mode === null ? {} : { mode }) }));
    // The umask has taken from it.
    if (mode !== null) await chmod(beside, mode);
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
}

/** null: nothing is there. */
async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
