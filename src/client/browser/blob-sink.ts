// An output in a browser's memory.
import type { OutputSink } from '../resumed-download.ts';

export class BlobSink implements OutputSink {
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  async append(piece: Uint8Array): Promise<void> {
    this.#pieces.push(new Uint8Array(piece));
    this.#bytes += piece.length;
  }

  async clear(): Promise<void> {
    this.#pieces = [];
    this.#bytes = 0;
  }

  async sha256(): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await this.blob().arrayBuffer()));
    return btoa(String.fromCharCode(...digest));
  }

  blob(): Blob {
    return new Blob(this.#pieces);
  }
}
