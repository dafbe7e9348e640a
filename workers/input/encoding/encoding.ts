// Decides how the bytes of a text are encoded: a byte order mark wins, then what the Template says, then UTF-8.
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { Failed } from '../../protocol/failure.ts';
import type { EncodingSetting } from '../../template/template.ts';
import { highLinesOf } from './high-lines.ts';
import { AUTO, encodingName } from './labels.ts';
import { likelyEncodings } from './likely-encoding.ts';
import { charactersOf, isTotal } from './single-byte-table.ts';
import { Undecodable } from './undecodable.ts';

export interface Encoding {
  /** Name in lower case, such as utf-8, utf-16le, windows-1252. */
  readonly name: string;
  /** Bytes of the byte order mark to skip. */
  readonly markBytes: number;
  /** It is the most likely one, which nobody has named. */
  readonly isGuess?: true;
}

/** What was learnt of a file that was read before, and was not valid in the encodings that were tried. */
export interface EncodingTries {
  /** Names of those. */
  readonly failed: readonly string[];
  /** Lines with bytes outside ASCII, from the whole file; null where it was not looked through. */
  readonly highLines: Uint8Array | null;
}

export const NOTHING_TRIED: EncodingTries = { failed: [], highLines: null };

/** `auto` gives up behind so many: each try may read the whole file. */
const AUTO_TRIES_MAX = 4;

/** UTF-16 of letters of ASCII has a NUL in half of its bytes: so many are enough, all at even or all at odd places. */
const NUL_SHARE_MIN = 0.25;

const NO_ENCODING =
  'The file is not valid UTF-8, and no other encoding that input.csv.encoding could name is likely. Save it as UTF-8.';

/**
 * @param setting the Template's `input.csv.encoding`, checked with the Template (see encodingName)
 * @throws Failed for UTF-32, Undecodable where nothing is left to try
 */
export function encodingOf(
  head: Uint8Array,
  isWhole: boolean,
  setting: EncodingSetting,
  tries: EncodingTries,
): Encoding {
  const mark = markOf(head);
  if (mark !== null && !tries.failed.includes(mark.name)) return mark;
  const markBytes = mark?.markBytes ?? 0;
  if (setting === AUTO) {
    const name = likelyOf(head, isWhole, tries);
    return name === 'utf-8' ? { name, markBytes } : { name, markBytes, isGuess: true };
  }
  // Whatever was tried: formats that know no setting look at the text as UTF-8.
  if (setting === null) return { name: 'utf-8', markBytes };
  const names = namesToTry(setting, tries.failed);
  const name = names.length < 2 ? names[0] : (names.find((one) => mayBeValid(head, isWhole, one)) ?? names.at(-1));
  if (name === undefined) throw new Undecodable('utf-8', NO_ENCODING);
  return { name, markBytes };
}

/** Whether there is another encoding in which the file has not been tried. */
export function canTryAgain(setting: EncodingSetting, failed: readonly string[]): boolean {
  if (setting === AUTO) return failed.length < AUTO_TRIES_MAX;
  return namesToTry(setting, failed).length > 0;
}

function namesToTry(setting: EncodingSetting, failed: readonly string[]): readonly string[] {
  const labels = setting === null ? ['utf-8'] : typeof setting === 'string' ? [setting] : setting;
  return labels.map((label) => encodingName(label) ?? label).filter((name) => !failed.includes(name));
}

function markOf(head: Uint8Array): Encoding | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { name: 'utf-8', markBytes: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) {
    if (head[2] === 0 && head[3] === 0 && head.length >= 4)
      throw new Failed('MALFORMED_FILE', 'The file is UTF-32; send UTF-8.');
    return { name: 'utf-16le', markBytes: 2 };
  }
  return head[0] === 0xfe && head[1] === 0xff ? { name: 'utf-16be', markBytes: 2 } : null;
}

function likelyOf(head: Uint8Array, isWhole: boolean, { failed, highLines }: EncodingTries): string {
  const utf16 = looksLikeUtf16(head);
  if (utf16 !== null && !failed.includes(utf16)) return utf16;
  if (!failed.includes('utf-8') && mayBeValid(head, isWhole, 'utf-8')) return 'utf-8';
  const likely = likelyEncodings(highLines ?? highLinesOf(head, isWhole)).find((name) => !failed.includes(name));
  if (likely === undefined || failed.length >= AUTO_TRIES_MAX) throw new Undecodable('utf-8', NO_ENCODING);
  return likely;
}

/** Of a file without a mark. */
function looksLikeUtf16(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head.indexOf(0) < 0) return null;
  const nuls = [0, 0];
  for (let at = 0; at < head.length; at++) if (head[at] === 0) nuls[at & 1]!++;
  const [even, odd] = nuls as [number, number];
  if (even + odd < head.length * NUL_SHARE_MIN || (even > 0 && odd > 0)) return null;
  return even > 0 ? 'utf-16be' : 'utf-16le';
}

/** Whether the first bytes of a file may be the beginning of one that is valid. */
function mayBeValid(head: Uint8Array, isWhole: boolean, name: string): boolean {
  if (name === 'utf-8') return isUtf8(isWhole ? head : head.subarray(0, lastBoundary(head)));
  const characters = charactersOf(name);
  if (characters !== null)
    return isTotal(characters) || head.every((byte) => byte < 0x80 || characters[byte - 0x80] !== 0);
  try {
    new TextDecoder(name, { fatal: true }).decode(head, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Behind the last whole character of UTF-8, as far as the last four bytes tell. */
function lastBoundary(head: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, head.length); back++) {
    const byte = head[head.length - back]!;
    if (byte >= 0xc0) return head.length - back;
    if (byte < 0x80) break;
  }
  return head.length;
}
