// Looks through a whole file for what shows its encoding, without reading it as anything.
import type { Pauses } from '../run/slice-clock.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import { HighLines } from './encoding/high-lines.ts';
import { openContent } from './open-rows.ts';
import type { ByteSource } from './source/source.ts';
import { isZip } from './zip/is-zip.ts';

/** Bytes looked at at a time: a tenth of a millisecond of work. */
const PIECE_BYTES = 65_536;

/** Null for an archive, whose files are not looked through. @param stored from its first byte on. Throws Failed, Cancelled. */
export function* highLinesOfFile(
  stored: ByteSource,
  inflatedBytesMax: number | null,
  { clock, giveWay }: { readonly clock: Pauses; readonly giveWay: () => Promise<void> },
): Coroutine<Uint8Array | null> {
  const { head, source } = yield* openContent(stored, inflatedBytesMax);
  try {
    if (isZip(head)) return null;
    const lines = new HighLines();
    const piece = new Uint8Array(PIECE_BYTES);
    while (!source.ended && !lines.isFull) {
      const bytes = source.read(piece);
      lines.add(piece.subarray(0, bytes));
      if (bytes === 0 && !source.ended) yield source.wait();
      if (clock.isDue()) yield giveWay();
    }
    return lines.bytes(false);
  } finally {
    source.close();
  }
}
