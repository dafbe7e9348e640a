// Writing an output to the disk: whole pieces, and what the disk's refusals mean for a Run.
import { writeSync } from 'node:fs';
import { diskFailure } from '../../protocol/failure.ts';

/** Throws Failed (RUN_RESOURCE_LIMIT) where the disk refuses; any other fault as it is. */
export function guardDisk(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw diskFailure(error);
  }
}

/** @param position byte of the file, null: behind what was written before */
export function writeWhole(descriptor: number, bytes: Uint8Array, position: number | null = null): void {
  let at = 0;
  while (at < bytes.length) {
    at += writeSync(descriptor, bytes, at, bytes.length - at, position === null ? null : position + at);
  }
}
