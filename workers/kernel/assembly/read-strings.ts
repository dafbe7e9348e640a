// Reads shared strings of a workbook into memory, in the forms that nearly all programs write: `<si>` with a text, or with runs.
// Twin: workers/input/xlsx/shared-strings.ts, which reads all others, tag by tag.
import {
  AT,
  ENTRIES_AT,
  ENTRIES_END,
  ENTRY_BYTES,
  PREFIX,
  STATUS,
  TEXTS_AT,
  TEXTS_END,
} from '../layout/shared-strings';
import { STATUS_LEFT, STATUS_MORE } from '../layout/xml';
import { readRichText, SI_CLOSES } from './sheet-rich-text';
import { behindPrefix, behindSpaces, behindTag, endsName, isEmptyTag, LESS, usePrefix } from './sheet-tags';
import { copiedEnd } from './sheet-texts';

/** `si` in the low two bytes. */
const SI: u32 = 0x6973;

/** Goes on from AT up to `end`, behind which a fence stands (FENCE_BYTES), as far as STATUS tells and while there is room. */
export function readStrings(state: usize, end: usize): void {
  usePrefix(state + PREFIX);
  const limit = <usize>load<u32>(state, TEXTS_END);
  const entriesEnd = <usize>load<u32>(state, ENTRIES_END);
  let out = <usize>load<u32>(state, TEXTS_AT);
  let entry = <usize>load<u32>(state, ENTRIES_AT);
  let at = <usize>load<u32>(state, AT);
  let status = STATUS_MORE;
  for (;;) {
    at = behindSpaces(at, end);
    if (at >= end) break;
    const behind = entry < entriesEnd ? readItem(at, end, out, limit) : 0;
    if (behind > end) break;
    if (behind == 0) {
      status = STATUS_LEFT;
      break;
    }
    store<u32>(entry, <u32>out);
    store<u32>(entry, <u32>(copiedEnd - out), 4);
    entry += ENTRY_BYTES;
    out = copiedEnd;
    at = behind;
  }
  store<u32>(state, <u32>at, AT);
  store<u32>(state, <u32>out, TEXTS_AT);
  store<u32>(state, <u32>entry, ENTRIES_AT);
  store<u32>(state, status, STATUS);
}

/** Copies the text of the item that begins at `at`; gives the address behind it. */
// @ts-ignore: decorator
@inline
function readItem(at: usize, end: usize, out: usize, limit: usize): usize {
  if (<u32>load<u8>(at) != LESS) return 0;
  const name = behindPrefix(at + 1);
  if (<u32>load<u16>(name) != SI || !endsName(<u32>load<u8>(name, 2))) return 0;
  const inside = behindTag(name + 2, end);
  if (inside > end) return inside;
  return isEmptyTag ? 0 : readRichText(inside, end, out, limit, SI_CLOSES);
}
