// Small texts that the programs of the output kernels refer to, in a Run's memory.
import type { Heap } from '../memory/heap.ts';

/** Gives the address of a text; the same text is placed once. */
export function textPlacer(heap: Heap): (text: Uint8Array) => number {
  const known = new Map<string, number>();
  return (text) => {
    const key = Buffer.from(text).toString('latin1');
    let at = known.get(key);
    if (at === undefined) {
      at = heap.allocate(text.length);
      heap.u8.set(text, at);
      known.set(key, at);
    }
    return at;
  };
}
