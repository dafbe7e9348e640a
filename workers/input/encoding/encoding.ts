// Decides the encoding of a text: a byte order mark wins, then the setting of the Template, then UTF-8.

import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { Failed } from '../../protocol/failure.ts';
import type { EncodingSetting } from '../../template/template.ts';
import { leastUtf8Cost, likelyReadings, type Reading, singleByteCosts } from './likely-encoding.ts';
import { type NonAsciiSample, nonAsciiLinesOf } from './non-ascii-lines.ts';
import { charactersOf, DOS_NAMES, isTotal, SINGLE_BYTE_NAMES } from './single-byte-table.ts';
import { endsInsideCharacter, type MixedLines, mixedEncodings, Undecodable, unmarkedUtf16 } from './undecodable.ts';

// Encoding names that a Template may use: the WHATWG labels, and two DOS code pages.

/** Requests the most likely encoding instead of a named one. */
export const AUTO = 'auto';

/** Names of DOS code pages in Python, iconv and other programs, with the names used here. */
const DOS_LABELS: Readonly<Record<string, string>> = { cp437: 'ibm437', cp850: 'ibm850', cp866: 'ibm866' };

/** Multi-byte encodings that the runtime supports, and common aliases of encodings. */
const OTHER_NAMES = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'shift_jis', 'euc-jp', 'iso-2022-jp', 'gb18030', 'gbk', 'big5', 'euc-kr'],
  ...['utf8', 'utf-16', 'latin1', 'iso-8859-1', 'iso-8859-9', 'cp1252', 'us-ascii'],
];

/** Candidates for "Did you mean ...?". */
export const SUGGESTED_NAMES: readonly string[] = [...OTHER_NAMES, ...SINGLE_BYTE_NAMES, AUTO];

/** Returns the encoding name for a label, in lower case, or null for an unknown label. */
export function encodingName(label: string): string | null {
  const written = label.trim().toLowerCase();
  const name = DOS_LABELS[written] ?? written;
  if (DOS_NAMES.includes(name)) return name;
  try {
    return new TextDecoder(name, { fatal: true }).encoding;
  } catch {
    return null;
  }
}

// Finds files in UTF-8 that end inside a character, such as an interrupted download. Their last line is not valid UTF-8,
// but they are not in another encoding.

/**
 * Minimum number of bytes of the incomplete character that show UTF-8. A single byte may also be a letter in another
 * encoding.
 */
const OPEN_BYTES_MIN = 2;

/**
 * `likely`: the rest of the file shows that it is UTF-8. `possible`: the last byte is the only non-ASCII byte. null: the
 * file is not UTF-8 up to its last character.
 */
export function cutOff({ bytes, openBytes, hasMark }: NonAsciiSample): 'likely' | 'possible' | null {
  if (openBytes === 0) return null;
  // The last line is followed by an LF.
  const text = bytes.subarray(0, bytes.length - 1 - openBytes);
  if (!isUtf8(text)) return null;
  return hasMark || openBytes >= OPEN_BYTES_MIN || !isAscii(text) ? 'likely' : 'possible';
}

/** Throws Failed if the file seems to be UTF-8 that is cut off. */
export function refuseCutOff(lines: NonAsciiSample): void {
  const failed = cutOffFailure(lines);
  if (failed !== null) throw failed;
}

/** Returns the failure of a file that seems to be UTF-8 that is cut off, or null. */
export function cutOffFailure(lines: NonAsciiSample): Failed | null {
  return cutOff(lines) === 'likely' ? endsInsideCharacter(lines.numbers.at(-1)!) : null;
}

// Finds files with some lines in UTF-8 and others in a single-byte encoding. Programs that append to a file of another
// program produce them.

/**
 * Cost in bits of assuming a mixture, because such files are rare and a short line in another encoding may be valid
 * UTF-8 by chance.
 */
const MIXTURE_BITS = 6;

const LF = 10;

/**
 * Returns the line numbers of both kinds, or null if a single encoding for all lines is more likely.
 * @param readings likelyReadings of all lines, if the caller has them
 */
export function mixtureOf({ bytes, numbers }: NonAsciiSample, readings?: readonly Reading[]): MixedLines | null {
  const lines = { utf8: [] as Uint8Array[], other: [] as Uint8Array[] };
  const found = { utf8: [] as number[], other: [] as number[] };
  let from = 0;
  for (const number of numbers) {
    const end = bytes.indexOf(LF, from) + 1;
    const line = bytes.subarray(from, end);
    const kind = isUtf8(line) ? 'utf8' : 'other';
    lines[kind].push(line);
    found[kind].push(number);
    from = end;
  }
  if (found.utf8.length === 0 || found.other.length === 0) return null;
  const [other] = singleByteCosts(Buffer.concat(lines.other));
  // Lines with NUL bytes are not text in any single-byte encoding.
  if (other === undefined) return null;
  const utf8Bits = leastUtf8Cost(Buffer.concat(lines.utf8).toString());
  const [single] = readings ?? likelyReadings(bytes);
  return single === undefined || MIXTURE_BITS + utf8Bits + other.cost < single.cost ? found : null;
}

