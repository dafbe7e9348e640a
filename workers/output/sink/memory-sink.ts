// Keeps an output in memory: small outputs of Runs until they go on in a file (file-sink.ts), outputs of template tests.
import { Failed } from '../../protocol/failure.ts';
import type { OutputSink } from './output-sink.ts';

/** Size of the kept bytes at the second write; it doubles as they grow. The first is often the whole of a small output. */
const CAPACITY_BYTES_SECOND = 4096;

const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

export class MemorySink implements OutputSink {
  #kept = NOTHING;
  #sizeBytes = 0;
  readonly #bytesMax: number;
  readonly #roomBytes: number;

  /**
   * @param bytesMax more than this is Failed (RUN_RESOURCE_LIMIT)
   * @param roomBytes room to begin with, where so much is usual: growing leaves garbage behind
   */
  constructor(bytesMax: number = Number.POSITIVE_INFINITY, roomBytes = 0) {
    this.#bytesMax = bytesMax;
    this.#roomBytes = roomBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  write(bytes: Uint8Array): void {
    const size = this.#sizeBytes + bytes.length;
    if (size > this.#bytesMax) throw outputTooLarge();
    if (size > this.#kept.length) {
      if (this.#kept.length === 0) this.#kept = Buffer.allocUnsafe(Math.max(size, this.#roomBytes));
      else this.#grow(size);
    }
    this.#kept.set(bytes, this.#sizeBytes);
    this.#sizeBytes = size;
  }

  /**
   * The bytes written; the sink is empty then. More than a few kilobytes have a buffer of their own, which can be transferred
   * to another thread.
   */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#kept.length === this.#sizeBytes ? this.#kept : this.bytes();
    this.#kept = NOTHING;
    this.#sizeBytes = 0;
    return taken;
  }

  /** A copy of just the bytes written, in a buffer of its own. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view());
  }

  /** The bytes written, where they lie: until the next call. */
  view(): Uint8Array {
    return this.#kept.subarray(0, this.#sizeBytes);
  }

  /** Empty; the room stays for what comes next. */
  clear(): void {
    this.#sizeBytes = 0;
  }

  #grow(size: number): void {
    const grown = new Uint8Array(Math.max(size, this.#kept.length * 2, CAPACITY_BYTES_SECOND));
    grown.set(this.view());
    this.#kept = grown;
  }
}

/** RUN_RESOURCE_LIMIT: the plan's `output_bytes_max`. */
export function outputTooLarge(): Failed {
  return new Failed('RUN_RESOURCE_LIMIT', "The output is larger than the plan's ceiling for outputs.");
}
