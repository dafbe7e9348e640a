// Scans a whole file for lines that reveal its encoding. Does not parse it.

import type { Coroutine } from '../scheduling/coroutine.ts';
import type { Pauses } from '../scheduling/time-slices.ts';
import { NonAsciiLines, type NonAsciiSample } from './encoding/non-ascii-lines.ts';
import { openContent } from './open-rows.ts';
import type { ByteSource } from './source/source.ts';
import { isZip } from './zip/is-zip.ts';

/** Bytes scanned at a time: a tenth of a millisecond of work. */
const PIECE_BYTES = 65_536;

/**
 * Returns null for an archive, whose files are not scanned. Throws Failed, Cancelled.
 * @param stored source that starts at the first byte of the file
 */
export function* nonAsciiLinesOfFile(
  stored: ByteSource,
  inflatedBytesMax: number | null,
  { clock, giveWay }: { readonly clock: Pauses; readonly giveWay: () => Promise<void> },
): Coroutine<NonAsciiSample | null> {
  const { head, source } = yield* openContent(stored, inflatedBytesMax);
  try {
    if (isZip(head)) return null;
    const lines = new NonAsciiLines();
    const piece = new Uint8Array(PIECE_BYTES);
    while (!source.ended && !lines.isFull) {
      const bytes = source.read(piece);
      lines.add(piece.subarray(0, bytes));
      if (bytes === 0 && !source.ended) yield source.wait();
      if (clock.isDue()) yield giveWay();
    }
    return lines.sample(false);
  } finally {
    source.close();
  }
}
