// Text of a single-byte encoding as UTF-8. What it shares with its callers is in layout/single-byte.ts.
import { FROM, LENGTH_SHIFT, TO } from '../layout/single-byte';

/**
 * Goes on from the state up to `end`, or to a byte that the encoding lacks. There must be room for three times as many
 * bytes, and 16 more may be written behind them.
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
    // Letters outside of ASCII stand alone in one language and in rows in another.
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
