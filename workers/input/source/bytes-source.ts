// A small upload that is sent to the thread as a whole, in memory.
import type { StoredSource } from './source.ts';

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
    const rest = this.#rest();
    const bytes = rest.length <= target.length ? rest : rest.subarray(0, target.length);
    target.set(bytes);
    this.#at += bytes.length;
    return bytes.length;
  }

  whole(bytes: number): Uint8Array | null {
    return this.#bytes.length - this.#at < bytes ? this.#rest() : null;
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  get hasArrived(): boolean {
    return true;
  }

  arrival(): Promise<void> {
    return Promise.resolve();
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  readAt(target: Uint8Array, position: number): number {
    const bytes = this.#bytes.subarray(position, position + target.length);
    target.set(bytes);
    return bytes.length;
  }

  get reachedBytes(): number {
    return this.#at;
  }

  rewind(): void {
    this.#at = 0;
  }

  close(): void {}

  #rest(): Uint8Array {
    return this.#at === 0 ? this.#bytes : this.#bytes.subarray(this.#at);
  }
}
