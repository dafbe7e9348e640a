// Removes HTML tags from texts, and replaces character references.
import { done, editInPieces, PIECE_UNITS, type TextWork } from './text-edits.ts';

// Removes HTML tags from a text in one pass. A tag must end before the next `<`, and a missing end is searched only
// once, so that no text takes quadratic time.

/** Maximum number of pieces held before they are joined. */
const PIECES_MAX = 65_536;

const TAG_START = /^<(?:\/?[A-Za-z]|[!?])/;
const TAG_START_UNITS = 3;

/** Tags whose start or end separates lines, blocks or table cells (HTML Standard, 15.3 "Non-replaced elements"). */
const PARTING_TAGS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol optgroup option p pre search section select ' +
    'summary table tbody td textarea tfoot th thead title tr ul'
  ).split(' '),
);

/** Elements whose content is not text of the page. */
const HIDDEN_TAGS = ['script', 'style'] as const;

/**
 * Removes comments, tags, scripts and styles. A tag that separated two texts is replaced by a space. A `>` inside a
 * quoted attribute value does not end the tag. A `<` that does not start a tag is kept.
 */
export function removeTags(text: string): string {
  return done(removeTagsInSlices(text));
}

/** Like removeTags, with pauses. */
export function* removeTagsInSlices(text: string): TextWork {
  const bare = withoutHidden(withoutComments(text));
  const pieces = new TextPieces();
  let from = 0;
  let looked = 0;
  for (let at = bare.indexOf('<'); at >= 0; ) {
    if (at - looked > PIECE_UNITS) {
      looked = at;
      yield;
    }
    const next = bare.indexOf('<', at + 1);
    const end = endOfTag(bare, at, next < 0 ? bare.length : next);
    if (end !== null) {
      pieces.add(bare.slice(from, at));
      if (PARTING_TAGS.has(tagName(bare, at))) pieces.part();
      from = end;
    }
    at = next;
  }
  pieces.add(bare.slice(from));
  return pieces.text;
}

/** Joins texts, with a space where a tag separated two texts that have no space between them. */
class TextPieces {
  #pieces: string[] = [];
  #isParted = false;
  /** Last character so far. Reading it from the joined text would copy that text each time. */
  #last = '';

  /** Call this after all texts were added. */
  get text(): string {
    return this.#pieces.join('');
  }

  part(): void {
    this.#isParted = this.#last !== '';
  }

  add(piece: string): void {
    if (piece === '') return;
    if (this.#isParted && !/^\s/.test(piece) && !/\s/.test(this.#last)) this.#pieces.push(' ');
    this.#isParted = false;
    this.#pieces.push(piece);
    this.#last = piece.at(-1)!;
    // A long text may have a million pieces.
    if (this.#pieces.length >= PIECES_MAX) this.#pieces = [this.#pieces.join('')];
  }
}

const TAG_NAME = /<\/?([A-Za-z][A-Za-z0-9]{0,15})/y;

/** Name of the tag in lower case; empty for a declaration, and for names longer than the names in PARTING_TAGS. */
function tagName(text: string, at: number): string {
  TAG_NAME.lastIndex = at;
  return TAG_NAME.exec(text)?.[1]?.toLowerCase() ?? '';
}

/** Removes the content of scripts and styles. An element without an end tag is kept. */
function withoutHidden(text: string): string {
  let bare = text;
  for (const name of HIDDEN_TAGS) bare = withoutElement(bare, name);
  return bare;
}

function withoutElement(text: string, name: string): string {
  const begin = new RegExp(`<${name}(?=[\\s/>])`, 'gi');
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  let made = '';
  let from = 0;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    end.lastIndex = found.index;
    const last = end.exec(text);
    if (last === null) break;
    made += text.slice(from, found.index);
    from = last.index;
    begin.lastIndex = from;
  }
  return made + text.slice(from);
}

function withoutComments(text: string): string {
  let made = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf('<!--', from);
    const end = at < 0 ? -1 : text.indexOf('-->', at);
    if (end < 0) return made + text.slice(from);
    made += text.slice(from, at);
    from = end + '-->'.length;
  }
}

/** Position after the `>` that ends the tag at `at`. Null if there is no tag, or if it does not end before `next`. */
function endOfTag(text: string, at: number, next: number): number | null {
  if (!TAG_START.test(text.slice(at, at + TAG_START_UNITS))) return null;
  let isValueNext = false;
  for (let i = at + 1; i < next; i++) {
    const sign = text[i]!;
    if (sign === '>') return i + 1;
    if (isValueNext && (sign === '"' || sign === "'")) {
      const close = text.indexOf(sign, i + 1);
      // A quote without a matching quote is an ordinary character.
      if (close >= 0 && close < next) i = close;
    }
    isValueNext = sign === '=' || (isValueNext && sign <= ' ');
  }
  return null;
}

