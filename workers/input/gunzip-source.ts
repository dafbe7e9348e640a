// Inflates a gzip-compressed upload on the way (Node's zlib, in its thread pool), no further ahead than one piece.
import { createGunzip, type Gunzip } from 'node:zlib';
import { Failed } from '../failure.ts';
import type { ByteSource } from './reader.ts';

/** Compressed bytes handed to zlib at a time: they inflate to 8 MiB at most (1,032 times is deflate's limit). */
const COMPRESSED_PIECE_BYTES = 8_192;

export class GunzipSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #inflatedBytesMax: number;
  readonly #gunzip: Gunzip = createGunzip();
  #ready: Buffer[] = [];
  #inflatedBytes = 0;
  #done = false;
  #failure: Error | null = null;

  /** @param inflatedBytesMax ceiling of what comes out, in bytes; above it Failed FILE_TOO_LARGE */
  constructor(inner: ByteSource, inflatedBytesMax: number) {
    this.#inner = inner;
    this.#inflatedBytesMax = inflatedBytesMax;
    this.#gunzip.on('data', (piece: Buffer) => {
      this.#inflatedBytes += piece.length;
      this.#ready.push(piece);
    });
    this.#gunzip.on('error', (error) => {
      this.#failure = error;
    });
  }

  get ended(): boolean {
    return this.#done && this.#ready.length === 0;
  }

  read(target: Uint8Array): number {
    let length = 0;
    while (length < target.length && this.#ready.length > 0) {
      const piece = this.#ready[0]!;
      const bytes = Math.min(piece.length, target.length - length);
      target.set(piece.subarray(0, bytes), length);
      length += bytes;
      if (bytes === piece.length) this.#ready.shift();
      else this.#ready[0] = piece.subarray(bytes);
    }
    return length;
  }

  async wait(): Promise<void> {
    while (this.#ready.length === 0 && !this.#done) {
      const piece = Buffer.allocUnsafe(COMPRESSED_PIECE_BYTES);
      const bytes = this.#inner.read(piece);
      if (bytes > 0) await this.#inflate(piece.subarray(0, bytes));
      else if (this.#inner.ended) await this.#end();
      else await this.#inner.wait();
    }
  }

  close(): void {
    this.#gunzip.destroy();
    this.#inner.close();
  }

  async #inflate(piece: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#gunzip.once('close', resolve);
      this.#gunzip.write(piece, () => {
        this.#gunzip.off('close', resolve);
        resolve();
      });
    });
    this.#check();
  }

  async #end(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#gunzip.once('end', resolve);
      this.#gunzip.once('close', resolve);
      this.#gunzip.end();
    });
    this.#check();
    this.#done = true;
  }

  #check(): void {
    if (this.#failure !== null) throw new Failed('MALFORMED_FILE', 'The gzip data is corrupt or cut off.');
    if (this.#inflatedBytes > this.#inflatedBytesMax) {
      throw new Failed('FILE_TOO_LARGE', `The file inflates to more than ${this.#inflatedBytesMax} bytes.`);
    }
  }
}
