// The only place that brings a text into a normal form of Unicode. The runtime's own `normalize` sorts a run of combining
// marks by insertion and joins what it can by moving the rest, which both cost the square of the run's length: here long
// runs are cut into pieces first.

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** Most marks that are sorted together, counted as NFKD writes them: UAX 15, "Stream-Safe Text Format" (section 13). */
export const MARK_RUN_MAX = 30;

/**
 * Longest piece that is handed to the runtime at once, in UTF-16 units: it copies what it normalises twice, NFKD makes up to
 * 18 of one, and where blocks of megabytes are freed the C library keeps such blocks from then on.
 */
const PIECE_UNITS_MAX = 16_384;

/**
 * A text in a normal form, in time that grows with its length. A run of more than MARK_RUN_MAX marks is brought into the form in
 * pieces of so many, each by itself; nothing is inserted (stream-safe text has U+034F between the pieces) and nothing refused.
 * No language has such a run: the longest of Unicode's own examples has a dozen.
 */
export function normalise(text: string, form: NormalForm): string {
  if (text.length <= PIECE_UNITS_MAX) return normalisePiece(text, form);
  let made = '';
  for (let from = 0; from < text.length; ) {
    const to = pieceEnd(text, from);
    made += normalisePiece(text.slice(from, to), form);
    from = to;
  }
  return made;
}

/** Before a character that joins nothing before it; where there is none, as among marks alone, the text's end. */
function pieceEnd(text: string, from: number): number {
  const longest = from + PIECE_UNITS_MAX;
  let at = longest;
  while (at > from && mayJoin(text, at)) at--;
  if (at > from) return at;
  at = longest + 1;
  while (at < text.length && mayJoin(text, at)) at++;
  return at;
}

