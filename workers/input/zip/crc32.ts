// The checksum of a ZIP entry, by zlib.
import * as zlib from 'node:zlib';

export class Crc32 {
  #value = 0;

  add(bytes: Uint8Array): void {
    this.#value = zlib.crc32?.(bytes, this.#value) ?? 0;
  }

  /** Node before 20.15 has no such function: there the size and zlib's own checks have to do. */
  is(expected: number): boolean {
    return zlib.crc32 === undefined || this.#value === expected;
  }
}
