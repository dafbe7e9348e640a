// A source that another one can take the place of: a JSON file is looked through before it is read.

import { BytesSource } from '../source/bytes-source.ts';
import type { DecodeWork } from '../source/decode-work.ts';
import type { ByteSource, FileRest } from '../source/source.ts';

export class ReplaceableSource implements ByteSource {
  #inner: ByteSource = new BytesSource(new Uint8Array(0));

  /** What was before is not closed. */
  replace(source: ByteSource): void {
    this.#inner = source;
  }

  get ended(): boolean {
    return this.#inner.ended;
  }

  read(target: Uint8Array): number {
    return this.#inner.read(target);
  }

  rest(): FileRest | null {
    return this.#inner.rest?.() ?? null;
  }

  seek(at: number): void {
    this.#inner.seek!(at);
  }

  passed(at: number): void {
    this.#inner.passed?.(at);
  }

  bytesOf(text: Uint8Array): number {
    return this.#inner.bytesOf?.(text) ?? text.length;
  }

  decode(): DecodeWork | null {
    return this.#inner.decode?.() ?? null;
  }

  wait(): Promise<void> {
    return this.#inner.wait();
  }

  close(): void {
    this.#inner.close();
  }
}
