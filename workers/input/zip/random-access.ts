// What an archive is read from, and how bytes of it are asked for.
import { malformedArchive } from './malformed-archive.ts';

/** All bytes of a complete file. */
export interface RandomAccess {
  readonly sizeBytes: number;
  /** Fills `target` with the bytes from `position` on; gives how many, fewer only at the end of the file. */
  readAt(target: Uint8Array, position: number): number;
}

/** Exactly so many bytes at a place. Throws Failed where the file has fewer. */
export function readExactly(file: RandomAccess, position: number, bytes: number): Buffer {
  const short = (there: number): Error =>
    malformedArchive(`it ends too early: ${bytes} bytes are expected, ${there} are there`, Math.max(0, position));
  if (position < 0 || position + bytes > file.sizeBytes) throw short(Math.max(0, file.sizeBytes - position));
  const target = Buffer.allocUnsafe(bytes);
  const read = file.readAt(target, position);
  if (read !== bytes) throw short(read);
  return target;
}
