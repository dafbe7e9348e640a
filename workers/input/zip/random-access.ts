// The file interface of ZIP archives, and reading an exact number of bytes.
import { malformedArchive } from './limits.ts';

/** All bytes of a complete file. */
export interface RandomAccess {
  readonly sizeBytes: number;
  /**
   * Fills `target` with the bytes from `position` on and returns their number, which is smaller only at the end of the
   * file.
   */
  readAt(target: Uint8Array, position: number): number;
}

/** Reads exactly `bytes` bytes. Throws Failed if the file has fewer. */
export function readExactly(file: RandomAccess, position: number, bytes: number): Buffer {
  const short = (there: number): Error =>
    malformedArchive(
      `it ends too early: ${bytes} bytes are expected, but only ${there} are left`,
      Math.max(0, position),
    );
  if (position < 0 || position + bytes > file.sizeBytes) throw short(Math.max(0, file.sizeBytes - position));
  const target = Buffer.allocUnsafe(bytes);
  const read = file.readAt(target, position);
  if (read !== bytes) throw short(read);
  return target;
}
