// A source that gives again the bytes that were looked at before the reader was chosen, then goes on with the rest.
import type { ByteSource } from './reader.ts';

export class PrefixSource implements ByteSource {
  readonly #prefix: Uint8Array;
  readonly #rest: ByteSource;
  #at = 0;

  constructor(prefix: Uint8Array, rest: ByteSource) {
    this.#prefix = prefix;
    this.#rest = rest;
  }

  get ended(): boolean {
    return this.#at === this.#prefix.length && this.#rest.ended;
  }

  read(target: Uint8Array): number {
    const left = this.#prefix.length - this.#at;
    if (left === 0) return this.#rest.read(target);
    const bytes = Math.min(left, target.length);
    target.set(this.#prefix.subarray(this.#at, this.#at + bytes));
    this.#at += bytes;
    return bytes;
  }

  wait(): Promise<void> {
    return this.#at < this.#prefix.length ? Promise.resolve() : this.#rest.wait();
  }

  close(): void {
    this.#rest.close();
  }
}

/** Reads up to `bytes` bytes, waiting for them; fewer only where the source ends before. */
export async function readHead(source: ByteSource, bytes: number): Promise<Uint8Array> {
  const head = new Uint8Array(bytes);
  let length = 0;
  while (length < bytes) {
    const got = source.read(head.subarray(length));
    length += got;
    if (got > 0) continue;
    if (source.ended) break;
    await source.wait();
  }
  return head.subarray(0, length);
}
