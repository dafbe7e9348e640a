// Format in which the messages of one event loop turn cross threads: one JSON text, plus one buffer with all short
// byte strings. For a small Run, a structured clone of many objects and the transfer of many buffers would cost more
// than all of its other work.

/** Longer byte strings that fill their buffer are transferred with it; the others are copied. In bytes. */
export const COPIED_BYTES_MAX = 16 * 1024;

/**
 * Maximum number of messages in one frame; the rest of the turn's messages go into the next frames, so that the
 * receiver can start early. Measured with 64 clients of small Runs: 8 % more Runs per second, and a p99 of 13.5 ms
 * instead of 14.9 ms. With half this limit, the cost of the additional posts cancels the gain.
 */
export const FRAME_MESSAGES_MAX = 16;

/** Memory that several threads use. */
export type Shared = SharedArrayBuffer | KeysMemory;

/**
 * The WebAssembly memory in which kernels of several threads work. Described by its members, because the pages, which
 * import this file, know another declaration of WebAssembly.
 */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** Memory for the keys or the sorted rows of several threads, and the compiled kernels that work in it. */
export interface KeysMemory {
  readonly memory: SharedMemory;
  readonly kernels: WebAssembly.Module;
}

/** In a KeysMemory: address of its words, of which the first two are the next free page and the number of paid pages. */
export const KEYS_WORDS_AT = 66_048;
export const NEXT_PAGE = 0;
export const PAID_PAGES = 1;

/** Size of a page of a KeysMemory. */
export const KEYS_PAGE_BYTES = 65_536;

/** The posted object. */
export interface Frame {
  /** The messages as JSON. */
  readonly text: string;
  /**
   * Long strings, which the messages refer to by index. They are outside the JSON text so that they are not parsed on
   * the way.
   */
  readonly reports: readonly string[];
  /** The first buffer holds all copied byte strings. */
  readonly buffers: readonly ArrayBuffer[];
  /** Memory that the threads share, which the messages refer to by index. */
  readonly shared: readonly Shared[];
}

/** Position of a byte string in a frame: index in `buffers`, then offset and length in that buffer. */
export type PackedPlace = readonly [buffer: number, start: number, length: number];

/** Collects the byte strings of the next frame. */
export class FrameBytes {
  #copied: Uint8Array[] = [];
  #copiedBytes = 0;
  #given: ArrayBuffer[] = [];

  /**
   * Bytes in a part of a buffer are copied: it may be Node's pool, which cannot be transferred. Node 24 and later take
   * Buffers of up to 32 KiB from the pool.
   *
   * @param bytes if longer than COPIED_BYTES_MAX, the caller must not use them again
   */
  add(bytes: Uint8Array): PackedPlace {
    const { length } = bytes;
    if (length > COPIED_BYTES_MAX && bytes.buffer.byteLength === length) {
      this.#given.push(bytes.buffer as ArrayBuffer);
      return [this.#given.length, 0, length];
    }
    const start = this.#copiedBytes;
    this.#copied.push(bytes);
    this.#copiedBytes += length;
    return [0, start, length];
  }

  /** Completes the frame. Byte strings that are added later belong to the next frame. */
  frame(text: string, reports: readonly string[] = [], shared: readonly Shared[] = []): Frame {
    const copy = new Uint8Array(this.#copiedBytes);
    let at = 0;
    for (const bytes of this.#copied) {
      copy.set(bytes, at);
      at += bytes.length;
    }
    const buffers = [copy.buffer, ...this.#given];
    this.#copied = [];
    this.#copiedBytes = 0;
    this.#given = [];
    return { text, reports, buffers, shared };
  }
}

/** Returns a view of a byte string in a received frame. */
export function bytesAt({ buffers }: Frame, [buffer, start, length]: PackedPlace): Uint8Array {
  return new Uint8Array(buffers[buffer]!, start, length);
}
