// Texts of cells and of shared strings with their runs: `<t>`, and `<r>` with a `<t>` and properties. Phonetic readings and what
// else may stand there are left to another reader.
import {
  behindClosing,
  behindPrefix,
  behindSpaces,
  behindTag,
  endsName,
  isEmptyTag,
  LESS,
  SLASH,
} from './sheet-tags';
import { copiedEnd, copyText, setCopiedEnd } from './sheet-texts';

const LETTER_R: u32 = 0x72;
const LETTER_T: u32 = 0x74;

/** `is>`, `si>` and `rPr` in the low three bytes. */
export const IS_CLOSES: u32 = 0x3e7369;
export const SI_CLOSES: u32 = 0x3e6973;
const RPR: u32 = 0x725072;
/** `rPr>` */
const RPR_CLOSES: u32 = 0x3e725072;
const THREE_BYTES: u32 = 0xffffff;

/**
 * Joins the texts that stand from `at` on to `out`, up to the closing tag of the item; gives the address behind that, and copiedEnd is
 * behind the text. 0: left; behind `end`: more bytes are wanted.
 * @param closes IS_CLOSES or SI_CLOSES
 */
export function readRichText(at: usize, end: usize, out: usize, limit: usize, closes: u32): usize {
  let isInRun = false;
  while (at < end) {
    at = behindSpaces(at, end);
    if (<u32>load<u8>(at) != LESS) return at >= end ? end + 1 : 0;
    if (<u32>load<u8>(at, 1) == SLASH) {
      const closing = behindPrefix(at + 2);
      if (!isInRun) {
        setCopiedEnd(out);
        return (load<u32>(closing) & THREE_BYTES) == closes ? closing + 3 : 0;
      }
      at = behindClosing(at, end, LETTER_R);
      if (at == 0) return 0;
      isInRun = false;
      continue;
    }
    const name = behindPrefix(at + 1);
    const letter = <u32>load<u8>(name);
    if (letter == LETTER_T && endsName(<u32>load<u8>(name, 1))) {
      at = behindTag(name + 1, end);
      if (at > end) return at;
      if (isEmptyTag) continue;
      at = copyText(at, end, out, limit);
      if (at == 0 || at > end) return at;
      out = copiedEnd;
      at = behindClosing(at, end, LETTER_T);
      if (at == 0) return 0;
    } else if (letter == LETTER_R && endsName(<u32>load<u8>(name, 1)) && !isInRun) {
      at = behindTag(name + 1, end);
      if (at > end) return at;
      isInRun = !isEmptyTag;
    } else if ((load<u32>(name) & THREE_BYTES) == RPR && endsName(<u32>load<u8>(name, 3))) {
      at = behindProperties(name + 3, end);
      if (at == 0 || at > end) return at;
    } else return 0;
  }
  return end + 1;
}

/** Behind the properties of a run, whose name ends at `at`: elements without content. */
function behindProperties(at: usize, end: usize): usize {
  at = behindTag(at, end);
  if (at > end || isEmptyTag) return at;
  while (at < end) {
    at = behindSpaces(at, end);
    if (<u32>load<u8>(at) != LESS) return at >= end ? end + 1 : 0;
    if (<u32>load<u8>(at, 1) == SLASH) {
      const name = behindPrefix(at + 2);
      return load<u32>(name) == RPR_CLOSES ? name + 4 : 0;
    }
    if (!isLetter(<u32>load<u8>(at, 1))) return 0;
    at = behindTag(at + 2, end);
    if (at > end) return at;
    if (!isEmptyTag) return 0;
  }
  return end + 1;
}

// @ts-ignore: decorator
@inline
function isLetter(byte: u32): bool {
  return (byte | 0x20) - 0x61 < 26;
}