/** Whether what begins at a UTF-16 unit may join what stands before it; the second half of a pair begins nothing. */
function mayJoin(text: string, at: number): boolean {
  if (MAY_BE_MARK[text.charCodeAt(at)] === 0) return false;
  const point = text.codePointAt(at);
  return point !== undefined && (isSecondHalf(point) || MARK.test(String.fromCodePoint(point)));
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function normalisePiece(text: string, form: NormalForm): string {
  if (!mayHoldLongRun(text)) return text.normalize(form);
  let made = '';
  let from = 0;
  for (const cut of cutsOf(text)) {
    made += text.slice(from, cut).normalize(form);
    from = cut;
  }
  return made + text.slice(from).normalize(form);
}

/**
 * What may be sorted among, or join, what stands before it: all marks, what becomes one in NFKD (half-width voicing), two vowels
 * of Kirat Rai, and the vowels and finals of Hangul (also the compatible and half-width ones), which are never cut where it shows.
 */
const MARKS =
  '\\p{M}\\uFF9E\\uFF9F\\u{16D67}\\u{16D68}\\u1161-\\u1175\\u11A8-\\u11C2\\u3133\\u3135\\u3136\\u313A-\\u313F\\u314F-\\u3163' +
  '\\uFFA3\\uFFA5\\uFFA6\\uFFAA-\\uFFAF\\uFFC2-\\uFFC7\\uFFCA-\\uFFCF\\uFFD2-\\uFFD7\\uFFDA-\\uFFDC';

/** A mark is at most three in NFKD, and any character ends in at most three: fewer than this are never more than MARK_RUN_MAX. */
const LONG_RUN_CHARACTERS = 10;

const MARK = new RegExp(`[${MARKS}]`, 'u');
const MARKS_AT_END = new RegExp(`[${MARKS}]*$`, 'u');
const LONG_RUN = new RegExp(`[${MARKS}]{${LONG_RUN_CHARACTERS}}`, 'gu');
/** The engine of regular expressions keeps 16 bytes for each character that it has repeated: so many are looked for at once. */
const RUN_PIECE = new RegExp(`[${MARKS}]{1,1000}`, 'uy');

const FIRST_MARK = 0x300;

type MarkRanges = readonly (readonly [first: number, last: number])[];

/** Where UTF-16 units of marks stand, generously: letters in between need no second look. The last three are surrogates. */
const MARK_RANGES: MarkRanges = [
  [0x300, 0x36f],
  [0x483, 0x489],
  [0x591, 0x5c7],
  [0x610, 0x61a],
  [0x64b, 0x670],
  [0x6d6, 0x6ed],
  [0x711, 0x711],
  [0x730, 0x903],
  [0xe31, 0xe3a],
  [0xe47, 0xe4e],
  [0xeb1, 0xece],
  [0xf18, 0x139f],
  [0x1712, 0x1c3f],
  [0x1cd0, 0x1cff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0x2ce0, 0x2dff],
  [0x302a, 0x302f],
  [0x3099, 0x309a],
  [0x3133, 0x3163],
  [0xa66f, 0xa6ff],
  [0xa802, 0xabff],
  [0xfb1e, 0xfb1e],
  [0xfe00, 0xfe2f],
  [0xff9e, 0xffdc],
  [0xd800, 0xd83a],
  [0xdb40, 0xdb40],
  [0xdc00, 0xdfff],
];

/** The scripts of India have a block of 128 each, all laid out alike: signs at its start, vowels, lengths, more vowels. */
const INDIC = { first: 0x900, last: 0xdff, block: 0x80 };
const INDIC_RANGES: MarkRanges = [
  [0x00, 0x04],
  [0x3a, 0x5f],
  [0x62, 0x63],
  [0x70, 0x7f],
];

/** By UTF-16 unit: whether it may be of a mark. */
const MAY_BE_MARK = markTable();

/** A run of so many characters covers one of every so many units: only these are looked at. */
function mayHoldLongRun(text: string): boolean {
  for (let at = LONG_RUN_CHARACTERS - 1; at < text.length; at += LONG_RUN_CHARACTERS) {
    if (text.charCodeAt(at) >= FIRST_MARK && isInLongRun(text, at)) return true;
  }
  return false;
}

function isInLongRun(text: string, at: number): boolean {
  let from = at;
  while (from >= 0 && from > at - LONG_RUN_CHARACTERS && mayBeMark(text.charCodeAt(from))) from--;
  if (from === at) return false;
  let to = at + 1;
  while (to < text.length && to - from <= LONG_RUN_CHARACTERS && mayBeMark(text.charCodeAt(to))) to++;
  return to - from > LONG_RUN_CHARACTERS;
}

/** Half of a pair may be of a mark wherever one of its kind is. */
function mayBeMark(unit: number): boolean {
  if (MAY_BE_MARK[unit] === 0) return false;
  return (unit >= 0xd800 && unit < 0xe000) || MARK.test(String.fromCharCode(unit));
}

/** Where the pieces begin, but for the first. */
function cutsOf(text: string): number[] {
  const cuts: number[] = [];
  const lengths = new Map<string, number>();
  LONG_RUN.lastIndex = 0;
  for (let found = LONG_RUN.exec(text); found !== null; found = LONG_RUN.exec(text)) {
    let count = marksAtEnd(text.slice(Math.max(0, found.index - 2), found.index));
    let at = found.index;
    for (const mark of marksFrom(text, at)) {
      let length = lengths.get(mark);
      if (length === undefined) {
        length = [...mark.normalize('NFKD')].length;
        lengths.set(mark, length);
      }
      if (count + length > MARK_RUN_MAX) {
        cuts.push(at);
        count = 0;
      }
      count += length;
      at += mark.length;
    }
    LONG_RUN.lastIndex = at;
  }
  return cuts;
}

/** The marks of a run, one after the other. */
function* marksFrom(text: string, start: number): Generator<string> {
  for (let at = start; ; ) {
    RUN_PIECE.lastIndex = at;
    const piece = RUN_PIECE.exec(text)?.[0];
    if (piece === undefined) return;
    yield* piece;
    at += piece.length;
  }
}

/** How many marks the last character of a text ends in. */
function marksAtEnd(text: string): number {
  const last = [...text].at(-1) ?? '';
  return [...MARKS_AT_END.exec(last.normalize('NFKD'))![0]].length;
}

function markTable(): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (const [first, last] of MARK_RANGES) table.fill(1, first, last + 1);
  for (let block = INDIC.first; block < INDIC.last; block += INDIC.block) {
    for (const [first, last] of INDIC_RANGES) table.fill(1, block + first, block + last + 1);
  }
  return table;
}
