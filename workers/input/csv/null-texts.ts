// The null_values of the Template in the Run's memory, in the form that the kernels compare with.
import { COUNT, LENGTH_BIT_MAX, LENGTHS, TEXTS } from '../../kernel/layout/null-texts.ts';
import type { Heap } from '../../memory/heap.ts';

export interface NullTexts {
  /** True if the empty text means null. */
  readonly empty: boolean;
  /** Address of the list of the other null texts (kernel/assembly/cell.ts), or 0 for an empty list. */
  readonly list: number;
  /**
   * True if the length of a raw field does not show whether it is null, and the field may have quotes. Every column
   * must then have views.
   */
  readonly always: boolean;
}

/** @param quote quote of the file, or '' for no quote */
export function placeNullTexts(heap: Heap, values: readonly string[], quote: string): NullTexts {
  const empty = values.includes('');
  const texts = [...new Set(values)].filter((value) => value !== '');
  const always = !empty || (quote !== '' && texts.some((text) => text.includes(quote)));
  if (texts.length === 0) return { empty, list: 0, always };
  const encoded = texts.map((text) => Buffer.from(text));
  const bytes = encoded.reduce((sum, text) => sum + 4 + align(text.length), TEXTS);
  const list = heap.allocate(bytes);
  const { u8, u32 } = heap;
  let mask = 0;
  let at = list + TEXTS;
  for (const text of encoded) {
    mask |= 1 << Math.min(text.length, LENGTH_BIT_MAX);
    u32[at >>> 2] = text.length;
    u8.set(text, at + 4);
    at += 4 + align(text.length);
  }
  u32[(list + COUNT) >>> 2] = encoded.length;
  u32[(list + LENGTHS) >>> 2] = mask >>> 0;
  return { empty, list, always };
}

function align(bytes: number): number {
  return (bytes + 3) & ~3;
}