export interface Encoding {
  /** Name in lower case, such as utf-8, utf-16le, windows-1252. */
  readonly name: string;
  /** Length of the byte order mark, which is skipped. */
  readonly markBytes: number;
  /** Set only if the encoding is a guess: the kind of characters that the non-ASCII bytes are in this encoding. */
  readonly guessedBy?: string;
  /**
   * Set if the encoding was chosen by the beginning of the file alone. A line of UTF-8 in the rest ends the attempt (see
   * LateUtf8).
   */
  readonly mayBeMixed?: true;
}

/** Facts that an earlier attempt learnt about a file: encodings in which it is invalid, its lines, quotes after spaces. */
export interface EncodingTries {
  /** Names of the encodings in which the file is invalid. */
  readonly failed: readonly string[];
  /** Lines with non-ASCII bytes from the whole file, or null if the file has not been scanned for them. */
  readonly nonAsciiLines: NonAsciiSample | null;
  /** Set if a quoted field after spaces occurred after the part of the file that detection examines (see LateQuote). */
  readonly quotesAfterSpace?: true;
  /** The same facts about each of several files that are read one after the other, by their numbers from 1. */
  readonly files?: ReadonlyMap<number, EncodingTries>;
}

export const NOTHING_TRIED: EncodingTries = { failed: [], nonAsciiLines: null };

/** Maximum number of encodings that `auto` tries, because each attempt may read the whole file. */
const AUTO_TRIES_MAX = 4;

/**
 * Thresholds for UTF-16 without a byte order mark. In UTF-16, each ASCII character, such as a delimiter, has a NUL as
 * one of its two bytes. The first number is the minimum share of NUL bytes, the second the maximum share of NUL bytes
 * at the other position of a pair.
 */
const NUL_SHARE_MIN = 0.05;
const OTHER_NULS_SHARE_MAX = 0.1;
/**
 * Thresholds for a text of single bytes that contains some NUL bytes. Its other bytes are printable ASCII; the bytes of
 * letters of other alphabets in UTF-16 rarely are. First: the minimum share of pairs of printable bytes among the pairs
 * without NUL, and the minimum share of pairs without NUL. Second: the minimum number of consecutive pairs of printable
 * bytes, for a file of which a part is UTF-16.
 */
const PRINTABLE_SHARE_MIN = 0.9;
const FILLED_SHARE_MIN = 0.4;
const PRINTABLE_PAIRS_MIN = 12;
/** High byte of Japanese kana in UTF-16, and the digit 0 in ASCII. Pairs with this byte show neither encoding. */
const KANA = 0x30;
/** Characters that do not occur in texts. */
const NO_TEXT = /[\0-\x08\x0b\x0e-\x19\x1b-\x1f\ufffd-\uffff]/;

const NO_ENCODING = 'The file is not valid UTF-8, and no other supported encoding is likely. Save it as UTF-8.';

const NUL_AND_NO_ENCODING =
  'The file is not valid UTF-8, and lines with letters beyond ASCII contain NUL bytes, as in a file that is not text. If it is text, ' +
  'declare its encoding in the Template (input.csv.encoding), and write input.csv.nul_bytes: drop to leave NUL bytes out.';

/**
 * @param setting `input.csv.encoding` of the Template, already checked (see encodingName)
 * @throws Failed for UTF-32, for a mixture of UTF-8 with another encoding, and for UTF-8 that is cut off, Undecodable if no encoding is left to try
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
    return { ...likelyOf(head, isWhole, tries), markBytes };
  }
  // Ignores earlier attempts: formats without an encoding setting read the text as UTF-8.
  if (setting === null) return { name: 'utf-8', markBytes };
  const names = namesToTry(setting, tries.failed);
  const name = names.length < 2 ? names[0] : (names.find((one) => mayBeValid(head, isWhole, one)) ?? names.at(-1));
  if (name === undefined) throw new Undecodable('utf-8', NO_ENCODING);
  const skipped = names.slice(0, names.indexOf(name));
  if (!skipped.includes('utf-8')) return { name, markBytes };
  const lines = tries.nonAsciiLines ?? nonAsciiLinesOf(head, isWhole);
  refuseCutOff(lines);
  const mixture = mixtureOf(lines);
  if (mixture !== null) throw mixedEncodings(mixture);
  return { name, markBytes, ...restOf(isWhole, tries) };
}

/** True if there is another encoding in which the file has not been tried. */
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

