// A source that first repeats the bytes that were used for detection, then continues with the rest.
import type { Coroutine } from '../../scheduling/coroutine.ts';
import type { ByteSource, FileRest } from './source.ts';

class PrefixSource implements ByteSource {
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

  rest(): FileRest | null {
    return this.#at < this.#prefix.length ? null : (this.#rest.rest?.() ?? null);
  }

  seek(at: number): void {
    this.#rest.seek!(at);
  }

  passed(at: number): void {
    this.#rest.passed?.(at);
  }

  wait(): Promise<void> {
    return this.#at < this.#prefix.length ? Promise.resolve() : this.#rest.wait();
  }

  close(): void {
    this.#rest.close();
  }
}

/**
 * Initial buffer size for the first bytes. It is enough for most small uploads; 64 KiB for each of them would be
 * garbage.
 */
const HEAD_BYTES_FIRST = 4096;

/**
 * Waits for the first `bytes` bytes of a source, fewer only if the source ends before.
 * @returns the bytes, and a source that repeats them
 */
export function* lookAhead(
  source: ByteSource,
  bytes: number,
): Coroutine<{ readonly head: Uint8Array; readonly source: ByteSource }> {
  const whole = source.whole?.(bytes) ?? null;
  if (whole !== null) return { head: whole, source };
  const head = yield* readHead(source, bytes);
  return { head, source: new PrefixSource(head, source) };
}

/** Reads `bytes` bytes, waiting for them; fewer only if the source ends before. */
function* readHead(source: ByteSource, bytes: number): Coroutine<Uint8Array> {
  let head = new Uint8Array(Math.min(bytes, HEAD_BYTES_FIRST));
  let length = 0;
  while (length < bytes) {
    if (length === head.length) {
      const larger = new Uint8Array(Math.min(bytes, head.length * 4));
      larger.set(head);
      head = larger;
    }
    const got = source.read(head.subarray(length));
    length += got;
    if (got > 0) continue;
    if (source.ended) break;
    yield source.wait();
  }
  return head.subarray(0, length);
}
