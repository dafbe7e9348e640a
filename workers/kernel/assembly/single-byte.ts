// Decodes single-byte encodings to UTF-8. Layout: layout/single-byte.ts.
import { FROM, LENGTH_SHIFT, TO } from '../layout/single-byte';

/**
 * Continues from the state up to `end`, or to a byte that the encoding does not define. The output needs three times
 * the number of input bytes, plus 16 bytes that may be overwritten.
 */
export function decodeSingleBytes(state: usize, end: usize, table: usize): void {
  let from = <usize>load<u32>(state, FROM);
  let to = <usize>load<u32>(state, TO);
  while (from < end) {
    const bytes = v128.load(from);
    v128.store(to, bytes);
    const mask = <u32>i8x16.bitmask(bytes);
    const left = end - from;
    const ascii: usize = mask == 0 ? <usize>16 : <usize>ctz(mask);
    if (ascii >= left) {
      from = end;
      to += left;
      break;
    }
    from += ascii;
    to += ascii;
    // Depending on the language, non-ASCII letters occur singly or in sequences.
    while (from < end) {
      const byte = <usize>load<u8>(from);
      if (byte < 0x80) break;
      const word = load<u32>(table + ((byte & 0x7f) << 2));
      if (word == 0) {
        store<u32>(state, <u32>from, FROM);
        store<u32>(state, <u32>to, TO);
        return;
      }
      store<u32>(to, word);
      to += <usize>(word >> LENGTH_SHIFT);
      from++;
    }
  }
  store<u32>(state, <u32>from, FROM);
  store<u32>(state, <u32>to, TO);
}
