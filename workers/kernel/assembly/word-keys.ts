// Makes keys that spellings of one name share: words in small letters, sorted, none twice. Plain twin: fingerprintOf of
// values/likeness.ts, which gets the cells with characters beyond ASCII and those with more words or bytes than fit here.
import { BACK } from '../layout/byte-table';

const WORDS_MAX: usize = 32;
const TEXT_BYTES_MAX: usize = 1024;

/** A cell with what the table makes of its bytes. */
const SPELLED: usize = memory.data(1024);
/** Start and end of each word, u32 each, in the order of the words. */
const WORDS: usize = memory.data(256);

const SPACE: u32 = 32;

/**
 * @param table u8 of each byte: what it becomes, 0 to leave it out, a space where a word ends, BACK to hand the cell back
 * @returns the next free address, 0: there was no room
 */
export function wordKeys(views: usize, rows: usize, count: u32, table: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: usize = 0, back: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), bytes = <usize>load<u32>(view, 4);
    if (next + bytes > limit) return 0;
    const words = bytes > TEXT_BYTES_MAX ? WORDS_MAX + 1 : sortedWords(start, start + bytes, table);
    if (words > WORDS_MAX) {
      store<u32>(todo + (++back << 2), row);
      continue;
    }
    const end = joined(words, next);
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(end - next), 4);
    next = end;
    store<u32>(rows + (kept++ << 2), row);
  }
  store<u32>(todo, <u32>back);
  return next;
}

/** How many different words WORDS has of the text, above WORDS_MAX where the cell is handed back. */
function sortedWords(p: usize, end: usize, table: usize): usize {
  let words: usize = 0, out = SPELLED, word = SPELLED;
  for (; p < end; p++) {
    const byte = <u32>load<u8>(table + <usize>load<u8>(p));
    if (byte == BACK) return WORDS_MAX + 1;
    if (byte == SPACE) {
      if (out > word && (words = withWord(words, word, out)) > WORDS_MAX) return words;
      word = out;
    } else if (byte != 0) store<u8>(out++, <u8>byte);
  }
  return out > word ? withWord(words, word, out) : words;
}

/** Puts a word into its place among the others, unless it is there. */
function withWord(words: usize, start: usize, end: usize): usize {
  let at = words;
  for (; at > 0; at--) {
    const other = WORDS + ((at - 1) << 3);
    const order = compare(<usize>load<u32>(other), <usize>load<u32>(other, 4), start, end);
    if (order == 0) return words;
    if (order < 0) break;
  }
  if (words == WORDS_MAX) return words + 1;
  const place = WORDS + (at << 3);
  memory.copy(place + 8, place, (words - at) << 3);
  store<u32>(place, <u32>start);
  store<u32>(place, <u32>end, 4);
  return words + 1;
}

/** Below, equal to or above 0, as the first text stands before, is, or stands behind the second one. */
function compare(a: usize, aEnd: usize, b: usize, bEnd: usize): i32 {
  for (; a < aEnd && b < bEnd; a++, b++) {
    const order = <i32>load<u8>(a) - <i32>load<u8>(b);
    if (order != 0) return order;
  }
  return <i32>(aEnd - a) - <i32>(bEnd - b);
}

/** The words with spaces between them: never longer than the text that they are of. */
function joined(words: usize, out: usize): usize {
  for (let word: usize = 0; word < words; word++) {
    if (word > 0) store<u8>(out++, <u8>SPACE);
    const entry = WORDS + (word << 3);
    const start = <usize>load<u32>(entry), bytes = <usize>load<u32>(entry, 4) - start;
    memory.copy(out, start, bytes);
    out += bytes;
  }
  return out;
}
