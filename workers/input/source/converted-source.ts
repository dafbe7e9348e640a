// A source whose bytes are made of those of another one, piece by piece.
import type { ByteSource } from './source.ts';

export abstract class ConvertedSource implements ByteSource {
  protected readonly inner: ByteSource;
  /** Made and not read yet. */
  #ready: Uint8Array = new Uint8Array(0);

  constructor(inner: ByteSource) {
    this.inner = inner;
  }

  /** Whether nothing follows what `convert` has given. */
  protected abstract get isConverted(): boolean;

  /** The next bytes, which stay as they are until it is called again; none where none can be made now. */
  protected abstract convert(): Uint8Array;

  get ended(): boolean {
    return this.isConverted && this.#ready.length === 0;
  }

  read(target: Uint8Array): number {
    if (this.#ready.length === 0) this.#ready = this.convert();
    const bytes = Math.min(this.#ready.length, target.length);
    target.set(this.#ready.subarray(0, bytes));
    this.#ready = this.#ready.subarray(bytes);
    return bytes;
  }

  async wait(): Promise<void> {
    if (this.#ready.length === 0 && !this.inner.ended) await this.inner.wait();
  }

  close(): void {
    this.inner.close();
  }
}
