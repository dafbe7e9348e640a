// An output on its way into a file: it gets its name when it is whole, and nothing is left of it when it is given up.
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { OutputSink } from '../resumed-download.ts';
import { type OutputPlace, outputPlace, pour } from './output-place.ts';

/** What open(2) is asked for by all programs that make files; the umask takes from it. */
const NEW_FILE_MODE = 0o666;
/** In the folder for temporary files, which others see. */
const OWN_FILE_MODE = 0o600;

export class FileSink implements OutputSink {
  readonly #place: OutputPlace;
  readonly #partPath: string;
  readonly #file: FileHandle;
  #hash: Hash = createHash('sha256');
  #bytes = 0;

  /** Rejects with a system error where nothing can be written at `path`, or beside it. */
  static async open(path: string): Promise<FileSink> {
    const place = await outputPlace(path);
    const { folder, mode } = place.isFile
      ? { folder: dirname(place.path), mode: place.mode ?? NEW_FILE_MODE }
      : { folder: tmpdir(), mode: OWN_FILE_MODE };
    // Not the target's name and more: that may be longer than a name can be.
    const partPath = join(folder, `.${crypto.randomUUID()}.part`);
    return new FileSink(place, partPath, await open(partPath, 'wx', mode));
  }

  private constructor(place: OutputPlace, partPath: string, file: FileHandle) {
    this.#place = place;
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

  /** The file is there whole, also after a loss of power; or all of it is in the pipe. @param signal ends the wait for who reads a pipe */
  async keep(signal: AbortSignal): Promise<void> {
    const { path, mode, isFile } = this.#place;
    if (!isFile) {
      await pour(this.#partPath, path, signal);
      return this.remove();
    }
    // The umask has taken from it.
    if (mode !== null) await this.#file.chmod(mode);
    await this.#file.sync();
    await this.#file.close();
    await rename(this.#partPath, path);
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.#partPath, { force: true });
  }
}
