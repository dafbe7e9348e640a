// Unicode normalisation in linear time. The only caller of the runtime's `normalize`, which takes quadratic time for
// a long run of combining marks (it sorts marks by insertion, and composes characters by moving the rest). Here, long
// runs are split into pieces first.

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/**
 * Maximum number of marks that are sorted together, counted in NFKD: UAX 15, "Stream-Safe Text Format" (section 13).
 */
export const MARK_RUN_MAX = 30;

/**
 * Maximum length of a piece that is passed to the runtime, in UTF-16 units. The runtime copies its input twice, and
 * NFKD turns one unit into up to 18. After freeing blocks of megabytes, the C library would keep such blocks.
 */
const PIECE_UNITS_MAX = 16_384;

/**
 * Normalises a text in linear time. A run of more than MARK_RUN_MAX marks is normalised in pieces of that size.
 * Nothing is inserted (stream-safe text has U+034F between pieces) and nothing is refused. Real languages do not have
 * such runs: the longest of Unicode's examples has a dozen marks.
 */
export function normalise(text: string, form: NormalForm): string {
  return text.length <= PIECE_UNITS_MAX ? normalisePiece(text, form) : done(normaliseInSlices(text, form));
}

/** Work that yields `undefined` wherever the caller may pause. */
type Work<T> = Generator<undefined, T, undefined>;

/** Like normalise, for long texts. */
export function* normaliseInSlices(text: string, form: NormalForm): Work<string> {
  if (text.length <= PIECE_UNITS_MAX) return yield* pieceInSlices(text, form);
  const made: string[] = [];
  for (const piece of separatePieces(text)) {
    if (piece !== undefined) made.push(yield* pieceInSlices(piece, form));
    yield;
  }
  return made.join('');
}

/**
 * Splits a text into pieces that do not combine with each other in any form. A piece is short, except in a run of
 * marks. Yields `undefined` wherever the caller may pause.
 */
export function* separatePieces(text: string): Generator<string | undefined, void, undefined> {
  for (let from = 0; from < text.length; ) {
    const to = yield* pieceEnd(text, from);
    yield text.slice(from, to);
    from = to;
  }
}

/**
 * End of a piece: before a character that does not combine with the text before it. If there is no such character, as
 * in a run of marks, the end of the text.
 */
function* pieceEnd(text: string, from: number): Work<number> {
  const longest = from + PIECE_UNITS_MAX;
  let at = longest;
  while (at > from && mayJoin(text, at)) at--;
  if (at > from) return at;
  at = longest + 1;
  while (at < text.length && mayJoin(text, at)) {
    at++;
    if (at % PIECE_UNITS_MAX === 0) yield;
  }
  return at;
}

/**
 * True if the character at a UTF-16 unit may combine with the text before it. True for the second half of a surrogate
 * pair, too.
 */
function mayJoin(text: string, at: number): boolean {
  if (MAY_BE_MARK[text.charCodeAt(at)] === 0) return false;
  const point = text.codePointAt(at);
  return point !== undefined && (isSecondHalf(point) || MARK.test(String.fromCodePoint(point)));
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function normalisePiece(text: string, form: NormalForm): string {
  return mayHoldLongRun(text) ? done(pieceInSlices(text, form)) : text.normalize(form);
}

/** Pieces of a run of marks that are normalised between two pauses: a few milliseconds of work. */
const RUN_PIECES_MAX = 256;

function* pieceInSlices(text: string, form: NormalForm): Work<string> {
  if (!mayHoldLongRun(text)) return text.normalize(form);
  const made: string[] = [];
  let from = 0;
  for (const cut of cutsOf(text)) {
    made.push(text.slice(from, cut).normalize(form));
    from = cut;
    if (made.length % RUN_PIECES_MAX === 0) yield;
  }
  made.push(text.slice(from).normalize(form));
  return made.join('');
}

/** Does the work without pauses. */
export function done<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/**
 * Characters that may be reordered with, or combine with, the text before them: all marks, characters that become
 * marks in NFKD (half-width voicing), two vowels of Kirat Rai, and the vowels and finals of Hangul (including
 * compatibility and half-width forms), so that no cut has a visible effect.
 */
const MARKS =
  '\\p{M}\\uFF9E\\uFF9F\\u{16D67}\\u{16D68}\\u1161-\\u1175\\u11A8-\\u11C2\\u3133\\u3135\\u3136\\u313A-\\u313F\\u314F-\\u3163' +
  '\\uFFA3\\uFFA5\\uFFA6\\uFFAA-\\uFFAF\\uFFC2-\\uFFC7\\uFFCA-\\uFFCF\\uFFD2-\\uFFD7\\uFFDA-\\uFFDC';

/**
 * A mark has at most three marks in NFKD, and any character ends in at most three. A run of fewer characters than
 * this therefore never exceeds MARK_RUN_MAX.
 */
const LONG_RUN_CHARACTERS = 10;

const MARK = new RegExp(`[${MARKS}]`, 'u');
const MARKS_AT_END = new RegExp(`[${MARKS}]*$`, 'u');
const LONG_RUN = new RegExp(`[${MARKS}]{${LONG_RUN_CHARACTERS}}`, 'gu');
/** The regular expression engine keeps 16 bytes for each repeated character, so a match is limited in length. */
const RUN_PIECE = new RegExp(`[${MARKS}]{1,1000}`, 'uy');

const FIRST_MARK = 0x300;

type MarkRanges = readonly (readonly [first: number, last: number])[];

/**
 * Generous ranges of UTF-16 units that may belong to marks. Letters in between are checked a second time. The last
 * three ranges are surrogates.
 */
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

/**
 * The scripts of India have blocks of 128 characters with the same layout: signs at the start, vowels, lengths, more
 * vowels.
 */
const INDIC = { first: 0x900, last: 0xdff, block: 0x80 };
const INDIC_RANGES: MarkRanges = [
  [0x00, 0x04],
  [0x3a, 0x5f],
  [0x62, 0x63],
  [0x70, 0x7f],
];

/** For each UTF-16 unit, 1 if it may belong to a mark. */
const MAY_BE_MARK = markTable();

/**
 * A run of LONG_RUN_CHARACTERS units contains one of every LONG_RUN_CHARACTERS positions, so only these are checked.
 */
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

/** Half of a surrogate pair may belong to a mark if a mark with that half exists. */
function mayBeMark(unit: number): boolean {
  if (MAY_BE_MARK[unit] === 0) return false;
  return (unit >= 0xd800 && unit < 0xe000) || MARK.test(String.fromCharCode(unit));
}

/** Start positions of all pieces except the first. */
function* cutsOf(text: string): Generator<number, void, undefined> {
  const lengths = new Map<string, number>();
  let at = 0;
  for (;;) {
    // Set again each time, because other texts are searched during a pause.
    LONG_RUN.lastIndex = at;
    const found = LONG_RUN.exec(text);
    if (found === null) return;
    at = found.index;
    let count = marksAtEnd(text.slice(Math.max(0, at - 2), at));
    for (const mark of marksFrom(text, at)) {
      let length = lengths.get(mark);
      if (length === undefined) {
        length = [...mark.normalize('NFKD')].length;
        lengths.set(mark, length);
      }
      if (count + length > MARK_RUN_MAX) {
        yield at;
        count = 0;
      }
      count += length;
      at += mark.length;
    }
  }
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

/** Number of marks at the end of the last character of a text. */
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
