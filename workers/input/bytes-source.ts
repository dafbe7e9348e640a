// A small upload that travels whole, in memory.
import type { StoredSource } from './reader.ts';

export class BytesSource implements StoredSource {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  read(target: Uint8Array): number {
    const bytes = Math.min(target.length, this.#bytes.length - this.#at);
    target.set(this.#bytes.subarray(this.#at, this.#at + bytes));
    this.#at += bytes;
    return bytes;
  }

  whole(bytes: number): Uint8Array | null {
    return this.#bytes.length - this.#at < bytes ? this.#bytes.subarray(this.#at) : null;
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  rewind(): void {
    this.#at = 0;
  }

  close(): void {}
}