// Replaces the character references of HTML (`&amp;`, `&#39;`): numeric ones, and the names in the table below.

/**
 * Replaces references in one pass; the result is not scanned again. A reference without a semicolon is kept, because
 * it may be part of a URL.
 */
export function unescapeHtml(text: string): string {
  return text.replace(
    /&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,7}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED.get(name) ?? whole;
      return characterOf(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)) ?? whole;
    },
  );
}

/** Characters that occur only at the end of a reference. */
const BETWEEN_REFERENCES = /[\s,;<>]/g;

/** Like unescapeHtml, for long texts. */
export function unescapeHtmlInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_REFERENCES, unescapeHtml);
}

/**
 * The character of a number, or null. The numbers 128 to 159 mean characters of Windows-1252, as in browsers, because
 * their authors intended these.
 */
function characterOf(point: number): string | null {
  if (point >= 0x80 && point < 0xa0) return WINDOWS_1252[point - 0x80]!;
  const isNone = point === 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000);
  return isNone ? null : String.fromCodePoint(point);
}

/** Characters 128 to 159 of Windows-1252. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Names of U+00A0 to U+00FF, in order. */
const LATIN_NAMES =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring ' +
  'AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml ' +
  'times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil ' +
  'egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ' +
  'ugrave uacute ucirc uuml yacute thorn yuml';

/** Names and their code points. */
const OTHER_NAMES =
  'quot:22 amp:26 lt:3c gt:3e OElig:152 oelig:153 Scaron:160 scaron:161 Yuml:178 fnof:192 circ:2c6 tilde:2dc ' +
  'Alpha:391 Beta:392 Gamma:393 Delta:394 Epsilon:395 Zeta:396 Eta:397 Theta:398 Iota:399 Kappa:39a Lambda:39b ' +
  'Mu:39c Nu:39d Xi:39e Omicron:39f Pi:3a0 Rho:3a1 Sigma:3a3 Tau:3a4 Upsilon:3a5 Phi:3a6 Chi:3a7 Psi:3a8 ' +
  'Omega:3a9 alpha:3b1 beta:3b2 gamma:3b3 delta:3b4 epsilon:3b5 zeta:3b6 eta:3b7 theta:3b8 iota:3b9 kappa:3ba ' +
  'lambda:3bb mu:3bc nu:3bd xi:3be omicron:3bf pi:3c0 rho:3c1 sigmaf:3c2 sigma:3c3 tau:3c4 upsilon:3c5 phi:3c6 ' +
  'chi:3c7 psi:3c8 omega:3c9 thetasym:3d1 upsih:3d2 piv:3d6 ensp:2002 emsp:2003 thinsp:2009 zwnj:200c zwj:200d ' +
  'lrm:200e rlm:200f ndash:2013 mdash:2014 lsquo:2018 rsquo:2019 sbquo:201a ldquo:201c rdquo:201d bdquo:201e ' +
  'dagger:2020 Dagger:2021 bull:2022 hellip:2026 permil:2030 prime:2032 Prime:2033 lsaquo:2039 rsaquo:203a ' +
  'oline:203e frasl:2044 euro:20ac image:2111 weierp:2118 real:211c trade:2122 alefsym:2135 larr:2190 uarr:2191 ' +
  'rarr:2192 darr:2193 harr:2194 crarr:21b5 lArr:21d0 uArr:21d1 rArr:21d2 dArr:21d3 hArr:21d4 forall:2200 ' +
  'part:2202 exist:2203 empty:2205 nabla:2207 isin:2208 notin:2209 ni:220b prod:220f sum:2211 minus:2212 ' +
  'lowast:2217 radic:221a prop:221d infin:221e ang:2220 and:2227 or:2228 cap:2229 cup:222a int:222b there4:2234 ' +
  'sim:223c cong:2245 asymp:2248 ne:2260 equiv:2261 le:2264 ge:2265 sub:2282 sup:2283 nsub:2284 sube:2286 ' +
  'supe:2287 oplus:2295 otimes:2297 perp:22a5 sdot:22c5 lceil:2308 rceil:2309 lfloor:230a rfloor:230b lang:2329 ' +
  'rang:232a loz:25ca spades:2660 clubs:2663 hearts:2665 diams:2666 apos:27 AMP:26 LT:3c GT:3e QUOT:22 COPY:a9 ' +
  'REG:ae';

const LATIN_FIRST = 0xa0;

const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_NAMES.split(' ').map((name, index): [string, string] => [name, String.fromCodePoint(LATIN_FIRST + index)]),
  ...OTHER_NAMES.split(' ').map((each): [string, string] => {
    const [name, point] = each.split(':');
    return [name!, String.fromCodePoint(Number.parseInt(point!, 16))];
  }),
]);
