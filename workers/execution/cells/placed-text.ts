// Texts of the Template put into the Run's memory once, for kernels to copy or compare.
import type { Heap } from '../../memory/heap.ts';

/** Where a text of the Template lies in memory. */
export interface PlacedText {
  readonly at: number;
  readonly bytes: number;
}

export function placeText(heap: Heap, text: string): PlacedText {
  return placeBytes(heap, Buffer.from(text, 'utf8'));
}

export function placeBytes(heap: Heap, bytes: Uint8Array): PlacedText {
  const at = heap.allocate(bytes.length);
  heap.u8.set(bytes, at);
  return { at, bytes: bytes.length };
}
