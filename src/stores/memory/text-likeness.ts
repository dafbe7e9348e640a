// Texts that differ in single words from another one, as the JSON of Runs of one Template does: what is kept of such a text
// is how its words differ. Bytes of UTF-8; it does not know what is in them.
// A difference: how many bytes are as in the other text, as a number of 7 bits a byte; then the length of the word that
// stands there instead of the other one's, and its bytes; again and again. What follows is as in the other text.

/** Instead of a length: the text's own name. */
const OWN_NAME = 255;
const WORD_BYTES_MAX = 254;

const CONTINUED = 0x80;

/** Letters and digits of ASCII. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0));

/**
 * Writes how `text` differs from `other` into `target`, as far as that holds it.
 * @param name a word of ASCII that may stand in the text more than once
 * @returns the bytes written; null: it differs in more than words, or in more than `target` holds
 */
export function writeDifference(
  text: Uint8Array,
  other: Uint8Array,
  name: Uint8Array,
  target: Uint8Array,
): number | null {
  let at = 0;
  let there = 0;
  let copied = 0;
  let written = 0;
  while (at < text.length || there < other.length) {
    if (at < text.length && text[at] === other[there]) {
      at++;
      there++;
      continue;
    }
    let start = at;
    while (start > copied && IS_WORD[text[start - 1]!] === 1) start--;
    const end = wordEnd(text, at);
    const endThere = wordEnd(other, there);
    if (end === at && endThere === there) return null;
    const isName = isAt(text, start, end, name);
    const bytes = isName ? 0 : end - start;
    if (bytes > WORD_BYTES_MAX || written + bytes + NUMBERS_BYTES_MAX > target.length) return null;
    written = writeNumber(target, written, start - copied);
    target[written++] = isName ? OWN_NAME : bytes;
    for (let byte = 0; byte < bytes; byte++) target[written++] = text[start + byte]!;
    at = end;
    there = endThere;
    copied = end;
  }
  return written;
}

/** Before a word: five bytes of a number at most, and its length. */
const NUMBERS_BYTES_MAX = 6;

/** @param target as long as the text */
export function readDifference(difference: Uint8Array, other: Uint8Array, name: Uint8Array, target: Uint8Array): void {
  let at = 0;
  let there = 0;
  let read = 0;
  while (read < difference.length) {
    let copied = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = difference[read++]!;
      copied |= (byte & (CONTINUED - 1)) << shift;
      if (byte < CONTINUED) break;
    }
    target.set(other.subarray(there, there + copied), at);
    at += copied;
    there = wordEnd(other, there + copied);
    const bytes = difference[read++]!;
    const word = bytes === OWN_NAME ? name : difference.subarray(read, read + bytes);
    if (bytes !== OWN_NAME) read += bytes;
    target.set(word, at);
    at += word.length;
  }
  target.set(other.subarray(there), at);
}

function wordEnd(text: Uint8Array, start: number): number {
  let at = start;
  while (at < text.length && IS_WORD[text[at]!] === 1) at++;
  return at;
}

function isAt(text: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let byte = 0; byte < name.length; byte++) if (text[start + byte] !== name[byte]) return false;
  return true;
}

function writeNumber(target: Uint8Array, at: number, number: number): number {
  let behind = at;
  let rest = number;
  for (; rest >= CONTINUED; rest >>>= 7) target[behind++] = (rest & (CONTINUED - 1)) | CONTINUED;
  target[behind++] = rest;
  return behind;
}