function restOf(isWhole: boolean, { nonAsciiLines }: EncodingTries): Pick<Encoding, 'mayBeMixed'> {
  return isWhole || nonAsciiLines !== null ? {} : { mayBeMixed: true };
}

function likelyOf(head: Uint8Array, isWhole: boolean, tries: EncodingTries): Omit<Encoding, 'markBytes'> {
  const { failed, nonAsciiLines } = tries;
  const utf16 = looksLikeUtf16(head);
  if (utf16 !== null && !failed.includes(utf16)) return { name: utf16, guessedBy: 'NUL in every second byte' };
  if (!failed.includes('utf-8') && mayBeValid(head, isWhole, 'utf-8')) return { name: 'utf-8' };
  const lines = nonAsciiLines ?? nonAsciiLinesOf(head, isWhole);
  refuseCutOff(lines);
  const readings = likelyReadings(lines.bytes);
  const likely = readings.find(({ encoding }) => !failed.includes(encoding));
  if (likely === undefined || failed.length >= AUTO_TRIES_MAX) {
    throw new Undecodable('utf-8', lines.bytes.includes(0) ? NUL_AND_NO_ENCODING : NO_ENCODING);
  }
  const mixture = mixtureOf(lines, readings);
  if (mixture !== null) throw mixedEncodings(mixture);
  return { name: likely.encoding, guessedBy: likely.shows, ...restOf(isWhole, tries) };
}

/** The beginning of a file, see FileStart. */
interface EncodedStart {
  readonly bytes: Uint8Array;
  encoding(declared: EncodingSetting): Encoding;
}

/**
 * Refuses UTF-16 text without a byte order mark if the Template names no encoding: read as UTF-8, it would be full of NUL
 * bytes. Throws Failed. Does nothing if the Template drops NUL bytes, because it then expects them in single-byte text.
 */
export function refuseUnmarkedUtf16(start: EncodedStart, declared: EncodingSetting, dropsNulBytes: boolean): void {
  if (dropsNulBytes || declared !== null || start.encoding(declared).name !== 'utf-8') return;
  const name = looksLikeUtf16(start.bytes);
  if (name !== null) throw unmarkedUtf16(name);
}

/** Returns the byte order of a UTF-16 file without a byte order mark, or null for any other file. */
function looksLikeUtf16(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head.indexOf(0) < 0) return null;
  const nuls = [0, 0];
  for (let at = 0; at < head.length; at++) if (head[at] === 0) nuls[at & 1]!++;
  const [even, odd] = nuls as [number, number];
  const [fewer, more] = even < odd ? [even, odd] : [odd, even];
  if (more < head.length * NUL_SHARE_MIN || fewer > more * OTHER_NULS_SHARE_MAX) return null;
  if (isOfSingleBytes(head, even > odd ? 0 : 1)) return null;
  const name = even > odd ? 'utf-16be' : 'utf-16le';
  const text = new TextDecoder(name).decode(head.subarray(0, head.length & ~1), { stream: true });
  return NO_TEXT.test(text) ? null : name;
}

/**
 * True if the text consists of single bytes, although it contains NUL bytes or a part in UTF-16. This is the case if
 * enough bytes are printable, or if no line break is in UTF-16.
 * @param high index of the high byte in a pair
 */
function isOfSingleBytes(head: Uint8Array, high: 0 | 1): boolean {
  const pairs = head.length >> 1;
  let filled = 0;
  let printable = 0;
  let consecutive = 0;
  let breakBytes = 0;
  let lineBreaks = 0;
  for (let at = 0; at + 1 < head.length; at += 2) {
    const [first, second] = [head[at]!, head[at + 1]!];
    const isFilled = first !== 0 && second !== 0 && head[at + high] !== KANA;
    const isBoth = isFilled && isPrintable(first) && isPrintable(second);
    if (isFilled) filled++;
    if (isBoth) printable++;
    consecutive = isBoth ? consecutive + 1 : 0;
    if (consecutive === PRINTABLE_PAIRS_MIN) return true;
    if (isLineBreak(first) || isLineBreak(second)) breakBytes++;
    if (head[at + high] === 0 && isLineBreak(head[at + 1 - high]!)) lineBreaks++;
  }
  if (breakBytes > 0 && lineBreaks === 0) return true;
  return filled > pairs * FILLED_SHARE_MIN && printable >= filled * PRINTABLE_SHARE_MIN;
}

/** Printable ASCII, tab and line breaks. */
function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || isLineBreak(byte);
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}

/** True if the first bytes may be the beginning of a file that is valid in the encoding. */
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

/** Returns the end of the last complete UTF-8 character, judged by the last four bytes. */
function lastBoundary(head: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, head.length); back++) {
    const byte = head[head.length - back]!;
    if (byte >= 0xc0) return head.length - back;
    if (byte < 0x80) break;
  }
  return head.length;
}
