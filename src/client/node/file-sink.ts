// An output on its way into a file: it gets its name when it is whole, and nothing is left of it when it is given up.
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import type { OutputSink } from '../resumed-download.ts';

export class FileSink implements OutputSink {
  readonly #path: string;
  readonly #partPath: string;
  readonly #file: FileHandle;
  #hash: Hash = createHash('sha256');
  #bytes = 0;

  /** Rejects with a system error where nothing can be written beside `path`. */
  static async open(path: string): Promise<FileSink> {
    const known = await stat(path).catch(() => null);
    if (known?.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path} is a folder`), { code: 'EISDIR' });
    const partPath = `${path}.${crypto.randomUUID()}.part`;
    return new FileSink(path, partPath, await open(partPath, 'wx'));
  }

  private constructor(path: string, partPath: string, file: FileHandle) {
    this.#path = path;
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

  /** The file is there whole, also after a loss of power. */
  async keep(): Promise<void> {
    await this.#file.sync();
    await this.#file.close();
    await rename(this.#partPath, this.#path);
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.#partPath, { force: true });
  }
}
