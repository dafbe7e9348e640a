// Reads a complete file sequentially from its first byte. Several ForwardSources may read the same file, one after the
// other; closing one leaves the file open.
import type { ByteSource, FileRest, WholeSource } from './source.ts';

export class ForwardSource implements ByteSource {
  readonly #whole: WholeSource;
  #at = 0;

  constructor(whole: WholeSource) {
    this.#whole = whole;
  }

  get ended(): boolean {
    return this.#at >= this.#whole.sizeBytes;
  }

  read(target: Uint8Array): number {
    const bytes = this.#whole.readAt(target, this.#at);
    this.#at += bytes;
    return bytes;
  }

  rest(): FileRest | null {
    return this.#whole.restAt?.(this.#at) ?? null;
  }

  seek(at: number): void {
    this.#at += at - this.rest()!.from;
  }

  passed(at: number): void {
    this.#whole.passed?.(at);
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}
}
